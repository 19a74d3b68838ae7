"""Units in order, by four figures; what is advised by them; and how sure the order is.

Pure; formulas are those of docs/method/verdict.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from hettop.analysis.unit_samples import Measured
from hettop.stats.quantiles import CONFIDENCE
from hettop.stats.resampling import STRETCH, mean_interval, quantile_bounds

BY_ENERGY, BY_FASTEST = "inferences per joule", "1/min"


TAIL_LEVELS = (0.99, 0.9)
"""Quantiles that say how predictable units are: the highest one that all units have samples for."""


@dataclass(frozen=True, slots=True)
class TailRatio:
    """The `level` quantile over the median of a unit, and its 95% interval; None where a side has no bound."""

    unit: str
    level: float
    ratio: float
    low: float | None
    high: float | None

    def overlaps(self, other: TailRatio) -> bool:
        """Whether the intervals of the two have a value in common."""
        return _at_most(self.low, other.high) and _at_most(other.low, self.high)


@dataclass(frozen=True, slots=True)
class Ranks:
    """Unit names, best first. `efficiency_by` is `inferences per joule`, or `1/min` unless all units have energy.

    `tails` are the units by the ratio of a high quantile to the median, which no single sample decides.
    """

    latency: tuple[str, ...]
    stability: tuple[str, ...]
    efficiency: tuple[str, ...]
    consistency: tuple[str, ...]
    efficiency_by: str
    tails: tuple[TailRatio, ...] = ()


@dataclass(frozen=True, slots=True)
class Advice:
    """A unit for each purpose, None without any; `avoid` has one at most, and none unless there are two units.

    `predictable_ties` are the units that are not proven to differ from `predictable`.
    """

    real_time: str | None
    predictable: str | None
    batch: str | None
    avoid: tuple[str, ...]
    predictable_ties: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Two neighbours of the latency rank: mean of `worse` minus mean of `better`, ms, and its interval at
    `confidence`: those of all neighbours hold together at 95%, or at what the look has.

    `proven` when the interval excludes 0; without an interval there were too few turns.
    """

    better: str
    worse: str
    difference_ms: float
    interval_ms: tuple[float, float] | None
    confidence: float = CONFIDENCE

    @property
    def proven(self) -> bool:
        return self.interval_ms is not None and self.interval_ms[0] > 0


def spread(unit: Measured) -> float:
    """Stability: max/min."""
    return unit.max_ms / unit.min_ms if unit.min_ms > 0 else float("inf")


def tail(unit: Measured) -> float:
    """Consistency: P90/min."""
    return unit.p90_ms / unit.min_ms if unit.min_ms > 0 else float("inf")


def rank(units: Sequence[Measured], energy_mj: dict[str, float | None]) -> Ranks:
    """`energy_mj` maps units to mJ per inference, None where that is unknown."""
    energies = {unit.unit: mj for unit in units if (mj := energy_mj.get(unit.unit)) is not None and mj > 0}
    by_energy = bool(units) and len(energies) == len(units)
    return Ranks(
        latency=_ordered(units, lambda unit: unit.mean_ms),
        stability=_ordered(units, spread),
        efficiency=_ordered(units, lambda unit: energies[unit.unit] if by_energy else unit.min_ms),
        consistency=_ordered(units, tail),
        efficiency_by=BY_ENERGY if by_energy else BY_FASTEST,
        tails=tail_ratios(units),
    )


def tail_ratios(units: Sequence[Measured]) -> tuple[TailRatio, ...]:
    """Lowest first, all at the same level."""
    for level in TAIL_LEVELS:
        found = [_tail_ratio(unit, level) for unit in units]
        if level == TAIL_LEVELS[-1] or all(each.high is not None for each in found):
            break
    return tuple(sorted(found, key=lambda each: each.ratio))


def _tail_ratio(unit: Measured, level: float) -> TailRatio:
    """Both quantiles are within their bounds at once with a confidence of 95% (Bonferroni)."""
    if not unit.samples_ms.size:  # they were too many, or are older than what is kept of them
        return TailRatio(unit.unit, level, unit.p90_ms / unit.p50_ms if unit.p50_ms > 0 else float("inf"), None, None)
    median, high = (quantile_bounds(unit.samples_ms, q, (1 + CONFIDENCE) / 2) for q in (0.5, level))
    ratio = float(np.quantile(unit.samples_ms, level)) / unit.p50_ms if unit.p50_ms > 0 else float("inf")
    return TailRatio(unit.unit, level, ratio, _over(high.low, median.high), _over(high.high, median.low))


def _over(value: float | None, by: float | None) -> float | None:
    return value / by if value is not None and by else None


def _at_most(low: float | None, high: float | None) -> bool:
    return low is None or high is None or low <= high


def advise(units: Sequence[Measured], ranks: Ranks) -> Advice:
    batch = _ordered(units, lambda unit: unit.p50_ms)
    several = len(units) > 1
    worst = {ranks.latency[-1], ranks.stability[-1]} if several else set()
    return Advice(
        real_time=ranks.latency[0] if units else None,
        predictable=ranks.tails[0].unit if ranks.tails else None,
        batch=batch[0] if units else None,
        avoid=tuple(worst) if len(worst) == 1 else (),
        predictable_ties=tuple(each.unit for each in ranks.tails[1:] if each.overlaps(ranks.tails[0])),
    )


def difference(better: Measured, worse: Measured, confidence: float = CONFIDENCE) -> Neighbours:
    """How far `worse` is behind, by paired differences of turns: what the samples of a turn share counts once.

    Turns are paired in their order; the last ones of a unit that has more are left out. They count as one for `STRETCH`
    calls of a unit at most, so that short turns in quick succession do not pass for independent ones.
    """
    pairs = min(len(turns_better := _turn_means(better)), len(turns_worse := _turn_means(worse)))
    most = min(better.samples_ms.size, worse.samples_ms.size) / STRETCH
    interval = mean_interval(turns_worse[:pairs] - turns_better[:pairs], confidence, most=most)
    return Neighbours(better.unit, worse.unit, worse.mean_ms - better.mean_ms, interval, confidence)


def neighbours(units: Sequence[Measured], confidence: float = CONFIDENCE) -> tuple[Neighbours, ...]:
    """How sure the order by mean is, from the best unit down."""
    ranked = sorted(units, key=lambda unit: unit.mean_ms)
    return tuple(difference(better, worse, confidence) for better, worse in pairwise(ranked))


def _turn_means(unit: Measured) -> npt.NDArray[np.float64]:
    """Mean of each turn, ms, in order; none where turns are not known."""
    if unit.turns is None:
        return np.empty(0)
    _, turn, counts = np.unique(unit.turns, return_inverse=True, return_counts=True)
    return np.asarray(np.bincount(turn.reshape(-1), weights=unit.samples_ms) / counts)


def _ordered(units: Sequence[Measured], figure: Callable[[Measured], float]) -> tuple[str, ...]:
    return tuple(unit.unit for unit in sorted(units, key=figure))
