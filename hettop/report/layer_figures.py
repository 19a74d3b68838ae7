"""Drawings of what layers say, as inline SVG: a stacked bar, a column for each layer, the roofline.

Knows figures worked out elsewhere. What it returns is markup: every text in it is escaped here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from hettop.events import FoundLayer, FoundLayers, FoundRoofs
from hettop.format import milliseconds, percent, significant
from hettop.report.svg.figures import (
    BOTTOM,
    COLOURS,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Axis,
    bottom_axis,
    drawing,
    side_axis,
    text_at,
)
from hettop.session.layer_findings import COMPUTE, MEMORY, RIDGE, UnderRoof, furthest, under_roof, under_roofs
from hettop.text import clean

NUMBERED = 5
"""Layers that lose most time have their numbers in the table beside them."""

BOUND_COLOURS = {COMPUTE: "var(--c0)", MEMORY: "var(--c1)", RIDGE: "var(--c2)"}
BOUND_WORDS = {COMPUTE: "bound by compute", MEMORY: "bound by memory", RIDGE: "near the ridge"}
UNBOUND = "var(--c6)"
_BEYOND = 1.5  # the axes reach so many times beyond what is drawn
_SMALLEST, _LARGEST = 3.0, 16.0  # radius of a layer's mark, by its share of the time


def stacked_bar(shares: Sequence[tuple[str, float]]) -> str:
    """Parts of one bar by their shares of all, and what they are below it."""
    across = Axis(0.0, 1.0, LEFT, WIDTH - RIGHT)
    parts, begin = [], 0.0
    for index, (name, share) in enumerate(shares):
        left, right = across.at(begin), across.at(begin + share)
        colour = f"var(--c{index % COLOURS})"
        parts.append(
            f'<rect x="{left:.1f}" y="8" width="{max(0.5, right - left - 0.5):.1f}" height="36" fill="{colour}">'
            f"{_tooltip(f'{name}: {percent(share)}')}</rect>"
        )
        begin += share
    x, y = float(LEFT), 68.0
    for index, (name, share) in enumerate(shares):
        told = f"{clean(name, 30)} {percent(share)}"
        if x > LEFT and x + 30 + 7 * len(told) > WIDTH - RIGHT:
            x, y = float(LEFT), y + 20
        parts.append(f'<rect x="{x:.0f}" y="{y - 10:.0f}" width="10" height="10" fill="var(--c{index % COLOURS})"/>')
        parts.append(text_at(x + 15, y, told))
        x += 36 + 7 * len(told)
    return drawing(y + 12, parts, "share of the time by type of operation")


def columns(found: FoundLayers) -> str:
    """A column for each layer in the order in which they run, coloured by what limits it; empty without layers."""
    longest = max((layer.ms for layer in found.layers), default=0.0)
    if longest <= 0:
        return ""
    height = 200
    up = Axis(0.0, longest * 1.05, height - BOTTOM, TOP)
    pitch = (WIDTH - RIGHT - LEFT) / len(found.layers)
    parts = [side_axis(up, "ms")]
    for index, layer in enumerate(found.layers):
        top = up.at(layer.ms)
        parts.append(
            f'<rect x="{LEFT + index * pitch:.1f}" y="{top:.1f}" width="{max(0.5, 0.82 * pitch):.1f}" '
            f'height="{up.begin - top:.1f}" fill="{BOUND_COLOURS.get(layer.bound or "", UNBOUND)}">'
            f"{_tooltip(f'{layer.name}: {milliseconds(layer.ms)} ms, {percent(layer.share)}')}</rect>"
        )
    parts.append(f'<path class="axis" d="M{LEFT} {up.begin}H{WIDTH - RIGHT}"/>')
    parts.append(text_at(LEFT, height - BOTTOM + 18, "first layer", soft=True))
    parts.append(text_at(WIDTH - RIGHT, height - BOTTOM + 18, "last layer", "end", soft=True))
    parts.append(_bounds_legend(found.layers, 12))
    return drawing(height, parts, "time by layer in the order in which they run")


def roofline(found: FoundLayers) -> str:
    """Layers and the whole model by intensity and rate under both roofs; empty where there is nothing to place."""
    roofs = found.roofs
    layers = under_roofs(found)
    whole = None if roofs is None or found.whole is None else under_roof(roofs, found.whole)
    points = [*layers, *([whole] if whole is not None else [])]
    if roofs is None or not points or roofs.ridge <= 0:
        return ""
    height = 480
    intensities = [*(each.oi for each in points), roofs.ridge]
    rates = [*(each.gflops for each in points), roofs.gflops]
    across = Axis(min(intensities) / _BEYOND, max(intensities) * _BEYOND, LEFT, WIDTH - RIGHT, log=True)
    up = Axis(min(rates) / _BEYOND, max(rates) * _BEYOND, height - BOTTOM - 16, TOP + 14, log=True)
    parts = [side_axis(up, ""), bottom_axis(across, height - 16, ""), *_roofs(roofs, across, up)]
    parts += [_mark(each, across, up) for each in sorted(layers, key=lambda each: -each.layer.share)]
    if whole is not None:
        x, y = across.at(whole.oi), up.at(whole.gflops)
        shape = f"M{x:.1f} {y - 9:.1f}l9 9l-9 9l-9 -9Z"
        parts.append(f'<path d="{shape}" fill="var(--paper)" stroke="var(--ink)" stroke-width="2.5"/>')
        parts.append(text_at(x, y - 14, "whole model", "middle"))
    for number, each in enumerate(furthest(found)[:NUMBERED], 1):
        parts.append(text_at(across.at(each.oi), up.at(each.gflops) + 4, str(number), "middle"))
    parts.append(text_at(8, 14, "GFLOP/s", soft=True))
    parts.append(text_at(WIDTH - RIGHT, height - 6, "MACs a byte", "end", soft=True))
    parts.append(_bounds_legend(found.layers, 12))
    return drawing(height, parts, "roofline")


def _roofs(roofs: FoundRoofs, across: Axis, up: Axis) -> Iterator[str]:
    """The slope of memory up to the ridge, the level of computing from there on."""
    begin = max(across.low, up.low / roofs.gbytes_per_s / 2)
    ridge, peak = across.at(roofs.ridge), up.at(roofs.gflops)
    slope = f"M{across.at(begin):.1f} {up.at(roofs.attainable(begin)):.1f}L{ridge:.1f} {peak:.1f}"
    yield f'<path d="M{ridge:.1f} {peak:.1f}V{up.begin:.1f}" stroke="var(--soft)" stroke-dasharray="2 4"/>'
    yield f'<path d="{slope}" stroke="{BOUND_COLOURS[MEMORY]}" stroke-width="2.5" fill="none"/>'
    yield f'<path d="M{ridge:.1f} {peak:.1f}H{across.end}" stroke="{BOUND_COLOURS[COMPUTE]}" stroke-width="2.5"/>'
    middle = math.sqrt(begin * roofs.ridge)
    yield text_at(
        across.at(middle) - 8,
        up.at(roofs.attainable(middle)) - 6,
        f"memory {significant(roofs.gbytes_per_s)} GB/s",
        "end",
    )
    yield text_at(across.end, peak - 7, f"compute {significant(roofs.gflops)} GFLOP/s", "end")
    yield text_at(ridge + 5, up.begin - 6, f"ridge {significant(roofs.ridge)} MACs a byte", soft=True)


def _mark(each: UnderRoof, across: Axis, up: Axis) -> str:
    """A disc for what computing limits, a square for what memory does: shapes are seen without colours, too. What is
    near the ridge is a disc on it."""
    x, y = across.at(each.oi), up.at(each.gflops)
    size = min(_LARGEST, max(_SMALLEST, 40 * math.sqrt(max(0.0, each.layer.share)) * 0.9))
    colour = BOUND_COLOURS.get(each.layer.bound or "", UNBOUND)
    look = f'fill="{colour}" fill-opacity=".55" stroke="{colour}"'
    told = _tooltip(
        f"{each.layer.name}: {milliseconds(each.layer.ms)} ms, {significant(each.gflops)} of "
        f"{significant(each.attainable)} GFLOP/s ({percent(each.of_roof)})"
    )
    if each.layer.bound == MEMORY:
        side = size * 1.8
        left, top = x - side / 2, y - side / 2
        return f'<rect x="{left:.1f}" y="{top:.1f}" width="{side:.1f}" height="{side:.1f}" {look}>{told}</rect>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}" {look}>{told}</circle>'


def _bounds_legend(layers: Sequence[FoundLayer], y: float) -> str:
    """At the right above the plot; empty where no bound is known."""
    here = [bound for bound in BOUND_COLOURS if any(layer.bound == bound for layer in layers)]
    parts, x = [], WIDTH - RIGHT + 10.0 - 140 * max(2, len(here))
    for bound in here:
        corners = 0 if bound == MEMORY else 5
        colour = BOUND_COLOURS[bound]
        parts.append(f'<rect x="{x:.0f}" y="{y - 9:.0f}" width="10" height="10" rx="{corners}" fill="{colour}"/>')
        parts.append(text_at(x + 15, y, BOUND_WORDS[bound]))
        x += 140
    return "".join(parts)


def _tooltip(text: str) -> str:
    return f"<title>{escape(clean(text, 160))}</title>"
