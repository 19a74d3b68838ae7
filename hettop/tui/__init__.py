"""The screen: panels that draw views of a session."""
