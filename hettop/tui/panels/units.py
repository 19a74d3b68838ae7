"""Panel 3: a row per unit with its statistics and its violin strip; a click on a row chooses the unit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from textual.events import Click
from textual.geometry import Size
from textual.message import Message

from hettop.format import UNKNOWN, milliseconds, percent, short_count, significant, unit_name
from hettop.session.views import UnitRow, UnitsView
from hettop.text import clean
from hettop.tui.charts import glyphs
from hettop.tui.charts.lines import Line, Span, fit, line, width_of, wrapped
from hettop.tui.charts.violin import violin_axis, violin_strip
from hettop.tui.panels.panel import Panel, inner_size
from hettop.tui.picture import Picture

_MARKER = 2
_NAME = 12
_SHORT_NAME = 6
_NARROW = 50
_SMALLEST_VIOLIN = 12
_COMFORTABLE_VIOLIN = 24
_INDENT = 30  # of the violin on a line of its own: leaves the state and placement their room
_ROOMY_SCREEN = 34  # lines from which on a row may take two


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table. Those of the lowest `rank` go first when room is short."""

    title: str
    width: int
    rank: int
    text: Callable[[UnitRow], str]


def _difference(row: UnitRow) -> str:
    if row.difference is None:
        return UNKNOWN
    return "best" if row.difference == 0 else percent(row.difference, signed=True)


ENERGY = "mJ/inf"
COLUMNS = (
    Column("n", 7, 7, lambda row: short_count(row.n)),
    Column("mean", 7, 9, lambda row: milliseconds(row.mean_ms)),
    Column("P90", 7, 10, lambda row: milliseconds(row.p90_ms)),
    Column("min", 7, 3, lambda row: milliseconds(row.min_ms)),
    Column("max", 7, 6, lambda row: milliseconds(row.max_ms)),
    Column("std", 7, 4, lambda row: milliseconds(row.std_ms)),
    Column("inf/s", 7, 5, lambda row: significant(row.throughput_per_s)),
    Column("Δ best", 8, 8, _difference),
    Column(ENERGY, 8, 6, lambda row: significant(row.energy_mj)),
    Column("spikes", 7, 2, lambda row: short_count(row.spikes)),
)


@dataclass(frozen=True, slots=True)
class Arrangement:
    """What fits: which columns, how long the names, where the violin goes and how wide it is (0: nowhere)."""

    columns: tuple[Column, ...]
    name: int
    violin: int
    own_line: bool


def arrange(width: int, height: int, rows: int, *, energy: bool = False) -> Arrangement:
    """The best arrangement for a table of this size: as many columns as fit, then the violin.

    The violin has a line of its own where there is height for it, else it stands behind the columns, if need be in
    the place of the less important ones. `energy`: whether there is any to show.
    """
    wanted = tuple(column for column in COLUMNS if energy or column.title != ENERGY)
    name = _NAME if width >= _NARROW else _SHORT_NAME
    room = width - _MARKER - name
    if room - sum(c.width for c in wanted) > _COMFORTABLE_VIOLIN:
        return Arrangement(wanted, name, room - sum(c.width for c in wanted) - 2, own_line=False)
    if height >= 2 * rows + 2 and width - _INDENT > _COMFORTABLE_VIOLIN:
        return Arrangement(_fitting(wanted, room), name, width - _INDENT, own_line=True)
    violin = _SMALLEST_VIOLIN if width >= 60 else 0
    columns = _fitting(wanted, room - violin - 2 * bool(violin))
    left = room - sum(c.width for c in columns) - 2
    return Arrangement(columns, name, left if violin else 0, own_line=False)


def _fitting(wanted: tuple[Column, ...], room: int) -> tuple[Column, ...]:
    """The most important columns that fit, in their order."""
    kept: set[str] = set()
    for column in sorted(wanted, key=lambda c: -c.rank):
        if column.width > room:
            break
        room -= column.width
        kept.add(column.title)
    return tuple(column for column in wanted if column.title in kept)


