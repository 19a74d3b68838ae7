"""Columns side by side, and one bar of parts, as inline SVG: time by layer, rates by round, shares by operation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hettop.format import percent, significant
from hettop.report.page import Columns, Stack
from hettop.report.svg.figures import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Axis,
    drawing,
    ink,
    side_axis,
    text_at,
    tooltip,
)
from hettop.text import clean

HEIGHT, HEADROOM = 240, 1.05
GAP = 0.18  # of a column's width
LABEL_GAP = 22
"""Pixels between two labels: a number of three digits."""

DASHES = ("", ' stroke-dasharray="4 3"')


def columns_svg(block: Columns) -> str:
    """The drawing; empty where no column is higher than 0."""
    known = [each.height for each in block.columns if each.height is not None]
    known += [height for level in block.levels for height in level.heights if height is not None]
    if not known or max(known) <= 0:
        return ""
    up = Axis(0.0, max(known) * HEADROOM, HEIGHT - BOTTOM, TOP + 10)
    across = Axis(0.0, float(len(block.columns)), LEFT, WIDTH - RIGHT)
    parts = [side_axis(up, ""), text_at(4, TOP - 14, block.unit, soft=True), *_columns(block, across, up)]
    for index, level in enumerate(block.levels):
        path = "".join(_level(place, height, across, up) for place, height in enumerate(level.heights))
        dashes = DASHES[index % len(DASHES)]
        parts.append(f'<path d="{path}" stroke="var(--c{index + 1})" stroke-width="2.5" fill="none"{dashes}/>')
    parts += [f'<path class="axis" d="M{LEFT} {up.begin}H{WIDTH - RIGHT}"/>', *_labels(block, across)]
    return drawing(HEIGHT, [*parts, *_legend(block)], block.caption)


def _columns(block: Columns, across: Axis, up: Axis) -> Iterator[str]:
    pitch = (across.end - across.begin) / len(block.columns)
    for place, column in enumerate(block.columns):
        if column.height is None:
            continue
        x, top = across.at(place) + pitch * GAP / 2, up.at(column.height)
        size = f'width="{max(0.5, pitch * (1 - GAP)):.1f}" height="{max(0.0, up.begin - top):.1f}"'
        told = tooltip(f"{column.name}: {significant(column.height)} {block.unit}") if column.name else ""
        yield f'<rect x="{x:.1f}" y="{top:.1f}" {size} fill="{_ink(block, column.group)}">{told}</rect>'


def _ink(block: Columns, group: int) -> str:
    return ink(block.groups[group][1], group) if 0 <= group < len(block.groups) else "var(--c6)"


def _level(place: int, height: float | None, across: Axis, up: Axis) -> str:
    return "" if height is None else f"M{across.at(place):.1f} {up.at(height):.1f}H{across.at(place + 1):.1f}"


def _labels(block: Columns, across: Axis) -> Iterator[str]:
    free = 0.0
    for place, column in enumerate(block.columns):
        x = across.at(place)
        if column.label and x >= free:
            yield text_at(x, HEIGHT - BOTTOM + 18, column.label, soft=True)
            free = x + max(LABEL_GAP, 8 * len(column.label))


def _legend(block: Columns) -> Iterator[str]:
    """What the colours are: of several groups, and of all lines across the columns."""
    here = {column.group for column in block.columns}
    named = [(name, _ink(block, group)) for group, (name, _) in enumerate(block.groups) if group in here]
    named += [(level.name, f"var(--c{index + 1})") for index, level in enumerate(block.levels)]
    x = float(LEFT + 120)
    for name, colour in named if len(named) > 1 else []:
        shown = clean(name, 30)
        yield f'<rect x="{x:.0f}" y="{TOP - 23}" width="10" height="10" fill="{colour}"/>'
        yield text_at(x + 14, TOP - 14, shown)
        x += 34 + 8 * len(shown)


def stack_svg(block: Stack) -> str:
    """Parts of one bar by their shares of all, and what they are below it."""
    across = Axis(0.0, 1.0, LEFT, WIDTH - RIGHT)
    parts, begin = [], 0.0
    for index, (name, share) in enumerate(block.parts):
        left, right = across.at(begin), across.at(begin + share)
        parts.append(
            f'<rect x="{left:.1f}" y="8" width="{max(0.5, right - left - 0.5):.1f}" height="36" '
            f'fill="{ink(None, index)}">{tooltip(f"{name}: {percent(share)}")}</rect>'
        )
        begin += share
    bottom, names = _names(block.parts)
    return drawing(bottom + 12, [*parts, *names], block.caption)


def _names(parts: Sequence[tuple[str, float]]) -> tuple[float, list[str]]:
    """Below the bar, in as many rows as it takes; where the last one stands."""
    x, y, drawn = float(LEFT), 68.0, []
    for index, (name, share) in enumerate(parts):
        told = f"{clean(name, 30)} {percent(share)}"
        if x > LEFT and x + 30 + 7 * len(told) > WIDTH - RIGHT:
            x, y = float(LEFT), y + 20
        drawn.append(f'<rect x="{x:.0f}" y="{y - 10:.0f}" width="10" height="10" fill="{ink(None, index)}"/>')
        drawn.append(text_at(x + 15, y, told))
        x += 36 + 7 * len(told)
    return y, drawn
