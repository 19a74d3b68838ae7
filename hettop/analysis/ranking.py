"""Units in order, by four figures; what is advised by them; and how sure the order is.

Pure; formulas are those of docs/method/verdict.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from hettop.analysis.unit_samples import Measured
from hettop.stats.quantiles import CONFIDENCE
from hettop.stats.resampling import autocorrelation_time, block_length, resampled_means, resamples_for

LEAST_TO_RESAMPLE = 20
"""Below this a resample has hardly any other values to take, and an interval would look certain."""

LEAST_EFFECTIVE = 15
"""Independent samples that they must be worth: from fewer, resampled blocks give intervals that are too narrow."""

BY_ENERGY, BY_FASTEST = "inferences per joule", "1/min"


@dataclass(frozen=True, slots=True)
class Ranks:
    """Unit names, best first. `efficiency_by` is `inferences per joule`, or `1/min` unless all units have energy."""

    latency: tuple[str, ...]
    stability: tuple[str, ...]
    efficiency: tuple[str, ...]
    consistency: tuple[str, ...]
    efficiency_by: str


@dataclass(frozen=True, slots=True)
class Advice:
    """A unit for each purpose, None without any; `avoid` has one at most, and none unless there are two units."""

    real_time: str | None
    predictable: str | None
    batch: str | None
    avoid: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Two neighbours of the latency rank: mean of `worse` minus mean of `better`, ms, and its 95% interval.

    `proven` when the interval excludes 0; without an interval there were too few samples, or not all of them.
    """

    better: str
    worse: str
    difference_ms: float
    interval_ms: tuple[float, float] | None

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
    )


def advise(units: Sequence[Measured], ranks: Ranks) -> Advice:
    batch = _ordered(units, lambda unit: unit.p50_ms)
    several = len(units) > 1
    worst = {ranks.latency[-1], ranks.stability[-1]} if several else set()
    return Advice(
        real_time=ranks.latency[0] if units else None,
        predictable=ranks.stability[0] if units else None,
        batch=batch[0] if units else None,
        avoid=tuple(worst) if len(worst) == 1 else (),
    )


class Resampled:
    """Resampled means of units, each drawn once however many pairs are looked at."""

    def __init__(self, units: Sequence[Measured], rng: np.random.Generator) -> None:
        usable = [unit for unit in units if unit.samples_ms.size >= LEAST_TO_RESAMPLE and _worth_enough(unit)]
        resamples = resamples_for(*(unit.samples_ms.size for unit in usable)) if usable else 0
        self._units = {unit.unit: unit for unit in units}
        self._means = {
            unit.unit: resampled_means(unit.samples_ms, block_length(unit.samples_ms), resamples, rng)
            for unit in usable
        }

    def difference(self, better: str, worse: str) -> Neighbours:
        interval = None
        if better in self._means and worse in self._means:
            low, high = np.quantile(
                self._means[worse] - self._means[better], ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)
            )
            interval = float(low), float(high)
        difference = self._units[worse].mean_ms - self._units[better].mean_ms
        return Neighbours(better, worse, difference, interval)


def neighbours(ranks: Ranks, resampled: Resampled) -> tuple[Neighbours, ...]:
    """How sure the order by mean is, from the best unit down."""
    return tuple(resampled.difference(better, worse) for better, worse in pairwise(ranks.latency))


def _worth_enough(unit: Measured) -> bool:
    """Samples that come in slow waves look like many and hold little information."""
    return unit.samples_ms.size / autocorrelation_time(unit.samples_ms) >= LEAST_EFFECTIVE


def _ordered(units: Sequence[Measured], figure: Callable[[Measured], float]) -> tuple[str, ...]:
    return tuple(unit.unit for unit in sorted(units, key=figure))
