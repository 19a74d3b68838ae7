"""Recordings: the event stream as JSON Lines, written crash-safe, read strictly, sought by binary search."""
