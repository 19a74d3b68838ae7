"""The roofline, for a report: layers under the roofs of the machine, and those that lose most time below them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from hettop.events import FoundLayers
from hettop.format import milliseconds, percent, significant
from hettop.report.layer_figures import NUMBERED, roofline
from hettop.report.page import Block, Figure, Items, Paragraph
from hettop.report.studies.layers import bound_notes, without_empty
from hettop.session.layer_findings import UnderRoof, furthest, roofline_headline

HEADING = ("", "layer", "op", "ms", "lost ms", "MACs/B", "GFLOP/s", "roof", "of roof", "bound", "cache")
LEFT = ("layer", "op", "bound", "cache")
MOST_ROWS = 30


def blocks(found: FoundLayers) -> Iterator[Block]:
    """Sentences, the plot, the layers furthest below their roofs, and notes."""
    if found.roofs is not None and not found.roofs.measured:
        yield Paragraph("PUBLISHED roofs: nothing was measured on this device.", warning=True)
    yield Paragraph(" ".join(roofline_headline(found)))
    if plot := roofline(found):
        yield Figure(
            plot,
            "Layers by operational intensity and achieved rate, both axes logarithmic. Discs are bound by compute, "
            f"squares by memory; the larger, the more time. Numbers are those of the table (the first {NUMBERED}).",
        )
    below = furthest(found)
    if below:
        rows = [_row(number, each) for number, each in enumerate(below[:MOST_ROWS], 1)]
        yield without_empty(HEADING, rows, LEFT)
    yield Items([*_left_out(found, below), *bound_notes(found), *found.notes])


def _row(number: int, each: UnderRoof) -> list[str]:
    layer = each.layer
    return [
        str(number),
        layer.name,
        layer.op,
        milliseconds(layer.ms),
        milliseconds(each.lost_ms),
        significant(each.oi),
        significant(each.gflops),
        significant(each.attainable),
        percent(each.of_roof),
        layer.bound or "",
        "fits" if layer.cache_resident else "",
    ]


def _left_out(found: FoundLayers, below: Sequence[UnderRoof]) -> Iterator[str]:
    yield "GFLOP/s count two FLOP for each MAC; lost is the time beyond what the roof allows"
    if len(below) > MOST_ROWS:
        lost = milliseconds(math.fsum(each.lost_ms for each in below[MOST_ROWS:]))
        yield f"{len(below) - MOST_ROWS} more layers lose {lost} ms together"
    idle = [layer for layer in found.layers if not layer.macs]
    if idle and found.roofs is not None:
        ms = milliseconds(math.fsum(layer.ms for layer in idle))
        yield f"{len(idle)} layers without MACs, {ms} ms, are not in the plot"
    if found.rest_n:
        yield f"{found.rest_n} smaller layers, {milliseconds(found.rest_ms)} ms, are not in the plot"
