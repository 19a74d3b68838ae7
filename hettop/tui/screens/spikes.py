"""The screen of spikes: a list, newest first, and below it the events that correlate with spikes.

Pure functions of the frame state draw both; Enter shows the spike under the cursor where it happened.
"""

from __future__ import annotations

import math

from textual.message import Message

from hettop.format import UNKNOWN, clock, count, milliseconds, percent, significant, unit_name
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span, fit, line, runs, wrapped
from hettop.session.views.spikes import CauseRow, SpikeRow, SpikesView, Surroundings
from hettop.text import clean
from hettop.tui.frame_state import FrameState
from hettop.tui.listing import Order, SortKey, filter_note, matches, next_order, ordered, toggled_order
from hettop.tui.screens.page_screen import PageScreen, RunControl
from hettop.units import NS_PER_S

_WIDE = 100
_LEAST_LISTED = 8
"""Lines of the list at least, where the table would take more."""

_LEAST_BESIDE = 6
"""Lines of the list beside what was around one of its spikes."""

_LEAST_AROUND, _USUAL_AROUND, _MOST_AROUND = 6, 14, 24
"""Lines for what was around the spike under the cursor: without as many it is left out."""

_SCALE = 9
"""Cells of the scale of its chart."""

_SIZE_BAR = 10
_SHARE_BAR = 20
_DECADES = 2.0
"""Of the bar of a spike's size: full at a hundred times the median."""

_WORDS = 27
_LONGEST_LOAD = 16
_UNIT, _SHORT_UNIT = 14, 7
_WHEN, _MS, _TIMES, _SIZE = "when", "ms", "x median", 12
SORT_KEYS: tuple[SortKey[SpikeRow], ...] = (
    SortKey(_WHEN, lambda row: row.end_ns),
    SortKey(_MS, lambda row: row.latency_ms, largest_first=True),
    SortKey(_TIMES, lambda row: row.times_median, largest_first=True),
    SortKey("unit", lambda row: row.unit.lower()),
)
"""Without one the newest spike comes first."""
_SMALLEST_P = 1e-4


