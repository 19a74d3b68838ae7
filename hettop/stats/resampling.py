"""Block resamples of a series: what its quantiles and its mean might have been, correlation kept.

It must not know what the samples are, nor draw from a generator of its own: the caller passes a seeded `rng`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hettop.stats.compare import BLOCK, RESAMPLES
from hettop.stats.dependence import dependence_time

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
