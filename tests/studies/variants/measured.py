"""Variants as a measurement leaves them: two units, samples with a seed, differences, one that could not be written."""

from __future__ import annotations

import numpy as np

from hettop.analysis.unit_samples import Measured
from hettop.events import Failure, OutputDifference, Outputs
from hettop.session.statistics import Reason, Statistics
from hettop.studies.variants.measure import MeasuredVariant

REFERENCE = "fp32 on CPU_ONLY"


def result(precision: str, median_ms: float, n: int = 200, unit: str = "CPU_ONLY", **more: object) -> MeasuredVariant:
    samples = median_ms * (1 + 0.01 * np.random.default_rng(len(precision)).standard_normal(n))
    p50 = float(np.median(samples))
    measured = Measured(unit, "none", "wall", n, samples, median_ms, samples.min(), samples.max(), p50, p50)
    row = Statistics(unit=unit, load="none", n=n, p50_ms=p50)
    return MeasuredVariant(precision, row, measured=measured, **more)  # type: ignore[arg-type]


def outputs(unit: str, *told: OutputDifference, sampled: bool = False, error: Failure | None = None) -> Outputs:
    return Outputs(t=0, unit=unit, reference=REFERENCE, inputs=8, outputs=list(told), sampled=sampled, error=error)


def difference(name: str = "y", max_abs: float = 0.5, **more: object) -> OutputDifference:
    return OutputDifference(name=name, values=4, max_abs=max_abs, largest=4.0, **more)  # type: ignore[arg-type]


RESULTS = [
    result("fp32", 10.0, reference=True, size_bytes=14_000_000, note="fp32: the model as it is"),
    result("fp16", 5.0, outputs=outputs("CPU_ONLY", difference(cosine=0.999, top1=0.875)), size_bytes=7_000_000),
    MeasuredVariant(
        "int8",
        Statistics(unit="CPU_ONLY", load="none", error=Reason(kind="missing", message="no tool", hint="get one")),
    ),
]
"""fp16 is twice as fast, half of the size, and off by up to 0.5."""

FAR = outputs("ALL", difference(not_finite=3), difference("z", 0.25, cosine=0.9), sampled=True)
UNLIKE = outputs("ALL", error=Failure(kind="predict", message="shapes differ", hint=""))
TWO_UNITS = [
    *RESULTS,
    result("fp32", 8.0, 30, "ALL", reference=True, size_bytes=14_000_000, outputs=FAR, note="fp32: the model as it is"),
    result("fp16", 9.0, 5, "ALL", size_bytes=7_000_000, outputs=UNLIKE),
]
