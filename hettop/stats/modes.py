"""Modes of a latency distribution: how many, where, their shares, and whether they are significant.

One mode is the null hypothesis: more are reported only when a density estimate and an independent test both say so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from hettop.stats.bandwidth import smooth
from hettop.stats.dip import critical_dip, dip
from hettop.stats.histogram import bucket_high, bucket_index, bucket_low
from hettop.stats.resampling import dependence_time
from hettop.stats.spikes import MIN_LATENCY_NS, fence_of_samples

Float64Array = npt.NDArray[np.float64]

MAX_VALLEY = 0.6
"""A valley between two modes is at most this share of the lower peak's density."""

MIN_MODE_SHARE = 0.05
MIN_MODE_SAMPLES = 8
"""Mass of a mode: fewer samples are a spike's business, or an accident's."""

NEXT_TO_NOTHING = 1e-12
"""Of the highest density. One sample among `MAX_POINTS` is a peak of at least a thousandth of a millionth of it."""

MAX_DIP_P = 0.05
"""Hartigan's dip test: above it more than one mode is not reported."""

FIRM_SAMPLES = 300
FIRM_DIP_P = 0.01
"""Several modes are tentative below the first or above the second: 3 modes of 3 are found in 99% from 300."""

FIRM_EFFECTIVE = 20
"""And below so many independent samples: a level that wanders slowly has rested at a few places by then, too."""

FIRM_UNORDERED = 20_000
"""Where only a histogram is left, which does not show how samples depend on each other, several modes are tentative
below so many."""

MAX_POINTS = 20_000
"""More than this does not improve a mode test and costs time: evenly spaced order statistics stand for the rest."""


@dataclass(frozen=True, slots=True)
class Mode:
    """A peak: its centre in the samples' unit (ns) and the share of all samples, spikes aside, around it."""

    center_ns: float
    share: float


@dataclass(frozen=True, slots=True)
class Modes:
    """Modes in ascending order of centre, shares summing to 1; empty without samples. A single mode is never
    tentative."""

    modes: tuple[Mode, ...]
    tentative: bool


@dataclass(frozen=True, slots=True)
class _Basin:
    """Stretch of the density grid around one peak, from valley to valley: indices [start, stop)."""

    start: int
    stop: int
    peak: int


