"""How a quantile differs between two sides: from several runs a side, or from within one run a side. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from hettop.analysis.runs import LEAST_MS, LEVELS, RunCondition
from hettop.analysis.unit_samples import Float64Array
from hettop.stats.quantiles import CONFIDENCE, quantile
from hettop.stats.resampling import (
    BLOCK,
    BLOCK_TIMES,
    LEAST_BLOCKS,
    dependence_time,
    resampled_levels,
    resamples_for,
    student,
)
from hettop.stats.runs import mean_difference


@dataclass(frozen=True, slots=True)
class QuantileDifference:
    """A quantile in A and in B (geometric mean of the runs), with the interval of (B - A) / A.

    All intervals of a comparison hold at once with 95%, so that everything read off them does. `between_runs`: whether
    they come from several runs a side. `regressed`: slower by more than the tolerance.
    """

    a_ms: float
    b_ms: float
    change_ci: tuple[float, float]
    tolerance: float
    between_runs: bool = False

    @property
    def diff_ms(self) -> float:
        return self.b_ms - self.a_ms

    @property
    def ci_ms(self) -> tuple[float, float]:
        """The interval of the difference, relative to `a_ms`."""
        low, high = self.change_ci
        return self.a_ms * low, self.a_ms * high

    @property
    def beyond(self) -> float:
        """The least relative slowdown within the interval."""
        return self.change_ci[0]

    @property
    def slower(self) -> bool:
        return self.change_ci[0] > 0

    @property
    def faster(self) -> bool:
        return self.change_ci[1] < 0

    @property
    def regressed(self) -> bool:
        return self.change_ci[0] > self.tolerance

    @property
    def equivalent(self) -> bool:
        """Proven to be the same within the tolerance, in both directions (two one-sided tests)."""
        return self.between_runs and -self.tolerance <= self.change_ci[0] and self.change_ci[1] <= self.tolerance

    @property
    def proven(self) -> bool:
        """Whether it is proven that it regressed, or that it did not."""
        return self.between_runs and (self.regressed or self.change_ci[1] <= self.tolerance)


def run_differences(
    a: Sequence[RunCondition], b: Sequence[RunCondition], names: Sequence[str], tolerance: float, *, looked_at: int
) -> dict[str, QuantileDifference]:
    """Differences from the quantiles of single runs (Kalibera and Jones, Rigorous benchmarking in reasonable time,
    ISMM 2013): whatever samples of a run have in common is in them.

    The error of 5% is shared among the `looked_at` quantiles of the comparison (Bonferroni), or the more of them are
    looked at, the more often one would look slower by chance.
    """
    confidence = 1 - (1 - CONFIDENCE) / looked_at
    found = {}
    for name in names:
        levels = [[max(run.levels_ms[name], LEAST_MS) for run in side] for side in (a, b)]
        before, after = (np.log(side).tolist() for side in levels)
        pairs = zip((*a, *b), (*levels[0], *levels[1]), strict=True)
        resolution = max(run.resolution_ms / level for run, level in pairs)
        low, high = mean_difference(before, after, confidence, resolution)
        a_ms, b_ms = (math.exp(float(np.mean(side))) for side in (before, after))
        found[name] = QuantileDifference(a_ms, b_ms, _changes(low, high), tolerance, between_runs=True)
    return found


def quantile_differences(
    a: Float64Array,
    b: Float64Array,
    names: Sequence[str],
    tolerance: float,
    rng: np.random.Generator,
    *,
    looked_at: int | None = None,
    together: float = 1.0,
) -> dict[str, QuantileDifference]:
    """Differences between two runs (samples in ms) from resamples of each in blocks.

    together: samples that depend on each other at least, as the tokens of an answer do.

    A t interval with the spread of the resamples' log ratios, and as many degrees of freedom as there are blocks;
    widened to the resamples' own quantiles (stretched likewise), because a tail that one burst decides jumps from
    resample to resample. Its error is shared as in `run_differences`; without `looked_at`, among these quantiles.
    """
    levels = [LEVELS[name] for name in names]
    resamples = resamples_for(a.size, b.size)
    before, after = (_resampled(side, levels, resamples, rng, together) for side in (a, b))
    error = (1 - CONFIDENCE) / 2 / (looked_at or len(names))
    t = student(1 - error, min(before.freedom, after.freedom))
    spread = np.sqrt(before.variances + after.variances)
    ends = np.quantile(after.logs - before.logs, (error, 1 - error), axis=0)
    stretch = t / NormalDist().inv_cdf(1 - error)
    found = {}
    for index, (name, level) in enumerate(zip(names, levels, strict=True)):
        a_ms, b_ms = quantile(a, level), quantile(b, level)
        ratio, reach = math.log(max(b_ms, LEAST_MS) / max(a_ms, LEAST_MS)), t * float(spread[index])
        lowest, highest = (ratio + stretch * (float(end) - ratio) for end in ends[:, index])
        low, high = min(lowest, ratio - reach), max(highest, ratio + reach)
        found[name] = QuantileDifference(a_ms, b_ms, _changes(low, high), tolerance)
    return found


@dataclass(frozen=True, slots=True)
class _Resampled:
    """Logs of each level in each resample, with the variance that a run has, and its degrees of freedom."""

    logs: Float64Array
    variances: Float64Array
    freedom: int


def _resampled(
    samples: Float64Array, levels: Sequence[float], resamples: int, rng: np.random.Generator, together: float
) -> _Resampled:
    """Resamples of blocks that are longer than the dependence at any of the levels lasts, where the run allows.

    Two corrections of the variance. Blocks are centred on the mean of the run itself: n / (n - 1) of n blocks. At their
    ends they cut the dependence, which loses half a dependence time of their length (Künsch, Annals of Statistics 17,
    1989, section 3, for an exponential decay).
    """
    time = max(together, *(dependence_time(samples, level) for level in levels))
    block = max(1, min(max(BLOCK, math.ceil(BLOCK_TIMES * time)), samples.size // LEAST_BLOCKS))
    found = np.log(np.maximum(resampled_levels(samples, levels, block, resamples, rng), LEAST_MS))
    blocks = samples.size / block
    short = blocks / (blocks - 1) / max(0.5, 1 - time / (2 * block))
    return _Resampled(found, np.asarray(found.var(axis=0, ddof=1) * short), int(blocks) - 1)


def _changes(low: float, high: float) -> tuple[float, float]:
    """Relative changes of log ratios."""
    return math.expm1(low), math.expm1(min(high, _LARGEST))


_LARGEST = 600.0
"""A log ratio whose exponential is still finite."""
