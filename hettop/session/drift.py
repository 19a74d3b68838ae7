"""Whether the latencies of one condition have drifted since it began: followed block by block as samples come.

Bounded; what it finds does not depend on how samples were windowed.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hettop.events import LARGEST_EXACT, Column, DriftState
from hettop.stats.drift import (
    BLOCK,
    DECIMALS,
    MIDDLE,
    REFERENCE,
    Alarm,
    Level,
    Stay,
    Stays,
    follow,
    level_of,
    may_be_learned_again,
    medians,
    residuals,
)
from hettop.stats.histogram import Histogram

Distances = npt.NDArray[np.float64]

AFTER_BLOCKS = 10
"""Blocks (500 samples) whose median is the level at which the drift was proven, and what it is now."""

NO_THRESHOLD = 1.0
"""Readers of the first fold take a level's third figure for a threshold."""

FARTHEST = 50.0
"""Distance from a level, as a logarithm, that no two latencies have (1 ns and a day: 32)."""

KEPT_BITS = 11
"""Of the samples that wait for their block to fill: a twentieth of a percent, in numbers short enough for keyframes."""


class _Times(NamedTuple):
    """When the blocks of a window began and ended; its first one holds `held` samples from before it."""

    latencies: Column
    ends: Column
    held: int
    held_from_ns: int

    def begin(self, block: int) -> int:
        """Start of the first sample, ns."""
        at = block * BLOCK - self.held
        return self.held_from_ns if at < 0 else int(self.ends[at] - self.latencies[at])

    def end(self, block: int) -> int:
        return int(self.ends[(block + 1) * BLOCK - self.held - 1])


class _Calm(NamedTuple):
    """The values of one state, `begin` to `end`, and those of them that are within the slack, `low` to `high`."""

    begin: int
    low: int
    high: int
    end: int


@dataclass(frozen=True, slots=True)
class Drifted:
    """The level moved at sample number `from_sample` (from 0), which began at `from_ns`; known at `known_ns`.

    Medians in ns: of what was before, when the drift was proven, and of the last samples.
    """

    from_sample: int
    from_ns: int
    known_ns: int
    before_ns: float
    after_ns: float
    now_ns: float


