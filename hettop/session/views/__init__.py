"""Immutable views of a session at a moment, for panels and pages."""
