"""Differences between two groups of runs: the interval of a difference of means, and how many runs it needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import count

import numpy as np

from hettop.stats.resampling import student

LEAST_RUNS = 3
"""A side. With two, chance separates A from B in 1 session of 8 where each run is in one of two states throughout."""


def runs_needed(conditions: int, error: float = 0.05) -> int:
    """Runs a side that chance separates in at most `error` of all sessions, however many conditions are compared.

    The worst case is a run that is in one of two states throughout, each equally likely: all runs of A are in one and
    all of B in the other with probability 2^(1 - 2 runs), in each condition. 3 runs for one condition, 4 for up to 6,
    5 for up to 25.
    """
    return next(runs for runs in count(LEAST_RUNS) if conditions * 2.0 ** (1 - 2 * runs) <= error)


def mean_difference(
    a: Sequence[float], b: Sequence[float], confidence: float, resolution: float = 0.0
) -> tuple[float, float]:
    """Interval of mean(b) - mean(a) of independent values, at least two each, in their unit.

    Welch's t interval (Biometrika 34, 1947), with two changes, because with few values one side's spread is small by
    chance and Welch's interval is then too narrow: the larger variance counts for both sides, and the degrees of
    freedom are at most those of two sides as small as the smaller one. Values that are rounded to multiples of
    `resolution` have at least the variance of the rounding, resolution^2 / 12 (Sheppard).
    """
    sizes = len(a), len(b)
    variances = [max(float(np.var(side, ddof=1)), resolution**2 / 12) for side in (a, b)]
    error = math.sqrt(max(variances) * (1 / sizes[0] + 1 / sizes[1]))
    difference = float(np.mean(b)) - float(np.mean(a))
    reach = student(1 - (1 - confidence) / 2, _freedom(variances, sizes)) * error
    return difference - reach, difference + reach


def _freedom(variances: Sequence[float], sizes: Sequence[int]) -> float:
    """Welch and Satterthwaite's degrees of freedom, within the bound of `mean_difference`."""
    most = 2.0 * (min(sizes) - 1)
    shares = [variance / size for variance, size in zip(variances, sizes, strict=True)]
    below = sum(share**2 / (size - 1) for share, size in zip(shares, sizes, strict=True))
    return min(most, sum(shares) ** 2 / below) if below > 0 else most
