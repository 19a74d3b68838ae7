"""The panels: each draws one part of a frame state."""
