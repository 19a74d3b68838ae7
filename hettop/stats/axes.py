"""Where the axis of a plot begins and ends, whoever draws it: in cells of a terminal or in pixels of a report.

It must not know what the values are.
"""

from __future__ import annotations

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
