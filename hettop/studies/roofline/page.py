"""The roofline, for a report: layers under the roofs of the machine, and those that lose most time below them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from hettop.format import milliseconds, percent, significant, size
from hettop.report.explain import footnote
from hettop.report.page import Block, Items, Paragraph, Plot, Scale, Series, Spot, Table
from hettop.studies.layers.notes import MOST_ROWS, bound_notes
from hettop.studies.layers.page import (
    BOUNDS,
    UnderRoof,
    bound_index,
    furthest,
    roofline_headline,
    under_roofs,
    whole_under_roof,
)
from hettop.studies.layers.result import CacheUse, LayerRow, LayersResult, Roofs

HEADING = ("", "layer", "op", "ms", "lost ms", "MACs/B", "GFLOP/s", "roof", "of roof", "bound", "cache")
LEFT = ("layer", "op", "bound", "cache")
DROP = ("MACs/B", "op", "cache", "ms", "roof")
NUMBERED = 5
"""Layers that lose most time have their numbers in the table in the plot."""
BEYOND = 1.5
"""The roofs reach so many times beyond what is placed under them."""


def blocks(found: LayersResult) -> Iterator[Block]:
    """Sentences, the plot, the layers, those furthest below their roofs first, the kernels, and notes."""
    if found.roofs is not None and not found.roofs.measured:
        yield Paragraph("PUBLISHED roofs: nothing was measured on this device.", tone="warning")
    first, *rest = roofline_headline(found)
    yield Paragraph(first, "strong")
    if rest:
        yield Paragraph(" ".join(rest))
    if found.cache is not None:
        yield Paragraph(cache_words(found.cache))
    below = furthest(found)
    yield from _plot(found, below)
    yield _table(found, below)
    yield from _kernels(found.roofs)
    yield Items([*_left_out(found, below), *bound_notes(found), *found.notes])


def _plot(found: LayersResult, below: Sequence[UnderRoof]) -> Iterator[Block]:
    """Layers and the whole model by intensity and rate under both roofs; none where there is nothing to place."""
    roofs, layers, whole = found.roofs, under_roofs(found), whole_under_roof(found)
    placed = [*layers, *([whole] if whole is not None else [])]
    if roofs is None or not placed or roofs.ridge_oi <= 0:
        return
    numbers = {id(each.layer): str(i) for i, each in enumerate(below[:NUMBERED], 1)}
    series = [*_roofs(roofs, [each.oi for each in placed])]
    for bound, (_, words, tone) in enumerate(BOUNDS):
        spots = [
            Spot(each.oi, each.gflops, mark=numbers.get(id(each.layer), ""), share=each.layer.share)
            for each in sorted(layers, key=lambda each: (id(each.layer) in numbers, -each.layer.share))
            if bound_index(each.layer.limit) == bound
        ]
        if spots:
            series.append(Series(words, spots, joined=False, tone=tone))
    if whole is not None:
        series.append(Series("whole model", [Spot(whole.oi, whole.gflops)], joined=False, tone="strong"))
    if whole is not None and found.cache is not None and found.cache.oi:
        series.append(
            Series("whole model, empirical", [Spot(found.cache.oi, whole.gflops)], joined=False, tone="accent")
        )
    yield Plot(
        series,
        Scale("MACs per byte", log=True),
        Scale("GFLOP/s", log=True),
        "Layers by operational intensity and achieved rate, both axes logarithmic.",
    )
    names = ", ".join(f"{i} {each.layer.name}" for i, each in enumerate(below[:NUMBERED], 1))
    numbered = f"; numbers: rows of the table ({names})" if names else ""
    yield Paragraph(f"Point size: share of the time{numbered}.", "muted")


def _roofs(roofs: Roofs, intensities: Sequence[float]) -> Iterator[Series]:
    """The slope of memory up to the ridge, the level of computing from there on."""
    begin, end = min(*intensities, roofs.ridge_oi) / BEYOND, max(*intensities, roofs.ridge_oi) * BEYOND
    slope, level = math.sqrt(begin * roofs.ridge_oi), math.sqrt(roofs.ridge_oi * end)
    memory = f"memory {significant(roofs.gbytes_per_s)} GB/s"
    compute = f"compute {significant(roofs.gflops)} GFLOP/s"
    ridge = f"ridge {significant(roofs.ridge_oi)} MACs per byte"
    yield Series(
        memory,
        [
            Spot(begin, roofs.attainable(begin)),
            Spot(slope, roofs.attainable(slope), memory),
            Spot(roofs.ridge_oi, roofs.gflops, ridge),
        ],
        dots=False,
        tone="mid",
    )
    yield Series(
        compute,
        [Spot(roofs.ridge_oi, roofs.gflops), Spot(level, roofs.gflops, compute), Spot(end, roofs.gflops)],
        dots=False,
        tone="low",
    )


def _table(found: LayersResult, below: Sequence[UnderRoof]) -> Table:
    """Layers below their roofs, then those at or above them, then those without MACs; and the whole model."""
    placed = {id(each.layer): each for each in (*below, *under_roofs(found))}
    others = [layer for layer in found.layers if found.roofs is not None and id(layer) not in placed]
    listed = [*((each.layer, each) for each in placed.values()), *((layer, None) for layer in others)]
    rows = [[str(number), *_row(*each)] for number, each in enumerate(listed[:MOST_ROWS], 1)]
    whole = whole_under_roof(found)
    if whole is not None:
        rows.append(["", "whole model", *_row(whole.layer, whole)[1:]])
    return Table(HEADING, rows, LEFT, DROP)


def _row(layer: LayerRow, under: UnderRoof | None) -> list[str]:
    """But for its number; without rates where it is not under a roof."""
    rates = [""] * 5
    if under is not None:
        rates = [
            milliseconds(under.lost_ms) if under.of_roof < 1 else "",
            *(significant(each) for each in (under.oi, under.gflops, under.attainable)),
            percent(under.of_roof),
        ]
    known = [layer.limit or "", "fits" if layer.cache_resident else ""]
    return [layer.name, layer.op, milliseconds(layer.ms), *rates, *known]


def _kernels(roofs: Roofs | None) -> Iterator[Table]:
    """What the roofs are the best of; recordings do not keep it."""
    if roofs is None or not roofs.compute:
        return
    kinds = (("compute", "GFLOP/s", roofs.compute), ("memory", "GB/s", roofs.streaming))
    rows = [
        (what, f"{kernel.name} ({unit})", significant(kernel.best), significant(kernel.median))
        for what, unit, kernels in kinds
        for kernel in sorted(kernels, key=lambda each: -each.best)
    ]
    yield Table(("roof", "kernel", "best", "median"), rows, left=("roof", "kernel"))


def cache_words(cache: CacheUse) -> str:
    """What the counters say of a call."""
    hits = "" if cache.hit_rate is None else f"the last-level cache had {percent(cache.hit_rate)} of its accesses; "
    intensity = "unknown" if cache.oi is None else f"{significant(cache.oi)} MACs per byte"
    return (
        f"By the processor's counters {hits}a call read {size(round(cache.nbytes))}: empirical intensity {intensity}."
    )


def _left_out(found: LayersResult, below: Sequence[UnderRoof]) -> Iterator[str]:
    """The footnote on the method, and what is not in the table or the plot."""
    yield footnote("roofline")
    if any("Quantize" in op or op.startswith("QLinear") for op in found.by_op):
        yield "quantized model: the compute roof is that of float32; layers on integers may exceed it"
    if found.cache_why:
        yield f"cache hits and empirical intensity: n/a: {found.cache_why}"
    if len(below) > MOST_ROWS:
        lost = milliseconds(math.fsum(each.lost_ms for each in below[MOST_ROWS:]))
        yield f"{len(below) - MOST_ROWS} more layers lose {lost} ms in total"
    idle = [layer for layer in found.layers if not layer.macs]
    if idle and found.roofs is not None:
        ms = milliseconds(math.fsum(layer.ms for layer in idle))
        yield f"layers without MACs are not in the plot: {len(idle)}, {ms} ms in total"
    if found.rest_n:
        yield f"{found.rest_n} smaller layers, {milliseconds(found.rest_ms)} ms, are not in the plot"
