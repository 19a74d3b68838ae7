"""Time by layer and the roofline, for a report."""

from __future__ import annotations

from collections.abc import Iterator

from hettop.events import FoundLayers
from hettop.format import milliseconds, percent
from hettop.report.page import Block, Items, Table


def blocks(found: FoundLayers) -> Iterator[Block]:
    """A row for each layer, and notes."""
    rows = [(layer.name, layer.op, milliseconds(layer.ms), percent(layer.share)) for layer in found.layers]
    yield Table(("layer", "op", "ms", "share"), rows, left=("layer", "op"))
    if found.notes:
        yield Items(found.notes)
