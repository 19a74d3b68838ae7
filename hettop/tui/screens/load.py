"""The screen of competing load: dials that set it, and below them its effect on each unit."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType

from hettop.format import UNKNOWN, count, milliseconds, percent, significant, unit_name
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span, fit, line, wrapped
from hettop.session.views.structs import ConditionRow
from hettop.text import clean
from hettop.tui.feed import LoadDial
from hettop.tui.frame_state import FrameState
from hettop.tui.screens.load_effect import (
    NEEDED,
    NEEDED_P99,
    contrast_lines,
    distribution_lines,
    note,
    short_lines,
)
from hettop.tui.screens.page_screen import PageScreen, RunControl
from hettop.units import NS_PER_S

DUTIES = (100, 75, 50, 25, 10)
_BAR, _SHORT_BAR = 12, 8
_CHANGE = 12  # cells
_WORDED, _ROOMY = 72, 50  # cells of a dial with its description, and of one with a long bar
_LEAST_PAIRED = 74  # cells of a line with two dials
_WORDS = {
    "cpu": "compute-bound workers",
    "memory": "bandwidth-bound workers",
    "gpu": "models on CPU_AND_GPU",
    "ane": "models on CPU_AND_NE",
}
# A change below 2% is within the difference between runs; from 10% on it has the colour of an error.
NOTABLE, ALARMING = 0.02, 0.10
NO_LOAD = "none"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table of conditions; the highest `rank` is left out first where the width is short."""

    name: str
    cells: int
    rank: int
    text: Callable[[ConditionRow], str]


_COLUMNS = (
    Column("n", 8, 5, lambda row: count(row.n)),
    Column("P50", 8, 3, lambda row: milliseconds(row.p50_ms)),
    Column("P90", 8, 0, lambda row: milliseconds(row.p90_ms)),
    Column("P99", 8, 2, lambda row: milliseconds(row.p99_ms)),
    Column("max", 8, 1, lambda row: milliseconds(row.max_ms)),
    Column("inf/s", 8, 4, lambda row: significant(row.throughput_per_s)),
    Column("mJ/inf", 8, 6, lambda row: significant(row.energy_mj)),
)


_ROOMY_LINES = 18
"""Lines, from which on there are distributions, a line for each figure, and blank lines."""
_DISTRIBUTION_LINES, _TALL = 8, 44