def draw_units(view: UnitsView, width: int, height: int) -> tuple[list[Line], list[str | None]]:
    """The table's lines, and beside each the unit it belongs to."""
    table = _Table(view, arrange(width, height, len(view.rows), energy=_has_energy(view)), width)
    rows: list[tuple[Line, str | None]] = [(table.heading(), None)] if height > 1 else []
    for row in view.rows:
        rows += [(drawn, row.unit) for drawn in table.row(row, spare=height - len(view.rows) - 1)]
    if table.plan.own_line and len(rows) < height and view.rows:
        rows.append((table.violin_foot(), None))
    rows += [(drawn, None) for drawn in table.absent(height - len(rows))]
    rows = _with_active(rows, view, height)
    rows += [(fit((), width), None)] * (height - len(rows))
    return [drawn for drawn, _ in rows], [unit for _, unit in rows]


def _with_active(rows: list[tuple[Line, str | None]], view: UnitsView, height: int) -> list[tuple[Line, str | None]]:
    """At most `height` rows; the heading stays, and the active unit's row is among the rest."""
    if len(rows) <= height:
        return rows
    active = {row.unit for row in view.rows if row.active}
    last = max((i for i, (_, unit) in enumerate(rows) if unit in active), default=0)
    start = max(0, last - height + 1)
    head = rows[:1] if height > 1 else []
    return (head + rows[start + len(head) :])[:height]


def _has_energy(view: UnitsView) -> bool:
    return any(row.energy_mj is not None for row in view.rows)


class _Table:
    """Draws the rows of one view in one arrangement."""

    def __init__(self, view: UnitsView, plan: Arrangement, width: int) -> None:
        self.view = view
        self.plan = plan
        self.width = width

    @property
    def details_room(self) -> int:
        """Lines beyond one a row that it takes to tell every unit's details."""
        lines = [len(row.details) + self.plan.own_line for row in self.view.rows]
        return max(1, sum(lines) + 1) if sum(len(row.details) for row in self.view.rows) else 10**9

    def heading(self) -> Line:
        titles = "".join(f"{c.title:>{c.width}}" for c in self.plan.columns)
        spans = line((f"{'':{_MARKER}}{'unit':{self.plan.name}}{titles}", "muted"))
        if self.plan.violin and not self.plan.own_line:
            axis = violin_axis(self.view.violin_low_ms, self.view.violin_high_ms, self.plan.violin)
            spans = (*spans, ("  ", "text"), *axis)
        return fit(spans, self.width)

    def row(self, row: UnitRow, spare: int) -> list[Line]:
        """One to three lines: numbers, then the violin or the error where there is room (`spare` lines)."""
        failed = row.error is not None or row.state == "failed"
        if failed and (spare < 1 or not row.n):
            return self._failure(row, spare)
        if not row.n and not self.plan.own_line:
            return [fit((*self._name(row), *line((f"  {clean(row.state)}", "muted"))), self.width)]
        rows = [self._numbers(row)]
        if failed:
            return [*rows, fit(line((" " * _MARKER + self._why(row), "error")), self.width)]
        if self.plan.own_line:
            rows.append(self._violin_line(row))
        if spare >= self.details_room:
            rows += [
                fit(line((" " * (_MARKER + 2) + clean(text, 400), "warning" if row.warning else "muted")), self.width)
                for text in row.details
            ]
        return rows

    def _failure(self, row: UnitRow, spare: int) -> list[Line]:
        """The error in place of numbers, on two lines where there is room for it."""
        name = self._name(row)
        margin = width_of(name) + 2
        words = wrapped(self._why(row), self.width - margin) if spare > 0 else [self._why(row)]
        if len(words) > 2:
            words = [words[0], " ".join(words[1:])]
        heads: list[Line] = [(*name, ("  ", "text")), ((" " * margin, "text"),)]
        return [fit((*head, (text, "error")), self.width) for head, text in zip(heads, words, strict=False)]

    def _name(self, row: UnitRow) -> Line:
        mark, ink = self._mark(row)
        name = clean(unit_name(row.unit, short=self.plan.name < _NAME))
        return (
            *fit(line((mark, ink)), _MARKER),
            *fit(line((name, "active" if row.active else "text")), self.plan.name),
        )

    @staticmethod
    def _mark(row: UnitRow) -> Span:
        if row.state == "failed" or row.error is not None:
            return glyphs.FAILED, "error"
        if row.warning:
            return "!", "warning"
        return (glyphs.ACTIVE, "active") if row.active else (" ", "text")

    def _why(self, row: UnitRow) -> str:
        if row.error is None:
            return "failed"
        return "failed: " + clean(" · ".join(text for text in (row.error.message, row.error.hint) if text))

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
        if column.title == "Δ best":
            return "good" if text == "best" else "text"
        if column.title == "spikes" and row.spikes:
            return "high"
        return "strong" if row.active and column.title in ("mean", "P90") else "text"

    def _strip(self, row: UnitRow) -> Line:
        low, high = self.view.violin_low_ms, self.view.violin_high_ms
        median = (row.p50_ms - low) / (high - low) if row.p50_ms is not None and high > low else None
        return violin_strip(row.violin, median, self.plan.violin, "low" if row.active else "muted")

    def _violin_line(self, row: UnitRow) -> Line:
        placed = f" on {clean(row.placed, 24)}" if row.placed else ""
        told = (clean(row.warning), "warning") if row.warning else (f"{clean(row.state)}{placed}", "muted")
        words = fit(line((" " * _MARKER, "text"), told), _INDENT - 1)
        return fit((*words, (" ", "text"), *self._strip(row)), self.width)

    def violin_foot(self) -> Line:
        axis = violin_axis(self.view.violin_low_ms, self.view.violin_high_ms, self.plan.violin)
        return fit(line((" " * _INDENT, "text"), *axis), self.width)

    def absent(self, room: int) -> list[Line]:
        """Units this machine cannot run, a line for each reason; in one line where there is no room for all."""
        reasons = _reasons(self.view)
        if not reasons or room < 1:
            return []
        if len(reasons) > room:
            reasons = {"not here": [name for names in reasons.values() for name in names]}
        short = self.plan.name < _NAME
        return [
            fit(
                line((f"{'':{_MARKER}}{', '.join(unit_name(name, short=short) for name in names)}: {why}", "muted")),
                self.width,
            )
            for why, names in reasons.items()
        ]


