"""A plan's result, made of a table of costs or of what was measured, as `--json` prints it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from hettop.report.document import to_json
from hettop.studies.plan.findings import begins
from hettop.studies.plan.measure import Other, Sliced, estimation_error, interval, plan_result, table_result
from hettop.studies.plan.slicing.baselines import baselines
from hettop.studies.plan.slicing.planner import Plan, Slice, plan, plan_cost
from hettop.studies.plan.slicing.search import search
from tests.processes.waiting import REPOSITORY
from tests.studies.plan.cutting.test_costs import SURVEY
from tests.studies.plan.documents import THREE, documents
from tests.studies.plan.sliced import COSTS, RAN, SLICED
from tests.studies.plan.slicing.tables import fields, table_of
from tests.studies.sweep.test_measure import missing_or_changed


def document(sliced: Sliced) -> dict[str, Any]:
    return plan_result(sliced).document()


@pytest.mark.parametrize(("name", "after"), documents().items())
def test_a_document_has_every_field_that_the_first_version_had(name: str, after: dict[str, Any]) -> None:
    before = json.loads((REPOSITORY / f"tests/golden/studies/{name}.json").read_text())
    assert missing_or_changed(before, json.loads(to_json(after))) == []


def test_the_document_counts_layers_from_one_and_its_slices_add_up() -> None:
    """N holds 2 and 3 in 33 + 13 ms, and pays 5 to begin and 19 to end."""
    table = table_of(THREE)
    told = table_result(table, plan(table), baselines(table), objective="latency", planner_ms=0.1).document()
    first, second = told["slices"]
    assert (first["first"], first["last"], first["device"], first["cost"]) == (1, 1, "B", 19.0)
    assert (second["first"], second["last"], second["device"], second["cost"]) == (2, 3, "N", 70.0)
    assert (second["entry"], second["exit"]) == (5.0, 19.0)
    assert (told["cost"], told["unit"], told["objective"]) == (89.0, "ms", "latency")
    assert told["baselines"] == {"B preferred": 107.0, "N preferred": 89.0, "without communication": 89.0}
    assert told["singles"] == {"B": 107.0, "N": None}, "N cannot run the first layer"


def test_a_baseline_that_cannot_run_is_null() -> None:
    table = table_of(fields(1, "A"))
    found = table_result(table, plan(table), {"x": None}, objective="latency", planner_ms=0.1)
    assert found.document()["baselines"] == {"x": None}


def test_of_many_layers_each_entry_is_of_several_and_a_slice_keeps_its_own() -> None:
    """1,024 layers in 256 entries of four: layer 6 alone on B is in the second."""
    table = table_of(fields(1_024, "AB", e=[[0.5, 0.5]] * 1_024))
    chosen = Plan((Slice(0, 4, 0), Slice(5, 5, 1), Slice(6, 1_023, 0)), 512.0)
    found = table_result(table, chosen, {}, objective="latency", planner_ms=0.1)
    assert found.strip == [0, 1, *[0] * 254]
    assert set(found.layer_cost) == {2.0}
    assert (found.layers_n, len(found.layer_costs)) == (1_024, 1_024)
    assert begins(found) == {0: 1, 1: 6}


def test_the_document_has_layers_lines_and_the_best_single_device() -> None:
    told = document(SLICED)
    assert (told["plan"], told["cost"], told["best_single"]) == ("B_1, A_2, B_3", pytest.approx(9.4), "B")
    assert told["baselines"]["B preferred"] == 13
    assert told["communication"][1]["r_squared"] == pytest.approx(1)
    assert told["layers"][1]["crossing_bytes"] == 2_000_000
    assert told["layers"][0]["ms"] == {"A": 10.0, "B": 1.0}
    assert told["run"] is None


def test_each_layer_has_its_device_and_its_own_cost() -> None:
    found = plan_result(SLICED)
    assert [found.devices[device] for device in found.strip] == ["B", "A", "B"]
    assert found.layer_cost == found.layer_costs == [1, 1, 2]


def test_the_regression_keeps_what_was_tried() -> None:
    moving = plan_result(SLICED).moving[0]
    assert (moving.device, moving.ms_per_mb, moving.offset_ms, moving.r2) == ("A", *map(pytest.approx, (1.0, 1.2, 1.0)))
    assert moving.tried == [(0.1, 1.3), (0.4, 1.6), (1.6, 2.8), (3.2, 4.4)]


def test_a_run_stands_beside_its_prediction() -> None:
    told = document(replace(SLICED, ran=RAN))
    for slices in (told["run"]["slices"], told["slices"]):
        assert [each["predicted_ms"] for each in slices] == pytest.approx([2.1, 3.7, 3.6])
        assert [each["measured_ms"] for each in slices] == [4.0, 4.0, 7.2]
        assert [each["error"] for each in slices] == pytest.approx([-0.475, -0.075, -0.5])
    assert told["run"]["error"] == pytest.approx(9.4 / 15.2 - 1)


def test_the_estimation_error_is_the_mean_of_what_slices_are_off_by() -> None:
    """Predicted 2.1, 3.7 and 3.6 ms for 4, 4 and 7.2."""
    assert document(replace(SLICED, ran=RAN))["run"]["estimation_error"] == pytest.approx(
        (1.9 / 4 + 0.3 / 4 + 3.6 / 7.2) / 3
    )
    assert estimation_error([3.0, 1.0, 5.0], [2.0, 2.0, 0.0]) == pytest.approx(0.5)
    assert estimation_error([1.0], [0.0]) is None


def test_other_plans_that_ran_are_compared_with_the_plan_in_the_same_turns() -> None:
    """A alone took 20 ms while the plan took 28; B 12 while it took 14, the machine being faster then."""
    alone = [Other("A preferred", (Slice(0, 2, 0),)), Other("random", (Slice(0, 2, 1),))]
    predicted = [plan_cost(COSTS.table, each.slices) for each in alone]
    ran = replace(RAN, others_ms=(20.0, 12.0), others_runs=5, beside_ms=(28.0, 14.0))
    others = document(replace(SLICED, ran=ran, others=alone))["run"]["others"]
    assert (others["n"], others["random_n"], others["best_of"], others["best_plan"]) == (2, 1, "A preferred", "A_1")
    assert others["gap"] == pytest.approx(28 / 20 - 1)
    assert others["estimation_error"] == pytest.approx((abs(predicted[0] - 20) / 20 + abs(predicted[1] - 12) / 12) / 2)


def test_more_plans_than_a_number_holds_are_not_counted() -> None:
    table = table_of(fields(500, "ABC"))
    found = table_result(table, plan(table), {}, objective="latency", planner_ms=0.1, search=search(table))
    assert found.search is not None
    assert (found.search.possible, found.search.exhaustive, found.search.random_n) == (None, False, 1000)


def test_the_prediction_is_reported_for_devices_as_fast_as_they_are_now_too() -> None:
    """B takes twice its 13 ms in the run."""
    told = document(replace(SLICED, ran=RAN))
    assert [each["adjusted_ms"] for each in told["run"]["slices"]] == pytest.approx([4.2, 3.7, 7.2])
    assert told["run"]["adjusted_ms"] == pytest.approx(15.1)
    assert told["run"]["adjusted_error"] == pytest.approx(15.1 / 15.2 - 1)
    assert (told["end_to_end_ms"], told["run"]["alone_ms"]) == ({"A": 21.0, "B": 13.0}, {"A": 21.0, "B": 26.0})


def test_the_gain_is_over_the_device_that_is_best_alone_now() -> None:
    run = document(replace(SLICED, ran=RAN))["run"]
    assert (run["best_single"], run["gain"], run["gain_ci"]) == ("A", 0.4, [0.4, 0.4])
    assert (run["outputs_equal"], run["output_difference"], run["tolerance"], run["runs"]) == (True, 2e-7, 1e-5, 20)


def test_costs_that_contradict_each_other_are_said_to() -> None:
    """A profile saw calls of 7 ms on A, and the whole model took 21 ms there a little later."""
    torn = document(replace(SLICED, survey=replace(SURVEY, profiled_ms=(7.0, 13.0))))
    assert torn["contradiction"] == (
        "costs are inconsistent: the whole model on A took 7.00 ms while layers were profiled, 21.0 ms while it "
        "ran whole; measure again on a quieter machine"
    )
    assert torn["contradiction"] in torn["notes"]


@pytest.mark.parametrize("profiled", [(14.2, 13.0), (31.0, 13.0), (None, 13.0), ()])
def test_costs_that_differ_by_less_than_half_do_not_contradict(profiled: tuple[float | None, ...]) -> None:
    """21 ms are 1.48 times 14.2 and 0.68 times 31."""
    told = document(replace(SLICED, survey=replace(SURVEY, profiled_ms=profiled)))
    assert told["contradiction"] is None
    assert "contradict" not in " ".join(told["notes"])


def test_a_machine_of_another_speed_while_the_plan_ran_contradicts_too() -> None:
    """B took 13 ms then and 26 ms in the run."""
    told = document(replace(SLICED, ran=RAN))["contradiction"]
    assert "the whole model on B took 13.0 ms while costs were measured, 26.0 ms while the plan ran" in told
    assert document(replace(SLICED, ran=replace(RAN, whole_ms=(21.0, 14.0))))["contradiction"] is None


def test_the_interval_of_a_gain_holds_its_median() -> None:
    middle, low, high = interval([0.1, 0.2, 0.3, 0.4, 0.5] * 8)
    assert middle == pytest.approx(0.3)
    assert 0.1 <= low <= middle <= high <= 0.5
