"""Statistics of samples that depend on each other: block resamples, effective number, differences of quantiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from hettop.stats.quantiles import CONFIDENCE, quantile, quantile_interval

SEED = 20_250_601
"""Of the generator that callers pass: the same samples give the same intervals, wherever they are computed."""

Float64Array = npt.NDArray[np.float64]

BLOCK_TIMES = 4
"""A block spans so many dependence times: within it, the correlation has died away."""

LEAST_BLOCKS = 10
"""Fewer blocks have too little spread; a run that is short for its correlation gets shorter blocks."""

MOST_VALUES = 20_000_000
"""Values drawn in all (a second of work): long runs, whose quantiles hardly spread, get fewer resamples ..."""

LEAST_RESAMPLES = 300
"""... but at least so many, or the ends of an interval would be those of a handful."""

_BATCH_VALUES = 500_000
"""Values gathered at a time: 4 MB, however long the run is."""


def block_length(samples: Float64Array) -> int:
    """Consecutive samples in a block: 20, or more where correlation lasts longer."""
    wanted = max(BLOCK, math.ceil(BLOCK_TIMES * dependence_time(samples, 0.5)))
    return max(1, min(wanted, samples.size // LEAST_BLOCKS))


def resamples_for(*sizes: int) -> int:
    """Resamples that runs of these sizes get; the same number for runs that are to be compared."""
    return max(LEAST_RESAMPLES, min(RESAMPLES, MOST_VALUES // max(sizes)))


def resampled_levels(
    samples: Float64Array, levels: Sequence[float], block: int, resamples: int, rng: np.random.Generator
) -> Float64Array:
    """Type 7 quantiles of circular block resamples (Politis and Romano 1992), shape (resamples, len(levels)).

    All levels are taken of the same resamples. `samples` (shape (n,), n >= 1) in the order in which they were taken.
    """
    n = samples.size
    blocks = -(-n // block)
    windows = np.lib.stride_tricks.sliding_window_view(_circle(samples, block), block)
    batch = max(1, _BATCH_VALUES // n)
    found = []
    for done in range(0, resamples, batch):
        starts = rng.integers(0, n, (min(batch, resamples - done), blocks))
        found.append(_quantiles_of_rows(windows[starts].reshape(len(starts), -1)[:, :n], levels))
    return np.concatenate(found)


def resampled_means(samples: Float64Array, block: int, resamples: int, rng: np.random.Generator) -> Float64Array:
    """Means of circular block resamples, shape (resamples,), from the sums of blocks alone."""
    n = samples.size
    upto = np.concatenate(([0.0], np.cumsum(_circle(samples, block))))
    sums = upto[block : block + n] - upto[:n]
    blocks = -(-n // block)
    batch = max(1, _BATCH_VALUES // blocks)
    found = [
        sums[rng.integers(0, n, (min(batch, resamples - done), blocks))].mean(axis=1) / block
        for done in range(0, resamples, batch)
    ]
    return np.concatenate(found)


def resampled_medians(rows: npt.ArrayLike, rng: np.random.Generator) -> Float64Array:
    """Medians of `RESAMPLES` resamples of independent measurements, of each of which all values are drawn together.

    rows: shape (k, n), k values of n >= 1 measurements. Returns shape (k, `RESAMPLES`).
    """
    values = np.asarray(rows, dtype=np.float64)
    n = values.shape[1]
    return np.asarray(np.median(values[:, rng.integers(0, n, (RESAMPLES, n))], axis=2))


def _circle(samples: Float64Array, block: int) -> Float64Array:
    return np.concatenate((samples, samples[: block - 1]))


def _quantiles_of_rows(rows: Float64Array, levels: Sequence[float]) -> Float64Array:
    n = rows.shape[1]
    positions = [(n - 1) * q for q in levels]
    kept = sorted({min(int(position) + step, n - 1) for position in positions for step in (0, 1)})
    parted = np.partition(rows, kept, axis=1)
    columns = []
    for position in positions:
        below = int(position)
        left, right = parted[:, below], parted[:, min(below + 1, n - 1)]
        columns.append(left + (right - left) * (position - below))
    return np.stack(columns, axis=1)


@dataclass(frozen=True, slots=True)
class Bounds:
    """A quantile's interval in the samples' unit; a side without a bound is None.

    `effective` is how many independent samples the `n` are worth.
    """

    n: int
    effective: int
    low: float | None
    high: float | None


def quantile_bounds(samples: npt.ArrayLike, q: float, confidence: float = CONFIDENCE) -> Bounds:
    """Interval of the q-quantile of samples (shape (n,), n >= 1, in the order in which they were taken).

    The distribution-free ranks of `quantile_interval` for as many samples as these are worth, stretched to the n there
    are, outwards. With independent samples that is the usual interval, and with correlated ones it is wider.
    ValueError without samples or for q or confidence outside 0..1.
    """
    array = np.asarray(samples, dtype=np.float64).ravel()
    if array.size == 0:
        raise ValueError("a quantile needs at least one sample")
    time = dependence_time(array, q)
    return bounds_of_effective(array, q, max(1, int(array.size / time)), confidence)


def bounds_of_effective(samples: Float64Array, q: float, effective: int, confidence: float = CONFIDENCE) -> Bounds:
    """As `quantile_bounds`, of samples that are known to be worth `effective` independent ones (1 to n)."""
    n = samples.size
    low, high = quantile_interval(effective, q, confidence)
    stretch = n / effective
    ascending = np.sort(samples)
    return Bounds(
        n=n,
        effective=effective,
        low=None if low is None else float(ascending[int((low - 1) * stretch)]),
        high=None if high is None else float(ascending[min(n, int(np.ceil(high * stretch))) - 1]),
    )


def dependence_time(samples: Float64Array, q: float) -> float:
    """Samples (1 or more) that carry as much information on the q-quantile as one independent sample.

    The larger of two autocorrelation times: of the ranks (slow waves, sticky modes) and of being above the q-quantile
    (tails that come in bursts). The larger, because a few samples in a tail cannot show how they are clustered.
    """
    above = (samples > quantile(samples, q)).astype(np.float64)
    return max(autocorrelation_time(_ranks(samples)), autocorrelation_time(above))


def turn_time(samples: Float64Array, turns: npt.NDArray[np.int64], q: float) -> float:
    """Samples that carry as much as one independent sample, where those of a turn have a level in common; 1 if not.

    The variance of the turns' means over what independent samples give (the design effect of cluster samples, Kish,
    Survey Sampling, 1965, section 5.4), of the ranks and of being above the q-quantile, whichever is larger. 1 where
    independent samples would give so much in a tenth of sessions.
    """
    _, turn, counts = np.unique(turns, return_inverse=True, return_counts=True)
    freedom = counts.size - 1
    if freedom < 1:
        return 1.0
    above = (samples > quantile(samples, q)).astype(np.float64)
    effects = [_design_effect(values, turn.reshape(-1), counts) for values in (_ranks(samples), above)]
    # Wilson and Hilferty's approximation of chi-squared over its degrees of freedom.
    usual = (1 - 2 / (9 * freedom) + NormalDist().inv_cdf(0.9) * math.sqrt(2 / (9 * freedom))) ** 3
    return max((effect for effect in effects if effect > usual), default=1.0)


def _design_effect(values: Float64Array, turn: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]) -> float:
    variance = float(values.var())
    if variance == 0:
        return 1.0
    means = np.bincount(turn, weights=values) / counts
    return float(means.var(ddof=1) * counts.mean() / variance)


def autocorrelation_time(samples: Float64Array) -> float:
    """1 + 2 * (sum of the autocorrelations), at least 1: the factor by which correlation inflates a mean's variance.

    Summed by Geyer's initial monotone sequence (Practical Markov Chain Monte Carlo, Statistical Science 7, 1992,
    section 3.3): sums of neighbouring pairs of autocorrelations, up to the first that is not positive, none above the
    one before it. Samples that are all equal count as independent.
    """
    correlations = _autocorrelations(samples)
    pairs = correlations[: correlations.size - correlations.size % 2].reshape(-1, 2).sum(axis=1)
    ends = np.flatnonzero(pairs <= 0)
    positive = pairs[: ends[0]] if ends.size else pairs
    return max(1.0, 2.0 * float(np.minimum.accumulate(positive).sum()) - 1.0)


def _autocorrelations(samples: Float64Array) -> Float64Array:
    """At lags 0 to n / 2, each by as many products as there are; none when all samples are equal."""
    n = samples.size
    centred = samples - samples.mean()
    size = 1 << (2 * n - 1).bit_length()  # long enough that the end does not wrap around onto the beginning
    spectrum = np.fft.rfft(centred, size)
    products = np.fft.irfft(spectrum * np.conj(spectrum), size)[: n // 2]
    if products.size == 0 or products[0] <= 0 or not np.ptp(samples):
        return np.empty(0)
    return np.asarray(products / products[0] * (n / (n - np.arange(products.size))))


def _ranks(samples: Float64Array) -> Float64Array:
    """Ranks from 0, equal samples at their middle one."""
    _, place, counts = np.unique(samples, return_inverse=True, return_counts=True)
    middles = np.cumsum(counts) - (counts + 1) / 2
    return np.asarray(middles[place.reshape(-1)])


BLOCK = 20
"""Latencies are correlated over several samples (clock steps, sticky modes); blocks keep that within the resample."""

RESAMPLES = 1000

MIN_SAMPLES = 10
"""Below this a resample has hardly any other values to take, and the interval would look certain."""


LEAST_VALUES = 6
"""Of which a mean has an interval, and as many must be left when dependence is allowed for."""


STRETCH = 110
"""Calls in a row that count as one at least: what a machine's state does for hundreds of calls, fewer cannot show."""


