"""Whether a handful of samples decides which of two units is faster on average.

Pure. A stall that happened once would, in another hundred runs, have happened to another unit, or to none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from hettop.analysis.unit_samples import Measured

FEW_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class FewSamples:
    """Without the `samples` slowest of `worse` its mean is `without_ms`, below the mean of `better`, `better_ms`."""

    better: str
    worse: str
    samples: int
    better_ms: float
    worse_ms: float
    without_ms: float


def decided_by_few(units: Sequence[Measured]) -> tuple[FewSamples, ...]:
    """The pairs whose order by mean flips without max(1, 1 %) of the worse unit's slowest samples, or fewer.

    `samples` is the least number that flips the pair. Units whose samples are not all there are not judged.
    """
    ranked = sorted((unit for unit in units if unit.complete), key=lambda unit: unit.mean_ms)
    without = {unit.unit: _means_without_slowest(unit) for unit in ranked}
    found = []
    for better, worse in combinations(ranked, 2):
        flips = np.flatnonzero(without[worse.unit] < better.mean_ms)
        if flips.size and worse.mean_ms > better.mean_ms:
            fewest = int(flips[0])
            found.append(
                FewSamples(
                    better=better.unit,
                    worse=worse.unit,
                    samples=fewest + 1,
                    better_ms=better.mean_ms,
                    worse_ms=worse.mean_ms,
                    without_ms=float(without[worse.unit][fewest]),
                )
            )
    return tuple(found)


def _means_without_slowest(unit: Measured) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The means without 1, 2, … max(1, 1 %) of the slowest samples; none when no sample would be left."""
    n = unit.samples_ms.size
    few = min(max(1, int(FEW_SHARE * n)), n - 1)
    slowest = np.sort(unit.samples_ms)[::-1][:few]
    return np.asarray((unit.samples_ms.sum() - np.cumsum(slowest)) / (n - np.arange(1, few + 1)))