def find_modes(samples_ns: npt.ArrayLike) -> Modes:
    """Modes of samples (shape (n,), in the order in which they were taken, ns): kernel density of the log latency,
    spikes removed."""
    samples = np.asarray(samples_ns, dtype=np.float64).ravel()
    values = np.sort(samples)
    if values.size > MAX_POINTS:
        values = values[(np.arange(MAX_POINTS) * values.size) // MAX_POINTS]
    found, depth = _modes_of_sorted(values)
    if len(found) < 2 or samples.size < FIRM_SAMPLES:
        return Modes(found, tentative=len(found) > 1)
    firm = depth > critical_dip(values.size, FIRM_DIP_P) and _effective(samples) >= FIRM_EFFECTIVE
    return Modes(found, tentative=not firm)


def _effective(samples: Float64Array) -> float:
    """How many independent samples they are worth."""
    return samples.size / dependence_time(samples, 0.5)


def find_modes_weighted(values_ns: npt.ArrayLike, counts: npt.ArrayLike) -> Modes:
    """Modes of a histogram: `values_ns` (shape (m,), ascending) stand for its buckets, `counts` (int, shape (m,)).

    Each bucket's samples are spread evenly over the bucket; above `MAX_POINTS` in proportion to the counts.
    """
    index = bucket_index(np.asarray(values_ns).astype(np.int64))
    upto = np.cumsum(np.asarray(counts, dtype=np.int64))
    total = int(upto[-1]) if upto.size else 0
    if total == 0:
        return Modes((), tentative=False)
    points = min(total, MAX_POINTS)
    ranks = (np.arange(points) + 0.5) * (total / points)
    holder = np.minimum(np.searchsorted(upto, ranks, side="right"), upto.size - 1)
    before = np.concatenate(([0], upto))[holder]
    within = (ranks - before) / (upto[holder] - before)
    low, high = bucket_low(index), bucket_high(index)
    found, depth = _modes_of_sorted(low[holder] + within * (high - low)[holder])
    firm = total >= FIRM_UNORDERED and depth > critical_dip(points, FIRM_DIP_P)
    return Modes(found, tentative=len(found) > 1 and not firm)


def _modes_of_sorted(values: Float64Array) -> tuple[tuple[Mode, ...], float]:
    """The modes, and the dip where there are several."""
    if values.size == 0:
        return (), 0.0
    kept = _without_spikes(values)
    logs = np.log(np.maximum(_spread_ties(kept), MIN_LATENCY_NS))
    if logs[0] == logs[-1]:
        return (Mode(float(kept[0]), 1.0),), 0.0
    grid, density = smooth(logs)
    basins = _significant_basins(grid, density, logs)
    if len(basins) > 1 and (depth := dip(logs)) > critical_dip(logs.size, MAX_DIP_P):
        return _measured(basins, grid, logs), depth
    return (Mode(math.exp(float(grid[int(np.argmax(density))])), 1.0),), 0.0


def _without_spikes(values: Float64Array) -> Float64Array:
    """What lies under the spike threshold, unless as much as a mode lies above it: that is a slow state, not spikes."""
    fence = fence_of_samples(values)
    if fence is None:
        return values
    kept = values[: np.searchsorted(values, fence, side="right")]
    return kept if values.size - kept.size < MIN_MODE_SHARE * values.size else values


def _spread_ties(values: Float64Array) -> Float64Array:
    """Equal values spread evenly over one tick of the clock, the smallest step between ascending values.

    A timer of 41.67 ns puts a 5 us model on few points, each of which would look like a mode of its own.
    """
    distinct, first, counts = np.unique(values, return_index=True, return_counts=True)
    if distinct.size in (1, values.size):
        return values
    tick = float(np.diff(distinct).min())
    place = np.arange(values.size) - np.repeat(first, counts)
    return values + ((place + 0.5) / np.repeat(counts, counts) - 0.5) * tick


def _significant_basins(grid: Float64Array, density: Float64Array, logs: Float64Array) -> list[_Basin]:
    # Where there is next to nothing, what is left of the transform's rounding has a thousand peaks.
    basins = _basins(np.where(density > density.max() * NEXT_TO_NOTHING, density, 0.0))
    while len(basins) > 1:
        valleys = density[[basin.start for basin in basins[1:]]]
        peaks = density[[basin.peak for basin in basins]]
        depths = valleys / np.minimum(peaks[:-1], peaks[1:])
        shallowest = int(np.argmax(depths))
        if depths[shallowest] > MAX_VALLEY:
            _join(basins, shallowest, density)
            continue
        sizes = _sizes(basins, grid, logs)
        smallest = int(np.argmin(sizes))
        if sizes[smallest] >= max(MIN_MODE_SAMPLES, MIN_MODE_SHARE * logs.size):
            break
        to_the_left = smallest > 0 and (smallest == len(valleys) or valleys[smallest - 1] >= valleys[smallest])
        _join(basins, smallest - 1 if to_the_left else smallest, density)
    return basins


def _basins(density: Float64Array) -> list[_Basin]:
    """One basin per local maximum; a flat top counts once, at its left end."""
    steps = np.flatnonzero(np.diff(density))
    heights = density[np.append(steps, density.size - 1)]  # each run of equal values once
    starts = np.append(0, steps + 1)
    padded = np.concatenate(([-np.inf], heights, [-np.inf]))
    peaks = starts[(padded[1:-1] > padded[:-2]) & (padded[1:-1] > padded[2:])]
    cuts = [int(left + np.argmin(density[left:right])) for left, right in pairwise(peaks)]
    return [
        _Basin(start, stop, int(peak))
        for start, stop, peak in zip([0, *cuts], [*cuts, density.size], peaks, strict=True)
    ]


def _join(basins: list[_Basin], left: int, density: Float64Array) -> None:
    a, b = basins[left], basins[left + 1]
    peak = a.peak if density[a.peak] >= density[b.peak] else b.peak
    basins[left : left + 2] = [_Basin(a.start, b.stop, peak)]


def _sizes(basins: list[_Basin], grid: Float64Array, logs: Float64Array) -> list[int]:
    """Samples in each basin; a sample on a valley belongs to the right."""
    edges = np.searchsorted(logs, [grid[basin.start] for basin in basins[1:]])
    sizes: list[int] = np.diff(np.concatenate(([0], edges, [logs.size]))).tolist()
    return sizes


def _measured(basins: list[_Basin], grid: Float64Array, logs: Float64Array) -> tuple[Mode, ...]:
    sizes = _sizes(basins, grid, logs)
    return tuple(
        Mode(math.exp(float(grid[basin.peak])), size / logs.size) for basin, size in zip(basins, sizes, strict=True)
    )
