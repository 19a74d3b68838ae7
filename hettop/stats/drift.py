"""Drift: whether a latency's level has moved for good, and since when; modes that come and go are not drift.

CUSUM of Page (1954, Biometrika 41) on medians of 50 samples, because single latencies have tails that trip any sum of
them.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hettop.stats.histogram import Histogram, bucket_low, bucket_middle, weighted_quantile
from hettop.stats.spikes import state_starts

Int64Array = npt.NDArray[np.int64]
Float64Array = npt.NDArray[np.float64]

BLOCK = 50
"""Samples in a block."""

MIDDLE = BLOCK // 2 - 1
"""The place of its median, the lower middle one, among the sorted."""

REFERENCE = 512
"""Samples that say what the level was: enough to report states apart, soon enough that a warm-up is not missed."""

SLACK = 0.03
"""Relative change that is ignored, as a logarithm."""

THRESHOLD = 0.15
"""Sum of what goes beyond the slack at which it is called drift: a step of a fifth after one block."""

SLACK_SPREADS, THRESHOLD_SPREADS = 1.0, 5.0
"""The same in standard deviations of block medians, where latencies spread so widely that these rule."""

MARGIN = 2.0
"""Block medians of samples that follow their predecessors spread more than those of independent ones."""

DECIMALS = 4
"""Of logarithms: a hundredth of a percent, so that they can be written down in few digits."""

_MEDIAN_SPREAD = 1.2533 * 1.4826
"""Standard deviation of a normal's median, times the root of n, in MADs."""


@dataclass(frozen=True, slots=True)
class Level:
    """What latencies were at first: median of all, centre of each state (ns, ascending), the latencies between states,
    slack and threshold of the CUSUM (as logarithms)."""

    median_ns: float
    centers_ns: tuple[float, ...]
    edges_ns: tuple[float, ...]
    slack: float
    threshold: float


@dataclass(frozen=True, slots=True)
class Sums:
    """Where the CUSUM stands, up and down, and at which block each began to rise; `alarm` at which it was reached."""

    up: float = 0.0
    down: float = 0.0
    up_from: int = 0
    down_from: int = 0


@dataclass(frozen=True, slots=True)
class Alarm:
    """The level moved: blocks at which it began and at which that was certain."""

    began: int
    at: int


def level_of(hist: Histogram, block_medians: Sequence[int]) -> Level:
    """The level of the samples in `hist`, whose medians by blocks (ns) say how much those vary."""
    indices, counts = hist.nonzero()
    middles = bucket_middle(indices)
    starts = state_starts(indices, counts)
    parts = np.split(np.arange(indices.size), np.searchsorted(indices, starts))
    centers, spreads = [], []
    for part in parts:
        logs = np.log(middles[part])
        center = weighted_quantile(logs, counts[part], 0.5)
        distances = np.abs(logs - center)
        order = np.argsort(distances, kind="stable")
        centers.append(math.exp(center))
        spreads.append(weighted_quantile(distances[order], counts[part][order], 0.5))
    spread = max(spreads) * _MEDIAN_SPREAD / math.sqrt(BLOCK) * MARGIN
    if len(centers) == 1 and len(block_medians) > 1:
        spread = max(spread, float(np.std(np.log(np.maximum(block_medians, 1)), ddof=1)))
    return Level(
        median_ns=weighted_quantile(middles, counts, 0.5),
        centers_ns=tuple(float(max(1, round(center))) for center in centers),
        edges_ns=tuple(bucket_low(starts).tolist()),
        slack=max(SLACK, round(SLACK_SPREADS * spread, DECIMALS)),
        threshold=max(THRESHOLD, round(THRESHOLD_SPREADS * spread, DECIMALS)),
    )


def medians(blocks: Int64Array) -> Int64Array:
    """Medians of the rows (shape (m, `BLOCK`)), the lower middle one of each."""
    middle: Int64Array = np.partition(blocks, MIDDLE, axis=1)[:, MIDDLE]
    return middle


def residuals(blocks: Int64Array, level: Level, unit_ns: float = 1.0) -> Float64Array:
    """How far each block is from the level, as a logarithm: the median of its samples' distances to the nearest state.

    A value v of a block means (v + 1/2) `unit_ns`. With one state the median may be taken first.
    """
    if not level.edges_ns:
        return np.asarray(np.log((medians(blocks) + 0.5) * (unit_ns / level.centers_ns[0])))
    offsets = np.log((blocks + 0.5) * unit_ns)
    centers = np.log(level.centers_ns)
    offsets -= centers[np.searchsorted((centers[1:] + centers[:-1]) / 2, offsets)]
    offsets.partition((MIDDLE, MIDDLE + 1), axis=1)
    return np.asarray((offsets[:, MIDDLE] + offsets[:, MIDDLE + 1]) / 2)


def cusum(distances: Float64Array, first_block: int, sums: Sums, level: Level) -> tuple[Sums, Alarm | None]:
    """Take in blocks in their order, the first of number `first_block`, up to an alarm."""
    up, down, up_from, down_from = sums.up, sums.down, sums.up_from, sums.down_from
    sizes = np.abs(distances)
    if not (up or down) and float(sizes.max()) <= level.slack:
        return sums, None
    stirring = np.flatnonzero(sizes > level.slack).tolist()
    place = 0 if up or down else next(iter(stirring), len(distances))
    while place < len(distances):
        block, distance = first_block + place, float(distances[place])
        up_from = up_from if up else block
        down_from = down_from if down else block
        up = max(0.0, round(up + distance - level.slack, DECIMALS))
        down = max(0.0, round(down - distance - level.slack, DECIMALS))
        if max(up, down) > level.threshold:
            return Sums(up, down, up_from, down_from), Alarm(up_from if up >= down else down_from, block)
        place += 1
        if not (up or down):  # until the next block that could move them, all stays as it is
            following = bisect_left(stirring, place)
            place = stirring[following] if following < len(stirring) else len(distances)
    return Sums(up, down, up_from, down_from), None
