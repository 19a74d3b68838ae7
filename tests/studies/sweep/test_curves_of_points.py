"""Curves of a sweep, from points whose times follow a rule."""

from __future__ import annotations

import numpy as np
import pytest

from hettop.analysis.budget import parse_budget
from hettop.analysis.unit_samples import Measured
from hettop.session.statistics import Reason, Statistics
from hettop.studies.sweep.curves import Curve, PointResult, curves, judged

BATCHES = (1, 2, 4, 8, 16, 32)


def point(batch: int, mean_ms: float, unit: str = "CPU_ONLY", size: int | None = 224) -> PointResult:
    row = Statistics(unit=unit, load="none", n=100, mean_ms=mean_ms, throughput_per_s=1e3 / mean_ms)
    return PointResult(f"b{batch}", batch, size, size, row)


def told(points: list[PointResult]) -> list[Curve]:
    return curves(points, np.random.default_rng(1))


def failed(batch: int) -> PointResult:
    row = Statistics(unit="CPU_ONLY", load="none", error=Reason(kind="memory", message="no", hint=""))
    return PointResult(f"b{batch}", batch, 224, 224, row)


def test_a_planted_line_comes_back_with_knee_and_best_batches() -> None:
    """t = 8 + B ms: items/s = 1000 B / (8 + B), knee at 8 by Kneedle, half of 1000/s at 8, most at the last."""
    (curve,) = told([point(batch, 8.0 + batch) for batch in BATCHES])
    assert curve.fit is not None
    assert (curve.fit.intercept, curve.fit.slope) == pytest.approx((8, 1))
    assert curve.fit.half_rate_x == pytest.approx(8)
    assert curve.fit.r2 == pytest.approx(1)
    assert curve.at_knee is not None
    assert curve.at_knee.batch == 8
    assert (curve.fastest.batch, curve.quickest.batch, curve.within) == (32, 1, None)
    assert curve.fastest.items_per_s == pytest.approx(800)
    assert curve.saturated is None


def test_points_that_failed_are_no_part_of_the_curve() -> None:
    (curve,) = told([point(1, 9), point(2, 10), point(4, 12), failed(8), failed(16)])
    assert [each.batch for each in curve.points] == [1, 2, 4]


def test_beyond_saturation_the_line_does_not_count() -> None:
    """t = 4 + B up to 8, then 10 times B: the rate falls from 667/s to 100/s."""
    times = {batch: 4.0 + batch for batch in (1, 2, 4, 8)} | {16: 160.0}
    (curve,) = told([point(batch, ms) for batch, ms in times.items()])
    assert curve.saturated is not None
    assert curve.saturated.batch == 16
    assert curve.fit is not None
    assert (curve.fit.n, curve.fit.intercept, curve.fit.slope) == pytest.approx((4, 4, 1))
    assert curve.fastest.batch == 8


def test_units_and_sizes_have_curves_of_their_own() -> None:
    points = [
        point(batch, 1.0 + batch * size**2 / 1e4, unit, size)
        for unit in ("CPU_ONLY", "ALL")
        for size in (100, 200)
        for batch in (1, 2, 4)
    ]
    found = told(points)
    kinds = [(curve.unit, curve.axis, curve.along) for curve in found]
    one_unit = [
        ("batch", "100x100"),
        ("batch", "200x200"),
        ("size", "batch 1"),
        ("size", "batch 2"),
        ("size", "batch 4"),
    ]
    assert kinds == [(unit, *rest) for unit in ("CPU_ONLY", "ALL") for rest in one_unit]
    by_size = found[3]
    assert by_size.fit is not None
    assert by_size.fit.slope == pytest.approx(200), "2 x 100 ms for a million pixels"
    assert by_size.knee is None


def test_one_point_is_no_curve() -> None:
    assert told([point(1, 9)]) == []


def test_the_best_within_a_budget_is_the_fastest_that_is_proven() -> None:
    budget = parse_budget("30ms@p90", None)
    found = []
    for batch in (1, 2, 4, 8):
        each = point(batch, 5.0 * batch)
        samples = 5.0 * batch + np.random.default_rng(batch).normal(0, 0.1, 300)
        measured = Measured(
            "CPU_ONLY",
            "none",
            "wall",
            300,
            samples,
            5.0 * batch,
            samples.min(),
            samples.max(),
            5.0 * batch,
            5.0 * batch,
            turns=np.arange(300) // 30,
        )
        each = PointResult(each.name, batch, None, None, each.statistics, measured)
        found.append(PointResult(each.name, batch, None, None, each.statistics, measured, judged(each, budget)))
    assert [p.judgement.met for p in found if p.judgement] == [True, True, True, False]
    (curve,) = told(found)
    assert curve.within is not None
    assert curve.within.batch == max((1, 2, 4), key=lambda batch: found[(1, 2, 4).index(batch)].items_per_s or 0)


def test_without_budget_nothing_is_judged() -> None:
    assert judged(point(1, 9), None) is None


def sampled(batch: int, noise: float, n: int = 100) -> PointResult:
    mean = 8.0 + batch
    samples = mean * (1 + noise * np.random.default_rng(batch).standard_normal(n))
    samples *= mean / samples.mean()
    measured = Measured("CPU_ONLY", "none", "wall", n, samples, mean, samples.min(), samples.max(), mean, mean)
    return PointResult(f"b{batch}", batch, None, None, point(batch, mean).statistics, measured)


def test_quiet_samples_make_a_certain_knee_and_noisy_ones_do_not() -> None:
    (quiet,) = told([sampled(batch, 0.001) for batch in BATCHES])
    (noisy,) = told([sampled(batch, 1.0, n=20) for batch in BATCHES])
    assert quiet.certainty is not None
    assert noisy.certainty is not None
    assert (quiet.certainty.knee, quiet.certainty.fastest) == (1.0, 1.0)
    assert noisy.certainty.knee < 0.9
    assert noisy.certainty.slope[0] < 1.0 < noisy.certainty.slope[1]
    assert quiet.certainty.slope == pytest.approx((1, 1), abs=0.01)


def test_too_few_samples_report_nothing_of_certainty() -> None:
    (curve,) = told([sampled(batch, 0.1, n=9) for batch in BATCHES])
    assert curve.certainty is None
