"""The histogram of one unit: its bars or its CDF, the percentiles above them and the axis below."""

from __future__ import annotations

import math

from hettop.format import UNKNOWN, count, milliseconds, percent, short_count
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span, fit, line, runs, width_of
from hettop.session.views.structs import Axis, BudgetShare, LatencyView, Scale
from hettop.stats.axes import log_ticks, row_labels, row_of, ticks
from hettop.tui.canvas import Canvas

GUTTER = 7
_NARROWEST_WITH_GUTTER = 30
_TICK_EVERY = 10  # columns: a label such as `12.50` and a blank on either side
_LOG_TICK_EVERY = 6  # columns: a label such as `0.5`
_LABEL_EVERY = 3  # lines
_HALF = 0.5
"""Samples at the foot of a logarithmic axis of counts: a column with one sample can be seen."""


def plot_columns(width: int) -> int:
    """How many cells a histogram of this width has for its bars, to request from the view."""
    return max(1, width - _gutter(width))


def _gutter(width: int) -> int:
    return GUTTER if width >= _NARROWEST_WITH_GUTTER else 0


def draw_histogram(view: LatencyView, width: int, height: int, *, braille: bool = True) -> list[Line]:
    """The histogram of a unit with enough samples as exactly `height` lines of `width` cells."""
    if height < 1 or width < 1:
        return []
    numbers = fit(numbers_line(view, width), width)
    if height == 1:
        return [numbers]
    rows = [numbers]
    plot = _Plot(view, width, braille=braille)
    foot = 0 if height < 5 else 2
    if height >= 4:
        rows.append(plot.marks())
    rows += plot.bars(height - len(rows) - foot)
    rows += plot.ruler.foot(view.below, view.above, zero="" if view.scale is Scale.LOG_Y else "0")[:foot]
    return rows


