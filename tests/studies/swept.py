"""What sweeps and variants found, for whoever reports it: figures that can be worked out by hand."""

from __future__ import annotations

from hettop.studies.sweep.result import Sensitivity, SweepCurve, SweepPoint, SweepResult, Usage
from hettop.studies.variants.result import VariantRow, VariantsResult

BATCHES = (1, 2, 4, 8, 16, 32)


def point(batch: int, mean_ms: float, unit: str = "CPU_ONLY", size: int = 224) -> SweepPoint:
    return SweepPoint(unit, batch, size, size, 100, 1e3 * batch / mean_ms, mean_ms, mean_ms * 1.25)


def failed(batch: int, why: str = "bad allocation") -> SweepPoint:
    return SweepPoint("CPU_ONLY", batch, 224, 224, 0, None, None, None, why)


def _curve(points: list[SweepPoint], **more: object) -> SweepCurve:
    told = {
        "unit": points[0].unit,
        "axis": "batch",
        "along": "224x224",
        "x": [float(each.batch) for each in points],
        "items_per_s": [each.items_per_s for each in points],
        "mean_ms": [each.mean_ms for each in points],
    }
    return SweepCurve(**{**told, **more})  # type: ignore[arg-type]


_LINE = [point(batch, 8.0 + batch) for batch in BATCHES]
_BEST = {"throughput": 32.0, "latency": 1.0, "within_budget": None}
PLANTED = SweepResult(
    points=[*_LINE, failed(64)],
    curves=[_curve(_LINE, a_ms=8.0, b_ms=1.0, r2=1.0, knee=8.0, best=_BEST, knee_sure=1.0, best_sure=1.0)],
)
"""t = 8 + B ms on CPU_ONLY: 111 items/s at batch 1, 800 at 32, which are 7.2 times as many; the knee at 8."""

_FLAT = [point(batch, 10.0 * batch, "ALL") for batch in (1, 2, 4)]
FLAT = SweepResult(
    points=_FLAT,
    curves=[_curve(_FLAT, a_ms=0.0, b_ms=10.0, r2=1.0, no_knee="flat: it rises by less than 5%", best={})],
)
"""100 items/s whatever the batch."""

TWO_UNITS = SweepResult(points=[*_LINE, *_FLAT], curves=[*PLANTED.curves, *FLAT.curves])

_SIZED = [point(1, ms, size=size) for size, ms in ((200, 5.0), (400, 17.0))]
SIZES = SweepResult(
    points=_SIZED,
    curves=[
        _curve(
            _SIZED,
            axis="size",
            along="batch 1",
            x=[0.04, 0.16],
            a_ms=1.0,
            b_ms=100.0,
            best={"throughput": 0.04, "latency": 0.04},
        )
    ],
)
"""t = 1 + 100 Mpx ms: 3.4 times as long for 4 times the pixels."""

ONE_POINT = SweepResult(points=[point(1, 9.0)])
NOTHING = SweepResult()


def under(load: str, p90_ms: float | None, unit: str = "ALL", error: str | None = None) -> SweepPoint:
    rate = None if p90_ms is None else 500.0
    return SweepPoint(unit, 1, None, None, 100, rate, p90_ms, p90_ms, error, load)


LOADS = SweepResult(
    points=[
        under("none", 2.0),
        under("cpu:1", 2.1),
        under("memory:1", 5.0),
        under("none", 8.0, "CPU_ONLY"),
        under("cpu:1", 10.0, "CPU_ONLY"),
        under("memory:1", None, "CPU_ONLY", "gone"),
    ],
    sensitivity=[
        Sensitivity(
            unit="ALL",
            load="memory:1",
            n=100,
            idle_n=100,
            p50_ratio=2.4,
            p50_ci=(2.2, 2.6),
            p90_ratio=2.5,
            p90_ci=(2.1, 2.9),
        ),
        Sensitivity(unit="CPU_ONLY", load="cpu:1", n=30, idle_n=100, p50_ratio=1.25),
    ],
    usage=[
        Usage(units=["ALL"], load="none", cpu_share=0.25, frames_due=600, frames_missed=6, missed_share=0.01),
        Usage(units=["ALL"], load="memory:1", cpu_share=0.75, frames_due=600, frames_missed=540, missed_share=0.9),
        Usage(units=["CPU_ONLY"], load="none", cpu_share=0.5),
    ],
    notes=["load gpu:1: no GPU"],
)
"""ALL is 2.5 times as slow under memory:1 and 1.05 times under cpu:1."""


VARIANTS = VariantsResult(
    variants=[
        VariantRow(
            precision="fp32",
            unit="CPU_ONLY",
            reference=True,
            size_bytes=14_000_000,
            n=100,
            p50_ms=4.0,
            p90_ms=5.0,
            max_abs=0.0,
            front=True,
            note="fp32: the model as it is",
        ),
        VariantRow(
            precision="fp16",
            unit="CPU_ONLY",
            size_bytes=7_000_000,
            n=100,
            p50_ms=5.0,
            p90_ms=6.0,
            speed=0.8,
            speed_ci=(0.7, 0.9),
            max_abs=0.25,
            cosine=0.999,
            top1=1.0,
        ),
        VariantRow(
            precision="int8",
            unit="CPU_ONLY",
            size_bytes=3_500_000,
            n=100,
            p50_ms=2.0,
            p90_ms=3.0,
            speed=2.0,
            speed_ci=(0.9, 2.5),
            max_abs=0.5,
            cosine=0.99,
            top1=0.875,
            front=True,
        ),
        VariantRow(precision="int4", unit="CPU_ONLY", error="no tool writes it"),
    ],
    notes=["differences to fp32 on CPU_ONLY over 8 sets"],
)
"""fp16 is slower and off: beaten. int8 is twice as fast, a quarter of the size."""

UNCOMPARED = VariantsResult(
    variants=[
        VariantRow(precision="fp32", unit="ALL", reference=True, size_bytes=8_000_000, n=9, p50_ms=4.0, front=True),
        VariantRow(precision="int8", unit="ALL", size_bytes=2_000_000, n=9, p50_ms=3.0, speed=1.3, front=True),
    ]
)
NO_VARIANTS = VariantsResult()

HOSTILE = "\x1b[2J\u202e漢字" * 4
HOSTILE_SWEEP = SweepResult(
    points=[
        SweepPoint(HOSTILE, 1, 224, 224, 1, 1e-9, 1e9, 1e9),
        SweepPoint(HOSTILE, 2, 224, 224, 0, None, None, None, HOSTILE),
    ],
    curves=[
        SweepCurve(
            unit=HOSTILE, axis=HOSTILE, along=HOSTILE, x=[1.0], items_per_s=[1.0], mean_ms=[1.0], no_knee=HOSTILE
        )
    ],
    notes=[HOSTILE],
)
HOSTILE_LOADS = SweepResult(points=[under(HOSTILE, 1e-9, HOSTILE), under("none", None, HOSTILE, HOSTILE)])
HOSTILE_VARIANTS = VariantsResult(
    variants=[
        VariantRow(precision=HOSTILE, unit=HOSTILE, n=1, p50_ms=1e9, max_abs=1e9, speed=1e-9, note=HOSTILE, front=True),
        VariantRow(precision="b", unit="ALL", n=1, p50_ms=1e-9, max_abs=0.0, error=HOSTILE, size_bytes=2**52),
    ],
    notes=[HOSTILE],
    rest_n=3,
)