def mean_interval(
    values: Float64Array, confidence: float = CONFIDENCE, *, most: float = math.inf
) -> tuple[float, float] | None:
    """Interval of the mean of values (shape (n,)) in the order in which they were taken; None of too few.

    Student's t for as many values as these are worth: by their `autocorrelation_time`, and `most` at most.
    """
    if values.size < LEAST_VALUES:
        return None
    effective = min(values.size / autocorrelation_time(values), most)
    if effective < LEAST_VALUES:
        return None
    mean, error = float(values.mean()), float(values.std(ddof=1)) / math.sqrt(effective)
    reach = student(1 - (1 - confidence) / 2, effective - 1) * error
    return mean - reach, mean + reach


@lru_cache(maxsize=256)  # pure: the same ones are asked for at each redraw
def student(p: float, freedom: float) -> float:
    """Student's t quantile for p >= 0.5 and freedom >= 1, within 0.01% up to p = 0.9999 from 2 degrees on.

    Numerically: the density over t = sinh(u) is summed by the trapezoid rule.
    """
    u = np.linspace(0.0, 12.0, 20_001)
    t = np.sinh(u)
    density = np.exp(-(freedom + 1) / 2 * np.log1p(t * t / freedom)) * np.cosh(u)
    area = np.concatenate(([0.0], np.cumsum(density[1:] + density[:-1])))
    return float(np.interp(2 * p - 1, area / area[-1], t))
