"""Messages to the user, in the place of the hints at the bottom: never over a panel, and long enough to be read."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace

from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, fit, line, wrapped

SHORTEST_S = {"information": 4.0, "warning": 7.0, "error": 12.0}
CHARACTERS_PER_S = 15.0
"""Slow reading: a text of 300 characters stays for 20 s more."""

KEPT = 8
_MARKS = {"information": (glyphs.DOT, "muted"), "warning": ("!", "warning"), "error": (glyphs.FAILED, "error")}
_INKS = {"error": "error"}


@dataclass(frozen=True, slots=True)
class Message:
    """Text to show, how grave it is (`information`, `warning`, `error`), and for how many seconds it still stays."""

    text: str
    severity: str
    left_s: float


class Notices:
    """The messages that are shown now, oldest first, and the last ones that there were. `added` counts all."""

    def __init__(self) -> None:
        self.shown: tuple[Message, ...] = ()
        self.added = 0
        self._last: deque[Message] = deque(maxlen=KEPT)

    def add(self, text: str, severity: str, least_s: float | None = None) -> None:
        """Show a message; the same one again takes the place of the first."""
        seconds = (least_s or SHORTEST_S.get(severity, SHORTEST_S["information"])) + len(text) / CHARACTERS_PER_S
        message = Message(text, severity, seconds)
        self.added += 1
        self._last.append(message)
        self.shown = (*(each for each in self.shown if each.text != text), message)[-KEPT:]

    def age(self, seconds: float) -> bool:
        """So much time has passed in which they were seen; returns whether one of them ended."""
        aged = tuple(replace(each, left_s=each.left_s - seconds) for each in self.shown)
        left = tuple(each for each in aged if each.left_s > 0)
        ended = len(left) < len(self.shown)
        self.shown = left
        return ended

    @property
    def warns(self) -> bool:
        """Whether one of them is more than information."""
        return any(each.severity != "information" for each in self.shown)

    def clear(self) -> None:
        """They were read."""
        self.shown = ()

    def again(self) -> bool:
        """Show the last ones again; returns whether there were any."""
        self.shown = tuple(self._last)
        return bool(self._last)

    def lines(self, width: int, most: int) -> list[Line]:
        """All of them in full if they fit into `most` lines, else the end of them, with a word on what is left out."""
        rows: list[Line] = []
        for each in self.shown:
            mark = _MARKS.get(each.severity, _MARKS["information"])
            texts = [row for part in each.text.splitlines() for row in wrapped(part, width - 4)]
            for place, text in enumerate(texts):
                head = (f" {mark[0]} ", mark[1]) if not place else ("   ", "text")
                rows.append(fit(line(head, (text, _INKS.get(each.severity, "text"))), width))
        if len(rows) <= most:
            return rows
        lost = len(rows) - most + 1
        kept = rows[-(most - 1) :] if most > 1 else []
        return [fit(line((f" {glyphs.MORE} {lost} lines above, in a larger window", "muted")), width), *kept]
