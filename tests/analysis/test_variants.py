"""How much faster a variant is, and how far off, from samples and differences that are known."""

from __future__ import annotations

import numpy as np
import pytest

from hettop.analysis.unit_samples import Measured
from hettop.analysis.variants import VariantResult, reference_of, speed
from hettop.events import OutputDifference, Outputs
from hettop.session.statistics import Statistics


def result(precision: str, median_ms: float, n: int = 200, unit: str = "CPU_ONLY", **more: object) -> VariantResult:
    samples = median_ms * (1 + 0.01 * np.random.default_rng(len(precision)).standard_normal(n))
    p50 = float(np.median(samples))
    measured = Measured(unit, "none", "wall", n, samples, median_ms, samples.min(), samples.max(), p50, p50)
    row = Statistics(unit=unit, load="none", n=n, p50_ms=p50)
    return VariantResult(precision, row, measured=measured, **more)  # type: ignore[arg-type]


def test_speed_is_the_ratio_of_medians_with_its_interval() -> None:
    found = speed(result("fp32", 10.0), result("int8", 4.0), np.random.default_rng(1))
    assert found is not None
    assert found.ratio == pytest.approx(2.5, rel=0.01)
    assert found.interval is not None
    low, high = found.interval
    assert low < found.ratio < high
    assert high - low < 0.05
    quick = speed(result("fp32", 10.0), result("int8", 4.0), None)
    assert quick is not None
    assert (quick.ratio, quick.interval) == (found.ratio, None)


def test_too_few_samples_tell_no_speed() -> None:
    assert speed(result("fp32", 10.0), result("int8", 4.0, n=9), np.random.default_rng(1)) is None


def test_the_reference_is_that_of_the_unit() -> None:
    rows = [result("fp32", 1.0, reference=True), result("fp32", 2.0, unit="ALL", reference=True), result("fp16", 1.0)]
    assert reference_of(rows, "ALL") is rows[1]
    assert reference_of(rows, "CPU_AND_NE") is None


def test_the_worst_of_all_outputs_is_what_counts() -> None:
    outputs = Outputs(
        t=0,
        unit="ALL",
        reference="fp32 on CPU_ONLY",
        inputs=2,
        outputs=[
            OutputDifference(name="a", values=4, max_abs=0.5, largest=2.0, cosine=0.9, top1=1.0, not_finite=1),
            OutputDifference(name="b", values=4, max_abs=0.25, largest=9.0, cosine=0.99, top1=0.5, not_finite=2),
        ],
    )
    row = result("fp16", 1.0, outputs=outputs)
    assert (row.max_abs, row.cosine, row.top1, row.not_finite) == (0.5, 0.9, 0.5, 3)
    untold = result("fp32", 1.0)
    assert (untold.max_abs, untold.cosine, untold.top1, untold.not_finite) == (None, None, None, None)
