"""The fold over the event stream, and the views the screen draws of it."""
