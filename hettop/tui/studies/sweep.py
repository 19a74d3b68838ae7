"""A sweep: items a second and time of a call over batches or sizes, the knee, the fit; or units under loads.

Pure: what was found and a size in, lines out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span
from hettop.report.terminal.plane import Axis, Plane
from hettop.session.sweep_findings import (
    AXES,
    BATCH,
    CURVE_HEADING,
    CURVE_LEFT,
    KNEE,
    POINT_HEADING,
    POINT_LEFT,
    Along,
    along,
    curve_rows,
    left_out,
    point_rows,
    sweep_headline,
    under_loads,
)
from hettop.tui.studies import loads
from hettop.report.terminal.tables import GAP, beside, headline, legend, series, table
from hettop.report.terminal.rows import notes

if TYPE_CHECKING:
    from hettop.events import FoundPoint, FoundSweep

RATE, TIME = "items/s", "ms a call"

_WIDE = 100  # from here on units have their whole names
_LOWEST, _HIGHEST = 9, 20  # lines of a plot
_BELOW = 4  # lines that a plot leaves to the table where it can


def drawn(found: FoundSweep, width: int, height: int) -> list[Line]:
    """What it means, then the plots, a row for each curve and each point, and notes."""
    noted = notes([*found.notes, *left_out(found)], width)
    if under_loads(found):
        return [*loads.drawn(found, width), *noted]
    short = width < _WIDE
    lines = headline(sweep_headline(found, short=short), width)
    room = min(_HIGHEST, max(_LOWEST, height - len(lines) - _BELOW))
    for axis in AXES:
        lines += _plots(along(found, axis, short=short), axis, width, room)
    if found.curves:
        drop = ("half at", "R²", "least time")
        lines += [*table(CURVE_HEADING, curve_rows(found, short=short), width, left=CURVE_LEFT, drop=drop), ()]
    if found.points:
        rows: list[list[str | Span]] = [[*row[:-1], _last(row[-1])] for row in point_rows(found, short=short)]
        lines += [*table(POINT_HEADING, rows, width, left=POINT_LEFT, drop=("size", "n")), ()]
    return [*lines, *noted]


def _last(text: str) -> Span:
    return (text, "good") if text == KNEE or not text else (f"{glyphs.FAILED} {text}", "error")


def _plots(curves: Sequence[Along], axis: str, width: int, height: int) -> list[Line]:
    """Rate and time side by side; along sizes time alone, for with the size an item grows."""
    if not curves:
        return []
    failed = any(point.error is not None for each in curves for _, point in each.points)
    names = [each.name for each in curves] if len(curves) > 1 else []
    marks = legend(names, width, [((glyphs.FAILED, "error"), "failed")] * failed)
    if axis != BATCH:
        return [*marks, *_plot(curves, "pixels a side", TIME, width, height), ()]
    half = (width - GAP) // 2
    left = _plot(curves, axis, RATE, half, height)
    return [*marks, *beside(left, _plot(curves, axis, TIME, width - GAP - half, height), half), ()]


def _plot(curves: Sequence[Along], across: str, what: str, width: int, height: int) -> list[Line]:
    xs = sorted({x for each in curves for x, _ in each.points})
    values = [value for each in curves for _, point in each.points if (value := _value(what, point)) is not None]
    upright = Axis.around(values, what, from_zero=True)
    plane = Plane(width, height, Axis.around(xs, across, marks=xs), upright)
    for place, each in enumerate(curves):
        _draw(plane, each, what, upright.low, series(place))
    return plane.lines()


def _draw(plane: Plane, each: Along, what: str, bottom: float, mark: Span) -> None:
    """Its line, its points, the knee, and at the bottom what failed."""
    glyph, ink = mark
    known = [(x, value) for x, point in each.points if (value := _value(what, point)) is not None]
    plane.line(known, ink=ink)
    for x, value in known:
        knee = each.curve is not None and x == each.curve.knee
        plane.point(x, value, glyph, "good" if knee else ink)
        if knee and what == RATE:
            plane.note(x, value, KNEE, "good")
    for x, point in each.points:
        if point.error is not None and _value(what, point) is None:
            plane.point(x, bottom, glyphs.FAILED, "error")


def _value(what: str, point: FoundPoint) -> float | None:
    return point.items_per_s if what == RATE else point.mean_ms
