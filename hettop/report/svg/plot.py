"""Plots, columns and bars of parts as inline SVG: points and curves on two axes, time by layer, shares.

Every text in it is escaped here or by `figures`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from hettop.format import percent, significant
from hettop.report.page import Columns, Plot, Scale, Series, Spot, Stack
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
from hettop.stats.axes import span_of
from hettop.text import clean

HEIGHT = 300
RADIUS = 5.0
SMALLEST, LARGEST = 3.0, 16.0
"""Radius of a point whose size goes by its share."""

ROOM = 0.06
"""Of an axis, left free on both sides of the outermost points."""

LONGEST_NAME = 30
LETTER = 7  # pixels of one, about


def plot_svg(plot: Plot) -> str:
    """The drawing; empty without points."""
    spots = [spot for each in plot.series for spot in each.spots]
    if not spots:
        return ""
    x_axis = _axis([*(spot.x for spot in spots), *(x for x, _ in plot.failed)], plot.across, LEFT, WIDTH - RIGHT)
    y_axis = _axis([spot.y for spot in spots], plot.up, HEIGHT - BOTTOM - 14, TOP + 16)
    parts = [*_side(y_axis, plot.up.name), *_bottom(x_axis, plot.across)]
    for index, each in enumerate(plot.series):
        parts += _drawn(each, index, x_axis, y_axis)
    parts += [_cross(x_axis.at(x), y_axis.begin, why) for x, why in plot.failed]
    if len(plot.series) > 1:
        parts += _legend([(i, each) for i, each in enumerate(plot.series) if each.dots])
    return drawing(HEIGHT, parts, f"{plot.up.name} over {plot.across.name}")


def _axis(values: Sequence[float], scale: Scale, begin: float, end: float) -> Axis:
    log = False if scale.log and min(values) <= 0 else scale.log
    span = span_of(values, ROOM, log=log, from_zero=scale.from_zero)
    return Axis(span.low, span.high, begin, end, log=span.log)


def _drawn(each: Series, index: int, across: Axis, up: Axis) -> Iterator[str]:
    places = [(across.at(spot.x), up.at(spot.y)) for spot in each.spots]
    if each.joined and len(places) > 1:
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        yield f'<path d="M{path}" fill="none" stroke="{ink(each.tone, index)}" stroke-width="1.6"/>'
    for spot, (x, y) in zip(each.spots, places, strict=True):
        if each.dots:
            yield _dot(spot, x, y, each, index)
        if spot.mark:
            yield text_at(x, y + 4, spot.mark, "middle")
        if spot.label:
            right = x < WIDTH * 0.8
            yield text_at(x + (9 if right else -9), y - 6, spot.label, "start" if right else "end")


def _dot(spot: Spot, x: float, y: float, each: Series, index: int) -> str:
    colour = ink(spot.tone or each.tone, index)
    fill = "var(--paper)" if spot.hollow else colour
    if spot.share is None:
        return f'<path d="{_shape(index, x, y)}" fill="{fill}" stroke="{colour}" stroke-width="1.6"/>'
    radius = min(LARGEST, max(SMALLEST, 36 * math.sqrt(max(0.0, spot.share))))
    shape = _shape(index, x, y, radius)
    tip = tooltip(f"{spot.label or each.name}: {significant(spot.y)} at {significant(spot.x)}")
    return f'<path d="{shape}" fill="{fill}" fill-opacity=".55" stroke="{colour}" stroke-width="1.6">{tip}</path>'


def _shape(index: int, x: float, y: float, r: float = RADIUS) -> str:
    """A disc, a square, a triangle, a diamond: series differ without their colours, too."""
    if index % 4 == 0:
        return f"M{x - r:.1f} {y:.1f}a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 {-2 * r} 0Z"
    corners = {
        1: ((-1, -1), (1, -1), (1, 1), (-1, 1)),
        2: ((0, -1.2), (1.2, 1), (-1.2, 1)),
        3: ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
    }[index % 4]
    return f"M{'L'.join(f'{x + r * dx:.1f} {y + r * dy:.1f}' for dx, dy in corners)}Z"


def _cross(x: float, y: float, why: str) -> str:
    path = f"M{x - 5:.1f} {y - 12:.1f}l10 10m0 -10l-10 10"
    return f'<path d="{path}" stroke="var(--warn)" stroke-width="2"/>' + text_at(x, y - 18, why, "middle")


def _side(up: Axis, name: str) -> Iterator[str]:
    for tick in up.ticks():
        yield f'<path class="axis" d="M{LEFT} {up.at(tick):.1f}H{WIDTH - RIGHT}"/>'
        yield text_at(LEFT - 6, up.at(tick) + 4, f"{tick:g}", "end", soft=True)
    yield text_at(4, TOP - 8, name, soft=True)


def _bottom(across: Axis, scale: Scale) -> Iterator[str]:
    y = HEIGHT - BOTTOM - 14
    yield f'<path class="axis" d="M{LEFT} {y}H{WIDTH - RIGHT}"/>'
    free = 0.0
    for tick in scale.ticks or across.ticks():
        x = across.at(tick)
        yield f'<path class="axis" d="M{x:.1f} {y}v5"/>'
        if x >= free:
            yield text_at(x, y + 20, _plain(tick), "middle", soft=True)
            free = x + 40
    yield text_at(WIDTH - RIGHT, y + 38, scale.name, "end", soft=True)


def _plain(value: float) -> str:
    return f"{value:g}" if abs(value) >= 0.001 or not value else significant(value)


def _legend(series: Sequence[tuple[int, Series]]) -> Iterator[str]:
    x = float(LEFT + 120)
    for index, each in series:
        shown = clean(each.name, LONGEST_NAME)
        colour = ink(each.tone, index)
        fill = "var(--paper)" if each.hollow else colour
        yield f'<path d="{_shape(index, x, TOP - 12)}" fill="{fill}" stroke="{colour}" stroke-width="1.6"/>'
        yield text_at(x + 10, TOP - 8, shown)
        x += 26 + LETTER * len(shown)


COLUMNS_HEIGHT, HEADROOM = 240, 1.05
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
    up = Axis(0.0, max(known) * HEADROOM, COLUMNS_HEIGHT - BOTTOM, TOP + 10)
    across = Axis(0.0, float(len(block.columns)), LEFT, WIDTH - RIGHT)
    parts = [side_axis(up, ""), text_at(4, TOP - 14, block.unit, soft=True), *_columns(block, across, up)]
    for index, level in enumerate(block.levels):
        path = "".join(_level(place, height, across, up) for place, height in enumerate(level.heights))
        dashes = DASHES[index % len(DASHES)]
        parts.append(f'<path d="{path}" stroke="var(--c{index + 1})" stroke-width="2.5" fill="none"{dashes}/>')
    parts += [f'<path class="axis" d="M{LEFT} {up.begin}H{WIDTH - RIGHT}"/>', *_labels(block, across)]
    return drawing(COLUMNS_HEIGHT, [*parts, *_parts_legend(block)], block.caption)


def _columns(block: Columns, across: Axis, up: Axis) -> Iterator[str]:
    pitch = (across.end - across.begin) / len(block.columns)
    for place, column in enumerate(block.columns):
        if column.height is None:
            continue
        x, top = across.at(place) + pitch * GAP / 2, up.at(column.height)
        size = f'width="{max(0.5, pitch * (1 - GAP)):.1f}" height="{max(0.0, up.begin - top):.1f}"'
        tip = tooltip(f"{column.name}: {significant(column.height)} {block.unit}") if column.name else ""
        yield f'<rect x="{x:.1f}" y="{top:.1f}" {size} fill="{_ink(block, column.group)}">{tip}</rect>'


def _ink(block: Columns, group: int) -> str:
    return ink(block.groups[group][1], group) if 0 <= group < len(block.groups) else "var(--c6)"


def _level(place: int, height: float | None, across: Axis, up: Axis) -> str:
    return "" if height is None else f"M{across.at(place):.1f} {up.at(height):.1f}H{across.at(place + 1):.1f}"


def _labels(block: Columns, across: Axis) -> Iterator[str]:
    free = 0.0
    for place, column in enumerate(block.columns):
        x = across.at(place)
        if column.label and x >= free:
            yield text_at(x, COLUMNS_HEIGHT - BOTTOM + 18, column.label, soft=True)
            free = x + max(LABEL_GAP, 8 * len(column.label))


def _parts_legend(block: Columns) -> Iterator[str]:
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
        label = f"{clean(name, 30)} {percent(share)}"
        if x > LEFT and x + 30 + 7 * len(label) > WIDTH - RIGHT:
            x, y = float(LEFT), y + 20
        drawn.append(f'<rect x="{x:.0f}" y="{y - 10:.0f}" width="10" height="10" fill="{ink(None, index)}"/>')
        drawn.append(text_at(x + 15, y, label))
        x += 36 + 7 * len(label)
    return y, drawn
