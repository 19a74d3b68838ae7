"""The room of spikes: a list to walk through, newest first, and below it what goes with them more often than chance.

Pure functions of the picture draw both; Enter points at the spike under the cursor.
"""

from __future__ import annotations

import math

from textual.message import Message

from hettop.format import UNKNOWN, clock, count, milliseconds, percent, significant, unit_name
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span, fit, line, runs, wrapped
from hettop.session.views.spikes import CauseRow, SpikeRow, SpikesView
from hettop.text import clean
from hettop.tui.frame_state import FrameState
from hettop.tui.screens.page_screen import PageScreen, RunControl

_WIDE = 100
_LEAST_LISTED = 8
"""Lines that the list keeps where the table wants more than there is."""

_SIZE_BAR = 10
_SHARE_BAR = 20
_DECADES = 2.0
"""Of the bar that shows a spike's size: full at a hundred times the median."""

_WORDS = 27
_UNIT, _SHORT_UNIT = 14, 7
_SMALLEST_P = 1e-4


class SpikesScreen(PageScreen):
    """↑ ↓ walk through the list, Enter goes to that moment (in a replay) or marks it on the timeline."""

    NAME = "spikes"

    class Pointed(Message):
        """The user wants to see this spike where it happened."""

        def __init__(self, end_ns: int) -> None:
            super().__init__()
            self.end_ns = end_ns

    def __init__(self, run_control: RunControl, *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__(run_control, ascii=ascii)
        self._at_ns: int | None = None  # the spike under the cursor; None: the newest, whichever that is
        self._first = 0
        self._listed = 0  # lines of the list, its heading included

    def heading(self, frame_state: FrameState) -> Line:
        view = frame_state.session.spikes
        if view is None:
            return line(("spikes", "title"))
        under = "" if view.load == "none" else f" under {clean(view.load, 24)}"
        return line(
            ("spikes of all units", "title"),
            (f" · of {clean(view.unit or UNKNOWN, 24)}{under}:", "muted"),
            (f" {count(view.n)}", "high" if view.n else "muted"),
            (" so far", "muted"),
            ("" if view.fence_ms is None else f" · fence {milliseconds(view.fence_ms)} ms", "muted"),
        )

    def hints(self, frame_state: FrameState) -> list[tuple[str, str]]:
        view = frame_state.session.spikes
        if view is None or not view.rows:
            return []
        return [("Enter", "go there" if frame_state.replay is not None else "show on the timeline"), ("c", "unit")]

    def rows(self, frame_state: FrameState, width: int, height: int) -> list[Line]:
        """Just as many lines as there is room for: the list scrolls by itself, the table stays."""
        view = frame_state.session.spikes
        if view is None:
            return []
        table = cause_lines(view, width, height - _LEAST_LISTED - 1)
        listed = min(height, max(_LEAST_LISTED, height - len(table) - 1))
        self._listed = listed
        rows = spike_lines(view.rows, self._cursor(view), self._window(view, listed - 1), width)
        shown = [*rows, *[fit((), width)] * (listed - len(rows)), fit((), width), *table]
        return shown[:height]

    def scroll(self, direction: int) -> None:
        view = self.frame_state.session.spikes if self.frame_state is not None else None
        if view is None or not view.rows:
            return
        at = self._cursor(view) + direction
        if at < 0:
            self._at_ns = None
        elif at < len(view.rows):
            self._at_ns = view.rows[at].end_ns
        self.redraw()

    def point(self, row: int) -> None:
        """A click puts the cursor on a spike, a second one goes there."""
        view = self.frame_state.session.spikes if self.frame_state is not None else None
        at = self._first + row - 1  # the first line is the heading
        if view is None or not row or at >= min(len(view.rows), self._first + self._listed - 1):
            return
        if at == self._cursor(view):
            self.choose()
        self._at_ns = view.rows[at].end_ns
        self.redraw()

    def action_page(self, direction: int) -> None:
        for _ in range(10):
            self.scroll(direction)

    def action_edge(self, direction: int) -> None:
        """To the newest, which the cursor then follows, or to the oldest."""
        view = self.frame_state.session.spikes if self.frame_state is not None else None
        if view is not None and view.rows:
            self._at_ns = None if direction < 0 else view.rows[-1].end_ns
            self.redraw()

    def choose(self) -> None:
        view = self.frame_state.session.spikes if self.frame_state is not None else None
        if view is not None and view.rows:
            self.post_message(self.Pointed(view.rows[self._cursor(view)].end_ns))

    def _cursor(self, view: SpikesView) -> int:
        """Where the cursor is now: on the same spike as before, however many have come since."""
        if self._at_ns is None:
            return 0
        return next((i for i, row in enumerate(view.rows) if row.end_ns <= self._at_ns), max(0, len(view.rows) - 1))

    def _window(self, view: SpikesView, height: int) -> range:
        """The part of the list in sight, which follows the cursor."""
        at = self._cursor(view)
        first = max(0, min(self._first, len(view.rows) - height))
        self._first = min(max(first, at - height + 1), at)
        return range(self._first, min(self._first + height, len(view.rows)))


def spike_lines(rows: tuple[SpikeRow, ...], cursor: int, shown: range, width: int) -> list[Line]:
    """The list, with its heading."""
    if not rows:
        words = "no spike in the last minute: nothing was above the fence, or there are too few samples for one yet"
        return [fit(line((part, "muted")), width) for part in wrapped(words, width)]
    wide = width >= _WIDE
    size = f"{'':<{_SIZE_BAR + 2}}" if wide else ""
    one = len({(row.unit, row.load) for row in rows}) == 1  # then the heading of the room says it
    name = 0 if one else _UNIT if wide else _SHORT_UNIT
    heading = f"  {'when':<10}{'ms':>8}{'x median':>10}  {size}{'' if one else 'unit':<{name}}{'present at it'}"
    found = [fit(line((heading, "muted")), width)]
    found += [_spike_line(rows[i], width, name, chosen=i == cursor, wide=wide) for i in shown]
    return found


def _spike_line(row: SpikeRow, width: int, name: int, *, chosen: bool, wide: bool) -> Line:
    times = "" if row.times_median is None else f"{significant(row.times_median)}x"
    load = "" if row.load == "none" or not name else f" {clean(row.load, 16)}"
    unit = clean(unit_name(row.unit, short=not wide), name - 1) if name else ""
    return fit(
        line(
            (f"{glyphs.VIEWED} " if chosen else "  ", "active"),
            (f"{clock(row.end_ns, 2):<10}", "active" if chosen else "muted"),
            (f"{milliseconds(row.latency_ms):>8}", "high"),
            (f"{times:>10}  ", "strong" if chosen else "text"),
            *(_size_bar(row.times_median) if wide else ()),
            (f"{unit:<{name}}", "text"),
            *_present(row),
            (f"  {load}" if load else "", "muted"),
        ),
        width,
    )


def _size_bar(times: float | None) -> Line:
    share = 0.0 if not times or times <= 1 else min(1.0, math.log10(times) / _DECADES)
    bar = glyphs.TRACK_DONE * round(share * _SIZE_BAR)
    return ((f"{bar:<{_SIZE_BAR}}  ", "high"),)


def _present(row: SpikeRow) -> tuple[Span, ...]:
    """What goes with spikes stands out from what merely was there."""
    if not row.causes:
        return (("nothing that is watched", "muted"),)
    likely, others = ", ".join(row.causes[: row.likely]), ", ".join(row.causes[row.likely :])
    return (likely, "accent"), (", " if likely and others else "", "muted"), (others, "muted")


def cause_lines(view: SpikesView, width: int, height: int) -> list[Line]:
    """The table of candidate causes, and below it in words what it rests on, in `height` lines if those are enough for
    the likeliest ones."""
    if not view.causes:
        return [fit(line(("nothing measured yet", "muted")), width)]
    wide = width >= _WIDE
    key = f"{glyphs.TRACK_DONE} at spikes {glyphs.MEDIAN} else"
    bar = f"{key:<{_SHARE_BAR + 2}}" if wide else ""
    heading = f"{'goes with spikes?':<{_WORDS}}{bar}{'at spikes':>9}{'else':>6}{'p':>8}  "
    lines = [fit(line((heading, "muted")), width)]
    occurred = [row for row in view.causes if row.p is not None]
    notes = [fit(line((part, "muted")), width) for part in wrapped(_footnote(view), width)]
    room = max(1 + sum(row.more for row in occurred), height - len(notes) - 1)
    if len(occurred) > room:
        rest = ", ".join(row.words for row in occurred[room - 1 :])
        occurred = occurred[: room - 1]
        notes = [fit(line((f"and no more than chance, or too few: {rest}", "muted")), width), *notes]
    return [*lines, *(_cause_line(row, width, wide=wide) for row in occurred), *notes]


def _cause_line(row: CauseRow, width: int, *, wide: bool) -> Line:
    ink = "accent" if row.more else "text"
    p = UNKNOWN if row.p is None else f"<{_SMALLEST_P:.4f}"[1:] if row.p < _SMALLEST_P else f"{row.p:.2g}"
    below = "<" if row.p is not None and row.p < _SMALLEST_P else ""
    return fit(
        line(
            (f"{clean(row.words, _WORDS - 1):<{_WORDS}}", "strong" if row.more else "text"),
            *(_share_bar(row) if wide else ()),
            (f"{percent(row.inside):>9}", ink),
            (f"{percent(row.outside):>6}", "muted"),
            (f"{below + p:>8}  ", "muted"),
            (f"{glyphs.OF} {row.verdict}" if row.more else row.verdict, "accent" if row.more else "muted"),
        ),
        width,
    )


def _share_bar(row: CauseRow) -> Line:
    """The share of spikes as a bar, what chance would give as a line across it."""
    filled = round((row.inside or 0.0) * _SHARE_BAR)
    expected = min(_SHARE_BAR - 1, round(row.outside * _SHARE_BAR))
    cells = [glyphs.TRACK_DONE] * filled + [glyphs.TRACK] * (_SHARE_BAR - filled)
    inks = ["accent" if row.more else "low"] * filled + ["edge"] * (_SHARE_BAR - filled)
    cells[expected], inks[expected] = glyphs.MEDIAN, "strong"
    return (*runs(cells, inks), ("  ", "text"))


def _footnote(view: SpikesView) -> str:
    never = [row.words for row in view.causes if row.p is None]
    parts = [
        f"{count(view.evidence)} of {count(view.n)} spikes count: those at least a second apart.",
        "else: share that spikes as long would have at all other moments.",
        f"Did not occur: {', '.join(never)}." if never else "",
        f"Not watched: {', '.join(view.unwatched)}." if view.unwatched else "",
    ]
    return " ".join(part for part in parts if part)
