"""Panel 4: the event log, newest at the bottom; and its one-line form for small screens."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from textual.message import Message

from hettop.format import clock, count
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, fit, line, width_of, wrapped
from hettop.text import clean
from hettop.tui.chart import Chart
from hettop.tui.frame_state import FrameState
from hettop.tui.listing import filter_note, matches
from hettop.tui.panels.panel import Panel, inner_size

if TYPE_CHECKING:
    from hettop.session.views.structs import LogLine

_OLDEST = 1_000_000  # lines; limited to those that there are when they are drawn
_ALL = 10_000
"""Lines to ask for with a filter, which may match the oldest one: more than are kept."""

_AHEAD = 256
"""Lines to ask for beyond those in sight: so far a frozen display can be scrolled."""

_MARKS = {"warning": ("!", "warning"), "error": (glyphs.FAILED, "error")}
_LARGE = (72, 8)
"""Cells and lines from which on the zoomed panel is a table."""


class EventsPanel(Panel):
    """The event log, and the active load in its lower edge. Zoomed it is a table with a column for each field."""

    NUMBER = 4
    LISTS = "events"

    class Earlier(Message):
        """The user scrolled to the first line in memory, and there are earlier ones."""

    def __init__(self, *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__(ascii=ascii)
        self._back = 0  # lines between the newest and the last one shown
        self._above = 0
        self._matched: tuple[Sequence[LogLine], str, Sequence[LogLine]] = ((), "", ())

    @property
    def wanted(self) -> int:
        """How many lines of the log to make for the next frame."""
        return _ALL if self.filter else self._back + self.size.height + _AHEAD

    def title(self, frame_state: FrameState) -> Line:
        note = filter_note(self.filter, len(self._shown(frame_state)), _held(frame_state))
        counts = frame_state.session.logged.counts if self.has_class("-zoomed") else ()
        kinds = "".join(f" {glyphs.DOT} {clean(kind, 16)} {count(n)}" for kind, n in counts or ())
        return line(("events", "title"), (kinds, "muted"), (clean(note), "warning"))

    def _shown(self, frame_state: FrameState) -> Sequence[LogLine]:
        """The entries that match the filter."""
        log = frame_state.session.log
        if not self.filter:
            return log
        if self._matched[0] is not log or self._matched[1] != self.filter:  # a frame asks for it several times
            found = [entry for entry in log if matches(self.filter, entry.text, entry.kind, entry.level, entry.unit)]
            self._matched = (log, self.filter, found)
        return self._matched[2]

    def foot(self, frame_state: FrameState) -> Line:
        more = (
            f" {glyphs.UP_DOWN} {count(self._above)} above, {count(self._back)} below {glyphs.DOT}"
            if self._above or self._back
            else ""
        )
        return line((more, "muted"), (" load ", "muted"), (clean(frame_state.session.header.load), "strong"))

    def body(self, frame_state: FrameState, width: int, height: int) -> list[Line]:
        entries = self._shown(frame_state)
        large = self.has_class("-zoomed") and width >= _LARGE[0] and height >= _LARGE[1]
        room = height - large
        rows, begins, used = self._rows(entries, width, self._back + room, large=large)
        self._back = min(self._back, max(0, len(rows) - room))
        end = len(rows) - self._back
        shown = _from_its_beginning(rows, begins, max(0, end - room), end)
        # Lines of entries in sight are rows; of those above only the entries are counted.
        unseen = max(0, len(rows) - self._back - len(shown))
        held = len(entries) if self.filter else _held(frame_state)
        self._above = unseen + max(0, held - used)
        if not rows:
            shown = [fit(line(("no event matches the filter" if self.filter else "no events yet", "muted")), width)]
        words = "" if self._above else earlier_words(frame_state)
        if words and (len(shown) < room or self._back):
            shown = [fit(line((words, "muted")), width), *(shown if len(shown) < room else shown[1:])]
        return [fit(_heading(width), width), *shown] if large else shown

    def _rows(
        self, entries: Sequence[LogLine], width: int, wanted: int, *, large: bool
    ) -> tuple[list[Line], list[int], int]:
        """At least the last `wanted` lines if there are as many, where the entry of each begins, how many entries."""
        found: list[list[Line]] = []
        lines = 0
        for entry in reversed(entries):
            if lines >= wanted:
                break
            found.append(table_lines(entry, width) if large else entry_lines(entry, width))
            lines += len(found[-1])
        rows: list[Line] = []
        begins: list[int] = []
        for each in reversed(found):
            begins += [len(rows)] * len(each)
            rows += each
        return rows, begins, len(found)

    def scroll(self, direction: int) -> None:
        self._back = max(0, self._back - direction)
        self._ask_for_more()
        self.redraw()

    def to_edge(self, direction: int) -> None:
        """The oldest entry (-1) or the newest (1), which the panel then follows."""
        self._back = 0 if direction > 0 else _OLDEST
        self._ask_for_more()
        self.post_message(self.Resized())  # a frame with all of the lines is needed

    def _ask_for_more(self) -> None:
        if self._back and self._above <= 1 and self.frame_state is not None and self.frame_state.session.logged.earlier:
            self.post_message(self.Earlier())

    def set_filter(self, text: str) -> None:
        self.filter = text
        self._back = 0
        self.redraw()

    def clipboard_text(self) -> tuple[str, str] | None:
        """The newest of the entries that are shown, in full."""
        shown = [] if self.frame_state is None else list(self._shown(self.frame_state))
        if not shown:
            return None
        width, _ = inner_size(self.size.width, self.size.height)
        back = self._back
        while back > 0 and len(shown) > 1 and (back := back - len(entry_lines(shown[-1], width))) >= 0:
            shown.pop()
        return "the event", f"{clock(shown[-1].t, 2)} {clean(shown[-1].text)}"


def _from_its_beginning(rows: list[Line], begins: list[int], start: int, end: int) -> list[Line]:
    """The rows from `start` to `end`. Of an entry that begins above them its first lines are shown, not its last.

    An entry that is longer than all of the rows is scrolled through line by line.
    """
    first = begins[start] if start < end else start
    last = next((at for at in range(start, end) if begins[at] != first), end)
    if first == start or last == end:
        return rows[start:end]
    head = rows[first : first + last - start]
    *before, cut = head
    words = cut if cut[-1][0].strip() else cut[:-1]
    return [*before, fit(line(*words, (glyphs.MORE, "muted")), width_of(cut)), *rows[last:end]]


def _held(frame_state: FrameState) -> int:
    """How many lines there are in memory; a frame has as many of them as were asked for."""
    return max(frame_state.session.logged.held, len(frame_state.session.log))


def earlier_words(frame_state: FrameState) -> str:
    """What is said above the first line in memory; empty where that is the first of all."""
    earlier = frame_state.session.logged.earlier
    if earlier is None:
        return "earlier lines unknown: another version recorded them; replay with --refold"
    if not earlier:
        return ""
    where = "scroll on to read them" if frame_state.replay is not None else "no longer in memory"
    return f"{count(earlier)} earlier line{'' if earlier == 1 else 's'}: {where}"


@lru_cache(maxsize=1024)  # entries do not change, and cleaning takes the most time of a frame
def entry_lines(entry: LogLine, width: int) -> list[Line]:
    """One entry, its text wrapped beside the time where it fits, else cut."""
    head = _head(entry)
    margin = sum(len(text) for text, _ in head)
    if width - margin < 12:
        return [fit((*head, _words(entry)), width)]
    text, ink = _words(entry)
    rows = wrapped(text, width - margin) or [""]
    first = fit(line(*head, (rows[0], ink)), width)
    return [first, *(fit(line((" " * margin, "text"), (row, ink)), width) for row in rows[1:])]


def _head(entry: LogLine) -> Line:
    mark, ink = _MARKS.get(entry.level, (" ", "muted"))
    return line((clock(entry.t, 2), "muted"), (f" {mark} ", ink))


def _words(entry: LogLine) -> tuple[str, str]:
    """Only errors have coloured text: a log full of spikes stays readable."""
    return clean(entry.text), "error" if entry.level == "error" else "text"


_TIME, _COUNT, _KIND, _UNIT = 10, 7, 13, 15


def _heading(width: int) -> Line:
    """Of the table."""
    unit = f"{'unit':<{_UNIT}}" if width >= _WITH_UNIT else ""
    return line((f"{'time':<{_TIME}}{'until':<{_TIME}}{'count':>{_COUNT}}   {'kind':<{_KIND}}{unit}text", "muted"))


_WITH_UNIT = 96
"""Cells from which on the units have a column; they are in the text, too."""


@lru_cache(maxsize=1024)
def table_lines(entry: LogLine, width: int) -> list[Line]:
    """One entry as a row of the table, its text wrapped in its column."""
    mark, ink = _MARKS.get(entry.level, (" ", "muted"))
    last = clock(entry.last_ns, 2) if entry.n > 1 else ""
    unit = clean(entry.unit, _UNIT - 1) if width >= _WITH_UNIT else ""
    head = line(
        (f"{clock(entry.t, 2):<{_TIME}}{last:<{_TIME}}", "muted"),
        (f"{count(entry.n):>{_COUNT}}", "strong" if entry.n > 1 else "muted"),
        (f" {mark} ", ink),
        (f"{clean(entry.kind, _KIND - 1):<{_KIND}}", "accent"),
        (f"{unit:<{_UNIT if width >= _WITH_UNIT else 0}}", "text"),
    )
    margin = sum(len(text) for text, _ in head)
    text_ink = "error" if entry.level == "error" else "text"
    rows = wrapped(clean(entry.words), width - margin) or [""]
    first = fit(line(*head, (rows[0], text_ink)), width)
    return [first, *(fit(line((" " * margin, "text"), (row, text_ink)), width) for row in rows[1:])]


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
