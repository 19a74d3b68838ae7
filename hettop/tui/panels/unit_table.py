"""Draws the table of units: for each a row with statistics and distribution, and its details as text.

Pure functions: a `UnitsView` and a size in, lines out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from hettop.format import UNKNOWN, count, milliseconds, percent, short_count, significant, unit_name
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span, fit, line, runs, text_of, width_of, wrapped
from hettop.session.views.structs import UnitRow, UnitsView
from hettop.stats.axes import resampled
from hettop.text import clean
from hettop.tui.listing import Order, SortKey, matches, ordered
from hettop.units import NS_PER_MS

_MARKER = 2
_NAME = 12
_SHORT_NAME = 6
_NARROW = 50
_SMALLEST_VIOLIN = 12
_COMFORTABLE_VIOLIN = 24
_DETAIL_INDENT = 4
_LONGEST_DETAIL = 400  # characters
_LONGEST_REASON = 1_000  # characters of why a unit failed or cannot run
_NOTHING = "no details yet"
_INDENT = 35  # of the violin on its own line: leaves space for state and placement
_DIFFERS = "differs"  # instead of a comparison, for a unit with wrong outputs
_PER_JOULE = 1000.0  # mJ


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table. Columns of the lowest `rank` are left out first where the width is short.

    value: what rows are sorted by; largest_first: how they are sorted at first.
    """

    title: str
    width: int
    rank: int
    text: Callable[[UnitRow], str]
    value: Callable[[UnitRow], float | None]
    largest_first: bool = False


def _difference(row: UnitRow) -> str:
    if row.warning:
        return _DIFFERS
    if row.difference is None:
        return UNKNOWN
    return "best" if row.difference == 0 else percent(row.difference, signed=True)


def _per_joule(row: UnitRow) -> float | None:
    return _PER_JOULE / row.energy_mj if row.energy_mj else None


ENERGY = "mJ/inf"
PER_JOULE = "inf/J"
MISSED = "missed"
DIFFERENCE = "Δ mean"
_LATENCIES = ("mean", "P50", "P90", "P99", "min", "max", "std")
_SECONDARY = 7
"""Columns of a lower rank are shown only where there is room beyond the violin."""


def _latency(title: str, rank: int, value: Callable[[UnitRow], float | None]) -> Column:
    return Column(title, 6, rank, lambda row: milliseconds(value(row)), value)


COLUMNS = (
    Column("n", 6, 12, lambda row: short_count(row.n), lambda row: row.n, largest_first=True),
    _latency("mean", 6, lambda row: row.mean_ms),
    _latency("P50", 14, lambda row: row.p50_ms),
    _latency("P90", 15, lambda row: row.p90_ms),
    _latency("P99", 13, lambda row: row.p99_ms),
    _latency("min", 4, lambda row: row.min_ms),
    _latency("max", 10, lambda row: row.max_ms),
    _latency("std", 3, lambda row: row.std_ms),
    Column(
        "inf/s",
        7,
        7,
        lambda row: significant(row.throughput_per_s),
        lambda row: row.throughput_per_s,
        largest_first=True,
    ),
    Column(ENERGY, 8, 8, lambda row: significant(row.energy_mj), lambda row: row.energy_mj),
    Column(PER_JOULE, 7, 1, lambda row: significant(_per_joule(row)), _per_joule, largest_first=True),
    Column(DIFFERENCE, 8, 11, _difference, lambda row: None if row.warning else row.difference),
    Column(MISSED, 7, 9, lambda row: percent(row.missed), lambda row: row.missed, largest_first=True),
    Column("spikes", 7, 5, lambda row: short_count(row.spikes), lambda row: row.spikes, largest_first=True),
)


def sort_keys(columns: tuple[Column, ...]) -> list[SortKey[UnitRow]]:
    """What the table can be sorted by: the units' names, and each column that is shown."""
    shown = [SortKey(column.title, column.value, column.largest_first) for column in columns]
    return [SortKey("unit", lambda row: row.unit.lower()), *shown]


def arranged_rows(view: UnitsView, order: Order | None, wanted: str) -> UnitsView:
    """The view with the rows that match a filter, in this order."""
    kept = [row for row in view.rows if matches(wanted, row.unit, row.state, row.placed or "", *row.details)]
    return replace(view, rows=tuple(ordered(kept, order, sort_keys(COLUMNS))))


