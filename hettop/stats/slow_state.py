"""Where the slowest state of a latency distribution begins: the valley below the last peak that holds enough samples.

It must not know what a spike is. It is the mode rule made cheap enough for every renewal of a fence: no density is
estimated and nothing is tested, which is why it asks for a deeper valley than `modes` does.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Int64Array = npt.NDArray[np.int64]

MIN_SHARE = 0.05
"""Mass of a state, as of a mode: what is slower than fewer samples is a spike."""

MAX_VALLEY = 0.3
"""A valley is at most this share of the lower peak beside it. A mode may have twice as much, but is tested, too."""

SIGMAS = 4.0
"""And so many standard deviations of the counts below it: bins of few samples have gaps by accident."""

WIDTHS = (4, 8, 16, 32)
"""Buckets joined to a bin, finest first: 2 to 3 %, ... of the value. Modes closer than that do not move a fence, and
the ticks of a 24 MHz timer are closer from 1.4 us on. Few samples show a wide state in wide bins alone."""


def slow_state_from(indices: Int64Array, counts: Int64Array) -> int | None:
    """The bucket from which on the slowest of several states lies; None where there is one state.

    indices, counts: the occupied buckets of a histogram, ascending, shape (m,).
    """
    return _begin_of_slowest(indices, counts, int(counts.sum()))


def state_starts(indices: Int64Array, counts: Int64Array) -> list[int]:
    """The buckets in which the states after the first one begin, ascending: empty where there is one state."""
    total = int(counts.sum())
    starts: list[int] = []
    while (begin := _begin_of_slowest(indices, counts, total)) is not None:
        starts.insert(0, begin)
        kept = int(np.searchsorted(indices, begin))
        indices, counts = indices[:kept], counts[:kept]
    return starts


def _begin_of_slowest(indices: Int64Array, counts: Int64Array, total: int) -> int | None:
    """The valley below the last peak that holds enough of `total` samples."""
    if int(counts.sum()) < SIGMAS * SIGMAS * 2:  # two peaks with nothing between them need as many
        return None
    for width in WIDTHS:
        bins = indices // width
        first = int(bins[0])
        if int(bins[-1]) == first:
            return None
        cut = _last_valley(np.bincount(bins - first, weights=counts).astype(np.float64), total)
        if cut is not None:
            return (first + cut) * width
    return None


def _last_valley(heights: npt.NDArray[np.float64], total: int) -> int | None:
    """The place of the valley below the last peak that holds enough, if there is one."""
    above = heights.sum() - np.cumsum(heights)  # samples beyond each bin
    right = np.maximum.accumulate(heights[::-1])[::-1]
    lower = np.minimum(np.maximum.accumulate(heights), right)
    drop = lower - heights
    valleys = np.flatnonzero(
        (above >= MIN_SHARE * total)
        & (heights <= MAX_VALLEY * lower)
        & (drop * drop >= SIGMAS * SIGMAS * (lower + heights))
    )
    return int(valleys[-1]) if valleys.size else None
