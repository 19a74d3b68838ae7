"""A sweep's result: made of what was measured, as `--json` prints it, and as a line of a recording."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pytest

from hettop.analysis.unit_samples import Measured
from hettop.errors import HettopError
from hettop.events import Study
from hettop.report.document import to_json
from hettop.report.terminal.blocks import block_text
from hettop.session.statistics import Reason, Statistics
from hettop.studies.registry import read_document
from hettop.studies.result import named
from hettop.studies.sweep.curves import PointResult
from hettop.studies.sweep.measure import loads_result, points_result, usage_of
from hettop.studies.sweep.page import blocks
from hettop.studies.sweep.result import MOST_CURVES, MOST_POINTS, SweepPoint, SweepResult, Usage
from tests.processes.waiting import REPOSITORY
from tests.session.test_canary import control, report, running
from tests.session.test_canary import session_of as canary_session
from tests.streams import MS, S, window
from tests.studies.sweep.measured import BUDGET, measured_points
from tests.studies.sweep.test_curves_of_points import BATCHES, failed, point

LINE = 10_240
"""Bytes of a whole line, header of the event included: keyframes repeat it."""


def planted() -> SweepResult:
    return points_result([*(point(batch, 8.0 + batch) for batch in BATCHES), failed(64)], None)


def kept(result: SweepResult) -> SweepResult:
    """As a recording has it."""
    return SweepResult.from_line(json.loads(msgspec.json.encode(result.line())))


TEXT = ("notes", "further_notes", "contradiction", "why", "error", "bound_why")


def missing_or_changed(before: Any, after: Any, where: str = "") -> list[str]:
    """Fields of a document that another has not, or has with another value; sentences may be worded anew."""
    if isinstance(before, dict):
        return [
            each
            for name in before
            if name not in TEXT
            for each in missing_or_changed(before[name], after.get(name, "missing"), f"{where}.{name}")
        ]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return [each for i, (one, other) in pairs for each in missing_or_changed(one, other, f"{where}[{i}]")]
    return [] if before == after else [f"{where}: {before} {after}"]


def test_the_document_has_every_field_that_the_first_version_had() -> None:
    before = json.loads((REPOSITORY / "tests/golden/studies/sweep.json").read_text())
    after = json.loads(to_json(named(points_result(measured_points(), BUDGET, ["a note"]))))
    assert missing_or_changed(before, after) == []


def test_points_and_the_curve_of_a_planted_line() -> None:
    """t = 8 + B ms: 111.111 items/s at 1, 800 at 32, the knee at 8 (as docs/method/sweeps.md works out)."""
    told = kept(planted())
    assert told.points[0] == SweepPoint("CPU_ONLY", 1, 224, 224, 100, 111.111, 9.0)
    assert told.points[-1] == SweepPoint("CPU_ONLY", 64, 224, 224, error="no")
    (curve,) = told.curves
    assert (curve.unit, curve.axis, curve.along, curve.x) == ("CPU_ONLY", "batch", "224x224", list(map(float, BATCHES)))
    assert (curve.a_ms, curve.b_ms, curve.r2) == pytest.approx((8, 1, 1))
    assert (curve.knee, curve.no_knee) == (8, None)
    assert curve.best == {"throughput": 32, "latency": 1, "within_budget": None}
    assert curve.knee_sure is None, "there are no samples to draw again from"
    assert (told.rest_n, told.notes) == (0, [])


def test_the_document_has_the_statistics_and_the_fit_whole() -> None:
    document = json.loads(to_json(named(planted())))
    assert document["budget"] is None
    first, last = document["points"][0], document["points"][-1]
    assert first["items_per_s"] == 1000 / 9
    assert first["statistics"]["p99_ms"] is None
    assert last["statistics"]["error"]["kind"] == "memory"
    assert round(document["curves"][0]["fit"]["limit_items_per_s"], 6) == 1000


def test_a_curve_without_knee_says_why() -> None:
    (curve,) = points_result([point(1, 1.0), point(2, 2.0), point(4, 4.0)], None).curves
    assert (curve.knee, curve.no_knee) == (None, "flat: it rises by less than 5%")


def test_one_point_is_reported_before_there_is_a_curve() -> None:
    told = points_result([point(1, 9.0)], None)
    assert (len(told.points), told.curves) == (1, [])


def test_under_way_nothing_is_drawn_again_and_notes_report_what_figures_do_not() -> None:
    """The rate falls from 667/s at 8 to 100/s at 16."""
    samples = np.full(100, 5.0)
    measured = Measured("CPU_ONLY", "none", "wall", 100, samples, 5.0, 5.0, 5.0, 5.0, 5.0)
    times = {1: 5.0, 2: 6.0, 4: 8.0, 8: 12.0, 16: 160.0}
    points = [replace(point(batch, ms), measured=measured) for batch, ms in times.items()]
    quick, whole = (points_result(points, None, ["a note"], certain=each) for each in (False, True))
    assert quick.curves[0].knee_sure is None
    assert whole.curves[0].knee_sure is not None
    assert quick.notes == ["a note", "CPU_ONLY, 224x224: saturated: the rate falls from batch 16 on"]


def test_what_resamples_often_say_otherwise_has_a_mark() -> None:
    """Rates within each other's noise: which batch serves most is a matter of chance; a slope of 1 ms is none."""
    generator = np.random.default_rng(7)

    def noisy(batch: int, mean_ms: float, spread: float) -> PointResult:
        samples = mean_ms * (1 + spread * generator.standard_normal(60))
        mean = float(samples.mean())
        measured = Measured("CPU_ONLY", "none", "wall", 60, samples, mean, mean, mean, mean, mean)
        return replace(point(batch, mean), measured=measured)

    doubtful = points_result([noisy(batch, batch, 0.2) for batch in BATCHES], None)
    assert doubtful.curves[0].best_sure is not None
    assert doubtful.curves[0].best_sure < 0.95
    assert "batch 4?" in block_text(list(blocks(doubtful)), 140)
    sure = points_result([noisy(batch, 8.0 + batch, 1e-3) for batch in BATCHES], None)
    assert "batch 32 " in block_text(list(blocks(sure)), 140)


