"""How much samples depend on each other, from sums over batches: in bounded memory, however many samples there are.

The batch means of Conway (Some tactical problems in digital simulation, Management Science 10, 1963): the mean of a
batch longer than the dependence varies as the means of independent samples would, times the dependence time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from hettop.stats.quantiles import CONFIDENCE
from hettop.stats.resampling import LEAST_VALUES, autocorrelation_time, student

MOST_BATCHES = 64
"""When there are so many, neighbours are joined; half of them are always left."""

FEWEST_BATCHES = 16
"""Fewer say too little about their spread."""

FIRST_SIZE = 4


@dataclass(slots=True)
class Batches:
    """Counts of samples above a threshold in consecutive batches of `size`; `last` and `filled` are of the open one."""

    threshold: int
    size: int = FIRST_SIZE
    counts: list[int] = field(default_factory=list)
    last: int = 0
    filled: int = 0

    def add(self, samples: npt.NDArray[np.int64]) -> None:
        """Take in the samples that came next (shape (n,))."""
        above = np.concatenate(([0], np.cumsum(samples > self.threshold)))
        done, n = 0, len(samples)
        while n - done >= self.size - self.filled:
            until = done + self.size - self.filled
            self.counts.append(self.last + int(above[until] - above[done]))
            done, self.last, self.filled = until, 0, 0
            if len(self.counts) >= MOST_BATCHES:
                self.counts = [first + second for first, second in zip(*[iter(self.counts)] * 2, strict=True)]
                self.size *= 2
        self.last += int(above[n] - above[done])
        self.filled += n - done

    def time(self) -> float | None:
        """Samples that carry as much as one independent sample, 1 or more; None of too few batches.

        From batches, from pairs of them, and from both the value for batches without end: their variance is short of
        it by an amount that halves as the batches double.
        """
        if len(self.counts) < FEWEST_BATCHES:
            return None
        counts = np.array(self.counts, dtype=np.float64)
        single = _inflation(counts, self.size)
        double = _inflation(counts[: counts.size // 2 * 2].reshape(-1, 2).sum(axis=1), 2 * self.size)
        return max(1.0, single, double, 2 * double - single)


def _inflation(counts: npt.NDArray[np.float64], size: int) -> float:
    """Variance of the counts over what independent samples give."""
    share = float(counts.mean()) / size
    return 1.0 if share in (0.0, 1.0) else float(counts.var(ddof=1)) / (size * share * (1 - share))


Float64Array = npt.NDArray[np.float64]

LEAST_EFFECTIVE = 2
"""Independent values that must be left: of fewer there is no spread. Few make the interval wide."""

STRONGEST = 0.95
"""Correlation of neighbours above which it is not estimated: a batch then carries a fortieth of an independent one."""


def ratio_interval(
    amounts: npt.ArrayLike, lengths: npt.ArrayLike, confidence: float = CONFIDENCE
) -> tuple[float, float] | None:
    """Interval of an amount per length (power: energy by time) from consecutive batches; None of too few.

    amounts, lengths: shape (n,), lengths above 0. The variance of a ratio (Cochran, Sampling Techniques, 1977, section
    6.4) from as many batches as these are worth, with Student's t; `LEAST_VALUES` batches are needed.
    """
    amount, length = np.asarray(amounts, dtype=np.float64), np.asarray(lengths, dtype=np.float64)
    if amount.size < LEAST_VALUES:
        return None
    ratio = float(amount.sum() / length.sum())
    residuals = (amount - ratio * length) / length.mean()
    effective = residuals.size / max(autocorrelation_time(residuals), _first_order_time(residuals))
    if effective < LEAST_EFFECTIVE:
        return None
    # Dependent values spread less about their own mean than about the true one: hence effective - 1.
    error = math.sqrt(float(np.square(residuals).mean()) / (effective - 1))
    reach = student(1 - (1 - confidence) / 2, effective - 1) * error
    return ratio - reach, ratio + reach


def _first_order_time(residuals: Float64Array) -> float:
    """Batches that carry as much as one independent one, by the correlation of neighbours; 1 or more.

    Of few values the correlation is found too low; corrected by Kendall (Note on bias in the estimation of
    autocorrelation, Biometrika 41, 1954): its expectation is r - (1 + 3 r) / n.
    """
    n, squares = residuals.size, float(np.square(residuals).sum())
    if squares == 0:
        return 1.0
    found = float((residuals[1:] * residuals[:-1]).sum()) / squares
    correlation = min(STRONGEST, max(0.0, (n * found + 1) / (n - 3)))
    return (1 + correlation) / (1 - correlation)
