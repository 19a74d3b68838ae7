"""Simulate the critical values of Hartigan's dip that `hettop/stats/dip.py` holds: `python tools/dip_table.py`.

The null distribution is that of uniform samples, as Hartigan and Hartigan (1985) propose. Prints sqrt(n) times the dip
at each level, for each size; about ten minutes on one core.
"""

from __future__ import annotations

import math
import sys

import numpy as np

from hettop.stats.dip import LEVELS, SIZES, dip

SAMPLES = 40_000
SEED = 1985


def critical(n: int, samples: int = SAMPLES) -> list[float]:
    """sqrt(n) times the dip that a share `level` of `samples` uniform samples of size `n` exceeds, for each level."""
    rng = np.random.default_rng([SEED, n])
    dips = np.array([dip(np.sort(rng.random(n))) for _ in range(samples)])
    return [float(np.quantile(dips, 1 - level) * math.sqrt(n)) for level in LEVELS]


if __name__ == "__main__":
    for size in SIZES:
        sys.stdout.write(f"{size}: {', '.join(f'{value:.4f}' for value in critical(size))}\n")
        sys.stdout.flush()
