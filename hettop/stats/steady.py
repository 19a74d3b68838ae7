"""When a machine that was just set to work has become steady: the end of its warm-up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

LEAST = 50
"""Fewer samples detect a slow decay only without noise."""

STEP = 10
"""So many values lie between two looks: each look is a chance to be wrong."""

BLOCK = 5
"""Values whose median is one point of the line: a spike moves none, and neighbours depend less on each other."""

PART = 0.75
"""Of the values, the last: the beginning, which may be many times as slow, is not a part of any line."""

TOLERANCE = 0.05
"""Change left, of which a warm-up may end: below it a mean of the next hundreds is off by one or two per cent."""

SEEN_WITHIN = 40
"""Calls in which a change falls to 1/e, up to which it is seen: of 20%, the warm-up ended with more than `TOLERANCE`
left in at most 5% of runs. Slower changes look flat over the first `LEAST` values."""


def steady_at(latencies: Sequence[int], checked: int = 0) -> int | None:
    """After how many values they are steady first, looking after each `STEP` from `LEAST` on; None if they never are.

    A least-squares line is laid through the logarithms of the medians of `BLOCK` values each over the last `PART`.
    Steady is where the line says, its standard error included, that as many values again would change by `TOLERANCE`
    at most. `checked` values were looked at before. All values are positive.
    """
    for n in range(max(LEAST, checked - checked % STEP + STEP), len(latencies) + 1, STEP):
        if change_ahead(latencies[:n]) <= TOLERANCE:
            return n
    return None


def change_ahead(latencies: Sequence[int]) -> float:
    """Relative change over as many values again, by the line through them, plus one standard error of it."""
    values = np.maximum(np.asarray(latencies, dtype=np.float64), 1.0)
    last = values[int(len(values) * (1 - PART)) :]
    blocks = len(last) // BLOCK
    levels = np.median(np.log(last[len(last) - blocks * BLOCK :]).reshape(blocks, BLOCK), axis=1)
    places = np.arange(blocks) - (blocks - 1) / 2
    spread = float(places @ places)
    slope = float(places @ levels) / spread
    rest = levels - levels.mean() - slope * places
    error = (float(rest @ rest) / (blocks - 2) / spread) ** 0.5
    return float((abs(slope) + error) * len(values) / BLOCK)
