"""The roofline of a model: each layer by its intensity and its rate, under the roofs of the machine.

Source of the form: Williams, Waterman and Patterson, "Roofline", CACM 52(4), 2009.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from hettop.format import milliseconds, percent, significant
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span, line
from hettop.report.terminal.plane import Axis, Plane
from hettop.session.layer_findings import CLOSE, RIDGE, UnderRoof, furthest, roofline_headline, under_roof, under_roofs
from hettop.text import clean
from hettop.tui.studies.layers import BOUNDS, NEAR, bound_span
from hettop.report.terminal.rows import notes, padded, segments, sentences

if TYPE_CHECKING:
    from hettop.events import FoundLayers, FoundRoofs

SIZES = (
    (0.05, glyphs.LARGE, "5% of the time or more"),
    (0.01, glyphs.MIDDLING, "1%"),
    (0.0, glyphs.SMALL, "less"),
)
"""A layer that takes at least this share of the time is drawn so."""

NUMBERED = 5
"""Layers that lose most time are drawn as their numbers in the table."""

_MOST_ROWS = 12
_BEYOND = 1.5  # the axes reach so many times beyond what is drawn
_LOWEST, _HIGHEST = 11, 24  # lines of the plane
_TABLE = 10  # lines that are left for the table where there is room
_TALL = 30
_NAME, _BAR = 40, 12
_BOUND, _BOUND_MARK = 10, 2


def drawn(found: FoundLayers, width: int, height: int) -> list[Line]:
    """The headline, the plane with the roofs, the layers that lose most, notes."""
    first, *rest = roofline_headline(found)
    head = [*sentences([first], width, "strong"), *sentences(rest, width)]
    if found.roofs is not None and not found.roofs.measured:
        head = [line((" PUBLISHED ", "banner"), (" roofs: nothing was measured on this device", "warning")), *head]
    if found.roofs is None:
        return [*head, (), *notes(found.notes, width)]
    below = furthest(found)
    left = height - len(head) - 1 - (_TABLE if height >= _TALL else 0)
    plane = _plane(found, found.roofs, below, (width, min(_HIGHEST, max(_LOWEST, left))))
    parts = [head, plane, _table(below, width), notes(_explained(found, found.roofs), width)]
    return [row for i, part in enumerate(filter(None, parts)) for row in ([(), *part] if i else part)]


def _plane(found: FoundLayers, roofs: FoundRoofs, below: Sequence[UnderRoof], size: tuple[int, int]) -> list[Line]:
    layers = under_roofs(found)
    whole = None if found.whole is None else under_roof(roofs, found.whole)
    points = [*layers, *([whole] if whole is not None else [])]
    if not points or roofs.ridge <= 0:
        return []
    x = _axis([*(each.oi for each in points), roofs.ridge], "MACs/B")
    y = _axis([*(each.gflops for each in points), roofs.gflops], "GFLOP/s")
    plane = Plane(*size, x, y)
    _roof(plane, roofs, x, y)
    numbers = {id(each.layer): str(i) for i, each in enumerate(below[:NUMBERED], 1)}
    for each in sorted(layers, key=lambda each: (id(each.layer) in numbers, each.layer.share)):
        glyph = numbers.get(id(each.layer)) or _size(each.layer.share)
        plane.point(each.oi, each.gflops, glyph, _ink(each, roofs))
    if whole is not None:
        plane.point(whole.oi, whole.gflops, glyphs.NOTE, "strong")
        plane.legend(glyphs.NOTE, "model", "strong")
    if numbers:
        plane.legend(f"1-{len(numbers)}" if len(numbers) > 1 else "1", "lose most", "strong")
    sizes = {_size(each.layer.share) for each in layers if id(each.layer) not in numbers}
    for _, glyph, words in SIZES:
        if glyph in sizes:
            plane.legend(glyph, words, "text")
    return plane.lines()


def _size(share: float) -> str:
    return next(glyph for least, glyph, _ in SIZES if share >= least)


def _axis(values: Sequence[float], label: str) -> Axis:
    return Axis(min(values) / _BEYOND, max(values) * _BEYOND, label, log=True)


def _roof(plane: Plane, roofs: FoundRoofs, x: Axis, y: Axis) -> None:
    """Each roof has the colour of the layers that it limits; where both meet is the ridge."""
    memory, compute = BOUNDS["memory"][1], BOUNDS["compute"][1]
    begin = max(x.low, y.low / roofs.gbytes_per_s / 2)
    plane.line([(roofs.ridge, y.low), (roofs.ridge, roofs.gflops)], glyphs.GUIDE, "edge")
    plane.line([(begin, roofs.attainable(begin)), (roofs.ridge, roofs.gflops)], ink=memory)
    plane.line([(roofs.ridge, roofs.gflops), (x.high, roofs.gflops)], ink=compute)
    slope = math.sqrt(begin * roofs.ridge)
    plane.note(math.sqrt(roofs.ridge * x.high), roofs.gflops, f"{significant(roofs.gflops)} GFLOP/s", compute)
    plane.note(slope, roofs.attainable(slope), f"{significant(roofs.gbytes_per_s)} GB/s", memory)
    plane.note(roofs.ridge, y.low, f"ridge {significant(roofs.ridge)} MACs/B", "muted")


def _ink(each: UnderRoof, roofs: FoundRoofs) -> str:
    return BOUNDS[RIDGE if each.layer.bound == RIDGE else "compute" if each.oi > roofs.ridge else "memory"][1]


def _table(below: Sequence[UnderRoof], width: int) -> list[Line]:
    """Those that lose most, with what they reach of their roofs."""
    if not below:
        return []
    shown = below[:_MOST_ROWS]
    longest = max(cell_len(clean(each.layer.name)) for each in shown)
    columns = 3 + 9 + 9 + 9 + 9 + 6
    bound = 0
    if any(each.layer.bound for each in shown):
        bound = _BOUND if width >= columns + min(longest, _NAME) + _BOUND else _BOUND_MARK
    drawn_bar = _BAR if width >= columns + bound + min(longest, _NAME) + _BAR + 1 else 0
    name = max(1, min(longest, _NAME, width - columns - bound - (drawn_bar + 1 if drawn_bar else 0)))
    heading = f"   {'layer':<{name}.{name}}{'ms':>9}{'lost ms':>9}{'GFLOP/s':>9}{'roof':>9}{'of it':>6}"
    rows = [line((f"{heading}{' bound' if bound == _BOUND else ''}", "muted"))]
    for i, each in enumerate(shown, 1):
        spans: list[Span] = [
            (f"{i:>2} " if i <= NUMBERED else "   ", "strong"),
            (padded(each.layer.name, name), "text"),
            (f"{milliseconds(each.layer.ms):>9}", "text"),
            (f"{milliseconds(each.lost_ms):>9}", "warning" if i <= NUMBERED else "text"),
            (f"{significant(each.gflops):>9}", "strong"),
            (f"{significant(each.attainable):>9}", "muted"),
            (f"{percent(each.of_roof):>6}", "text"),
        ]
        if bound:
            limit, ink = bound_span(each.layer.bound)
            spans.append((f" {limit:<{bound - 1}}" if bound == _BOUND else f" {limit[0]}", ink))
        if drawn_bar:
            full, empty = segments([each.of_roof, 1 - each.of_roof], drawn_bar)
            spans += [(" ", "text"), (glyphs.FULL * full, "good"), (glyphs.SPARSE * empty, "muted")]
        rows.append(line(*spans))
    if len(below) > len(shown):
        lost = milliseconds(math.fsum(each.lost_ms for each in below[len(shown) :]))
        rows.append(line((f"   {len(below) - len(shown)} more lose {lost} ms together", "muted")))
    return rows


def _explained(found: FoundLayers, roofs: FoundRoofs) -> Iterator[str]:
    """What the words mean, what is not in the plane, and what the study itself notes."""
    threads = f", with {roofs.threads} thread{'' if roofs.threads == 1 else 's'}" if roofs.threads else ""
    kind = f"measured here{threads}" if roofs.measured else f"as published: {roofs.source or 'no source is told'}"
    yield f"roofs {kind}; two FLOP for each MAC; left of the ridge memory limits, right of it compute"
    if any(each.bound for each in found.layers):
        yield f"{glyphs.COMPUTE} bound by compute, {glyphs.MEMORY} bound by memory"
    if any(each.bound == RIDGE for each in found.layers):
        yield NEAR
    yield f"lost: time beyond what the roof allows; within {percent(CLOSE)} of it nothing counts as lost"
    idle = [layer for layer in found.layers if not layer.macs]
    if idle:
        ms = milliseconds(math.fsum(layer.ms for layer in idle))
        yield f"{len(idle)} layer{'' if len(idle) == 1 else 's'} without MACs, {ms} ms, not in the plot"
    if found.rest_n:
        ms = milliseconds(found.rest_ms)
        yield f"{found.rest_n} smaller layer{'' if found.rest_n == 1 else 's'}, {ms} ms, not in the plot"
    cached = sum(bool(layer.cache_resident) for layer in found.layers)
    if cached:
        all_of = "all" if cached == len(found.layers) else f"{cached} of {len(found.layers)}"
        yield f"{all_of} layers fit in the last-level cache with all that they move: memory need not limit them"
    yield from found.notes
