"""Draws a roofline: roofs in braille dots, layers as points, both axes logarithmic.

Knows how wide it may be and no terminal; source of the form: Williams et al., "Roofline", CACM 52(4), 2009.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hettop.format import significant
from hettop.studies.layers.rows import FLOPS_PER_MAC, LayerRow, Roofs

ROWS = 14
WIDEST, NARROWEST = 72, 24
MARGIN = 9
"""Cells at the left for labels of the upright axis."""

LAYER, LAYERS, MODEL = "○", "●", "◆"
BRAILLE = 0x2800
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bits of a braille cell by row and column of its 4 x 2 dots."""

ROOM = 1.5
"""The axes reach so many times beyond the outermost points."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A logarithmic scale over so many cells."""

    low: float
    high: float
    cells: int

    def at(self, value: float) -> float:
        """Where it lies, in cells from the low end."""
        return math.log(value / self.low) / math.log(self.high / self.low) * self.cells

    def value(self, cell: float) -> float:
        return float(self.low * (self.high / self.low) ** (cell / self.cells))

    def powers(self) -> list[float]:
        """Powers of ten within the scale."""
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        return [10.0**exponent for exponent in range(first, last + 1)]


def plot(roofs: Roofs, layers: Sequence[LayerRow], whole: LayerRow, width: int) -> list[str]:
    """Lines of the plot with axes and a legend; `layers` are those that have an intensity and a rate."""
    columns = max(NARROWEST, min(WIDEST, width - MARGIN - 1))
    points = [*layers, *([whole] if whole.oi and whole.gflops else [])]
    intensities = [each.oi for each in points if each.oi] + [roofs.ridge / FLOPS_PER_MAC]
    rates = [each.gflops for each in points if each.gflops] + [roofs.gflops]
    across = Axis(min(intensities) / ROOM, max(intensities) * ROOM, columns)
    upright = Axis(min(rates) / ROOM, max(rates) * ROOM, ROWS)
    cells = _roof(roofs, across, upright)
    for layer in layers:
        place = _place(layer, across, upright)
        cells[place] = LAYERS if cells.get(place) in (LAYER, LAYERS) else LAYER
    if whole.oi and whole.gflops:
        cells[_place(whole, across, upright)] = MODEL
    return [*_frame(cells, across, upright), f"{'':>{MARGIN}}{LAYER} layer  {LAYERS} several  {MODEL} model"]


def _roof(roofs: Roofs, across: Axis, upright: Axis) -> dict[tuple[int, int], str]:
    """Braille cells of the line min(peak, intensity x bandwidth), by row from above and column."""
    bits: dict[tuple[int, int], int] = {}
    for dot in range(2 * across.cells):
        intensity = across.value((dot + 0.5) / 2)
        rate = min(roofs.gflops, FLOPS_PER_MAC * intensity * roofs.gbytes_per_s)
        height = math.floor(upright.at(rate) * 4)
        if 0 <= height < 4 * upright.cells:
            line = 4 * upright.cells - 1 - height
            key = (line // 4, dot // 2)
            bits[key] = bits.get(key, 0) | DOTS[line % 4][dot % 2]
    return {key: chr(BRAILLE + found) for key, found in bits.items()}


def _place(layer: LayerRow, across: Axis, upright: Axis) -> tuple[int, int]:
    column = math.floor(across.at(layer.oi or across.low))
    height = math.floor(upright.at(layer.gflops or upright.low))
    return upright.cells - 1 - min(max(height, 0), upright.cells - 1), min(max(column, 0), across.cells - 1)


def _frame(cells: dict[tuple[int, int], str], across: Axis, upright: Axis) -> list[str]:
    labels = {upright.cells - 1 - min(math.floor(upright.at(v)), upright.cells - 1): v for v in upright.powers()}
    lines = [f"{'GFLOP/s':>{MARGIN - 2}}"]
    for row in range(upright.cells):
        label = significant(labels[row]) if row in labels else ""
        tick = "┤" if row in labels else "│"
        body = "".join(cells.get((row, column), " ") for column in range(across.cells))
        lines.append(f"{label:>{MARGIN - 2}} {tick}{body}".rstrip())
    ticks = {min(math.floor(across.at(value)), across.cells - 1): significant(value) for value in across.powers()}
    ruler = "".join("┴" if column in ticks else "─" for column in range(across.cells))
    lines.append(f"{'':>{MARGIN - 1}}└{ruler}")
    lines.append(f"{'':>{MARGIN}}{_labels(ticks, across.cells)}")
    return lines


def _labels(ticks: dict[int, str], cells: int) -> str:
    """Labels under their ticks, and the axis's name at the right where there is room."""
    line = [" "] * cells
    for column, label in ticks.items():
        if column + len(label) <= cells:
            line[column : column + len(label)] = label
    name = " MAC/B"
    if all(cell == " " for cell in line[-len(name) :]):
        line[-len(name) :] = name
    return "".join(line).rstrip()
