"""What loads do to units, and how wrong an estimate made without load is, by the published figures."""

from __future__ import annotations

import pytest

from hettop.analysis.conditions import contention, estimate_error, estimation_errors, runtime_error
from hettop.session.statistics import Statistics, statistics
from tests.analysis.material import session_of, stream_of


@pytest.mark.parametrize(
    ("offline", "runtime", "percent"),
    [(219, 262, 19.634703), (219, 372, 69.863014), (430, 442, 2.790698), (328, 725, 121.036585)],
)
def test_runtime_error_is_that_of_table_3_of_potentials_and_pitfalls(
    offline: float, runtime: float, percent: float
) -> None:
    assert 100 * runtime_error(offline, runtime) == pytest.approx(percent)


def test_the_estimates_own_error_is_relative_to_what_happened() -> None:
    assert estimate_error(219, 262) == pytest.approx(43 / 262)
    assert estimate_error(300, 200) == pytest.approx(0.5)


def rows() -> list[Statistics]:
    session = session_of(
        stream_of({"CPU_ONLY": [2.0] * 70, "ALL": [1.0] * 70}),
        stream_of({"CPU_ONLY": [3.0] * 70}, load="cpu:1", t0=10**10),
        stream_of({"ALL": [1.1] * 70}, load="gpu:1", t0=2 * 10**10),
    )
    return statistics(session)


def test_the_matrix_has_a_cell_for_each_condition_and_its_change_against_idle() -> None:
    cells = {(cell.unit, cell.load): cell for cell in contention(rows())}
    assert set(cells) == {("CPU_ONLY", "none"), ("ALL", "none"), ("CPU_ONLY", "cpu:1"), ("ALL", "gpu:1")}
    busy = cells["CPU_ONLY", "cpu:1"]
    assert busy.change["p90_ms"] == pytest.approx(0.5)
    assert busy.change["throughput_per_s"] == pytest.approx(-1 / 3)
    assert (busy.figures["p99_ms"], "p99_ms" in busy.change) == (None, False)
    assert (busy.figures["canary_missed"], busy.figures["energy_mj_per_inference"]) == (None, None)
    assert cells["ALL", "none"].change == {}


def test_estimation_errors_are_of_loads_alone() -> None:
    found = {(error.unit, error.load): error for error in estimation_errors(rows())}
    assert set(found) == {("CPU_ONLY", "cpu:1"), ("ALL", "gpu:1")}
    assert found["CPU_ONLY", "cpu:1"].runtime_error == pytest.approx(0.5)
    assert found["CPU_ONLY", "cpu:1"].estimate_error == pytest.approx(1 / 3)


def test_without_an_idle_condition_there_is_no_change() -> None:
    (cell,) = contention(statistics(session_of(stream_of({"ALL": [1.0] * 9}, load="cpu:1"))))
    assert cell.change == {}