def row_text(row: UnitRow) -> str:
    """A row's figures with their names, for the clipboard: `CPU_AND_NE: n 4,210, mean 2.20 ms, …`."""
    figures = [
        f"{column.title} {column.text(row)}{' ms' if column.title in _LATENCIES else ''}" for column in COLUMNS if row.n
    ]
    known = [figure for figure in figures if not figure.endswith(UNKNOWN) and UNKNOWN + " " not in figure]
    return clean(f"{row.unit}: {', '.join(known) or row.state}", _LONGEST_DETAIL)


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Which columns fit, how long the names are, and where the violin is drawn and how wide (0: not at all)."""

    columns: tuple[Column, ...]
    name: int
    violin: int
    own_line: bool


def arrange(width: int, height: int, rows: Sequence[UnitRow], *, details: int = 0) -> Arrangement:
    """The best arrangement of these rows in a table of this size: the columns in the order of their rank, the violin,
    then the less important columns.

    The violin is behind the columns where they all fit, else on a line of its own where the height allows it.
    details: lines that opened details take.
    """
    wanted = tuple(_widened(column, rows) for column in COLUMNS if _is_known(column, rows))
    name = _NAME if width >= _NARROW else _SHORT_NAME
    room = width - _MARKER - name
    if room - sum(c.width for c in wanted) > _COMFORTABLE_VIOLIN:
        return Arrangement(wanted, name, room - sum(c.width for c in wanted) - 2, own_line=False)
    if height - details >= 2 * len(rows) + 2 and width - _INDENT > _COMFORTABLE_VIOLIN:
        return Arrangement(_fitting(wanted, room), name, width - _INDENT, own_line=True)
    columns = _fitting(tuple(column for column in wanted if column.rank >= _SECONDARY), room)
    left = room - sum(c.width for c in columns) - 2 if any(row.n for row in rows) else 0
    if left >= _SMALLEST_VIOLIN and width >= _NARROW:
        return Arrangement(columns, name, left, own_line=False)
    return Arrangement(_fitting(wanted, room), name, 0, own_line=False)


def _is_known(column: Column, rows: Sequence[UnitRow]) -> bool:
    """Whether it is to be shown: energy and the missed budget only where some row has it."""
    return column.title not in (ENERGY, PER_JOULE, MISSED) or any(column.value(row) is not None for row in rows)


def _widened(column: Column, rows: Sequence[UnitRow]) -> Column:
    """As wide as its longest text and a blank; at least as wide as usual, so that it stays where it is."""
    longest = max((len(column.text(row)) for row in rows if row.n), default=0)
    return column if longest < column.width else replace(column, width=longest + 1)


def column_at(arrangement: Arrangement, cell: int) -> str | None:
    """The title of the column whose heading is drawn at this cell; None beside them."""
    end = _MARKER + arrangement.name
    if cell < end:
        return "unit"
    for column in arrangement.columns:
        end += column.width
        if cell < end:
            return column.title
    return None


def _fitting(wanted: tuple[Column, ...], room: int) -> tuple[Column, ...]:
    """The most important columns that fit, in their order."""
    kept: set[str] = set()
    for column in sorted(wanted, key=lambda c: -c.rank):
        if column.width > room:
            break
        room -= column.width
        kept.add(column.title)
    return tuple(column for column in wanted if column.title in kept)


@dataclass(frozen=True, slots=True)
class Pointing:
    """Which unit is viewed, which one is under the cursor, whose details are open, and how the rows are sorted."""

    viewed: str | None = None
    cursor: str | None = None
    opened: str | None = None
    order: Order | None = None


class Drawn(NamedTuple):
    """The table's lines, the unit that each belongs to, and how many lines did not fit."""

    lines: list[Line]
    units: list[str | None]
    hidden: int


def draw_units(view: UnitsView, width: int, height: int, pointing: Pointing = Pointing()) -> Drawn:
    """The table as exactly `height` lines of `width` cells; the row of the cursor, else the active one, is shown."""
    table = _Table(
        view, arrange(width, height, view.rows, details=opened_lines(view, width, pointing)), width, pointing
    )
    rows: list[tuple[Line, str | None]] = [(table.heading(), None)] if height > 1 else []
    pointed = pointing.cursor or next((row.unit for row in view.rows if row.active), None)
    near = _near(view.rows, pointed, height)
    for row in near:
        rows += [(drawn, row.unit) for drawn in table.row(row, spare=height - len(view.rows) - 1)]
    rows += [(drawn, None) for drawn in proven(view, width)[: max(0, height - len(rows))]]
    rows += [(drawn, None) for drawn in table.beside(height - len(rows))]
    if table.plan.own_line and len(rows) < height and view.rows:
        rows.append((table.violin_foot(), None))
    rows += [(drawn, None) for drawn in table.absent(height - len(rows))]
    hidden = max(0, len(rows) - height) + len(view.rows) - len(near)  # those left out have a line each
    rows = in_sight(rows, height, pointed)
    rows += [(fit((), width), None)] * (height - len(rows))
    return Drawn([drawn for drawn, _ in rows], [unit for _, unit in rows], hidden)


