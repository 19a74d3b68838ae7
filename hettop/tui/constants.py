"""What can be chosen on the screen beside themes and keys: time windows and panels, by name.

Imports nothing of Textual, so that a config file can be checked without a screen.
"""

from __future__ import annotations

WINDOWS_S = (5, 10, 30, 60)
"""Seconds that the histogram and the timeline look back."""

DEFAULT_WINDOW_S = 30

PANELS = {1: "latency", 2: "timeline", 3: "units", 4: "events", 5: "power", 6: "machine"}
"""The panels by the number that focuses them."""
