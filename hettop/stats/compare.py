"""Difference of a quantile between two runs, with an interval that autocorrelation does not make too narrow.

It must not know what was run, nor draw from a generator of its own: the caller passes samples and a seeded `rng`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hettop.stats.quantiles import CONFIDENCE, quantile

Float64Array = npt.NDArray[np.float64]

BLOCK = 20
"""Latencies are correlated over several samples (clock steps, sticky modes); blocks keep that within the resample."""

RESAMPLES = 1000

MIN_SAMPLES = 10
"""Below this a resample has hardly any other values to take, and the interval would look certain."""

MIN_BLOCKS = 5
"""A shorter run than `MIN_BLOCKS` blocks is cut into shorter blocks: one block alone has no spread at all."""

_BATCH_VALUES = 500_000
"""Values gathered at a time: 4 MB, however long the runs are."""


def block_bootstrap_difference(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    q: float,
    *,
    block: int = BLOCK,
    resamples: int = RESAMPLES,
    rng: np.random.Generator,
) -> tuple[float, float, float]:
    """Difference of the q-quantile, b - a, and its 95 % percentile interval (low, high), in the samples' unit.

    `a` and `b` (shapes (n,) and (m,)) are in the order in which they were taken and are resampled independently in
    circular blocks of `block` consecutive samples (Politis and Romano 1992); see `MIN_BLOCKS` for short runs.
    ValueError below `MIN_SAMPLES` samples, or with block or resamples below 1.
    """
    first, second = np.asarray(a, dtype=np.float64).ravel(), np.asarray(b, dtype=np.float64).ravel()
    if min(first.size, second.size) < MIN_SAMPLES:
        raise ValueError(f"a comparison needs {MIN_SAMPLES} samples a side, not {first.size} and {second.size}")
    if block < 1 or resamples < 1:
        raise ValueError("block and resamples must be 1 or more")
    spread = resampled_quantiles(second, q, block, resamples, rng) - resampled_quantiles(
        first, q, block, resamples, rng
    )
    low, high = np.quantile(spread, ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2))
    return quantile(second, q) - quantile(first, q), float(low), float(high)


def resampled_quantiles(
    samples: Float64Array, q: float, block: int, resamples: int, rng: np.random.Generator
) -> Float64Array:
    """The q-quantile (type 7) of each block resample of `samples`, shape (resamples,)."""
    n = samples.size
    length = max(1, min(block, n // MIN_BLOCKS))
    blocks = -(-n // length)
    circle = np.concatenate((samples, samples[: length - 1]))
    windows = np.lib.stride_tricks.sliding_window_view(circle, length)
    batch = max(1, _BATCH_VALUES // n)
    found = [
        _row_quantiles(
            windows[rng.integers(0, n, (min(batch, resamples - done), blocks))].reshape(-1, blocks * length), n, q
        )
        for done in range(0, resamples, batch)
    ]
    return np.concatenate(found)


def _row_quantiles(rows: Float64Array, n: int, q: float) -> Float64Array:
    """Type 7 quantile of the first n values of each row; `rows` may be longer by part of a block."""
    position = (n - 1) * q
    below = int(position)
    above = min(below + 1, n - 1)
    parted = np.partition(rows[:, :n], (below, above), axis=1)
    left, right = parted[:, below], parted[:, above]
    return np.asarray(left + (right - left) * (position - below))