def _near(rows: tuple[UnitRow, ...], unit: str | None, height: int) -> tuple[UnitRow, ...]:
    """The rows that can be visible together with this one; all where each has at least a line."""
    if len(rows) <= height:
        return rows
    at = next((i for i, row in enumerate(rows) if row.unit == unit), 0)
    return rows[max(0, at - height) : at + height + 1]


def in_sight(
    rows: list[tuple[Line, str | None]], height: int, unit: str | None, *, heading: bool = True
) -> list[tuple[Line, str | None]]:
    """At most `height` rows: the heading, and as many of this unit's rows as possible from its first."""
    if len(rows) <= height:
        return rows
    head = rows[:1] if heading and height > 1 else []
    room = height - len(head)
    own = [i for i, (_, owner) in enumerate(rows) if owner == unit and unit is not None] or [0]
    start = max(len(head), min(own[0], own[-1] - room + 1 if own[-1] - room + 1 > len(head) else len(head)))
    return (head + rows[start : start + room])[:height]


def opened_lines(view: UnitsView, width: int, pointing: Pointing) -> int:
    """How many lines the opened details take."""
    opened = next((row for row in view.rows if row.unit == pointing.opened), None)
    return 0 if opened is None else len(details_of(opened, width, opened=True))


def proven(view: UnitsView, width: int) -> list[Line]:
    """In a line, what is proven so far about the units that run; none while nothing is.

    The advice of a session compares P90 with at least 5% between them, at 95% confidence over all its looks.
    """
    advice = view.advice
    if advice is None or advice.unit is None:
        return []
    over = f" than {clean(advice.over, 40)}" if advice.over is not None else ""
    figures = ""
    if advice.p90_ns is not None and advice.over_p90_ns is not None:
        better, worse = (milliseconds(ns / NS_PER_MS) for ns in (advice.p90_ns, advice.over_p90_ns))
        figures = f", P90 {better} and {worse} ms"
    words = f"{clean(advice.unit, 40)} is faster{over}{figures}"
    return [fit(line(("proven so far: ", "good"), (words, "text"), (" (95%)", "muted")), width)]


def details_of(row: UnitRow, width: int, *, opened: bool = False) -> list[Span]:
    """All details of a unit as text lines.

    Where they were opened, with the whole error of a unit that failed and the last lines of its log.
    """
    room = max(1, width - _DETAIL_INDENT)
    details = [
        (text, "warning" if detail == row.warning_detail else "muted")
        for detail in (*(_of_figures(row) if opened else ()), *row.details)
        for text in wrapped(clean(detail, _LONGEST_DETAIL), room)
    ]
    if opened and row.error is not None:
        if len(why_failed(row)) > room - _NAME:  # else the row itself shows it
            details += [(text, "error") for text in wrapped(why_failed(row), room)]
        details += [(clean(text), "muted") for text in row.error.log]
    return details or ([(_NOTHING, "muted")] if opened else [])


def _of_figures(row: UnitRow) -> list[str]:
    """What the row's figures leave open, in words."""
    placed = f" on {row.placed}" if row.placed else ""
    found = [f"{row.state}{placed}"] if row.error is None else []
    if row.n and row.difference:
        found.append(f"mean {milliseconds(row.mean_ms)} ms, {significant(1 + row.difference)} times the best")
    if row.n and row.p99_needs:
        found.append(f"P99 {UNKNOWN}: needs {count(row.p99_needs)} more samples")
    if row.missed is not None:
        found.append(f"{percent(row.missed)} of the paced calls missed the budget")
    return found


def state_words(row: UnitRow) -> str:
    """The unit's state; of one that runs, also that it has no samples here."""
    waits = ", no samples yet" if row.state == "running" and not row.n else ""
    return clean(row.state) + waits


