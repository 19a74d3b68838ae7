"""Drift: whether a latency's level has moved for good, and since when; modes that come and go are not drift.

Medians of 50 samples are followed, because single latencies have tails. The level has moved where they stay beside it
for `LASTING` blocks and much longer than ever before. Stays of a process that returns have an exponential tail: after m
of them, one is k times as long as the longest with probability m! k! / (m + k)!, whatever they last on average. Over
all m that sums to 1 / (k - 1), a bound for a session without end; `LASTING` excludes the first terms, which weigh most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

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

SLACK_SPREADS = 1.0
"""The same in standard deviations of block medians, where latencies spread so widely that these rule."""

MARGIN = 2.0
"""Block medians of samples that follow their predecessors spread more than those of independent ones."""

LASTING = 100
"""Blocks (5,000 samples) for which the new level lasts before it is called drift: a state that is left after 1,000
samples on average lasts as long in 0.7% of its stays."""

TIMES_LONGEST = 6
"""And so many times the longest stay beside the level that ended: what comes and goes teaches how long it lasts."""

HELD = 50
"""Blocks (2,500 samples) for which the level before was held, or nothing is known of how long a level lasts."""

FALSE_ALARM_EVERY = 1_000_000
"""Samples to a false alarm, on average, at least: under each dependence of `benchmarks.nulls`, 5% of sessions of
200,000 samples had one at most."""

APART = 3
"""So many blocks in a row that are not on its side end a stay: one that is not may be noise."""

FEW = 3
SHARE = 25
"""The level may be learned again from all samples while a stay has so many blocks, or one in `SHARE` of all: fewer
than a state of its own has (`stats.spikes.MIN_SHARE`)."""

DECIMALS = 4
"""Of logarithms: a hundredth of a percent, so that they can be written down in few digits."""

_MEDIAN_SPREAD = 1.2533 * 1.4826
"""Standard deviation of a normal's median, times the root of n, in MADs."""


@dataclass(frozen=True, slots=True)
class Level:
    """What latencies were so far: median of all, centre of each state (ns, ascending), the latencies between states,
    and the distance from the level (as a logarithm) that is ignored."""

    median_ns: float
    centers_ns: tuple[float, ...]
    edges_ns: tuple[float, ...]
    slack: float


class Stay(NamedTuple):
    """Block medians beside the level, all on one side: the first and the last block that were."""

    first: int
    last: int

    @property
    def blocks(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class Stays:
    """The stay above the level and the one below it that go on, and the blocks of the longest that ended."""

    above: Stay | None = None
    below: Stay | None = None
    longest: int = 0

    @property
    def going_on(self) -> tuple[Stay, ...]:
        return tuple(stay for stay in (self.above, self.below) if stay is not None)


@dataclass(frozen=True, slots=True)
class Alarm:
    """The level moved: blocks at which it began and at which that was proven."""

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


def follow(distances: Float64Array, first_block: int, stays: Stays, slack: float) -> tuple[Stays, Alarm | None]:
    """Take in blocks in their order, the first of number `first_block`, up to an alarm."""
    above, below, longest = stays.above, stays.below, stays.longest
    beside = np.flatnonzero(np.abs(distances) > slack)
    for place, distance in zip(beside.tolist(), distances[beside].tolist(), strict=True):
        block = first_block + place
        above, below, longest = _without_ended(above, below, longest, block - 1)
        if distance > 0:
            above = stay = Stay(block if above is None else above.first, block)
        else:
            below = stay = Stay(block if below is None else below.first, block)
        if stay.first >= HELD and stay.blocks >= max(LASTING, TIMES_LONGEST * longest):
            return Stays(above, below, longest), Alarm(stay.first, block)
    return Stays(*_without_ended(above, below, longest, first_block + len(distances) - 1)), None


def _without_ended(
    above: Stay | None, below: Stay | None, longest: int, block: int
) -> tuple[Stay | None, Stay | None, int]:
    """The stays that go on after `block`, and the longest that ended."""
    if above is not None and block - above.last >= APART:
        longest = max(longest, above.blocks)
        above = None
    if below is not None and block - below.last >= APART:
        longest = max(longest, below.blocks)
        below = None
    return above, below, longest


def may_be_learned_again(stays: Stays, blocks: int) -> bool:
    """Whether no stay goes on that may turn out to be a drift: it would become a part of the level."""
    return all(stay.first < HELD or blocks - stay.first <= max(FEW, blocks // SHARE) for stay in stays.going_on)
