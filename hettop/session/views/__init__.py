"""Frozen views of a session at a moment: what panels and pages are given."""