def test_the_page_has_budget_and_all_quantiles_where_it_is_wide() -> None:
    text = block_text(list(blocks(points_result(measured_points(), BUDGET))), 140)
    row = next(line for line in text.splitlines() if line.startswith("ALL       160x160      1"))
    assert row.split()[-1] == "unproven"
    assert "budget: P90 at most 20.0 ms, proven by its 95% interval" in text
    narrow = block_text(list(blocks(points_result(measured_points(), BUDGET))), 80)
    assert max(map(len, narrow.splitlines())) <= 80
    assert "met" in narrow


def test_of_a_sweep_that_is_too_large_for_a_line_the_first_are_kept_and_the_rest_is_counted() -> None:
    points = [
        point(batch, 1.0 + batch * size**2 / 1e4, "CPU_AND_GPU", size)
        for size in (100, 120, 140, 160, 180, 200, 220, 240)
        for batch in (1, 2, 4, 8, 16, 32, 64, 128)
    ]
    result = points_result(points, None)
    told = kept(result)
    assert (len(told.points), told.rest_n, len(told.curves)) == (MOST_POINTS, 64 - MOST_POINTS, MOST_CURVES)
    assert {curve.axis for curve in told.curves[:8]} == {"batch"}, "those along batches have knees"
    line = msgspec.json.encode(Study(t=0, name="sweep", state="done", elapsed_ns=0, found=result.line()))
    assert len(line) < LINE


def row(load: str, n: int, p90: float | None, error: Reason | None = None, thermal: str | None = None) -> Statistics:
    p50, mean, rate = (1.0, 1.5, 666.6666666) if n else (None, None, None)
    return Statistics(
        unit="ALL",
        load=load,
        n=n,
        p50_ms=p50,
        mean_ms=mean,
        p90_ms=p90,
        throughput_per_s=rate,
        error=error,
        thermal=thermal,
    )


def test_units_under_loads_have_a_point_for_each_of_the_thermal_state_with_most_samples() -> None:
    rows = [
        row("none", 100, 2.0),
        row("cpu:1", 10, 9.0, thermal="Heavy"),
        row("cpu:1", 90, 3.0, thermal="Nominal"),
        row("cpu:2", 0, None, Reason(kind="crashed", message="gone", hint="")),
    ]
    told = kept(loads_result(rows, {"gpu:1": "no GPU"}))
    assert told.points == [
        SweepPoint("ALL", 1, None, None, 100, 666.667, 1.5, 2.0, None, "none", 1.0),
        SweepPoint("ALL", 1, None, None, 90, 666.667, 1.5, 3.0, None, "cpu:1", 1.0),
        SweepPoint("ALL", 1, None, None, 0, None, None, None, "gone", "cpu:2"),
    ]
    assert told.notes == ["load gpu:1: no GPU"]


@pytest.mark.parametrize("document", [{"points": 3}, {"points": [{}]}, {"points": [], "curves": [{"axis": "batch"}]}])
def test_what_is_no_such_document_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(HettopError, match="sweep returned an invalid result"):
        read_document("sweep", document)


def test_frames_are_those_that_the_canary_counted_while_the_unit_ran() -> None:
    """Three of sixty missed, in the only full second of unit A."""
    session = canary_session(control(0, "A"), running("A", 0), window([MS] * 70, unit="A", t0=S), report(2 * S, 3))
    usage = usage_of(session, ["A"], "none", 0.5)
    assert (usage.frames_due, usage.frames_missed, usage.missed_share) == (60, 3, 0.05)
    assert usage_of(session, ["A"], "cpu:1", 0.5) == Usage(units=["A"], load="cpu:1", cpu_share=0.5)
