"""Charts: pure drawing of views as lines of text, and the widget that shows such lines cheaply."""
