"""Quantiles of samples, their confidence intervals, and how many samples they need."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

CONFIDENCE = 0.95
"""Of every interval shown."""

EARLY_STOPPING_CONFIDENCE = 0.99
"""Of MLPerf LoadGen's early stopping."""

_ROUNDING = 1e-9
"""Relative slack, so that a tail that is met exactly (P99 at n = 299) is not lost to the last bit."""

_DEVIATIONS, _FEW = 12.0, 60
"""How far from its mean a binomial is summed: so many standard deviations (1e-32 of a normal lies beyond), and so much
more for one of a small mean, whose tail is longer (less than 1e-27 beyond)."""


def shared(confidence: float, statements: int) -> float:
    """Of each statement, so that all are true together with `confidence` (Bonferroni)."""
    return 1 - (1 - confidence) / max(1, statements)


def confidence_of_look(number: int) -> float:
    """Confidence of the k-th look (from 1): 1 - .05 / (k (k + 1)); the errors of all looks add up to .05."""
    return 1 - (1 - CONFIDENCE) / (number * (number + 1))


def quantile(samples: npt.ArrayLike, q: float) -> float:
    """Quantile of samples (shape (n,), any order) as numpy's `linear` method: type 7 of Hyndman and Fan (1996).

    With x sorted from 0 it stands at position h = (n - 1) * q, linearly between its neighbours. Unit: the samples'.
    ValueError without samples or with q outside 0..1.
    """
    array = np.asarray(samples)
    if array.size == 0:
        raise ValueError("a quantile needs at least one sample")
    if not 0.0 <= q <= 1.0:
        raise ValueError(f"a quantile level lies in 0..1, not {q}")
    return float(np.quantile(array, q, method="linear"))


def linear_quantiles(samples: npt.NDArray[np.int64], levels: Sequence[float]) -> list[float]:
    """As `quantile`, of several levels at once and to the same bit, but made for every redraw: `np.quantile` takes five
    times as long on the samples of one column of a chart.

    samples: shape (n,), n >= 1, any order; levels within 0..1.
    """
    last = len(samples) - 1
    positions = [last * q for q in levels]
    belows = [int(position) for position in positions]
    ordered = np.partition(samples, sorted({*belows, *(min(below + 1, last) for below in belows)}))
    found = []
    for position, below in zip(positions, belows, strict=True):
        low, high = float(ordered[below]), float(ordered[min(below + 1, last)])
        share = position - below
        # From the nearer neighbour, as numpy does it.
        found.append(low + (high - low) * share if share < 0.5 else high - (high - low) * (1 - share))
    return found


@lru_cache(maxsize=4096)  # pure: the same ranks are asked for at each redraw
def quantile_interval(n: int, q: float, confidence: float = CONFIDENCE) -> tuple[int | None, int | None]:
    """Ranks (1-based) of the two order statistics of n samples between which the q-quantile lies.

    Distribution-free: the number of samples below the quantile is binomial, B ~ Bin(n, q), so x[l]..x[u] covers it
    with probability P(l <= B <= u - 1) (David and Nagaraja, Order Statistics, 3rd ed., section 7.1). Both tails get
    (1 - confidence) / 2: n = 100, q = 0.9 gives ranks 84 and 96, covering 95.6%.

    The high rank is None when no order statistic is a bound, that is when even the maximum lies below the quantile
    too often: q^n > 1 - confidence (P99: below n = 299). The low rank is None likewise, (1 - q)^n > 1 - confidence
    (P50: below n = 6, P90: n = 1). A side without a bound leaves its share of the error to the other side.
    ValueError unless n >= 1, 0 < q < 1 and 0 < confidence < 1.
    """
    if n < 1 or not 0.0 < q < 1.0 or not 0.0 < confidence < 1.0:
        raise ValueError(f"no quantile interval for n={n}, q={q}, confidence={confidence}")
    low_tail, high_tail = _split_error(1.0 - confidence, least_low=(1.0 - q) ** n, least_high=q**n)
    low = None if low_tail is None else _highest_rank(n, q, low_tail)
    # The upper bound is the lower bound of the same samples counted from the largest down.
    high = None if high_tail is None else n + 1 - _highest_rank(n, 1.0 - q, high_tail)
    return low, high


