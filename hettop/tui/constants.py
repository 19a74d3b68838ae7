"""The time windows, panels and kinds of charts that can be chosen on the screen.

Imports nothing of Textual, so that a config file can be validated without a screen.
"""

from __future__ import annotations

WINDOWS_S = (5, 10, 30, 60)
"""The lengths of the time window in seconds."""

DEFAULT_WINDOW_S = 30

PANELS = {1: "latency", 2: "timeline", 3: "units", 4: "events", 5: "power", 6: "machine"}
"""The panels by the number that focuses them."""

PRESETS = ("overview", "compare", "power", "presentation")
"""The layouts to step through; the first is the usual one."""
CHARTS = ("auto", "braille", "blocks")
"""The values of the setting `charts`."""


def uses_braille(charts: str, terminal: str) -> bool:
    """Whether charts are drawn in braille: as the setting says; `auto`: except on a Linux console, whose font lacks it.

    terminal: the value of TERM.
    """
    return charts == "braille" or (charts == "auto" and terminal != "linux")