class LoadScreen(PageScreen):
    """↑ ↓ select a kind of load, ← → set its level, `d` sets its duty cycle, `0` ends all load.

    `b` measures without load.
    """

    NAME = "load"
    BESIDE_FROM: ClassVar[int] = 110
    LEAST_BESIDE: ClassVar[int] = 62
    BELOW_FROM: ClassVar[tuple[int, int] | None] = (60, 24)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "level(-1)", "Lower the level", id="load.less"),
        Binding("right", "level(1)", "Raise the level", id="load.more"),
        Binding("d", "duty", "Change the duty cycle", id="load.duty"),
        Binding("0", "end", "End all load", id="load.end"),
        Binding("b", "without", "Measure without load, then start it again", id="load.without"),
    ]

    def __init__(self, run_control: RunControl, *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__(run_control, ascii=ascii)
        self._at = 0
        self._drawn: list[list[int]] = []  # the dials of each line that was drawn last

    def heading(self, frame_state: FrameState) -> Line:
        load = clean(frame_state.session.header.load)
        return line(("competing load", "title"), (" · active: ", "muted"), (load, "accent"))

    def hints(self, frame_state: FrameState) -> list[tuple[str, str]]:
        if not frame_state.loads:
            return []
        without = [("b", "without load")] if _can_measure_without(frame_state) else []
        return [("↑↓", "kind"), ("←→", "level"), ("d", "duty cycle"), ("0", "no load"), *without, ("c", "unit")]

    def rows(self, frame_state: FrameState, width: int, height: int) -> list[Line]:
        roomy = height >= _ROOMY_LINES
        self._drawn = dials_by_line(frame_state.loads, paired=not roomy and width >= _LEAST_PAIRED)
        rows = [self._dials_line(frame_state.loads, at, width) for at in self._drawn]
        gap: list[Line] = [()] if roomy else []
        if frame_state.loads:
            rows += [*gap, *_status(frame_state, width), *gap]
        return [*rows, *_effect(frame_state, width, height)]

    def _dials_line(self, dials: Sequence[LoadDial], at: Sequence[int], width: int) -> Line:
        each = width // len(at)
        drawn = [dial_line(dials[i], each, chosen=i == self._at) for i in at]
        return fit(tuple(span for part in drawn for span in part), width)

    def scroll(self, direction: int) -> None:
        """Moves the cursor among the dials; below the last one it scrolls the table."""
        wanted = self._at + direction
        if 0 <= wanted < self._dials and not (direction < 0 and self.is_scrolled):
            self._at = wanted
            self.redraw()
        else:
            super().scroll(direction)

    def action_edge(self, direction: int) -> None:
        self._at = 0 if direction < 0 else max(0, self._dials - 1)
        super().action_edge(direction)

    def point(self, row: int, column: int) -> None:
        if self.frame_state is not None and row < len(self._drawn):
            dials = self._drawn[row]
            self._at = dials[min(len(dials) - 1, max(0, column) * len(dials) // max(1, self.columns))]
            self.redraw()

    def action_level(self, direction: int) -> None:
        if (dial := self._dial) is not None:
            level = min(max(dial.level + direction, 0), dial.highest)
            self._ask(dial, level, dial.duty_percent)

    def action_duty(self) -> None:
        """The next lower duty cycle; after the lowest the highest."""
        if (dial := self._dial) is not None and dial.level:
            lower = [duty for duty in DUTIES if duty < dial.duty_percent]
            self._ask(dial, dial.level, lower[0] if lower else DUTIES[0])

    def action_without(self) -> None:
        """Measure without load for some seconds, then start the load again; once more ends that."""
        if self.frame_state is not None and self.frame_state.loads:
            self.run_control(lambda live: live.measure_without_load())

    def action_end(self) -> None:
        if self.frame_state is not None and self.frame_state.loads:
            self.run_control(lambda live: live.end_load())

    @property
    def _dials(self) -> int:
        return len(self.frame_state.loads) if self.frame_state is not None else 0

    @property
    def _dial(self) -> LoadDial | None:
        if self.frame_state is None or self._at >= len(self.frame_state.loads):
            return None
        return self.frame_state.loads[self._at]

    def _ask(self, dial: LoadDial, level: int, duty_percent: int) -> None:
        if dial.reason is not None:
            self.app.notify(
                f"{dial.what} load is not available here: {clean(dial.reason)}", severity="warning", markup=False
            )
        elif (level, duty_percent) != (dial.level, dial.duty_percent):
            self.run_control(lambda live: live.change_load(dial.what, level, duty_percent))


def dials_by_line(dials: Sequence[LoadDial], *, paired: bool) -> list[list[int]]:
    """Which dials stand on each line: one, or two where they are `paired`; one that is not available has the reason
    beside it and stands alone."""
    lines: list[list[int]] = []
    for i, dial in enumerate(dials):
        before = lines[-1] if lines else []
        if paired and len(before) == 1 and dial.reason is None and dials[before[0]].reason is None:
            before.append(i)
        else:
            lines.append([i])
    return lines


def dial_line(dial: LoadDial, width: int, *, chosen: bool) -> Line:
    """One kind of load: `▷ cpu   2 of 2  ████  100% of the time   workers that compute …`."""
    cursor: Span = (f"{glyphs.VIEWED} " if chosen else "  ", "active")
    name: Span = (f"{dial.what:<8}", "active" if chosen else "strong")
    if dial.reason is not None:
        return fit(line(cursor, name, (f"{UNKNOWN}  {clean(dial.reason)}", "muted")), width)
    roomy = width >= _ROOMY
    cells = _BAR if roomy else _SHORT_BAR
    filled = round(cells * min(dial.level, dial.highest) / max(1, dial.highest))
    active = f"{dial.duty_percent:>3}% of the time  " if roomy else f"{dial.duty_percent}% duty"
    return fit(
        line(
            cursor,
            name,
            (f"{dial.level:>{3 if roomy else 1}}", "accent" if dial.level else "text"),
            (f" of {dial.highest:<{4 if roomy else 2}}", "muted"),
            (glyphs.FULL * filled, "accent"),
            (glyphs.AXIS * (cells - filled) + "  ", "edge"),
            (active if dial.level else " " * len(active), "text"),
            (_WORDS.get(dial.what, "") if width >= _WORDED else "", "muted"),
        ),
        width,
    )


def _can_measure_without(frame_state: FrameState) -> bool:
    return frame_state.without_load_left_ns is not None or frame_state.session.header.load != NO_LOAD


def _effect(frame_state: FrameState, width: int, height: int) -> list[Line]:
    """What the load does to each unit; all measured loads where there are several, or none yet."""
    view, conditions = frame_state.session.contrast, frame_state.session.conditions
    if view is None or view.load is None or not view.rows:
        measured = {row.unit for row in conditions}
        absent = tuple(row.unit for row in frame_state.session.units.rows if row.unit not in measured)
        rows = condition_lines(conditions, width, absent)
        alone = [] if view is None or height < _ROOMY_LINES else distribution_lines(view, width, _DISTRIBUTION_LINES)
        return [*alone, (), *rows] if alone else rows
    roomy = height >= _ROOMY_LINES
    if not roomy:
        shown = short_lines(view, width)
    else:
        drawn = distribution_lines(view, width, _DISTRIBUTION_LINES + max(0, height - _TALL) // 2)
        shown = [*drawn, *([()] if drawn else []), *contrast_lines(view, width)]
    shown += [(), *(fit(line((part, "muted")), width) for part in wrapped(note(view, intervals=roomy), width))]
    if len({row.load for row in conditions} - {NO_LOAD}) > 1:
        shown += [(), fit(line(("all loads", "title")), width), *condition_lines(conditions, width)]
    return shown


def _status(frame_state: FrameState, width: int) -> list[Line]:
    """What to do, or the last event of the load: starting, confirmed or failed."""
    if frame_state.without_load_left_ns is not None:
        left = f"about {math.ceil(frame_state.without_load_left_ns / NS_PER_S)} s left"
        text = f"measuring without load, {left}; then the load starts again"
        return [fit(line((part, "accent")), width) for part in wrapped(text, width)]
    view = frame_state.session.contrast
    if view is not None and frame_state.session.header.load != NO_LOAD and view.unit is not None:
        row = next((row for row in view.rows if row.unit == view.unit), None)
        if row is None or row.without is None:
            text = f"{clean(view.unit, 24)} has not been measured without load: b measures it, then the load returns"
            return [fit(line((part, "accent")), width) for part in wrapped(text, width)]
    entries = [entry for entry in frame_state.session.log if entry.kind == "load"]
    if not entries:
        text = "Samples count for a load once all of its workers are running."
        return [fit(line((part, "muted")), width) for part in wrapped(text, width)]
    ink = {"error": "error", "warning": "warning"}.get(entries[-1].level, "text")
    return [fit(line((part, ink)), width) for part in wrapped(clean(entries[-1].text), width)]


def condition_lines(rows: tuple[ConditionRow, ...], width: int, absent: tuple[str, ...] = ()) -> list[Line]:
    """The contention matrix: a line for each unit and load, with the change of P90 by the load.

    absent: units that have no samples yet.
    """
    if not rows:
        return [fit(line(("nothing measured yet", "muted")), width)]
    short = width < 100
    names = [clean(unit_name(row.unit, short=short), 20) for row in rows]
    loads = [clean(row.load, 24) + (f" ({clean(row.thermal, 12)})" if row.thermal else "") for row in rows]
    without_samples = [clean(unit_name(unit, short=short), 20) for unit in absent]
    unit_cells = max(4, *map(len, [*names, *without_samples]))
    load_cells = max(4, *map(len, loads))
    columns = _columns(width - unit_cells - load_cells - 4 - _CHANGE)
    head = f"  {'unit':<{unit_cells}}  {'load':<{load_cells}}" + "".join(f"{c.name:>{c.cells}}" for c in columns)
    lines = [fit(line((head, "muted"), (f"{'P90 change':>{_CHANGE}}", "muted")), width)]
    without = {row.unit: row.n for row in rows if row.load == NO_LOAD}
    before = None
    for row, name, load in zip(rows, names, loads, strict=True):
        shown = name if row.unit != before else ""
        before = row.unit
        marker: Span = (f"{glyphs.ACTIVE} " if row.current else "  ", "active")
        figures = "".join(f"{column.text(row):>{column.cells}}" for column in columns)
        spans = line(
            marker,
            (f"{shown:<{unit_cells}}  ", "strong"),
            (f"{load:<{load_cells}}", "accent" if row.load != "none" else "muted"),
            (figures, "text"),
            _change(row, min(row.n, without.get(row.unit, 0))),
        )
        lines.append(fit(spans, width))
    unknown = f"{UNKNOWN:<{load_cells}}" + "".join(f"{UNKNOWN:>{column.cells}}" for column in columns)
    lines += [fit(line((f"  {name:<{unit_cells}}  ", "strong"), (unknown, "muted")), width) for name in without_samples]
    notes = (
        "Times in ms. P90 change: against the same unit without load, so far and without an interval, "
        f"from {NEEDED} samples of both on. P99 needs {NEEDED_P99} samples."
    )
    return [*lines, (), *(fit(line((part, "muted")), width) for part in wrapped(notes, width))]


def _columns(room: int) -> list[Column]:
    kept = list(_COLUMNS)
    while kept and sum(column.cells for column in kept) > room:
        kept.remove(max(kept, key=lambda column: column.rank))
    return kept


def _change(row: ConditionRow, n: int) -> Span:
    """The change with an arrow, so that it does not depend on colour alone; n: the fewer samples of the two P90s."""
    change = row.p90_change if n >= NEEDED else None
    if change is None:
        return (f"{'' if row.load == 'none' else UNKNOWN:>{_CHANGE}}", "muted")
    if abs(change) < NOTABLE:
        return (f"{percent(change, signed=True):>{_CHANGE}}", "muted")
    arrow = "↑" if change > 0 else "↓"
    ink = "good" if change < 0 else "error" if change >= ALARMING else "warning"
    return (f"{arrow + ' ' + percent(change, signed=True):>{_CHANGE}}", ink)