def interval_of(samples_sorted: npt.ArrayLike, q: float) -> tuple[float | None, float | None]:
    """95% interval of the q-quantile of ascending samples (shape (n,)), in their unit; see `quantile_interval`."""
    array = np.asarray(samples_sorted)
    low, high = quantile_interval(array.size, q)
    return (
        None if low is None else float(array[low - 1]),
        None if high is None else float(array[high - 1]),
    )


@lru_cache(maxsize=64)  # pure: the same levels are asked for at each redraw
def samples_needed(q: float) -> int:
    """Samples below which the q-quantile is not shown: 64 for P90, 662 for P99, 6,636 for P99.9.

    MLPerf LoadGen's early stopping (loadgen/early_stopping.cc and results.cc in mlcommons/inference): the smallest n
    that could bear out the quantile with one sample over the limit, P(Bin(n, 1 - q) <= 1) <= 1%, which is
    q^n + n (1 - q) q^(n - 1) <= 0.01. ValueError unless 0 < q < 1.
    """
    if not 0.0 < q < 1.0:
        raise ValueError(f"a quantile level lies between 0 and 1, not {q}")
    enough = 2
    while not _could_bear_out(enough, q):
        enough *= 2
    too_few = enough // 2
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        enough, too_few = (middle, too_few) if _could_bear_out(middle, q) else (enough, middle)
    return enough


def early_stopping_rank(n: int, q: float) -> int | None:
    """Rank (1-based) of n samples that MLPerf LoadGen reports as its early stopping estimate of the q-quantile.

    The largest t with P(Bin(n, 1 - q) <= t) <= 1% is the number of samples that could be over a limit which the
    quantile is known to meet at 99% confidence; the estimate is the (n - t + 1)-th smallest (loadgen/results.cc): with
    n = 2048 and q = 0.9 the 172 slowest are left out. None below `samples_needed(q)`. ValueError unless 0 < q < 1.
    """
    if n < samples_needed(q):
        return None
    # The t + 1 smallest of the samples over: the same bound as of a low rank, one sample more cautious.
    return n + 2 - _highest_rank(n, 1.0 - q, 1.0 - EARLY_STOPPING_CONFIDENCE)


def further_samples(n: int, q: float) -> int:
    """Samples still missing, of n taken, before the q-quantile is shown; 0 when none."""
    return max(0, samples_needed(q) - n)


def _could_bear_out(n: int, q: float) -> bool:
    none_over = q**n
    one_over = n * (1.0 - q) * q ** (n - 1)
    return none_over + one_over <= 1.0 - EARLY_STOPPING_CONFIDENCE


def _split_error(error: float, least_low: float, least_high: float) -> tuple[float | None, float | None]:
    """Share of the error for the low and the high side; None where no order statistic is a bound.

    `least_low` and `least_high` are what the extreme samples cost as bounds. Halves, unless one side needs more.
    Where each could be paid for but not both, the high side is kept: how slow it may be is the question asked.
    """
    if least_high > error:
        return (error if least_low <= error else None), None
    if least_low + least_high > error:
        return None, error
    high = min(max(error / 2, least_high), error - least_low)
    return error - high, high


def _highest_rank(n: int, q: float, tail: float) -> int:
    """Largest rank l >= 1 with P(Bin(n, q) <= l - 1) <= tail, given that rank 1 satisfies it."""
    first, probabilities = _binomial_near_mean(n, q)
    within = np.searchsorted(np.cumsum(probabilities), tail * (1.0 + _ROUNDING), side="right")
    return max(1, first + int(within))


def _binomial_near_mean(n: int, q: float) -> tuple[int, npt.NDArray[np.float64]]:
    """First k, and P(Bin(n, q) = k) of it and those that follow, as far from the mean as any of it is seen in a double.

    Each from its neighbour by their ratio, outwards from the most likely, which needs no factorial and loses no digits.
    """
    mode = min(n, int((n + 1) * q))
    reach = _DEVIATIONS * math.sqrt(n * q * (1.0 - q)) + _FEW
    first, last = max(0, int(mode - reach)), min(n, int(mode + reach) + 1)
    odds = q / (1.0 - q)
    below = np.arange(mode, first, -1, dtype=np.float64)
    above = np.arange(mode, last, dtype=np.float64)
    falling = np.cumprod(below / ((n - below + 1) * odds))
    rising = np.cumprod((n - above) / (above + 1) * odds)
    relative = np.concatenate((falling[::-1], [1.0], rising))
    return first, relative / relative.sum()
