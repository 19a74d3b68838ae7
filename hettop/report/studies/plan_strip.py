"""The layers of a plan as one bar, as inline SVG: each as wide as its cost, coloured by its device.

Knows numbers and names. What it returns is markup: every text in it is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hettop.report.figures import BOTTOM, COLOURS, LEFT, RIGHT, TOP, WIDTH, Axis, bottom_axis, drawing, legend, text_at

BAR = 46
LABEL_GAP = 22
"""Pixels between two labels: a number of three digits."""


@dataclass(frozen=True, slots=True)
class Column:
    """A layer: its cost, its device's index, and words above its left end."""

    cost: float
    device: int
    label: str = ""


def layer_strip(columns: Sequence[Column], devices: Sequence[str], unit: str) -> str:
    """The bar, from 0 to the sum of all costs; `unit` of the axis below."""
    total = sum(column.cost for column in columns)
    height = TOP + 18 + BAR + BOTTOM + 26
    across = Axis(0.0, total, LEFT, WIDTH - RIGHT)
    top = TOP + 18
    parts = [legend(devices, TOP - 8), bottom_axis(across, height - 26, "")]
    begun, free = 0.0, 0.0
    for column in columns:
        x, end = across.at(begun), across.at(begun + column.cost)
        colour = f"var(--c{column.device % COLOURS})"
        parts.append(
            f'<rect x="{x:.1f}" y="{top}" width="{max(0.3, end - x - 0.6):.1f}" height="{BAR}" fill="{colour}"/>'
        )
        if column.label and x >= free:
            parts.append(f'<path d="M{x:.1f} {top - 4}V{top + BAR}" stroke="var(--ink)" stroke-width="1.4"/>')
            parts.append(text_at(x + 3, top - 4, column.label, soft=True))
            free = x + LABEL_GAP
        begun += column.cost
    parts.append(text_at(WIDTH - RIGHT, height - 8, unit, "end", soft=True))
    return drawing(height, parts, unit)
