"""What a command says while it works and how it ends: progress, signals, the loop of a measurement."""
