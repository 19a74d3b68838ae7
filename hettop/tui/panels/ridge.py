"""The ridgeline: the distribution of every unit in lines of its own, over one axis of latencies."""

from __future__ import annotations

import math

from hettop.format import UNKNOWN, clock, count, milliseconds, percent, unit_name
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span, fit, line, runs
from hettop.session.views.structs import LatencyView, RidgeRow, RidgeView, Scale, SessionView
from hettop.stats.axes import resampled
from hettop.text import clean
from hettop.tui.canvas import Canvas
from hettop.tui.panels.histogram import Ruler, budget_mark
from hettop.units import NS_PER_S

_GUTTER, _NARROW_GUTTER = 12, 11
_WIDE = 50
_NARROWEST, _LOWEST = 30, 3
P50, P90, P99 = glyphs.MEDIAN, glyphs.DASHED, glyphs.GUIDE


def _gutter(width: int) -> int:
    return _GUTTER if width >= _WIDE else _NARROW_GUTTER


def ridge_columns(width: int) -> int:
    """How many cells a ridgeline of this width has for its densities, to request from the view."""
    return max(1, width - _gutter(width))


def has_room(width: int, height: int) -> bool:
    """Whether a ridgeline can be read at this size."""
    return width >= _NARROWEST and height >= _LOWEST


def ridge_legend(view: RidgeView) -> Line:
    """The lines through the distributions, for the panel's lower edge."""
    if view.axis is None:
        return ()
    marks = ((P50, "strong", "P50"), (P90, "mid", "P90"), (P99, "high", "P99"))
    spans = [span for glyph, ink, name in marks for span in ((f"{glyph} ", ink), (f"{name}  ", "muted"))]
    if view.budget_ms is None:
        return line(*spans[:-1], (spans[-1][0].rstrip(), "muted"))
    quantile = (f" at P{100 * view.budget_quantile:g}", "muted")
    return line(*spans, *budget_mark(view.budget_ms, view.axis), quantile)


def draw_ridge(session: SessionView, width: int, height: int, *, braille: bool = True) -> list[Line]:
    """The distributions as exactly `height` lines of `width` cells."""
    view = session.ridge
    if view is None or height < 1 or width < 1:
        return []
    curves = sum(1 for row in view.rows if row.curve)
    # A line of the axis comes before units that have no curve, but not before those that have one.
    axis = 1 if 0 < curves < len(view.rows) and curves + 2 <= height else 0
    rows, left_out = _shown(view.rows, height - axis)
    foot = 0 if view.axis is None else min(2, height - len(rows) - bool(left_out))
    curves = sum(1 for row in rows if row.curve)  # those that are shown
    # The lines that are left after one for each row and the axis, for those that have a curve.
    free = height - foot - len(rows) - bool(left_out)
    drawn: list[Line] = []
    ruler = None if view.axis is None else Ruler(view.axis, ridge_columns(width), _gutter(width), view.budget_ms)
    low = free < curves  # some curve has a single line, with the P90 alone
    for row in rows:
        if row.curve and ruler is not None:
            more = math.ceil(free / curves)
            free, curves = free - more, curves - 1
            drawn += _Ridge(row, ruler, session, braille=braille).lines(1 + more)
        else:
            drawn.append(_without_curve(row, ruler, session, width))
    if left_out:
        words = f"{left_out} more unit{'' if left_out == 1 else 's'}: z enlarges the panel"
        drawn.append(fit(line((words, "muted")), width))
    if ruler is not None and foot:
        below, above = sum(row.below for row in rows), sum(row.above for row in rows)
        drawn += ruler.foot(below, above, zero="", heads="P90 ms" if low else "")[-foot:]
    return [fit(row, width) for row in [*drawn, *[()] * (height - len(drawn))][:height]]


def _shown(rows: tuple[RidgeRow, ...], height: int) -> tuple[list[RidgeRow], int]:
    """The units that fit, one line each at least, and how many do not: first to go are those without a distribution."""
    if len(rows) <= height:
        return list(rows), 0
    ranked = sorted(range(len(rows)), key=lambda at: not rows[at].curve)[: max(1, height - 1)]
    kept = [rows[at] for at in sorted(ranked)]
    return kept, len(rows) - len(kept) if height > 1 else 0


