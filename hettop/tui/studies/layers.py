"""Time by layer as bars, and the share of each type of operation: where the milliseconds of a model go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hettop.format import milliseconds, percent
from hettop.text import clean
from hettop.tui.charts.lines import Line, line

if TYPE_CHECKING:
    from hettop.events import FoundLayers


def drawn(found: FoundLayers, width: int, height: int) -> list[Line]:  # noqa: ARG001 - scrolled
    return [
        line(
            (f"{clean(layer.name, 40):<40}", "text"),
            (f"{milliseconds(layer.ms):>8}", "strong"),
            (f" {percent(layer.share)}", "muted"),
        )
        for layer in found.layers
    ]