def centred(words: str, width: int, height: int) -> list[Line]:
    """A line of words in the middle of an empty panel."""
    rows = [fit((), width)] * height
    if not height:
        return rows
    rows[height // 2] = fit(line((" " * max(0, (width - len(words)) // 2), "text"), (words, "muted")), width)
    return rows


def numbers_line(view: LatencyView, width: int) -> Line:
    """`P50 2.13   P90 2.31   P99 3.62   max 6.54   n 4,210`, as much as fits."""
    for sizes in ((3, True, True), (2, True, True), (2, False, True), (1, False, False), (1, False, None)):
        drawn = _numbers(view, *sizes)
        if width_of(drawn) <= width:
            return drawn
    return drawn


def _numbers(view: LatencyView, blanks: int, needs: bool, rest: bool | None) -> Line:
    """`rest`: True for max and n too, False for max only, None for the percentiles only."""
    p99 = milliseconds(view.p99_ms)
    if view.p99_ms is None and view.n:
        p99 = f"{UNKNOWN}: needs {count(view.p99_needs)} more samples" if needs and view.p99_needs else UNKNOWN
    spans: list[Span] = []
    for name, value, ink in (
        ("P50", milliseconds(view.p50_ms), "low"),
        ("P90", milliseconds(view.p90_ms), "mid"),
        ("P99", p99, "high"),
        *((("max", milliseconds(view.max_ms), "high"),) if rest is not None else ()),
        *((("n", count(view.n), "muted"),) if rest else ()),
    ):
        spans += [(" " * blanks if spans else "", "text"), (name, ink), (" ", "text")]
        spans.append((value, "muted" if value.startswith(UNKNOWN) else "strong"))
    return line(*spans)


def budget_words(budget: BudgetShare | None, places: Axis, *, cdf: bool) -> Line:
    """The budget, how many samples were above it, and how many may be."""
    if budget is None:
        return line(("no budget: --budget sets one", "muted")) if cdf else ()
    share = f" ({percent(budget.above / budget.n)})" if budget.above and budget.n else ""
    series = "responses" if budget.responses else "samples"
    over = budget.n > 0 and budget.above > round((1 - budget.quantile) * budget.n, 6)
    return line(
        *budget_mark(budget.limit_ms, places),
        (": ", "muted"),
        (f"{count(budget.above)} of {count(budget.n)} {series} above{share}", "high" if over else "strong"),
        (f", P{100 * budget.quantile:g} allows {100 * round(1 - budget.quantile, 8):g}%", "muted"),
    )


def budget_mark(limit_ms: float, places: Axis | None) -> Line:
    """The name of the budget's line, or on which side of the axis it would be."""
    name = f"budget {milliseconds(limit_ms)} ms"
    if places is not None and not 0 <= places.place(limit_ms) <= 1:
        return line((f"{name}, {'right' if limit_ms > places.high_ms else 'left'} of the axis", "muted"))
    return line((f"{glyphs.BUDGET} ", "accent"), (name, "muted"))


def scale_words(scale: Scale, places: Axis | None) -> str:
    """What the title says of the scale; nothing of a linear one that was chosen automatically."""
    log = places is not None and places.log
    if scale in (Scale.AUTO, Scale.LOG_X):
        return " · log x" if log else ""
    return f" · {scale.value}{', log x' if log else ''}"


def fitted(counts: tuple[int, ...], columns: int) -> list[int]:
    """The counts in this many columns; columns of a wider panel are added up, those of a narrower one repeated."""
    if len(counts) < columns:
        return [counts[x * len(counts) // columns] for x in range(columns)]
    sums = [0] * columns
    for i, n in enumerate(counts):
        sums[i * columns // len(counts)] += n
    return sums


class Ruler:
    """An axis of latencies over `columns` cells, `gutter` cells from the left."""

    def __init__(self, places: Axis, columns: int, gutter: int, budget_ms: float | None = None) -> None:
        self.places, self.columns, self.gutter = places, columns, gutter
        inside = budget_ms is not None and 0 <= places.place(budget_ms) <= 1
        self.budget = self.cell(budget_ms) if inside else None

    def cell(self, value_ms: float | None) -> int | None:
        """The cell of a latency; beyond an end it is drawn at that end."""
        if value_ms is None or not self.columns or not math.isfinite(value_ms):
            return None
        place = min(max(self.places.place(value_ms), 0.0), 1.0)
        return min(self.columns - 1, math.floor(place * self.columns + 1e-9))

    def band(self, cell: int, p90: int | None, p99: int | None) -> str:
        """The ink of a cell: up to the one of P90, up to the one of P99, or beyond."""
        if p90 is None or cell <= p90:
            return "low"
        return "mid" if p99 is None or cell <= p99 else "high"

    def _ticks(self) -> list[tuple[int, str]]:
        low, high = self.places.low_ms, self.places.high_ms
        if self.places.log:
            found = log_ticks(low, high, max(1, self.columns // _LOG_TICK_EVERY))
        else:
            found = ticks(low, high, max(1, self.columns // _TICK_EVERY))
        return [(cell, label) for value, label in found if (cell := self.cell(value)) is not None]

    def foot(self, below: int, above: int, zero: str = "0", heads: str = "") -> list[Line]:
        """The axis, and below it milliseconds under the ticks and the numbers of samples beyond the ends.

        `heads`: what stands before the axis in the lines above; not shown where samples below it are counted.
        """
        characters = [glyphs.AXIS] * self.columns
        inks = ["muted"] * self.columns
        room = [" "] * (self.gutter + self.columns)
        beyond = f"+{short_count(above)} {glyphs.ABOVE}" if above else ""
        before = f"{glyphs.BELOW} +{short_count(below)}" if below else ""
        start = max(0, self.gutter - len(before)) if before else 0
        if self.gutter and not before:
            room[: self.gutter] = f"{heads:>{self.gutter - 1}} "
        end = len(room) - len(beyond)
        for cell, label in self._ticks():
            characters[cell] = glyphs.AXIS_DOWN
            at = max(0, self.gutter + cell - len(label) // 2)
            if (
                at >= start + len(before) + bool(before)
                and at + len(label) < end
                and not "".join(room[max(0, at - 1) : at]).strip()
            ):
                room[at : at + len(label)] = label
        if self.budget is not None:
            characters[self.budget], inks[self.budget] = glyphs.BUDGET, "accent"
        head = f"{zero:>{self.gutter - 2}} {glyphs.AXIS_CORNER}" if self.gutter else ""
        width = self.gutter + self.columns
        labels = line(
            ("".join(room[:start]), "muted"),
            (before, "low"),
            ("".join(room[start + len(before) : end]), "muted"),
            (beyond, "high"),
        )
        return [fit(line((head, "muted"), *runs(characters, inks)), width), fit(labels, width)]


class _Plot:
    """A drawing of the histogram: columns, their bands and the marks above them."""

    def __init__(self, view: LatencyView, width: int, *, braille: bool) -> None:
        self.view, self.width, self.braille = view, width, braille
        self.gutter = _gutter(width)
        self.columns = plot_columns(width)
        self.ruler = Ruler(view.axis, self.columns, self.gutter, None if view.budget is None else view.budget.limit_ms)
        self.p90, self.p99 = self.ruler.cell(view.p90_ms), self.ruler.cell(view.p99_ms)
        self.bands = [self.ruler.band(cell, self.p90, self.p99) for cell in range(self.columns)]
        self.marked = [
            (column, label, ink)
            for value, label, ink in (
                (view.p50_ms, "50", "low"),
                (view.p90_ms, "90", "mid"),
                (view.p99_ms, "99", "high"),
                (view.max_ms, "max", "high"),
            )
            if (column := self.ruler.cell(value)) is not None
        ]

    def marks(self) -> Line:
        """A mark above each percentile's column, with its name where it fits."""
        characters = [" "] * self.columns
        inks = ["text"] * self.columns
        for i, (column, label, ink) in enumerate(self.marked):
            following = self.marked[i + 1][0] if i + 1 < len(self.marked) else self.columns
            text = glyphs.MARK + label
            start = column
            if column + len(text) > following:
                text = glyphs.MARK
                free = label + glyphs.MARK
                # At the right edge the name goes to the left of its mark.
                if i + 1 == len(self.marked) and not "".join(characters[max(0, column - len(label)) : column]).strip():
                    start, text = max(0, column - len(label)), free[-column - 1 :]
            characters[start : start + len(text)] = text
            inks[start : start + len(text)] = [ink] * len(text)
        head = " " * self.gutter
        return fit(line((head, "text"), *runs(characters, inks)), self.width)

    def bars(self, height: int) -> list[Line]:
        """The bars, or the curve of the CDF; a column with any sample shows at least one dot."""
        if height < 1:
            return []
        canvas = Canvas(self.columns, height, braille=self.braille)
        counts = fitted(self.view.counts, canvas.wide)
        if self.view.scale is Scale.CDF:
            _draw_cdf(canvas, counts, self.view)
        else:
            top = max(counts, default=0) or 1
            for x, n in enumerate(counts):
                canvas.column(x, math.ceil(_height(n, top, self.view.scale) * canvas.high - 1e-9))
        labels = self._labels(max(counts, default=0) or 1, height)
        rows = []
        for row, characters in enumerate(canvas.lines()):
            inks = list(self.bands)
            self._guides(characters, inks)
            if row == height - 1 and self.view.above:
                characters[-1], inks[-1] = glyphs.ABOVE, "high"
            if row == height - 1 and self.view.below:
                characters[0], inks[0] = glyphs.BELOW, "low"
            label = labels.get(row, "")
            joint = glyphs.AXIS_TICK if label else glyphs.AXIS_UP
            head = f"{label:>{self.gutter - 2}} {joint}" if self.gutter else ""
            rows.append(fit(line((head, "muted"), *runs(characters, inks)), self.width))
        return rows

    def _labels(self, top: int, height: int) -> dict[int, str]:
        most = max(1, height // _LABEL_EVERY)
        if self.view.scale is Scale.CDF:
            return {row: f"{label}%" for row, label in row_labels(100, height, most).items()}
        if self.view.scale is Scale.LOG_Y:
            powers = [10**exponent for exponent in range(len(str(top)))]
            return {row_of(_height(n, top, Scale.LOG_Y), 1.0, height): short_count(n) for n in powers}
        return {row: short_count(round(float(label))) for row, label in row_labels(top, height, most).items()}

    def _guides(self, characters: list[str], inks: list[str]) -> None:
        """Dotted lines down from P90 and P99, which separate the bands without colour, and the line of the budget."""
        for column, ink in ((self.p90, "mid"), (self.p99, "high")):
            if column is not None and characters[column] == " ":
                characters[column], inks[column] = glyphs.GUIDE, ink
        if self.ruler.budget is not None:
            characters[self.ruler.budget], inks[self.ruler.budget] = glyphs.BUDGET, "accent"


def _height(n: int, top: int, scale: Scale) -> float:
    """The height of a column relative to the highest one."""
    if scale is not Scale.LOG_Y or not n:
        return n / top
    return math.log(n / _HALF) / math.log(top / _HALF)


def _draw_cdf(canvas: Canvas, counts: list[int], view: LatencyView) -> None:
    """The share of samples up to each column, those below the axis included."""
    so_far, before = view.below, round(view.below / view.n * (canvas.high - 1))
    for x, n in enumerate(counts):
        so_far += n
        height = round(min(so_far / view.n, 1.0) * (canvas.high - 1))
        canvas.line(max(x - 1, 0), before, x, height)
        before = height