class _Ridge:
    """One unit's distribution: name and numbers at the left, curve and marks at the right."""

    def __init__(self, row: RidgeRow, ruler: Ruler, session: SessionView, *, braille: bool) -> None:
        self.row, self.ruler, self.session, self.braille = row, ruler, session, braille

    def lines(self, height: int) -> list[Line]:
        """`height` lines of it."""
        canvas = Canvas(self.ruler.columns, height, braille=self.braille)
        tops = [math.ceil(value * canvas.high - 1e-9) for value in resampled(self.row.curve, canvas.wide)]
        cdf = self.session.ridge is not None and self.session.ridge.scale is Scale.CDF
        for x, top in enumerate(tops):
            if not cdf:
                canvas.column(x, top)
            elif top:
                canvas.line(max(x - 1, 0), max(tops[max(x - 1, 0)] - 1, 0), x, top - 1)
        inks = self._bands()
        rows = []
        for characters, (head, ink) in zip(canvas.lines(), self._heads(height), strict=True):
            marked, own = self._marked(characters, inks)
            rows.append(line((head, ink), *runs(marked, own)))
        return rows

    def _bands(self) -> list[str]:
        p90, p99 = self.ruler.cell(self.row.p90_ms), self.ruler.cell(self.row.p99_ms)
        return [self.ruler.band(cell, p90, p99) for cell in range(self.ruler.columns)]

    def _marked(self, characters: list[str], inks: list[str]) -> tuple[list[str], list[str]]:
        """With the lines of budget and percentiles; where they meet, P90 is on top."""
        marked, own = list(characters), list(inks)
        if self.ruler.budget is not None:
            marked[self.ruler.budget], own[self.ruler.budget] = glyphs.BUDGET, "accent"
        row = self.row
        for value, glyph, ink in ((row.p99_ms, P99, "high"), (row.p50_ms, P50, "strong"), (row.p90_ms, P90, "mid")):
            cell = self.ruler.cell(value)
            if cell is not None:
                marked[cell], own[cell] = glyph, ink
        return marked, own

    def _heads(self, height: int) -> list[Span]:
        """The name, and below it as many numbers as there are lines; the P90 in any case."""
        row, room = self.row, self.ruler.gutter - 1
        p90 = milliseconds(row.p90_ms)
        ink = name_ink(row, self.session)
        if height == 1:
            whole = len(name_of(row, self.session, room))
            if whole + 1 + len(p90) > room and row.p90_ms is not None and 0.1 <= row.p90_ms < 1:
                p90 = f"{row.p90_ms:.2f}"  # a digit less leaves room for `CPU@1`
            name = name_of(row, self.session, room - len(p90) - 1)
            return [(f"{name:<{room - len(p90)}}{p90} ", ink)]
        numbers = [f"P90 {p90}", f"P50 {milliseconds(row.p50_ms)}", f"P99 {milliseconds(row.p99_ms)}"]
        if row.budget is not None and row.budget.n:
            numbers.insert(1, f"{percent(row.budget.above / row.budget.n)} over")
        numbers.append(f"n {count(row.n)}")
        rest: list[Span] = [(f" {text:<{room}}"[: room + 1], "text") for text in numbers[: height - 1]]
        blank: list[Span] = [(" " * (room + 1), "text")] * (height - 1 - len(rest))
        return [(f"{name_of(row, self.session, room):<{room + 1}}", ink), *rest, *blank]


def name_of(row: RidgeRow, session: SessionView, room: int) -> str:
    """The unit's name in this many cells, after a mark for the unit that runs, or the one that is viewed."""
    viewed = row.unit == session.latency.unit
    mark = glyphs.ACTIVE if row.measured else glyphs.VIEWED if viewed else " "
    return mark + _shortened(unit_name(row.unit, short=True), max(1, room - 1))


def _shortened(name: str, room: int) -> str:
    """The name in so many cells; its number of threads stays, which may be all that differs: `C…@2`."""
    base, at, threads = name.partition("@")
    kept = room - len(at + threads) - 1
    return clean(name if not at or len(name) <= room or kept < 1 else f"{base[:kept]}{glyphs.MORE}{at}{threads}", room)


def name_ink(row: RidgeRow, session: SessionView) -> str:
    """The viewed unit stands out."""
    return "active" if row.unit == session.latency.unit else "text"


def _without_curve(row: RidgeRow, ruler: Ruler | None, session: SessionView, width: int) -> Line:
    room = _gutter(width) - 1
    words = missing_words(row, session)
    spans = line((f"{name_of(row, session, room):<{room + 1}}", name_ink(row, session)), (words, "muted"))
    at = None if ruler is None or ruler.budget is None else ruler.gutter + ruler.budget
    used = room + 1 + len(words)
    if at is None or at <= used:
        return spans
    return line(*spans, (" " * (at - used), "text"), (glyphs.BUDGET, "accent"))


def missing_words(row: RidgeRow | LatencyView, session: SessionView) -> str:
    """Why a unit has no distribution, and since when it has no samples."""
    if row.unit is None:
        return "no unit yet"
    if row.n:
        return f"{count(row.n)} sample{'' if row.n == 1 else 's'}: a distribution needs {count(row.needs)} more"
    state = next((clean(each.state, 40) for each in session.units.rows if each.unit == row.unit), UNKNOWN)
    if row.last_ns is None:
        return "no samples yet" if state == "running" else f"no samples yet: {state}"
    load = clean(session.header.load, 20)
    age_ns = max(0, session.header.elapsed_ns - row.last_ns)
    failed = f"{state}: " if state == "failed" else ""
    if age_ns < session.latency.window_ns:  # then it has samples of another load
        return f"{failed}no samples under load {load}; of another load until {clock(row.last_ns)}"
    return f"{failed}no samples since {clock(row.last_ns)}, {_age(age_ns)} ago"


def _age(age_ns: int) -> str:
    """A duration as people say it: `34 s`, `2 min`, `3 h`."""
    whole_s = age_ns // NS_PER_S
    return f"{whole_s} s" if whole_s < 120 else f"{whole_s // 60} min" if whole_s < 7200 else f"{whole_s // 3600} h"
