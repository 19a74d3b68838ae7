"""The time windows, panels and kinds of charts that can be chosen on the screen.

Imports nothing of Textual, so that a config file can be validated without a screen.
"""

from __future__ import annotations

WINDOWS_S = (5, 10, 30, 60)
"""The lengths of the time window in seconds."""

WHOLE_SESSION_S = 10**8
"""A window longer than any session: of all of it."""

LONG_WINDOWS_S = (120, 300, 900, 3_600, 21_600, WHOLE_SESSION_S)
"""The windows that the timeline alone can show, of its history; the others then show the last minute."""


def next_window_s(window_s: int, direction: int, elapsed_s: float) -> int:
    """The next longer (1) or shorter (-1) time window: of those beyond a minute, what has happened in them.

    Of those longer than the session there is one, all of it, once it lasts longer than the longest of the others.
    """
    windows = [*WINDOWS_S, *(each for each in LONG_WINDOWS_S if each < elapsed_s)]
    if elapsed_s > WINDOWS_S[-1]:
        windows.append(WHOLE_SESSION_S)
    if direction > 0:
        return next((each for each in windows if each > window_s), windows[-1])
    return next((each for each in reversed(windows) if each < window_s), windows[0])


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
