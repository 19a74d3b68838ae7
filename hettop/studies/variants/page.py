"""Precision variants in a report: what it means, the trade-off with its front, the table, notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hettop.format import count, milliseconds, size
from hettop.report.page import Block, Items, Paragraph, Plot, Scale, Series, Spot, Table
from hettop.studies.sweep.page import TONES
from hettop.studies.variants.findings import (
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
from hettop.studies.variants.result import VariantRow, VariantsResult

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
DROP = ("n", "95% of speed", "P90 ms", "cosine")
MARK = "●"
METHOD = "Variants took turns on each unit. Speed: the median of the model as it is by the variant's, on the same unit."


def blocks(found: VariantsResult) -> Iterator[Block]:
    """Headline, figure, table, notes."""
    found = found.with_reference()
    for text, kind in variants_headline(found):
        yield Paragraph(text, TONES.get(kind, "text"))
    yield from _plot(found)
    if found.variants:
        yield Table(HEADING, [_row(each) for each in found.variants], LEFT, DROP)
        yield Paragraph(f"{MARK} {ON_FRONT}. {METHOD}")
    notes = variant_notes(found)
    if notes:
        yield Items(notes)


def _row(each: VariantRow) -> tuple[str, ...]:
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


def _plot(found: VariantsResult) -> Iterator[Plot]:
    """Latency against the difference: the front's points joined, the others hollow."""
    points = [(each, x) for each in found.variants if (x := across(found, each)) is not None and each.p50_ms]
    if len(points) < 2:
        return
    several = len({each.unit for each, _ in points}) > 1
    series = [
        Series("front", _spots([pair for pair in points if pair[0].front], several), tone="good"),
        Series("beaten", _spots([pair for pair in points if not pair[0].front], several), joined=False, tone="muted"),
    ]
    name = other_axis(found)
    x_scale = Scale("size, MB" if name == "size" else f"largest {name}", log=False)
    caption = f"Latency against {name}; what nothing else beats is filled and joined."
    yield Plot([each for each in series if each.spots], x_scale, Scale("P50 in ms", log=False), caption)


def _spots(points: Sequence[tuple[VariantRow, float]], several: bool) -> list[Spot]:
    return [
        Spot(x, each.p50_ms or 0.0, f"{each.precision} {each.unit}" if several else each.precision, not each.front)
        for each, x in sorted(points, key=lambda pair: pair[1])
    ]
