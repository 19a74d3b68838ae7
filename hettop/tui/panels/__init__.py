"""Panels: each draws one part of a picture and knows nothing of where it came from."""
