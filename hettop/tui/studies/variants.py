"""Precision variants: how much faster, how much smaller, how far off, and which of them nothing else beats.

Pure: what was found and a size in, lines out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hettop.format import milliseconds, size, unit_name
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span
from hettop.report.terminal.plane import Axis, Plane
from hettop.session.variant_findings import (
    LONGEST_NAME,
    ON_FRONT,
    across,
    difference_of,
    interval_of,
    other_axis,
    speed_of,
    top1_of,
    variant_notes,
    variants_headline,
)
from hettop.text import clean
from hettop.report.terminal.tables import bar, headline, series, table
from hettop.report.terminal.rows import notes

if TYPE_CHECKING:
    from hettop.events import FoundVariant, FoundVariants

_HEADING = ("", "precision", "unit", "P50 ms", "P90", "speed", "95%", "size", "", "max diff", "top-1", "why not")
_LEFT = ("", "precision", "unit", "why not")
_DROP = ("P90", "95%", "top-1")
_WIDE = 100
_SIZE_BAR, _WIDE_SIZE_BAR = 6, 16
_LOWEST, _HIGHEST = 8, 18  # lines of the plot


def drawn(found: FoundVariants, width: int, height: int) -> list[Line]:
    """What it means, the table, the plot with the front, and notes."""
    short = width < _WIDE
    lines = headline(variants_headline(found, short=short), width)
    if found.variants:
        largest = max(each.size_bytes or 0 for each in found.variants)
        rows = [_row(each, largest, short=short) for each in found.variants]
        lines += [*table(_HEADING, rows, width, left=_LEFT, drop=_DROP), ()]
    lines += _plot(found, width, min(_HIGHEST, max(_LOWEST, height - len(lines) - 1)))
    return [*lines, *notes([f"{glyphs.RECORD} {ON_FRONT}", *variant_notes(found)], width)] if lines else []


def _row(each: FoundVariant, largest: int, *, short: bool) -> tuple[str | Span, ...]:
    return (
        _mark(each),
        (clean(each.precision, LONGEST_NAME), "strong"),
        unit_name(clean(each.unit, LONGEST_NAME), short=short),
        milliseconds(each.p50_ms),
        milliseconds(each.p90_ms),
        (speed_of(each), _proven(each)),
        (interval_of(each), "muted"),
        size(each.size_bytes),
        _size_bar(each, largest, _SIZE_BAR if short else _WIDE_SIZE_BAR),
        difference_of(each),
        top1_of(each),
        ("" if each.error is None else clean(each.error), "error"),
    )


def _mark(each: FoundVariant) -> Span:
    if each.error is not None and not each.n:
        return glyphs.FAILED, "error"
    return (glyphs.RECORD, "good") if each.front else (glyphs.DOT, "muted")


def _proven(each: FoundVariant) -> str:
    """The ink of its speed: whether it is proven to be faster, or slower."""
    if each.speed_ci is None:
        return "muted"
    low, high = each.speed_ci
    return "good" if low > 1 else "warning" if high < 1 else "text"


def _size_bar(each: FoundVariant, largest: int, cells: int) -> Span:
    """Padded, so that all begin at one place of a column that ends at the right."""
    text, ink = bar((each.size_bytes or 0) / largest if largest else 0.0, cells)
    return text.ljust(cells), ink


def _plot(found: FoundVariants, width: int, height: int) -> list[Line]:
    """Latency against the difference: a point for each variant, the front's joined."""
    points = [
        (each, (x, each.p50_ms))
        for each in found.variants
        if (x := across(found, each)) is not None and each.p50_ms is not None
    ]
    if len(points) < 2:
        return []
    name = other_axis(found)
    x_axis = Axis.around([x for _, (x, _) in points], "MB" if name == "size" else f"largest {name}", log=False)
    plane = Plane(width, height, x_axis, Axis.around([y for _, (_, y) in points], "P50 in ms", log=False))
    units = list(dict.fromkeys(each.unit for each, _ in points))
    plane.line(sorted(point for each, point in points if each.front), ink="good")
    for each, point in sorted(points, key=lambda pair: pair[0].front):
        glyph, ink = series(units.index(each.unit)) if len(units) > 1 else _mark(each)
        plane.point(*point, glyph, "good" if each.front else ink)
        plane.note(*point, clean(each.precision, LONGEST_NAME), "good" if each.front else "muted")
    for place, unit in enumerate(units if len(units) > 1 else []):
        plane.legend(series(place)[0], unit_name(clean(unit, LONGEST_NAME), short=width < _WIDE), series(place)[1])
    plane.legend(glyphs.AXIS, "the front", "good")
    return [*plane.lines(), ()]
