"""Points and curves on two axes as inline SVG: rates over batches, latency against output difference.

Knows numbers and their scales. What it returns is markup: every text in it is escaped here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from hettop.format import significant
from hettop.report.svg.figures import BOTTOM, COLOURS, LEFT, RIGHT, TOP, WIDTH, Axis
from hettop.stats.axes import span_of
from hettop.text import clean

HEIGHT = 300
RADIUS = 5.0
ROOM = 0.06
"""Of an axis, left free on both sides of the outermost points."""

LABEL = 80
LONGEST_NAME = 30
LETTER = 7  # pixels of one, about


@dataclass(frozen=True, slots=True)
class Spot:
    """A point, filled or hollow, with words beside it."""

    x: float
    y: float
    label: str = ""
    hollow: bool = False


@dataclass(frozen=True, slots=True)
class Series:
    """Points of one colour and shape, joined in their order unless `joined` is false."""

    name: str
    spots: Sequence[Spot]
    joined: bool = True


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis of the plane: its name with the unit, and whether it begins at 0. `ticks`: values to mark, if any."""

    name: str
    from_zero: bool = False
    ticks: Sequence[float] = ()
    log: bool | None = None


def plane(series: Sequence[Series], across: Scale, up: Scale, failed: Sequence[tuple[float, str]] = ()) -> str:
    """The drawing; empty without points. `failed`: places on the axis across where nothing was had, and why."""
    spots = [spot for each in series for spot in each.spots]
    if not spots:
        return ""
    x_axis = _axis([*(spot.x for spot in spots), *(x for x, _ in failed)], across, LEFT, WIDTH - RIGHT)
    y_axis = _axis([spot.y for spot in spots], up, HEIGHT - BOTTOM - 14, TOP + 16)
    parts = [*_side(y_axis, up.name), *_bottom(x_axis, across)]
    for index, each in enumerate(series):
        parts += _drawn(each, index, x_axis, y_axis)
    parts += [_cross(x_axis.at(x), y_axis.begin, why) for x, why in failed]
    if len(series) > 1:
        parts += _legend([each.name for each in series])
    what = clean(f"{up.name} over {across.name}", LABEL)
    body = "".join(parts)
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(what)}">{body}</svg>'


def _axis(values: Sequence[float], scale: Scale, begin: float, end: float) -> Axis:
    log = False if scale.log and min(values) <= 0 else scale.log
    span = span_of(values, ROOM, log=log, from_zero=scale.from_zero)
    return Axis(span.low, span.high, begin, end, log=span.log)


def _drawn(each: Series, index: int, across: Axis, up: Axis) -> Iterator[str]:
    ink = f"var(--c{index % COLOURS})"
    places = [(across.at(spot.x), up.at(spot.y)) for spot in each.spots]
    if each.joined and len(places) > 1:
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        yield f'<path d="M{path}" fill="none" stroke="{ink}" stroke-width="1.6"/>'
    for spot, (x, y) in zip(each.spots, places, strict=True):
        fill = "var(--paper)" if spot.hollow else ink
        yield f'<path d="{_shape(index, x, y)}" fill="{fill}" stroke="{ink}" stroke-width="1.6"/>'
        if spot.label:
            right = x < WIDTH * 0.8
            yield _text(x + (9 if right else -9), y - 6, spot.label, "start" if right else "end")


def _shape(index: int, x: float, y: float) -> str:
    """A disc, a square, a triangle, a diamond: series differ without their colours, too."""
    r = RADIUS
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
    return f'<path d="{path}" stroke="var(--warn)" stroke-width="2"/>' + _text(x, y - 18, why, "middle")


def _side(up: Axis, name: str) -> Iterator[str]:
    for tick in up.ticks():
        yield f'<path class="axis" d="M{LEFT} {up.at(tick):.1f}H{WIDTH - RIGHT}"/>'
        yield _text(LEFT - 6, up.at(tick) + 4, f"{tick:g}", "end", soft=True)
    yield _text(4, TOP - 8, name, soft=True)


def _bottom(across: Axis, scale: Scale) -> Iterator[str]:
    y = HEIGHT - BOTTOM - 14
    yield f'<path class="axis" d="M{LEFT} {y}H{WIDTH - RIGHT}"/>'
    free = 0.0
    for tick in scale.ticks or across.ticks():
        x = across.at(tick)
        yield f'<path class="axis" d="M{x:.1f} {y}v5"/>'
        if x >= free:
            yield _text(x, y + 20, _plain(tick), "middle", soft=True)
            free = x + 40
    yield _text(WIDTH - RIGHT, y + 38, scale.name, "end", soft=True)


def _plain(value: float) -> str:
    return f"{value:g}" if abs(value) >= 0.001 or not value else significant(value)


def _legend(names: Sequence[str]) -> Iterator[str]:
    x = float(LEFT + 120)
    for index, name in enumerate(names):
        shown = clean(name, LONGEST_NAME)
        yield f'<path d="{_shape(index, x, TOP - 12)}" fill="var(--c{index % COLOURS})"/>'
        yield _text(x + 10, TOP - 8, shown)
        x += 26 + LETTER * len(shown)


def _text(x: float, y: float, text: str, anchor: str = "start", *, soft: bool = False) -> str:
    kind = ' class="soft"' if soft else ""
    return f'<text{kind} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(clean(text, LABEL))}</text>'
