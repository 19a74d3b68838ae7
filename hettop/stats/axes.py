"""Where the axis of a plot begins and ends, and the round numbers on it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

LOGARITHMIC_FROM = 8.0
"""Values that span as many times or more are spread better by their logarithms."""

SMALLEST, LARGEST = 1e-30, 1e30
"""Beyond is nothing that anybody measured, and arithmetic ends."""


class Span(NamedTuple):
    """From `low` to `high`, linear or by logarithms."""

    low: float
    high: float
    log: bool


def span_of(values: Iterable[float], room: float, *, log: bool | None = None, from_zero: bool = False) -> Span:
    """Wide enough for all values that can have been measured, with `room` of the axis free on both sides of them.

    `log` None: logarithmic where they span `LOGARITHMIC_FROM` times or more; true: where any is above 0.
    `from_zero`: a linear axis begins at 0, so that a flat curve looks flat.
    """
    sane = [value for value in values if SMALLEST <= abs(value) <= LARGEST or value == 0]
    known = [value for value in sane if value > 0 or not log]
    if not known:
        return Span(1.0, 10.0, True) if log else Span(0.0, 1.0, False)
    low, high = min(known), max(known)
    if log or (log is None and low > 0 and high / low >= LOGARITHMIC_FROM):
        factor = (high / low) ** room if high > low else 2.0
        return Span(low / factor, high * factor, True)
    if from_zero and low >= 0 and high > 0:
        return Span(0.0, high * (1 + room), False)
    spread = (high - low) * room or abs(low) / 2 or 0.5
    return Span(low - spread, high + spread, False)


_STEPS = (1.0, 2.0, 5.0, 10.0)
_CEILINGS = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)


def nice_step(span: float, most: int) -> float:
    """The smallest of 1, 2, 5 x 10^k that cuts `span` into at most `most` parts."""
    if span <= 0 or most < 1:
        return 1.0
    rough = span / most
    magnitude = 10.0 ** math.floor(math.log10(rough))
    return next((step * magnitude for step in _STEPS if step * magnitude >= rough * (1 - 1e-9)), 10 * magnitude)


def nice_ceiling(value: float) -> float:
    """A round number at or a little above `value`, so that a scale does not twitch with every sample."""
    if value <= 0:
        return 1.0
    magnitude = 10.0 ** math.floor(math.log10(value))
    return next((c * magnitude for c in _CEILINGS if c * magnitude >= value * (1 - 1e-9)), 10 * magnitude)


def ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Round values inside low..high with their labels, all with the decimals their step needs."""
    if high <= low:
        return []
    step = nice_step(high - low, most)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [(i * step, f"{i * step:.{decimals}f}") for i in range(first, last + 1)]


_FEWEST_LOG_TICKS = 3


def log_ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Round values of a logarithmic axis with their labels: 1, 2, 5 times powers of ten, or these powers alone.

    An axis on which fewer than three of them are has the ticks of a linear one.
    """
    if not 0 < low < high:
        return []
    exponents = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)
    for factors in ((1.0, 2.0, 5.0), (1.0,)):
        values = [factor * 10.0**exponent for exponent in exponents for factor in factors]
        inside = [value for value in values if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
        if len(inside) <= most:
            break
    if len(inside) < _FEWEST_LOG_TICKS:
        return ticks(low, high, most)
    return [(value, f"{value:g}") for value in inside]


def row_of(value: float, top: float, rows: int) -> int:
    """The line, counted from above, in which a bar of this height ends."""
    return min(rows - 1, max(0, rows - math.ceil(value / top * rows - 1e-9)))


def row_labels(top: float, rows: int, most: int) -> dict[int, str]:
    """Labels of an upright axis from 0 to `top` that is `rows` lines high, by line counted from above (0 left out).

    Where no round number falls on a line, the top one says where the axis ends.
    """
    labels = {}
    for value, label in ticks(0.0, top, most):
        if value > 0:
            labels[row_of(value, top, rows)] = label
    return labels or {0: f"{top:.3g}"}


_INSIDE = (0.2, 0.8)
"""The part of a line, from its lower edge, in which a value belongs to the text in the line's middle."""

_FEWEST_LABELS = 2
_LOW = 8  # lines; in a higher chart, half a line is at most a sixteenth of the scale


def inside_labels(top: float, rows: int, most: int) -> dict[int, str]:
    """As `row_labels`, of round numbers that lie well inside of their lines.

    In a low chart, where a line spans much, a number at the edge of its line would be read as that of the middle.
    """
    if rows >= _LOW:
        return row_labels(top, rows, most)
    best: dict[int, str] = {}
    for finer in range(1, 4 * rows + 1):
        found = {}
        for value, label in ticks(0.0, top, finer):
            row, inside = divmod(value / top * rows, 1.0)
            if _INSIDE[0] <= inside <= _INSIDE[1]:
                found[rows - 1 - int(row)] = label
        if len(found) > len(best):
            best = found
        if len(best) >= min(most, max(_FEWEST_LABELS, most // 2)):
            break
    upper_first = sorted(best)
    return {row: best[row] for row in upper_first[:: max(1, math.ceil(len(best) / most))]}


def resampled(values: tuple[float, ...], columns: int) -> tuple[float, ...]:
    """`values` spread over another number of columns, the largest of those that share one."""
    n = len(values)
    if n == columns or not n or columns < 1:
        return values if n == columns else ()
    return tuple(
        max(values[i * n // columns : max((i + 1) * n // columns, i * n // columns + 1)]) for i in range(columns)
    )