def why_failed(row: UnitRow) -> str:
    if row.error is None:
        return "failed"
    return "failed: " + clean(" · ".join(text for text in (row.error.message, row.error.hint) if text), _LONGEST_REASON)


def name_line(row: UnitRow, width: int, pointing: Pointing) -> Line:
    """The unit's state, a warning about it, and its name in `width` cells; the cursor is drawn over the name and behind
    it."""
    chosen = row.unit == pointing.cursor
    ink = "badge" if chosen else "active" if row.active else "text"
    name = clean(unit_name(row.unit, short=width < max(_NAME, len(row.unit) + 1)))
    if chosen:  # not by its colour alone
        name = text_of(fit(line((name, ink)), min(len(name), width - 1))) + glyphs.CHOSEN
    shown = fit(line((name, ink)), width)
    return (*line(_mark(row, pointing), ("!", "warning") if row.warning else (" ", "text")), *shown)


def _mark(row: UnitRow, pointing: Pointing) -> Span:
    if row.state == "failed" or row.error is not None:
        return glyphs.FAILED, "error"
    if row.runs_now:
        return glyphs.ACTIVE, "active"
    return (glyphs.VIEWED, "active") if row.unit == pointing.viewed else (" ", "text")


class _Table:
    """Draws the rows of one view in one arrangement."""

    def __init__(self, view: UnitsView, plan: Arrangement, width: int, pointing: Pointing) -> None:
        self.view = view
        self.pointing = pointing
        self.plan = plan
        self.width = width

    @cached_property
    def details_room(self) -> float:
        """Lines needed for every unit's details, beyond one per row; infinite while there are none."""
        lines = sum(len(details_of(row, self.width)) for row in self.view.rows)
        return lines + len(self.view.rows) * self.plan.own_line + 1 if lines else math.inf

    def heading(self) -> Line:
        titles = "".join(f"{self._titled(c.title):>{c.width}}" for c in self.plan.columns)
        spans = line((f"{'':{_MARKER}}{self._titled('unit'):{self.plan.name}}{titles}", "muted"))
        if self.plan.violin and not self.plan.own_line:
            spans = (*spans, ("  ", "text"), *self._axis())
        return fit(spans, self.width)

    def _axis(self) -> Line:
        """The axis of the violins; empty until there is one."""
        if not any(row.violin for row in self.view.rows):
            return ()
        return violin_axis(self.view.violin_low_ms, self.view.violin_high_ms, self.plan.violin)

    def _titled(self, title: str) -> str:
        order = self.pointing.order
        return title + order.arrow if order is not None and order.column == title else title

    def row(self, row: UnitRow, spare: int) -> list[Line]:
        """The row's numbers, then violin, error and details where `spare` lines allow it or they were opened."""
        opened = row.unit == self.pointing.opened
        rows = self._head(row, spare)
        if opened or spare >= self.details_room:
            rows += self._details(row)
        return rows

    def _head(self, row: UnitRow, spare: int) -> list[Line]:
        """One or two lines."""
        failed = row.error is not None or row.state == "failed"
        if failed and (spare < 1 or not row.n):
            return self._failure(row, spare)
        if not row.n and not self.plan.own_line:
            return [fit((*self._name(row), *line((f"  {state_words(row)}", "muted"))), self.width)]
        rows = [self._numbers(row)]
        if failed:
            return [*rows, fit(line((" " * _MARKER + why_failed(row), "error")), self.width)]
        return [*rows, self._violin_line(row)] if self.plan.own_line else rows

    def _details(self, row: UnitRow) -> list[Line]:
        details = details_of(row, self.width, opened=row.unit == self.pointing.opened)
        return [fit(line((" " * _DETAIL_INDENT, "text"), span), self.width) for span in details]

    def _failure(self, row: UnitRow, spare: int) -> list[Line]:
        """The error in place of numbers, on two lines where they fit."""
        name = self._name(row)
        margin = width_of(name) + 2
        words = wrapped(why_failed(row), self.width - margin) if spare > 0 else [why_failed(row)]
        if len(words) > 2:
            words = [words[0], " ".join(words[1:])]
        heads: list[Line] = [(*name, ("  ", "text")), ((" " * margin, "text"),)]
        return [fit((*head, (text, "error")), self.width) for head, text in zip(heads, words, strict=False)]

    def _name(self, row: UnitRow) -> Line:
        return name_line(row, self.plan.name, self.pointing)

    def _numbers(self, row: UnitRow) -> Line:
        spans: list[Span] = []
        for column in self.plan.columns:
            text = column.text(row) if row.n else "–"
            spans.append((f"{text:>{column.width}}", self._ink(column, row, text)))
        if self.plan.violin and not self.plan.own_line:
            spans += [("  ", "text"), *self._strip(row)]
        return fit((*self._name(row), *spans), self.width)

    @staticmethod
    def _ink(column: Column, row: UnitRow, text: str) -> str:
        if not row.n or text == UNKNOWN:
            return "muted"
        if column.title == DIFFERENCE:
            return "warning" if row.warning else "good" if text == "best" else "text"
        if column.title == "spikes" and row.spikes:
            return "high"
        if column.title == MISSED and row.missed:
            return "high"
        return "strong" if row.active and column.title in ("P50", "P90") else "text"

    def _strip(self, row: UnitRow) -> Line:
        low, high = self.view.violin_low_ms, self.view.violin_high_ms
        median = (row.p50_ms - low) / (high - low) if row.p50_ms is not None and high > low else None
        ink = "low" if row.active else "muted"
        return violin_strip(row.violin, median, self.plan.violin, ink, beyond=is_beyond(row, self.view))

    def _violin_line(self, row: UnitRow) -> Line:
        placed = f" on {clean(row.placed, 24)}" if row.placed else ""
        state = (clean(row.warning), "warning") if row.warning else (f"{state_words(row)}{placed}", "muted")
        words = fit(line((" " * _MARKER, "text"), state), _INDENT - 1)
        return fit((*words, (" ", "text"), *self._strip(row)), self.width)

    def violin_foot(self) -> Line:
        return fit(line((" " * _INDENT, "text"), *self._axis()), self.width)

    def beside(self, room: int) -> list[Line]:
        """How units and their variants differ, in at most `room` lines."""
        return [
            fit(line((clean(text, _LONGEST_DETAIL), "strong")), self.width) for text in self.view.beside[: max(0, room)]
        ]

    def absent(self, room: int) -> list[Line]:
        """Units that this machine cannot run, a line for each reason; in one line where they do not fit."""
        found = reasons(self.view)
        if not found or room < 1:
            return []
        if len(found) > room:
            found = {"not available here": [name for names in found.values() for name in names]}
        short = self.plan.name < _NAME
        return [
            fit(
                line((f"{'':{_MARKER}}{', '.join(unit_name(name, short=short) for name in names)}: {why}", "muted")),
                self.width,
            )
            for why, names in found.items()
        ]


