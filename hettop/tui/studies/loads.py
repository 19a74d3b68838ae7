"""A sweep over competing loads: what each does to the P90 of each unit, as bars that can be compared.

Pure: what was found and a width in, lines out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hettop.format import count, milliseconds, percent, significant, unit_name
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span
from hettop.session.load_findings import change_of, loads_headline
from hettop.session.sweep_findings import LONGEST_NAME
from hettop.text import clean
from hettop.report.terminal.tables import bar, headline, table

if TYPE_CHECKING:
    from hettop.events import FoundPoint, FoundSweep

_HEADING = ("unit", "load", "n", "mean ms", "P90 ms", "", "change", "inf/s")
_WIDE = 100
_OTHER_CELLS = 62  # of the columns beside the bar
_SHORTEST_BAR, _LONGEST_BAR = 8, 40
_SLOWER, _MUCH_SLOWER = 0.1, 0.5  # of P90: what a user feels, and what breaks a budget


def drawn(found: FoundSweep, width: int) -> list[Line]:
    """The worst of it in a sentence, then a row for each unit and load."""
    short = width < _WIDE
    lines = headline(loads_headline(found.points, short=short), width)
    cells = min(_LONGEST_BAR, max(_SHORTEST_BAR, width - _OTHER_CELLS))
    rows = [_row(found, point, cells, short=short) for point in found.points]
    return [*lines, *table(_HEADING, rows, width, left=("unit", "load", ""), drop=("n", "mean ms")), ()]


def _row(found: FoundSweep, point: FoundPoint, cells: int, *, short: bool) -> tuple[str | Span, ...]:
    change = change_of(found.points, point)
    return (
        unit_name(clean(point.unit, LONGEST_NAME), short=short),
        clean(point.load or "", LONGEST_NAME),
        count(point.n),
        milliseconds(point.mean_ms),
        milliseconds(point.p90_ms),
        _bar(found, point, cells, _ink(change)),
        ("" if change is None else percent(change, signed=True), _ink(change)),
        significant(point.items_per_s),
    )


def _bar(found: FoundSweep, point: FoundPoint, cells: int, ink: str) -> Span:
    if point.p90_ms is None:
        return f"{glyphs.FAILED} {clean(point.error or '')}", "error"
    highest = max(each.p90_ms or 0.0 for each in found.points)
    return bar(point.p90_ms / highest if highest else 0.0, cells, ink)


def _ink(change: float | None) -> str:
    """By what it means: as good as alone, slower, much slower."""
    if change is None:
        return "accent"
    return "low" if change < _SLOWER else "mid" if change < _MUCH_SLOWER else "high"
