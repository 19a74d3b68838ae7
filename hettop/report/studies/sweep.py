"""A sweep in a report: what it means, curves of rate and time, tables, notes; or units under loads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hettop.events import FoundPoint, FoundSweep
from hettop.format import count, milliseconds, percent, significant
from hettop.report.page import Block, Figure, Items, Paragraph, table
from hettop.report.svg.plot import Scale, Series, Spot, plane
from hettop.session.load_findings import change_of, loads_headline
from hettop.session.sweep_findings import (
    AXES,
    BATCH,
    CURVE_HEADING,
    CURVE_LEFT,
    FAILED,
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

RATE, TIME = "items/s", "ms a call"
LOADS_HEADING = ("unit", "load", "n", "mean ms", "P90 ms", "change of P90", "inf/s", "")
METHOD = (
    "Points took turns on each unit. items/s: batch x calls by the sum of their times. t = a + b x: mean time of a "
    "call by least squares, up to where the rate falls if that leaves three points; half at a / b is the batch that "
    "reaches half of the rate that ever larger ones tend to (Hockney's n½). Knee: Kneedle, S = 1 (Satopää et al., "
    "2011); a question mark says that fewer than 95 % of resamples have the same."
)


def blocks(found: FoundSweep) -> Iterator[Block]:
    """Headline, figures, tables, notes."""
    if under_loads(found):
        yield from _loads(found)
    else:
        for text, kind in sweep_headline(found):
            yield Paragraph(text, warning=kind == FAILED)
        for axis in AXES:
            yield from _figures(along(found, axis), axis)
        if found.curves:
            yield table(CURVE_HEADING, curve_rows(found), CURVE_LEFT)
        if found.points:
            yield table(POINT_HEADING, point_rows(found), POINT_LEFT)
            yield Paragraph(METHOD)
    notes = [*found.notes, *left_out(found)]
    if notes:
        yield Items(notes)


def _loads(found: FoundSweep) -> Iterator[Block]:
    for text, _ in loads_headline(found.points):
        yield Paragraph(text)
    rows = [
        (
            point.unit,
            point.load or "",
            count(point.n),
            milliseconds(point.mean_ms),
            milliseconds(point.p90_ms),
            "" if (change := change_of(found.points, point)) is None else percent(change, signed=True),
            significant(point.items_per_s),
            point.error or "",
        )
        for point in found.points
    ]
    yield table(LOADS_HEADING, rows, ("unit", "load", ""))


def _figures(curves: Sequence[Along], axis: str) -> Iterator[Figure]:
    """Rate and time; along sizes time alone, for with the size an item grows."""
    for what in (RATE, TIME) if axis == BATCH else (TIME,):
        ticks = sorted({x for each in curves for x, _ in each.points})
        across = Scale("batch" if axis == BATCH else "pixels a side", ticks=ticks)
        failed = [
            (x, f"failed on {each.name}" if len(curves) > 1 else "failed")
            for each in curves
            for x, point in each.points
            if _value(what, point) is None
        ]
        svg = plane([_series(each, what) for each in curves], across, Scale(what, from_zero=True), failed)
        if svg:
            words = "Items a second" if what == RATE else "Mean time of a call"
            yield Figure(svg, f"{words} by {axis}." + (" The knee is named." if what == RATE else ""))


def _series(each: Along, what: str) -> Series:
    spots = []
    for x, point in each.points:
        value = _value(what, point)
        if value is not None:
            knee = what == RATE and each.curve is not None and x == each.curve.knee
            spots.append(Spot(x, value, KNEE if knee else ""))
    return Series(each.name, spots)


def _value(what: str, point: FoundPoint) -> float | None:
    return point.items_per_s if what == RATE else point.mean_ms
