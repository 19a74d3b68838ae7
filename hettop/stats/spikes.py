"""The threshold above which a latency counts as a spike, and where the slowest state of a distribution begins."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from hettop.stats.histogram import Histogram, bucket_index, bucket_low, bucket_middle, weighted_quantile

MAD_MULTIPLE = 10.0
"""MADs (unscaled, of the log latency) above the median: 6.7 standard deviations of a log-normal."""

MEDIAN_MULTIPLE = 1.5
"""A very steady unit has a tiny MAD; latencies within 1.5 x its median are not spikes."""

SLOW_STATE_MULTIPLE = 3.0
"""Of the median of a slow state, beyond which all is a spike: where a machine is busy, what is slow spreads over a
decade, and ten of its MADs are beyond anything that happens."""

WIDE_TIMES = 4.0
"""Of the median of all samples: beyond it most of what a person calls a spike is below the threshold."""

MIN_SPIKE_SAMPLES = 20
"""Below this the MAD itself errs by a quarter (asymptotic sd of a normal's MAD: 1 / sqrt(0.74 n)), and the spike
threshold of a multimodal unit may be set by the few samples of one mode."""

MIN_LATENCY_NS = 1
"""What is below the clock's resolution has no logarithm; it counts as this."""


def fence(distribution: Histogram | npt.ArrayLike) -> float | None:
    """Spike threshold in ns of a histogram or of samples (shape (n,), ns); None below `MIN_SPIKE_SAMPLES`.

    The larger of exp(median(log x) + 10 MAD(log x)) and 1.5 median(x), of the slowest state that holds at least 5% of
    the samples (`slow_state`), but no more than 3 medians of that; of all samples where there is one state.
    """
    if isinstance(distribution, Histogram):
        return fence_of_histogram(distribution)
    return fence_of_samples(distribution)


def fence_of_samples(values: npt.ArrayLike) -> float | None:
    """See `fence`; `values` in any order, shape (n,), in ns (or any unit in which all are at least 1)."""
    array = np.asarray(values, dtype=np.float64)
    if array.size < MIN_SPIKE_SAMPLES:
        return None
    index, counts = np.unique(bucket_index(array.astype(np.int64)), return_counts=True)
    begin = slow_state_from(index, counts)
    if begin is not None:
        array = array[array >= bucket_low(begin)]
    logs = np.log(np.maximum(array, MIN_LATENCY_NS))
    median_log = float(np.median(logs))
    mad_log = float(np.median(np.abs(logs - median_log)))
    return _fence(median_log, mad_log, float(np.median(array)), slow=begin is not None)


def fence_of_histogram(hist: Histogram) -> float | None:
    """See `fence`; each value stands at its bucket's middle, which moves the spike threshold by 8% at worst."""
    if hist.total < MIN_SPIKE_SAMPLES:
        return None
    indices, counts = hist.nonzero()
    begin = slow_state_from(indices, counts)
    if begin is not None:
        kept = int(np.searchsorted(indices, begin))
        indices, counts = indices[kept:], counts[kept:]
    middles = bucket_middle(indices)
    logs = np.log(middles)
    median_log = weighted_quantile(logs, counts, 0.5)
    distances = np.abs(logs - median_log)
    order = np.argsort(distances, kind="stable")
    mad_log = weighted_quantile(distances[order], counts[order], 0.5)
    return _fence(median_log, mad_log, weighted_quantile(middles, counts, 0.5), slow=begin is not None)


def _fence(median_log: float, mad_log: float, median: float, *, slow: bool) -> float:
    by_spread = math.exp(median_log + MAD_MULTIPLE * mad_log)
    if slow:
        by_spread = min(by_spread, SLOW_STATE_MULTIPLE * median)
    return max(by_spread, MEDIAN_MULTIPLE * median)


Int64Array = npt.NDArray[np.int64]

MIN_SHARE = 0.05
"""Mass of a state, as of a mode: what is slower than fewer samples is a spike."""

MAX_VALLEY = 0.3
"""A valley is at most this share of the lower peak beside it. A mode may have twice as much, but is tested, too."""

SIGMAS = 4.0
"""And so many standard deviations of the counts below it: bins of few samples have gaps by accident."""

WIDTHS = (4, 8, 16, 32)
"""Buckets joined to a bin, finest first: 2 to 3%, ... of the value. Modes closer than that do not move a spike
threshold, and the ticks of a 24 MHz timer are closer from 1.4 us on. Few samples show a wide state in wide bins
alone."""


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