class Drift:
    """Feed it the steady samples in order, and `learn` the level from all of them once it is `due`."""

    def __init__(self) -> None:
        self.level: Level | None = None
        self._due = REFERENCE
        self._reference: list[int] = []
        self._rest: Column = np.empty(0, dtype=np.int64)
        self._rest_from_ns = 0
        self._shift = 0
        self._calm: list[_Calm] = []
        self._blocks = 0
        self._stays = Stays()
        self._above_ns = self._below_ns = self._began_ns = 0
        self._alarm: Alarm | None = None
        self._known_ns = 0
        self._reported = False
        self._after: list[float] = []
        self._recent: deque[float] = deque(maxlen=AFTER_BLOCKS)

    def add(self, latencies: Column, ends: Column) -> None:
        """Take in consecutive steady samples."""
        if not len(latencies):
            return
        held = len(self._rest)
        waiting = latencies >> self._shift
        if held:
            waiting = np.concatenate((self._rest, waiting))
        full = len(waiting) // BLOCK * BLOCK
        if full:
            self._take(waiting[:full].reshape(-1, BLOCK), _Times(latencies, ends, held, self._rest_from_ns))
        self._rest = waiting[full:]
        if len(self._rest) and (full or not held):
            at = len(latencies) - len(self._rest)
            self._rest_from_ns = int(ends[at] - latencies[at])

    def due(self, n: int) -> bool:
        """Whether the level is to be learned from the first `n` samples: at `REFERENCE`, and at twice as many each time
        as long as none moved for good."""
        return self._alarm is None and n >= self._due

    def learn(self, hist: Histogram) -> None:
        """What came so far, `hist`, is the level from now on, unless a part of it may turn out to be a drift."""
        if not may_be_learned_again(self._stays, self._blocks):
            return
        level = level_of(hist, self._reference)
        if self.level is None:
            self._set_level(level)
            self._rest = self._rest >> self._shift
        else:
            slack = max(level.slack, self.level.slack)
            self._set_level(replace(level, slack=slack), self._shift)  # samples that wait keep their unit
        self._reference = []
        self._stays = Stays(longest=self._stays.longest)
        self._recent.clear()
        self._due = 2 * hist.total

    def _set_level(self, level: Level, shift: int | None = None) -> None:
        if shift is None:
            shift = max(0, round(level.median_ns).bit_length() - KEPT_BITS)
        self.level, self._shift = level, shift
        self._calm = _calm_parts(level, 1 << shift)

    def _is_quiet(self, blocks: Column) -> bool:
        """Whether surely no block is beyond the slack while nothing moves: mostly so, and found without a logarithm.

        Of several states: where less than half of a block is beyond it on either side, its median is not.
        """
        if self._alarm is not None or self._stays.going_on:
            return False
        if len(self._calm) == 1:
            blocks.partition(MIDDLE, axis=1)  # they are a copy, and the order within a block says nothing
            middle: list[int] = blocks[:, MIDDLE].tolist()
            return min(middle) >= self._calm[0].low and max(middle) <= self._calm[0].high
        above, below = np.zeros(blocks.shape, dtype=np.bool_), np.zeros(blocks.shape, dtype=np.bool_)
        for part in self._calm:
            above |= (blocks > part.high) & (blocks <= part.end)
            below |= (blocks < part.low) & (blocks >= part.begin)
        return max(int(beyond.sum(axis=1).max()) for beyond in (above, below)) < BLOCK // 2

    def found(self) -> Drifted | None:
        """The first drift, with what the level is now; None while there is none."""
        return self._drifted(self._after, self._recent)

    def _drifted(self, after: Sequence[float], now: Sequence[float]) -> Drifted | None:
        if self.level is None or self._alarm is None:
            return None
        before = self.level.median_ns
        return Drifted(
            from_sample=self._alarm.began * BLOCK,
            from_ns=self._began_ns,
            known_ns=self._known_ns,
            before_ns=before,
            after_ns=before * math.exp(float(np.median(after))),
            now_ns=before * math.exp(float(np.median(now))),
        )

    def news(self) -> Drifted | None:
        """The drift, once, when it is found: as it is known at the alarm, whatever came with it in one window."""
        if self._alarm is None or self._reported:
            return None
        self._reported = True
        return self._drifted(self._after, self._after)

    def _take(self, blocks: Column, times: _Times) -> None:
        if self.level is None:
            self._reference += medians(blocks).tolist()
            self._blocks += len(blocks)
            return
        if self._is_quiet(blocks):
            self._blocks += len(blocks)
            return
        distances = np.round(residuals(blocks, self.level, float(1 << self._shift)), DECIMALS)
        if self._alarm is None:
            self._look(distances, times, self.level)
        self._blocks += len(blocks)
        self._keep(distances)

    def _look(self, distances: Distances, times: _Times, level: Level) -> None:
        """Look for the first alarm."""
        self._stays, self._alarm = follow(distances, self._blocks, self._stays, level.slack)
        above, below = self._stays.above, self._stays.below
        if above is not None and above.first >= self._blocks:
            self._above_ns = times.begin(above.first - self._blocks)
        if below is not None and below.first >= self._blocks:
            self._below_ns = times.begin(below.first - self._blocks)
        if self._alarm is not None:
            rose = above is not None and above.last == self._alarm.at
            self._began_ns = self._above_ns if rose else self._below_ns
            self._known_ns = times.end(self._alarm.at - self._blocks)
            until_alarm = distances[: self._alarm.at - self._blocks + 1].tolist()
            self._after = [*self._recent, *until_alarm][-AFTER_BLOCKS:]

    def _keep(self, distances: Distances) -> None:
        """The last blocks since the first stay that goes on began; once there is a drift, the last blocks."""
        self._recent.extend(distances[-AFTER_BLOCKS:].tolist())
        if self._alarm is None:
            first = min((stay.first for stay in self._stays.going_on), default=self._blocks)
            while len(self._recent) > self._blocks - first:
                self._recent.popleft()

    def state(self) -> DriftState:
        """For a keyframe."""
        level, alarm = self.level, self._alarm
        above, below = self._stays.above, self._stays.below
        return DriftState(
            blocks=self._blocks,
            reference=list(self._reference),
            rest=self._rest.tolist(),
            rest_from_ns=self._rest_from_ns if len(self._rest) else 0,
            level=None if level is None else (level.median_ns, level.slack, NO_THRESHOLD),
            centers_ns=[] if level is None else list(level.centers_ns),
            edges_ns=[] if level is None else list(level.edges_ns),
            due=self._due,
            halved=self._shift,
            above=None if above is None else (above.first, above.last, self._above_ns),
            below=None if below is None else (below.first, below.last, self._below_ns),
            longest=self._stays.longest,
            alarm=None if alarm is None else (alarm.began, alarm.at, self._began_ns, self._known_ns),
            after=list(self._after),
            recent=list(self._recent),
        )

    @classmethod
    def restored(cls, state: DriftState | None) -> Drift:
        """As a keyframe describes it. ValueError when it contradicts itself."""
        drift = cls()
        if state is None:
            return drift
        if len(state.rest) >= BLOCK:
            raise ValueError("a keyframe's block is over-full")
        drift._blocks, drift._reference = state.blocks, list(state.reference)
        drift._rest = np.array(state.rest, dtype=np.int64)
        drift._rest_from_ns = state.rest_from_ns
        if state.level is not None:
            centers = state.centers_ns
            ascend = all(a < b for a, b in pairwise(centers)) and min(centers, default=0) >= 1
            if not ascend or len(state.edges_ns) != len(centers) - 1 or state.level[1] > FARTHEST:
                raise ValueError("a keyframe's level has no centres, or none that are latencies")
            level = Level(state.level[0], tuple(state.centers_ns), tuple(state.edges_ns), state.level[1])
            drift._set_level(level, state.halved)
        drift._due = state.due or REFERENCE
        above, below = (None if stay is None else Stay(*stay[:2]) for stay in (state.above, state.below))
        drift._stays = Stays(above, below, state.longest)
        drift._above_ns, drift._below_ns = (0 if stay is None else stay[2] for stay in (state.above, state.below))
        if any(abs(distance) > FARTHEST for distance in (*state.after, *state.recent)):
            raise ValueError("a keyframe's blocks are farther from its level than any latency")
        if state.alarm is not None:
            if not state.after:
                raise ValueError("a keyframe's drift has no level after it")
            drift._alarm, drift._reported = Alarm(*state.alarm[:2]), True
            drift._began_ns, drift._known_ns = state.alarm[2:]
        drift._after = list(state.after)
        drift._recent.extend(state.recent)
        return drift


def _calm_parts(level: Level, unit_ns: int) -> list[_Calm]:
    """Of each state, in values that mean (value + 1/2) `unit_ns`; a sample belongs to the state that is nearest."""
    centers = [center / unit_ns for center in level.centers_ns]
    ends = [math.floor(math.sqrt(left * right) - 0.5) for left, right in pairwise(centers)]
    begins = [0, *(end + 1 for end in ends)]
    return [
        _Calm(
            begin,
            math.ceil(center * math.exp(-level.slack) - 0.5),
            math.floor(center * math.exp(level.slack) - 0.5),
            end,
        )
        for center, begin, end in zip(centers, begins, [*ends, LARGEST_EXACT], strict=True)
    ]