def _reasons(view: UnitsView) -> dict[str, list[str]]:
    """Why units cannot run here, and which: most often one reason for all of them."""
    found: dict[str, list[str]] = {}
    for unit, why in view.absent:
        found.setdefault(clean(why), []).append(clean(unit))
    return found


class UnitsPanel(Panel):
    """The table of units."""

    NUMBER = 3

    @dataclass
    class Chosen(Message):
        """The user clicked a unit's row."""

        unit: str

    def __init__(self, *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__(ascii=ascii)
        self._at: list[str | None] = []

    @property
    def violin_columns(self) -> int:
        """How wide the violin strips are."""
        width, height = inner_size(self.size.width, self.size.height)
        return max(1, arrange(width, height, self._count, energy=self._energy).violin)

    @property
    def _energy(self) -> bool:
        return self.picture is not None and _has_energy(self.picture.session.units)

    @property
    def _count(self) -> int:
        return len(self.picture.session.units.rows) if self.picture else 0

    def show(self, picture: Picture) -> None:
        before = self._wanted_rows(self.picture)
        super().show(picture)
        if self._wanted_rows(picture) != before:
            self.refresh(layout=True)

    @staticmethod
    def _wanted_rows(picture: Picture | None) -> tuple[int, int]:
        view = picture.session.units if picture else None
        return (len(view.rows), len(_reasons(view))) if view else (0, 0)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual's
        rows, absent = self._wanted_rows(self.picture)
        inside, _ = inner_size(width, viewport.height)
        two_lines = (
            viewport.height >= _ROOMY_SCREEN and arrange(inside, viewport.height, rows, energy=self._energy).own_line
        )
        lines = 2 * rows + 1 if two_lines else rows
        return max(4, lines + absent + 3)

    def title(self, picture: Picture) -> Line:
        return line(("units", "title"), (self._condition(picture), "muted"))

    @staticmethod
    def _condition(picture: Picture) -> str:
        load = clean(picture.session.header.load)
        return "" if load == "none" else f" · under {load}"

    def body(self, picture: Picture, width: int, height: int) -> list[Line]:
        drawn, self._at = draw_units(picture.session.units, width, height)
        return drawn

    def on_click(self, event: Click) -> None:
        framed = inner_size(self.size.width, self.size.height) != (self.size.width, self.size.height)
        y = event.y - 1 if framed else event.y
        if 0 <= y < len(self._at) and (unit := self._at[y]) is not None:
            self.post_message(self.Chosen(unit))
