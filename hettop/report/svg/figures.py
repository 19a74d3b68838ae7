"""Small drawings as inline SVG: histogram, violins, latency and power over time.

What it returns is markup: every text in it is escaped here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeVar

from hettop.format import clock, significant
from hettop.text import clean

WIDTH = 960
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 28, 34
LABEL_WIDTH = 24  # of two digits, with room
COLOURS = 7  # Okabe and Ito's, which colour-blind eyes distinguish; the page's style has them by number

AnyPoint = TypeVar("AnyPoint", tuple[int, float], tuple[int, float, float, float])


@dataclass(frozen=True, slots=True)
class Axis:
    """Maps `low`..`high` to `begin`..`end` in pixels, linearly or, with `log`, by the logarithm."""

    low: float
    high: float
    begin: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        low, high, value = (math.log(each) if self.log else each for each in (self.low, self.high, value))
        return self.begin + (self.end - self.begin) * (min(max(value, low), high) - low) / ((high - low) or 1.0)

    def ticks(self) -> list[float]:
        """Round values inside, five or so."""
        if self.log and 0 < self.low < self.high:
            exponents = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            steps = (1, 2, 5) if self.high / self.low < 200 else (1,)
            found = [step * 10.0**exponent for exponent in exponents for step in steps]
        else:
            rough = max(self.high - self.low, 0.0) / 5 or 1.0
            magnitude = 10.0 ** math.floor(math.log10(rough))
            step = next(factor * magnitude for factor in (1, 2, 5, 10) if factor * magnitude >= rough)
            found = [step * index for index in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]
        return [tick for tick in found if self.low <= tick <= self.high]


@dataclass(frozen=True, slots=True)
class Violin:
    """A row: its name, shares of samples in columns of equal width (the fullest is 1), and three quantiles in ms."""

    name: str
    density: Sequence[float]
    p50_ms: float
    p90_ms: float
    max_ms: float


@dataclass(frozen=True, slots=True)
class Band:
    """A unit over time: (place of the slot, P50, P90, maximum) in ms, places ascending."""

    name: str
    points: Sequence[tuple[int, float, float, float]]


@dataclass(frozen=True, slots=True)
class Line:
    """A rail over time: (place of the slot, watts), places ascending."""

    name: str
    points: Sequence[tuple[int, float]]


def histogram(density: Sequence[float], low_ms: float, high_ms: float, marks: Sequence[tuple[str, float]]) -> str:
    """Columns between `low_ms` and `high_ms`, with named marks (P50 …) on them; marks beyond stand at the edge."""
    height = 200
    across = Axis(low_ms, high_ms, LEFT, WIDTH - RIGHT)
    up = Axis(0.0, 1.0, height - BOTTOM, TOP + 14)
    width = (across.end - across.begin) / max(1, len(density))
    parts = [bottom_axis(across, height, "ms")]
    for place, share in enumerate(density):
        if share > 0:
            top = up.at(share)
            x = across.begin + place * width
            parts.append(
                f'<rect x="{x:.1f}" y="{top:.1f}" width="{max(width - 0.8, 0.5):.1f}" height="{up.begin - top:.1f}" '
                'fill="var(--c0)"/>'
            )
    for row, (name, value) in enumerate(marks):
        x, y = across.at(value), TOP + 2 + 13 * (row % 2)
        beyond = " →" if value > high_ms else ""
        parts.append(f'<path d="M{x:.1f} {y + 3:.1f}V{up.begin:.1f}" stroke="var(--c1)" stroke-dasharray="3 2"/>')
        anchor = "end" if x > WIDTH * 0.8 else "start"
        parts.append(text_at(x + (-4 if anchor == "end" else 4), y + 8, f"{name} {significant(value)}{beyond}", anchor))
    return drawing(height, parts, "histogram of latency")


def violins(rows: Sequence[Violin], low_ms: float, high_ms: float) -> str:
    """A violin a row on one axis, so that rows can be compared, with P50 and P90; all densities of equal length."""
    pitch = 52
    height = TOP + pitch * len(rows) + BOTTOM
    across = Axis(low_ms, high_ms, LEFT, WIDTH - RIGHT)
    parts = [bottom_axis(across, height, "ms")]
    for index, row in enumerate(rows):
        middle = TOP + pitch * index + 32
        parts.append(text_at(LEFT, middle - 18, f"{row.name}   max {significant(row.max_ms)} ms"))
        parts.append(f'<path d="{_mirrored(row.density, across, middle, 14)}" fill="var(--c{index % COLOURS})"/>')
        for value, reach in ((row.p50_ms, 15), (row.p90_ms, 10)):
            x = across.at(value)
            parts.append(f'<path d="M{x:.1f} {middle - reach}V{middle + reach}" stroke="var(--ink)" stroke-width="2"/>')
    return drawing(height, parts, "violins of latency")


def bands(
    units: Sequence[Band], slot_ns: int, end_ns: int, marks: Sequence[tuple[int, int]], *, height: int = 320
) -> str:
    """P50 to P90 of each unit as a band, maxima as dots, on a logarithmic axis; numbered marks (number, ns) above."""
    values = [value for unit in units for point in unit.points for value in point[1:] if value > 0]
    if not values:
        return ""
    up = Axis(min(values) * 0.9, max(values) * 1.1, height - BOTTOM, TOP + 30, log=True)
    across = Axis(0.0, max(1.0, end_ns / 1e9), LEFT, WIDTH - RIGHT)
    parts = [side_axis(up, "ms"), _bottom_clock(across, height), *_marks(across, up, marks)]
    parts.append(legend([unit.name for unit in units], TOP + 2))
    for index, unit in enumerate(units):
        colour = f"var(--c{index % COLOURS})"
        for run in _runs(unit.points):
            path = _band_path(run, slot_ns, across, up)
            parts.append(f'<path d="{path}" fill="{colour}" fill-opacity=".55" stroke="{colour}"/>')
        dots = "".join(
            f"M{across.at((place + 0.5) * slot_ns / 1e9):.1f} {up.at(largest):.1f}h0"
            for place, _, _, largest in unit.points
        )
        parts.append(f'<path d="{dots}" stroke="{colour}" stroke-width="3" stroke-linecap="round" fill="none"/>')
    return drawing(height, parts, "latency over time")


def lines(rails: Sequence[Line], slot_ns: int, end_ns: int, *, height: int = 240) -> str:
    """Power of each rail in watts, on an absolute axis from 0."""
    highest = max((watts for rail in rails for _, watts in rail.points), default=0.0)
    if not any(rail.points for rail in rails):
        return ""
    up = Axis(0.0, highest * 1.1 or 1.0, height - BOTTOM, TOP + 16)
    across = Axis(0.0, max(1.0, end_ns / 1e9), LEFT, WIDTH - RIGHT)
    parts = [side_axis(up, "W"), _bottom_clock(across, height), legend([rail.name for rail in rails], TOP + 2)]
    for index, rail in enumerate(rails):
        for run in _runs(rail.points):
            steps = "".join(
                f"{'M' if first else 'V'}{_at(across, place * slot_ns, first)}{up.at(watts):.1f}"
                f"H{across.at((place + 1) * slot_ns / 1e9):.1f}"
                for first, (place, watts) in _with_first(run)
            )
            parts.append(f'<path d="{steps}" fill="none" stroke="var(--c{index % COLOURS})" stroke-width="1.6"/>')
    return drawing(height, parts, "power over time")


def _at(across: Axis, ns: float, first: bool) -> str:
    return f"{across.at(ns / 1e9):.1f} " if first else ""


def _with_first(run: Sequence[tuple[int, float]]) -> Iterator[tuple[bool, tuple[int, float]]]:
    return ((index == 0, point) for index, point in enumerate(run))


def _mirrored(density: Sequence[float], across: Axis, middle: float, reach: float) -> str:
    width = (across.end - across.begin) / max(1, len(density))
    xs = [across.begin + (place + 0.5) * width for place in range(len(density))]
    upper = [f"{x:.1f} {middle - reach * share:.1f}" for x, share in zip(xs, density, strict=True)]
    lower = [f"{x:.1f} {middle + reach * share:.1f}" for x, share in zip(xs, density, strict=True)]
    return f"M{'L'.join([*upper, *reversed(lower)])}Z" if xs else ""


def _band_path(run: Sequence[tuple[int, float, float, float]], slot_ns: int, across: Axis, up: Axis) -> str:
    """The outline of P50 to P90, a step for each slot."""
    ends = [(across.at(p[0] * slot_ns / 1e9), across.at((p[0] + 1) * slot_ns / 1e9)) for p in run]
    upper = [f"{x:.1f} {up.at(p[2]):.1f}" for p, both in zip(run, ends, strict=True) for x in both]
    lower = [f"{x:.1f} {up.at(p[1]):.1f}" for p, both in zip(run, ends, strict=True) for x in both]
    return f"M{'L'.join([*upper, *reversed(lower)])}Z"


def _runs(points: Sequence[AnyPoint]) -> Iterator[Sequence[AnyPoint]]:
    """Stretches of neighbouring slots: what was not measured is not drawn."""
    begin = 0
    for index in range(1, len(points) + 1):
        if index == len(points) or points[index][0] != points[index - 1][0] + 1:
            yield points[begin:index]
            begin = index


def _marks(across: Axis, up: Axis, marks: Sequence[tuple[int, int]]) -> Iterator[str]:
    """A line each; numbers that would cover each other share a label."""
    together: list[list[tuple[int, float]]] = []
    for number, t in marks:
        x = across.at(t / 1e9)
        yield f'<path d="M{x:.1f} {up.end - 8:.1f}V{up.begin:.1f}" stroke="var(--soft)" stroke-dasharray="2 3"/>'
        if together and x - together[-1][-1][1] < LABEL_WIDTH:
            together[-1].append((number, x))
        else:
            together.append([(number, x)])
    for group in together:
        (first, begin), (last, end) = group[0], group[-1]
        text = str(first) if first == last else f"{first}–{last}"
        yield text_at((begin + end) / 2, up.end - 11, text, "middle", soft=True)


def legend(names: Sequence[str], y: float) -> str:
    """What each colour means, by number from the first, in a row at `y`."""
    parts, x = [], float(LEFT)
    for index, name in enumerate(names):
        shown = clean(name, 30)
        parts.append(f'<rect x="{x:.0f}" y="{y - 9:.0f}" width="10" height="10" fill="var(--c{index % COLOURS})"/>')
        parts.append(text_at(x + 14, y, shown))
        x += 34 + 8 * len(shown)
    return "".join(parts)


def bottom_axis(across: Axis, height: float, unit: str) -> str:
    """The axis across, `BOTTOM` above the lower edge, with labels in `unit`."""
    return _bottom_labels(across, height, [(tick, f"{tick:g} {unit}".rstrip()) for tick in across.ticks()])


def _bottom_clock(across: Axis, height: float) -> str:
    return _bottom_labels(across, height, [(tick, clock(round(tick * 1e9))) for tick in across.ticks()])


def _bottom_labels(across: Axis, height: float, ticks: Sequence[tuple[float, str]]) -> str:
    y = height - BOTTOM
    parts = [f'<path class="axis" d="M{across.begin:.0f} {y}H{across.end:.0f}"/>']
    for value, text in ticks:
        parts.append(f'<path class="axis" d="M{across.at(value):.1f} {y}v5"/>')
        parts.append(text_at(across.at(value), y + 20, text, "middle", soft=True))
    return "".join(parts)


def side_axis(up: Axis, unit: str) -> str:
    """Rules across at round values, with labels in `unit` at the left."""
    parts = []
    for tick in up.ticks():
        parts.append(f'<path class="axis" d="M{LEFT} {up.at(tick):.1f}H{WIDTH - RIGHT}"/>')
        parts.append(text_at(LEFT - 6, up.at(tick) + 4, f"{tick:g} {unit}".rstrip(), "end", soft=True))
    return "".join(parts)


def text_at(x: float, y: float, text: str, anchor: str = "start", *, soft: bool = False) -> str:
    """A text, cleaned and escaped, that starts, ends or has its middle at x."""
    kind = ' class="soft"' if soft else ""
    return f'<text{kind} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(clean(text, 80))}</text>'


def drawing(height: float, parts: Sequence[str], what: str) -> str:
    """The parts as one image of `WIDTH` x `height`; `what` is read out to those who do not see it."""
    label = escape(clean(what, 80))
    return f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{label}">{"".join(parts)}</svg>'


def ink(tone: str | None, index: int) -> str:
    """The colour of a tone, or of the series of that number where it has none."""
    return _TONES.get(tone or "", f"var(--c{index % COLOURS})")


_TONES = {
    "strong": "var(--ink)",
    "muted": "var(--c6)",
    "low": "var(--c0)",
    "mid": "var(--c1)",
    "accent": "var(--c2)",
    "good": "var(--c2)",
    "high": "var(--warn)",
    "warning": "var(--warn)",
    "error": "var(--warn)",
}


def tooltip(text: str) -> str:
    """What is said of a shape under the mouse."""
    return f"<title>{escape(clean(text, 160))}</title>"
