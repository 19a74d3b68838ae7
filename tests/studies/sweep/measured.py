"""Points of a sweep as a measurement leaves them: two units, samples with a seed, one point that failed, a budget."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hettop.analysis.budget import Budget
from hettop.analysis.unit_samples import Measured
from hettop.studies.sweep.curves import PointResult, judged
from tests.studies.sweep.test_curves_of_points import BATCHES, failed, point

BUDGET = Budget(20.0, 0.9)


def measured_points() -> list[PointResult]:
    generator = np.random.default_rng(7)

    def noisy(batch: int, mean_ms: float, unit: str, size: int) -> PointResult:
        samples = mean_ms * (1 + 0.05 * generator.standard_normal(100))
        mean = float(samples.mean())
        measured = Measured(
            unit, "none", "wall", 100, samples, mean, mean, mean, mean, mean, turns=np.arange(100) // 10
        )
        made = replace(point(batch, mean, unit, size), measured=measured)
        return replace(made, judgement=judged(made, BUDGET))

    made = [noisy(batch, 8.0 + batch, "CPU_ONLY", 224) for batch in BATCHES]
    made += [noisy(batch, 10.0 * batch, "ALL", size) for size in (160, 224) for batch in (1, 2, 4)]
    return [*made, failed(64)]