class SpikesScreen(PageScreen):
    """↑ ↓ select a spike, Enter goes to that moment (in a replay) or marks it on the timeline."""

    NAME = "spikes"
    LISTS = "spikes"

    class Pointed(Message):
        """The user asked to see this spike where it happened."""

        def __init__(self, end_ns: int) -> None:
            super().__init__()
            self.end_ns = end_ns

    def __init__(self, run_control: RunControl, *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__(run_control, ascii=ascii)
        self._at_ns: int | None = None  # the spike under the cursor; None: the first of the list
        self._first = 0
        self._listed = 0  # lines of the list, its heading included
        self._order: Order | None = None

    def heading(self, frame_state: FrameState) -> Line:
        view = frame_state.session.spikes
        if view is None:
            return line(("spikes", "title"))
        under = "" if view.load == "none" else f" under {clean(view.load, 24)}"
        return line(
            (f"{count(view.total)} spike{'' if view.total == 1 else 's'} of all units", "title"),
            (f", the last {count(len(view.rows))} listed" if len(view.rows) < view.total else "", "muted"),
            (f" · {clean(view.unit or UNKNOWN, 24)}{under}", "muted"),
            (f" {count(view.n)}", "high" if view.n else "muted"),
            ("" if view.threshold_ms is None else f" · spike threshold {milliseconds(view.threshold_ms)} ms", "muted"),
            (clean(filter_note(self.filter, len(self._rows), len(view.rows))), "warning"),
        )

    def hints(self, frame_state: FrameState) -> list[tuple[str, str]]:
        view = frame_state.session.spikes
        if view is None or not view.rows:
            return []
        there = "go there" if frame_state.replay is not None else "show on the timeline"
        return [("↑↓", "spike"), ("Enter", there), ("c", "unit"), ("/", "filter"), ("S", "sort"), ("Y", "copy")]

    def rows(self, frame_state: FrameState, width: int, height: int) -> list[Line]:
        """Exactly as many lines as fit: the list scrolls by itself, the table stays."""
        view = frame_state.session.spikes
        if view is None:
            return []
        simulated = frame_state.session.header.simulated
        table = cause_lines(view, width, height - _LEAST_LISTED - 1, simulated=simulated)
        listed = min(height, max(_LEAST_LISTED, height - len(table) - 1))
        around: list[Line] = []
        if view.around is not None and self._rows and (room := listed - _LEAST_BESIDE) >= _LEAST_AROUND:
            unused = listed - len(self._rows) - 2  # lines that the list leaves, beside its heading and a blank
            high = min(room - 1, max(_USUAL_AROUND, min(unused, _MOST_AROUND)))
            around = [fit((), width), *surroundings_lines(view.around, width, high)]
            listed -= len(around)
        self._listed = listed
        if not self._rows and view.rows:
            rows = [fit(line(("no spike matches the filter", "muted")), width)]
        else:
            rows = spike_lines(self._rows, self._cursor(), self._window(listed - 1), width, self._order)
        shown = [*rows, *[fit((), width)] * (listed - len(rows)), *around, fit((), width), *table]
        return shown[:height]

    @property
    def chosen(self) -> tuple[int, str] | None:
        """End and unit of the spike under the cursor; None for the newest, which the next frame may have another of."""
        if self._at_ns is None and not (self.filter or self._order):
            return None
        rows = self._rows
        return (rows[at].end_ns, rows[at].unit) if rows and (at := self._cursor()) < len(rows) else None

    @property
    def chart_columns(self) -> int:
        """Columns for the calls around a spike."""
        return max(1, self.columns - _SCALE)

    @property
    def _rows(self) -> tuple[SpikeRow, ...]:
        """The spikes that match the filter, in the order that was chosen."""
        view = self.frame_state.session.spikes if self.frame_state is not None else None
        if view is None or not (self.filter or self._order):
            return () if view is None else view.rows
        kept = [row for row in view.rows if matches(self.filter, row.unit, row.load, *row.causes)]
        return tuple(ordered(kept, self._order, SORT_KEYS))

    def set_filter(self, text: str) -> None:
        self.filter = text
        self.redraw()

    def sort(self) -> bool:
        self._sort_by(next_order(self._order, SORT_KEYS))
        return True

    def _sort_by(self, order: Order | None) -> None:
        """In another order the cursor begins at the top."""
        self._order, self._at_ns, self._first = order, None, 0
        self._moved()

    def clipboard_text(self) -> tuple[str, str] | None:
        """The spike under the cursor."""
        if not self._rows:
            return None
        row = self._rows[self._cursor()]
        times = "" if row.times_median is None else f", {significant(row.times_median)}x median"
        present = ", ".join(row.causes) or "no watched event"
        spike = f"{clock(row.end_ns, 2)} {row.unit} spike {milliseconds(row.latency_ms)} ms{times}, load {row.load}"
        return "the spike", clean(f"{spike}: {present}", 400)

    def scroll(self, direction: int) -> None:
        if not self._rows:
            return
        at = self._cursor() + direction
        if at < 0:
            self._at_ns = None
        elif at < len(self._rows):
            self._at_ns = self._rows[at].end_ns
        self._moved()

    def _moved(self) -> None:
        """What is around another spike is part of another frame."""
        self.redraw()
        self.post_message(self.Entered())

    def point(self, row: int, column: int) -> None:
        """A click selects a spike, a second one shows it; on a heading it sorts."""
        at = self._first + row - 1  # the first line is the heading
        if not row and self._rows:
            title = heading_at(self._rows, column, self.columns)
            key = next((key for key in SORT_KEYS if key.title == title), None)
            self._sort_by(self._order if key is None else toggled_order(self._order, key))
            return
        if not row or at >= min(len(self._rows), self._first + self._listed - 1):
            return
        if at == self._cursor():
            self.choose()
        self._at_ns = self._rows[at].end_ns
        self._moved()

    def action_page(self, direction: int) -> None:
        for _ in range(10):
            self.scroll(direction)

    def action_edge(self, direction: int) -> None:
        """To the first spike, where the cursor then stays, or to the last."""
        if self._rows:
            self._at_ns = None if direction < 0 else self._rows[-1].end_ns
            self._moved()

    def choose(self) -> None:
        if self._rows:
            self.post_message(self.Pointed(self._rows[self._cursor()].end_ns))

    def _cursor(self) -> int:
        """The row of the cursor: it stays on its spike while others are added."""
        if self._at_ns is None:
            return 0
        same = next((i for i, row in enumerate(self._rows) if row.end_ns == self._at_ns), None)
        if same is not None or self._order is not None:
            return same or 0
        # The spike is not in the list any more: the next older one.
        older = (i for i, row in enumerate(self._rows) if row.end_ns <= (self._at_ns or 0))
        return next(older, max(0, len(self._rows) - 1))

    def _window(self, height: int) -> range:
        """The visible part of the list, which follows the cursor."""
        at = self._cursor()
        first = max(0, min(self._first, len(self._rows) - height))
        self._first = min(max(first, at - height + 1), at)
        return range(self._first, min(self._first + height, len(self._rows)))


def heading_at(rows: tuple[SpikeRow, ...], cell: int, width: int) -> str | None:
    """The title of the column whose heading is drawn at this cell; None beside them."""
    ends = ((_WHEN, 12), (_MS, 20), (_TIMES, 30), ("", 32 + (_SIZE if width >= _WIDE else 0)))
    unit = ends[-1][1] + _unit_cells(rows, width)
    return next((title or None for title, end in (*ends, ("unit", unit)) if cell < end), None)


def _unit_cells(rows: tuple[SpikeRow, ...], width: int) -> int:
    """The width of the column of units: 0 where all spikes are of one, which the title of the screen names."""
    if len({(row.unit, row.load) for row in rows}) == 1:
        return 0
    return _UNIT if width >= _WIDE else _SHORT_UNIT


def _load_cells(rows: tuple[SpikeRow, ...]) -> int:
    """The width of the column of loads: 0 where all spikes came under one."""
    loads = {row.load for row in rows}
    return 0 if len(loads) < 2 else min(_LONGEST_LOAD, max(map(len, loads), default=0)) + 2


def spike_lines(
    rows: tuple[SpikeRow, ...], cursor: int, shown: range, width: int, order: Order | None = None
) -> list[Line]:
    """The list, with its heading."""
    if not rows:
        words = "no spike in the last minute: no call was above the spike threshold, or there are too few samples"
        return [fit(line((part, "muted")), width) for part in wrapped(words, width)]
    wide = width >= _WIDE
    size = f"{'':<{_SIZE_BAR + 2}}" if wide else ""
    name, under = _unit_cells(rows, width), _load_cells(rows)
    when, ms, times, unit = (
        title + order.arrow if order is not None and order.column == title else title
        for title in (_WHEN, _MS, _TIMES, "unit")
    )
    heading = f"  {when:<10}{ms:>8}{times:>10}  {size}{unit if name else '':<{name}}"
    heading += f"{'load' if under else '':<{under}}events at the same time"
    found = [fit(line((heading, "muted")), width)]
    found += [_spike_line(rows[i], width, name, under, chosen=i == cursor, wide=wide) for i in shown]
    return found


def _spike_line(row: SpikeRow, width: int, name: int, under: int, *, chosen: bool, wide: bool) -> Line:
    times = "" if row.times_median is None else f"{significant(row.times_median)}x"
    load = clean(row.load, under - 1) if under else ""
    unit = clean(unit_name(row.unit, short=not wide), name - 1) if name else ""
    return fit(
        line(
            (f"{glyphs.VIEWED} " if chosen else "  ", "active"),
            (f"{clock(row.end_ns, 2):<10}", "active" if chosen else "muted"),
            (f"{milliseconds(row.latency_ms):>8}", "high"),
            (f"{times:>10}  ", "strong" if chosen else "text"),
            *(_size_bar(row.times_median) if wide else ()),
            (f"{unit:<{name}}", "text"),
            (f"{load:<{under}}", "accent" if row.load != "none" else "muted"),
            *_present(row),
        ),
        width,
    )


def _size_bar(times: float | None) -> Line:
    share = 0.0 if not times or times <= 1 else min(1.0, math.log10(times) / _DECADES)
    bar = glyphs.TRACK_DONE * round(share * _SIZE_BAR)
    return ((f"{bar:<{_SIZE_BAR}}  ", "high"),)


def _present(row: SpikeRow) -> tuple[Span, ...]:
    """The events at the same time; correlated ones stand out."""
    if not row.causes:
        return (("no watched event", "muted"),)
    likely, others = ", ".join(row.causes[: row.likely]), ", ".join(row.causes[row.likely :])
    return (likely, "accent"), (", " if likely and others else "", "muted"), (others, "muted")


def surroundings_lines(around: Surroundings, width: int, height: int) -> list[Line]:
    """What was within a second of a spike: a chart of the calls in all lines that the words below it leave."""
    words = _around_words(around, width)[: max(1, height - 4)]
    row = around.row
    medians = ""
    if around.before_ms is not None and around.after_ms is not None:
        medians = f", median {milliseconds(around.before_ms)} ms before, {milliseconds(around.after_ms)} ms after"
    heading = fit(
        line(
            ("the calls around it", "title"),
            (f" {glyphs.DOT} {clean(row.unit, 24)} at {clock(row.end_ns, 2)}, ", "muted"),
            (f"{milliseconds(row.latency_ms)} ms", "high"),
            (f", {count(around.calls)} calls within 1 s{medians}", "muted"),
        ),
        width,
    )
    chart = calls_chart(around, width, height - 1 - len(words))
    return [heading, *chart, *words]


def calls_chart(around: Surroundings, width: int, height: int) -> list[Line]:
    """The slowest call per column, from 0; the last line has the moments, with a mark at the spike."""
    if not around.calls:
        return [fit(line((f"n/a: {around.reason}", "muted")), width)]
    top = max(slot for slot in around.slots if slot is not None)
    spiked = len(around.slots) // 2
    rows = max(1, height - 1)
    inks = ["low"] * len(around.slots)
    near = range(max(0, spiked - 1), min(len(inks), spiked + 2))
    at = max(near, key=lambda i: around.slots[i] or 0.0)  # the spike ended exactly between two columns
    inks[at] = "high"
    levels = [0 if slot is None else max(1, round(slot / top * rows * 8)) for slot in around.slots]
    found = []
    for up in range(rows - 1, -1, -1):
        label = milliseconds(top) + " ms" if up == rows - 1 else "0" if not up else ""
        cells = [glyphs.EIGHTHS[min(8, max(0, level - up * 8))] for level in levels]
        found.append(fit(line((f"{label:>{_SCALE - 1}} ", "muted"), *runs(cells, inks)), width))
    axis = f"{'-1 s':<{at}}"[:at] + f"{glyphs.UP} spike"
    axis += f"{'+1 s':>{max(0, len(inks) - len(axis))}}"
    return [*found, fit(line((" " * _SCALE + axis, "muted")), width)]


def _around_words(around: Surroundings, width: int) -> list[Line]:
    """The verdict on the events at it, what the event log has, and the power at that moment."""
    verdicts = "; ".join(f"{words}: {verdict}" for words, verdict in around.verdicts) or "no watched event"
    happened = "; ".join(f"{distance / NS_PER_S:+.2f} s {clean(text, 80)}" for distance, text in around.happened)
    rails = ", ".join(f"{clean(rail, 12).upper()} {significant(watts)} W" for rail, watts in around.power)
    thermal = f"thermal {clean(around.thermal, 16)}" if around.thermal else "thermal n/a"
    texts = (
        ("at it", verdicts),
        ("within 1 s", happened or "nothing in the event log"),
        ("then", f"load {clean(around.row.load, 24)}, {rails or 'power n/a'}, {thermal}"),
    )
    found = []
    for name, text in texts:
        parts = wrapped(text, max(12, width - 12))
        names = (name, *[""] * len(parts))
        found += [
            fit(line((f"{head:<12}", "muted"), (part, "text")), width) for head, part in zip(names, parts, strict=False)
        ]
    return found


def cause_lines(view: SpikesView, width: int, height: int, *, simulated: bool = False) -> list[Line]:
    """The table of candidate causes with notes below it, in `height` lines if the likeliest ones fit into those."""
    if not view.causes:
        return [fit(line(("no samples yet", "muted")), width)]
    wide = width >= _WIDE
    key = f"{glyphs.TRACK_DONE} at spikes {glyphs.MEDIAN} else"
    bar = f"{key:<{_SHARE_BAR + 2}}" if wide else ""
    heading = f"{'correlated events':<{_WORDS}}{bar}{'at spikes':>9}{'else':>6}{'p':>8}  "
    lines = [fit(line((heading, "muted")), width)]
    occurred = [row for row in view.causes if row.p is not None]
    notes = [fit(line((part, "muted")), width) for part in wrapped(_footnote(view, simulated=simulated), width)]
    room = max(1 + sum(row.more for row in occurred), height - len(notes) - 1)
    if len(occurred) > room:
        rest = ", ".join(row.words for row in occurred[room - 1 :])
        occurred = occurred[: room - 1]
        notes = [fit(line((f"not significant, or insufficient data: {rest}", "muted")), width), *notes]
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
            (f"{glyphs.OF} {_verdict(row)}" if row.more else _verdict(row), "accent" if row.more else "muted"),
        ),
        width,
    )


