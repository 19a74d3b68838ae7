"""Precision variants in a report: what it means, the trade-off with its front, the table, notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hettop.events import FoundVariant, FoundVariants
from hettop.format import count, milliseconds, size
from hettop.report.page import Block, Figure, Items, Paragraph, table
from hettop.report.svg.plot import Scale, Series, Spot, plane
from hettop.session.sweep_findings import FAILED
from hettop.session.variant_findings import (
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

HEADING = (
    "",
    "precision",
    "unit",
    "n",
    "P50 ms",
    "P90 ms",
    "speed",
    "95% of speed",
    "size",
    "max diff",
    "cosine",
    "top-1",
    "why not",
)
LEFT = ("", "precision", "unit", "why not")
MARK = "●"


def blocks(found: FoundVariants) -> Iterator[Block]:
    """Headline, figure, table, notes."""
    for text, kind in variants_headline(found):
        yield Paragraph(text, warning=kind == FAILED)
    yield from _figure(found)
    if found.variants:
        yield table(HEADING, [_row(each) for each in found.variants], LEFT)
        yield Paragraph(
            f"{MARK} {ON_FRONT}. Speed: the median of the model as it is by the variant's, on the same unit."
        )
    notes = variant_notes(found)
    if notes:
        yield Items(notes)


def _row(each: FoundVariant) -> tuple[str, ...]:
    return (
        MARK if each.front else "",
        each.precision,
        each.unit,
        count(each.n),
        milliseconds(each.p50_ms),
        milliseconds(each.p90_ms),
        speed_of(each),
        interval_of(each),
        size(each.size_bytes),
        difference_of(each),
        "" if each.cosine is None else f"{each.cosine:.6f}",
        top1_of(each),
        each.error or "",
    )


def _figure(found: FoundVariants) -> Iterator[Figure]:
    """Latency against the difference: the front's points filled and joined, the others hollow."""
    points = [(each, x) for each in found.variants if (x := across(found, each)) is not None and each.p50_ms]
    if len(points) < 2:
        return
    several = len({each.unit for each, _ in points}) > 1
    series = [
        Series("front", _spots([pair for pair in points if pair[0].front], several)),
        Series("beaten", _spots([pair for pair in points if not pair[0].front], several), joined=False),
    ]
    name = other_axis(found)
    x_scale = Scale("size, MB" if name == "size" else f"largest {name}", log=False)
    svg = plane([each for each in series if each.spots], x_scale, Scale("P50 in ms", log=False))
    yield Figure(svg, f"Latency against {name}; what nothing else beats is filled and joined.")


def _spots(points: Sequence[tuple[FoundVariant, float]], several: bool) -> list[Spot]:
    return [
        Spot(x, each.p50_ms or 0.0, f"{each.precision} {each.unit}" if several else each.precision, not each.front)
        for each, x in sorted(points, key=lambda pair: pair[1])
    ]
