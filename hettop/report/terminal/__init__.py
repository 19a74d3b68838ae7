"""Drawing in cells of a terminal: lines of spans, which the screen styles and a command prints as text."""
