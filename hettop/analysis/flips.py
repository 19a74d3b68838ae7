"""The conditions under which the order of two units by mean latency is the other way round.

Pure; looks at the loads of one session only: nothing is known of loads that nobody started.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from hettop.analysis.ranking import Resampled
from hettop.analysis.unit_samples import Measured


@dataclass(frozen=True, slots=True)
class Flip:
    """Under `load` the unit `faster` has the lower mean, by `difference_ms`; under the verdict's load `slower` has.

    `proven` when both differences exclude 0 with 95 % confidence.
    """

    load: str
    faster: str
    slower: str
    difference_ms: float
    proven: bool


def flips(
    main: Sequence[Measured], others: Mapping[str, Sequence[Measured]], rng: np.random.Generator
) -> tuple[Flip, ...]:
    """Every pair of units whose order under one of the other loads is not that of `main`."""
    resampled = Resampled(main, rng)
    found = []
    for load, units in others.items():
        there = {unit.unit: unit.mean_ms for unit in units}
        resampled_there = Resampled(units, rng)
        ranked = sorted((unit for unit in main if unit.unit in there), key=lambda unit: unit.mean_ms)
        for better, worse in combinations(ranked, 2):
            if better.mean_ms < worse.mean_ms and there[worse.unit] < there[better.unit]:
                now = resampled_there.difference(worse.unit, better.unit)
                proven = now.proven and resampled.difference(better.unit, worse.unit).proven
                found.append(Flip(load, worse.unit, better.unit, now.difference_ms, proven))
    return tuple(found)