def reasons(view: UnitsView) -> dict[str, list[str]]:
    """The units that cannot run here by reason, as most often one reason holds for all of them."""
    found: dict[str, list[str]] = {}
    for unit, why in view.absent:
        found.setdefault(clean(why, _LONGEST_REASON), []).append(clean(unit))
    return found


_LEVELS = len(glyphs.EIGHTHS) - 1
_FAINTEST = 0.004  # of the fullest column: below it a bar would claim more than one sample in a few hundred


def is_beyond(row: UnitRow, view: UnitsView) -> bool:
    """Whether samples of a unit lie above the violins' common axis, which ends at the slowest unit's P99."""
    return row.max_ms is not None and row.max_ms > view.violin_high_ms


def violin_strip(
    density: tuple[float, ...], median: float | None, width: int, ink: str = "low", *, beyond: bool = False
) -> Line:
    """`width` cells of density; `median` is its place on the axis, 0..1, and `beyond` marks samples above it. Empty
    without samples."""
    shown = resampled(density, width)
    if not shown:
        return fit((), width)
    characters = [
        glyphs.EIGHTHS[max(1, min(_LEVELS, round(share * _LEVELS)))] if share > _FAINTEST else " " for share in shown
    ]
    inks = [ink] * width
    if median is not None and 0 <= median <= 1:
        column = min(width - 1, int(median * width))
        characters[column], inks[column] = glyphs.MEDIAN, "strong"
    if beyond:
        characters[-1], inks[-1] = glyphs.ABOVE, "mid"
    return runs(characters, inks)


def violin_axis(low_ms: float, high_ms: float, width: int) -> Line:
    """The ends of the strips' common axis: `2.0 ─────── 9.8 ms`; nothing where there is no room for both."""
    left, right = milliseconds(low_ms), f"{milliseconds(high_ms)} ms"
    rule = width - len(left) - len(right) - 2
    if rule < 1:
        return ()
    return line((f"{left} {glyphs.AXIS * rule} {right}", "muted"))
