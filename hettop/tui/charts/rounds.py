"""Draws rates by round: a bar for all together, and across it the levels of the best alone and of the ideal sum.

Pure: values in, lines of spans out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hettop.format import short_count
from hettop.tui.charts import glyphs
from hettop.tui.charts.histogram import GUTTER
from hettop.tui.charts.lines import Line, fit, line, runs
from hettop.tui.charts.scale import nice_ceiling, row_labels, row_of

BEST, IDEAL = glyphs.TRACK_DONE, glyphs.FENCE
LEVELS = len(glyphs.EIGHTHS) - 1
WIDTHS = (6, 4, 3, 2, 1)
"""Cells of a round, a gap included where there is more than one: as wide as there is room for all of them."""

LABEL_EVERY = 3  # lines
HEADROOM = 1.02


@dataclass(frozen=True, slots=True)
class Rates:
    """Of one round, inferences a second; None where a block came to nothing."""

    together: float | None
    best: float | None
    ideal: float | None


def draw_rounds(rounds: Sequence[Rates], last: int, width: int, height: int) -> list[Line]:
    """The newest of `rounds` that find room, numbered so that the newest is round `last`; two lines are the axis."""
    known = [rate for each in rounds for rate in (each.together, each.best, each.ideal) if rate is not None]
    columns, plot = width - GUTTER, height - 2
    if not known or columns < 1 or plot < 1:
        return []
    cells = next((each for each in WIDTHS if each * len(rounds) <= columns), 1)
    shown = rounds[-(columns // cells) :]
    top = nice_ceiling(max(known) * HEADROOM)
    labels = {row: _short(text) for row, text in row_labels(top, plot, max(1, plot // LABEL_EVERY)).items()}
    rows = []
    for row in range(plot):
        joint = glyphs.AXIS_TICK if row in labels else glyphs.AXIS_UP
        drawn = [cell for each in shown for cell in _cells(each, row, plot, top, cells)]
        head = f"{labels.get(row, ''):>{GUTTER - 2}} {joint}"
        rows.append(fit(line((head, "muted"), *runs([c for c, _ in drawn], [ink for _, ink in drawn])), width))
    return [*rows, *_axis(len(shown), cells, last, width)]


def _short(label: str) -> str:
    """A label that the gutter has room for."""
    return label if len(label) <= GUTTER - 2 else short_count(round(float(label)))


def _cells(rates: Rates, row: int, rows: int, top: float, cells: int) -> list[tuple[str, str]]:
    """One line of one round."""
    if rates.best is not None and row_of(rates.best, top, rows) == row:
        return [(BEST, "mid")] * cells
    if rates.ideal is not None and row_of(rates.ideal, top, rows) == row:
        return [(IDEAL, "strong")] * cells
    gap = [(" ", "text")] if cells > 1 else []
    return [_bar(rates, row, rows, top)] * (cells - len(gap)) + gap


def _bar(rates: Rates, row: int, rows: int, top: float) -> tuple[str, str]:
    if rates.together is None:
        return (glyphs.DOT if row == rows - 1 else " "), "muted"
    level = round(rates.together / top * rows * LEVELS) - (rows - 1 - row) * LEVELS
    better = rates.best is None or rates.together >= rates.best
    return glyphs.EIGHTHS[min(max(level, 0), LEVELS)], "good" if better else "low"


def _axis(n: int, cells: int, last: int, width: int) -> list[Line]:
    drawn = n * cells
    first, newest = str(last - n + 1), str(last)
    gap = drawn - len(first) - len(newest) - (cells > 1)
    words = f"{first}{' ' * gap}{newest}" if n > 1 and gap > 0 else newest
    head = f"{'0':>{GUTTER - 2}} {glyphs.AXIS_CORNER}"
    return [
        fit(line((head + glyphs.AXIS * drawn, "muted")), width),
        fit(line((f"{'round':>{GUTTER - 2}}  ", "muted"), (words, "muted")), width),
    ]
