"""What `hettop sweep` printed, as one line of the stream."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from hettop.errors import HettopError
from hettop.events import Study
from hettop.studies.reading import found_of
from hettop.studies.sweep.document import MOST_CURVES, MOST_POINTS
from hettop.studies.sweep.result import SweepPoint, SweepResult
from hettop.studies.sweep.text import sweep_document
from tests.analysis.test_sweeps import BATCHES, failed, point

LINE = 10_240
"""Bytes of a whole line, header of the event included: keyframes repeat it."""


def found(document: dict[str, Any]) -> SweepResult:
    told = found_of("sweep", document)
    assert isinstance(told, SweepResult)
    return told


def test_points_and_the_curve_of_a_planted_line() -> None:
    """t = 8 + B ms: 111.111 items/s at 1, 800 at 32, the knee at 8 (as docs/method/sweeps.md works out)."""
    told = found(sweep_document([*(point(batch, 8.0 + batch) for batch in BATCHES), failed(64)], None))
    assert told.points[0] == SweepPoint("CPU_ONLY", 1, 224, 224, 100, 111.111, 9.0, None)
    assert told.points[-1] == SweepPoint("CPU_ONLY", 64, 224, 224, 0, None, None, None, "no")
    (curve,) = told.curves
    assert (curve.unit, curve.axis, curve.along, curve.x) == ("CPU_ONLY", "batch", "224x224", list(map(float, BATCHES)))
    assert (curve.a_ms, curve.b_ms, curve.r2) == pytest.approx((8, 1, 1))
    assert (curve.knee, curve.no_knee) == (8, None)
    assert curve.best == {"throughput": 32, "latency": 1, "within_budget": None}
    assert curve.knee_sure is None, "there are no samples to draw again from"
    assert (told.rest_n, told.notes) == (0, [])


def test_a_curve_without_knee_says_why() -> None:
    (curve,) = found(sweep_document([point(1, 1.0), point(2, 2.0), point(4, 4.0)], None)).curves
    assert (curve.knee, curve.no_knee) == (None, "flat: it rises by less than 5%")


def test_one_point_is_told_before_there_is_a_curve() -> None:
    told = found(sweep_document([point(1, 9.0)], None))
    assert (len(told.points), told.curves) == (1, [])


def test_of_a_sweep_that_is_too_large_for_a_line_the_first_are_kept_and_the_rest_is_counted() -> None:
    points = [
        point(batch, 1.0 + batch * size**2 / 1e4, "CPU_AND_GPU", size)
        for size in (100, 120, 140, 160, 180, 200, 220, 240)
        for batch in (1, 2, 4, 8, 16, 32, 64, 128)
    ]
    told = found(sweep_document(points, None))
    assert (len(told.points), told.rest_n, len(told.curves)) == (MOST_POINTS, 64 - MOST_POINTS, MOST_CURVES)
    assert {curve.axis for curve in told.curves[:8]} == {"batch"}, "those along batches have knees"
    line = msgspec.json.encode(Study(t=0, name="sweep", state="done", elapsed_ns=0, found=told.line()))
    assert len(line) < LINE


def loads_document() -> dict[str, Any]:
    def row(load: str, n: int, p90: float | None, error: object = None, thermal: str | None = None) -> dict[str, Any]:
        known = {"p50_ms": 1.0, "mean_ms": 1.5, "throughput_per_s": 666.6666666} if n else {}
        missing = dict.fromkeys(("p50_ms", "mean_ms", "throughput_per_s"))
        return {
            **missing,
            **known,
            "unit": "ALL",
            "load": load,
            "n": n,
            "p90_ms": p90,
            "error": error,
            "thermal": thermal,
        }

    return {
        "conditions": [
            row("none", 100, 2.0),
            row("cpu:1", 10, 9.0, thermal="Heavy"),
            row("cpu:1", 90, 3.0, thermal="Nominal"),
            row("cpu:2", 0, None, {"kind": "crashed", "message": "gone", "hint": ""}),
        ],
        "matrix": [],
        "failed_loads": {"gpu:1": "no GPU"},
        "notes": [],
    }


def test_units_under_loads_have_a_point_for_each_of_the_thermal_state_with_most_samples() -> None:
    told = found(loads_document())
    assert told.points == [
        SweepPoint("ALL", 1, None, None, 100, 666.667, 1.5, 2.0, None, "none", 1.0),
        SweepPoint("ALL", 1, None, None, 90, 666.667, 1.5, 3.0, None, "cpu:1", 1.0),
        SweepPoint("ALL", 1, None, None, 0, None, None, None, "gone", "cpu:2"),
    ]
    assert told.notes == ["load gpu:1: no GPU"]


@pytest.mark.parametrize(
    "document", [{}, {"points": 3}, {"points": [{}]}, {"points": [], "curves": [{"axis": "batch"}]}]
)
def test_what_is_no_such_document_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(HettopError, match="sweep told what cannot be read"):
        found_of("sweep", document)
