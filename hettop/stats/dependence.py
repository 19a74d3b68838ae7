"""How much samples that follow each other really tell: their effective number, and bounds of a quantile by it.

It must not know what the samples are: an array in the order in which it was taken goes in, numbers come out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hettop.stats.quantiles import CONFIDENCE, quantile, quantile_interval

Float64Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Bounds:
    """A quantile's interval in the samples' unit; a side without a bound is None.

    `effective` is how many independent samples the `n` are worth, `time` = n / effective.
    """

    n: int
    effective: int
    time: float
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
    n = array.size
    time = dependence_time(array, q)
    effective = max(1, int(n / time))
    low, high = quantile_interval(effective, q, confidence)
    stretch = n / effective
    ascending = np.sort(array)
    return Bounds(
        n=n,
        effective=effective,
        time=time,
        low=None if low is None else float(ascending[int((low - 1) * stretch)]),
        high=None if high is None else float(ascending[min(n, int(np.ceil(high * stretch))) - 1]),
    )


def dependence_time(samples: Float64Array, q: float) -> float:
    """Samples (1 or more) that together tell as much of the q-quantile as one independent sample.

    The larger of two autocorrelation times: of the ranks (slow waves, sticky modes) and of being above the q-quantile
    (tails that come in bursts). The larger, because a few samples in a tail cannot tell how they come.
    """
    above = (samples > quantile(samples, q)).astype(np.float64)
    return max(autocorrelation_time(_ranks(samples)), autocorrelation_time(above))


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