def _verdict(row: CauseRow) -> str:
    return "correlated" if row.more else row.verdict


def _share_bar(row: CauseRow) -> Line:
    """The share of spikes as a bar, with a line at the share expected by chance."""
    filled = round((row.inside or 0.0) * _SHARE_BAR)
    expected = min(_SHARE_BAR - 1, round(row.outside * _SHARE_BAR))
    cells = [glyphs.TRACK_DONE] * filled + [glyphs.TRACK] * (_SHARE_BAR - filled)
    inks = ["accent" if row.more else "low"] * filled + ["edge"] * (_SHARE_BAR - filled)
    cells[expected], inks[expected] = glyphs.MEDIAN, "strong"
    return (*runs(cells, inks), ("  ", "text"))


def _footnote(view: SpikesView, *, simulated: bool) -> str:
    never = [row.words for row in view.causes if row.p is None]
    parts = [
        f"{count(view.evidence)} of {count(view.n)} spikes count: at least 1 s apart, not of the first {view.unjudged} "
        "samples.",
        "else: the share expected in the same 10 s.",
        f"Did not occur: {', '.join(never)}." if never else "",
        f"Not watched: {', '.join(view.unwatched)}." if view.unwatched else "",
        "Latencies are SIMULATED, events are of the real host." if simulated else "",
    ]
    return " ".join(part for part in parts if part)
