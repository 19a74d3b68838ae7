"""Panel 4: the event log, newest at the bottom; and its one-line form for small screens."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from hettop.format import clock
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, fit, line, wrapped
from hettop.text import clean
from hettop.tui.chart import Chart
from hettop.tui.frame_state import FrameState
from hettop.tui.listing import filter_note, matches
from hettop.tui.panels.panel import Panel, inner_size

if TYPE_CHECKING:
    from hettop.events import LogEntry

_OLDEST = 1_000_000  # lines; limited to those that there are when they are drawn
_MARKS = {"warning": ("!", "warning"), "error": (glyphs.FAILED, "error")}


class EventsPanel(Panel):
    """The event log, and the active load in its lower edge."""

    NUMBER = 4
    LISTS = "events"

    def __init__(self, *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__(ascii=ascii)
        self._back = 0  # lines between the newest and the last one shown
        self._above = 0

    def title(self, frame_state: FrameState) -> Line:
        log = frame_state.session.log
        note = filter_note(self.filter, len(self._shown(frame_state)), len(log))
        return line(("events", "title"), (clean(note), "warning"))

    def _shown(self, frame_state: FrameState) -> list[LogEntry]:
        """The entries that match the filter."""
        if not self.filter:
            return list(frame_state.session.log)
        return [entry for entry in frame_state.session.log if matches(self.filter, entry.text, entry.kind, entry.level)]

    def foot(self, frame_state: FrameState) -> Line:
        more = (
            f" {glyphs.UP_DOWN} {self._above} above, {self._back} below {glyphs.DOT}"
            if self._above or self._back
            else ""
        )
        return line((more, "muted"), (" load ", "muted"), (clean(frame_state.session.header.load), "strong"))

    def body(self, frame_state: FrameState, width: int, height: int) -> list[Line]:
        rows = [row for entry in self._shown(frame_state) for row in entry_lines(entry, width)]
        self._back = min(self._back, max(0, len(rows) - height))
        if not rows:
            return [fit(line(("no event matches the filter" if self.filter else "no events yet", "muted")), width)]
        shown = rows[: len(rows) - self._back][-height:]
        self._above = len(rows) - self._back - len(shown)
        return shown

    def scroll(self, direction: int) -> None:
        self._back = max(0, self._back - direction)
        self.redraw()

    def to_edge(self, direction: int) -> None:
        """The oldest entry (-1) or the newest (1), which the panel then follows."""
        self._back = 0 if direction > 0 else _OLDEST
        self.redraw()

    def set_filter(self, text: str) -> None:
        self.filter = text
        self._back = 0
        self.redraw()

    def clipboard_text(self) -> tuple[str, str] | None:
        """The newest of the entries that are shown, in full."""
        shown = [] if self.frame_state is None else self._shown(self.frame_state)
        if not shown:
            return None
        width, _ = inner_size(self.size.width, self.size.height)
        back = self._back
        while back > 0 and len(shown) > 1 and (back := back - len(entry_lines(shown[-1], width))) >= 0:
            shown.pop()
        return "the event", f"{clock(shown[-1].t, 2)} {clean(shown[-1].text)}"


@lru_cache(maxsize=256)  # entries do not change, and cleaning takes the most time of a frame
def entry_lines(entry: LogEntry, width: int) -> list[Line]:
    """One entry, its text wrapped beside the time where it fits, else cut."""
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
    """Only errors have coloured text: a log full of spikes stays readable."""
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
