"""Panel 4: what happened, in words, newest at the bottom; and its one-line form for small screens."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from hettop.format import clock
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, fit, line, wrapped
from hettop.text import clean
from hettop.tui.chart import Chart
from hettop.tui.frame_state import FrameState
from hettop.tui.panels.panel import Panel

if TYPE_CHECKING:
    from hettop.events import LogEntry

_MARKS = {"warning": ("!", "warning"), "error": (glyphs.FAILED, "error")}


class EventsPanel(Panel):
    """The event log, and the load in force in its lower edge."""

    NUMBER = 4

    def __init__(self, *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__(ascii=ascii)
        self._back = 0  # lines between the newest and the last one shown
        self._above = 0

    def title(self, frame_state: FrameState) -> Line:  # noqa: ARG002 - one title for all
        return line(("events", "title"))

    def foot(self, frame_state: FrameState) -> Line:
        more = f" {glyphs.UP_DOWN} {self._above} above, {self._back} below " if self._above or self._back else ""
        return line((more, "muted"), (" load ", "muted"), (clean(frame_state.session.header.load), "strong"))

    def body(self, frame_state: FrameState, width: int, height: int) -> list[Line]:
        rows = [row for entry in frame_state.session.log for row in entry_lines(entry, width)]
        self._back = min(self._back, max(0, len(rows) - height))
        if not rows:
            return [fit(line(("nothing yet", "muted")), width)]
        shown = rows[: len(rows) - self._back][-height:]
        self._above = len(rows) - self._back - len(shown)
        return shown

    def scroll(self, direction: int) -> None:
        self._back = max(0, self._back - direction)
        self.redraw()


@lru_cache(maxsize=256)  # entries do not change and cleaning is the dearest part of a frame
def entry_lines(entry: LogEntry, width: int) -> list[Line]:
    """One entry, its words wrapped beside the time where there is room, else cut."""
    head = _head(entry)
    margin = sum(len(text) for text, _ in head)
    if width - margin < 12:
        return [fit((*head, _words(entry)), width)]
    text, ink = _words(entry)
    rows = wrapped(text, width - margin) or [""]
    first = fit(line(*head, (rows[0], ink)), width)
    return [first, *(fit(line((" " * margin, "text"), (row, ink)), width) for row in rows[1:])]


def _head(entry: LogEntry) -> Line:
    mark, ink = _MARKS.get(entry.level, (" ", "muted"))
    return line((clock(entry.t, 2), "muted"), (f" {mark} ", ink))


def _words(entry: LogEntry) -> tuple[str, str]:
    """Only errors colour their words: a log full of spikes stays calm."""
    return clean(entry.text), "error" if entry.level == "error" else "text"


class EventLine(Chart):
    """The latest event and the load, in one line."""

    def __init__(self, *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__(id="event-line", ascii=ascii)
        self.frame_state: FrameState | None = None

    def show(self, frame_state: FrameState) -> None:
        self.frame_state = frame_state
        self.redraw()

    def lines(self, width: int, height: int) -> list[Line]:
        if self.frame_state is None or height < 1:
            return []
        load = self.frame_state.session.header.load
        spans = [(" load ", "muted"), (clean(load, 24), "strong"), ("  ", "text")]
        if self.frame_state.session.log:
            entry = self.frame_state.session.log[-1]
            spans += [*_head(entry), _words(entry)]
        return [fit(line(*spans), width)]
