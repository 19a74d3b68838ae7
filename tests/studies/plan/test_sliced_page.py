"""A measured plan and its run, as a page and as a document."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hettop.studies.plan.cutting.costs import cost_table
from hettop.studies.plan.cutting.result import Ran
from hettop.studies.plan.sliced_page import Sliced, interval, sliced_document, sliced_text
from hettop.studies.plan.slicing.baselines import baselines
from hettop.studies.plan.slicing.given import read_plan
from hettop.studies.plan.slicing.planner import plan
from tests.studies.plan.cutting.test_costs import SURVEY

COSTS = cost_table(("A", "B"), SURVEY)
SLICED = Sliced(SURVEY, COSTS, COSTS.table, plan(COSTS.table), baselines(COSTS.table), "latency", 0.2)
# Predicted 2.1, 3.7 and 3.6 ms on B, A, B. B takes twice its 13 ms now, A as long as then.
RAN = Ran((4.0, 4.0, 7.2), 15.2, (21.0, 26.0), (0.4,) * 20, 2e-7, True, 1e-5, 20)


def page(sliced: Sliced, width: int = 120) -> str:
    return " ".join(sliced_text("m", sliced, width).split())


def document(sliced: Sliced) -> dict[str, Any]:
    return sliced_document({"name": "m"}, sliced)


def test_the_page_has_the_plan_the_line_and_says_that_nothing_ran() -> None:
    text = page(SLICED)
    assert "m B_1, A_2, B_3 latency 9.40 ms" in text
    assert "costs were measured here" in text
    assert "A 21.0 1.00 1.20 1.00 4" in text
    assert "not run: --run runs it" in text


def test_the_document_has_layers_lines_and_the_best_single_device() -> None:
    told = document(SLICED)
    assert (told["plan"], told["cost"], told["best_single"]) == ("B_1, A_2, B_3", pytest.approx(9.4), "B")
    assert told["baselines"]["B preferred"] == 13
    assert told["communication"][1]["r_squared"] == pytest.approx(1)
    assert told["layers"][1]["crossing_bytes"] == 2_000_000
    assert told["layers"][0]["ms"] == {"A": 10.0, "B": 1.0}
    assert told["run"] is None


def test_a_run_stands_beside_its_prediction() -> None:
    run = document(replace(SLICED, ran=RAN))["run"]
    assert [each["predicted_ms"] for each in run["slices"]] == pytest.approx([2.1, 3.7, 3.6])
    assert [each["error"] for each in run["slices"]] == pytest.approx([-0.475, -0.075, -0.5])
    assert run["error"] == pytest.approx(9.4 / 15.2 - 1)


def test_which_way_a_prediction_is_off_is_said_and_not_told_by_a_sign_alone() -> None:
    text = page(replace(SLICED, ran=RAN))
    assert "error (- too low)" in text
    assert "9.40 ms were predicted (38% too low)" in text  # 9.4 of 15.2
    assert "15.1 ms would have been predicted (0.7% too low)" in text
    slower = page(replace(SLICED, ran=replace(RAN, plan_ms=4.7)))
    assert "9.40 ms were predicted (100% too high)" in slower


def test_a_line_that_begins_below_nothing_is_explained() -> None:
    assert "begins below 0 ms" not in page(SLICED)
    below = tuple(replace(each, ms=each.ms - 1.4) for each in SURVEY.moved)
    costs = cost_table(("A", "B"), replace(SURVEY, moved=below))
    text = page(replace(SLICED, survey=replace(SURVEY, moved=below), costs=costs))
    assert "A 21.0 1.00 -0.200" in text
    assert "where it begins below 0 ms, small cuts count as the median of the smaller ones tried" in text


def test_the_prediction_is_told_for_devices_as_fast_as_they_are_now_too() -> None:
    run = document(replace(SLICED, ran=RAN))["run"]
    assert [each["adjusted_ms"] for each in run["slices"]] == pytest.approx([4.2, 3.7, 7.2])
    assert run["adjusted_error"] == pytest.approx(15.1 / 15.2 - 1)
    text = page(replace(SLICED, ran=RAN))
    assert "A 21.0 ms then, 21.0 now, B 13.0 ms then, 26.0 now" in text


def test_costs_that_contradict_each_other_are_said_to() -> None:
    """A profile saw calls of 7 ms on A, and the whole model took 21 ms there a little later."""
    torn = replace(SLICED, survey=replace(SURVEY, profiled_ms=(7.0, 13.0)))
    told = (
        "costs contradict each other: the whole model on A took 7.00 ms while layers were profiled, 21.0 ms while it "
        "ran whole; measure again on a quieter machine"
    )
    assert page(torn).index(told) < page(torn).index("B_1, A_2, B_3"), "above what it makes doubtful"
    assert document(torn)["contradiction"] == told
    assert told in document(torn)["notes"]


@pytest.mark.parametrize("profiled", [(14.2, 13.0), (31.0, 13.0), (None, 13.0), ()])
def test_costs_that_differ_by_less_than_half_do_not_contradict(profiled: tuple[float | None, ...]) -> None:
    """21 ms are 1.48 times 14.2 and 0.68 times 31."""
    torn = replace(SLICED, survey=replace(SURVEY, profiled_ms=profiled))
    assert document(torn)["contradiction"] is None
    assert "contradict" not in page(torn)


def test_a_machine_of_another_speed_while_the_plan_ran_contradicts_too() -> None:
    """B took 13 ms then and 26 ms in the run."""
    told = document(replace(SLICED, ran=RAN))["contradiction"]
    assert "the whole model on B took 13.0 ms while costs were measured, 26.0 ms while the plan ran" in told
    assert document(replace(SLICED, ran=replace(RAN, whole_ms=(21.0, 14.0))))["contradiction"] is None


def test_the_gain_is_told_over_the_device_that_is_best_alone_now() -> None:
    text = page(replace(SLICED, ran=RAN))
    assert "gain over A alone +40% (+40% to +40%, 95 %)" in text
    assert "within 2.0e-07 of the largest element" in text
    assert document(replace(SLICED, ran=RAN))["run"]["best_single"] == "A"


def test_a_gain_that_may_be_none_is_said_to_be_unproven() -> None:
    ran = replace(RAN, gains=(0.5, -0.5) * 20)
    assert "no difference is proven" in page(replace(SLICED, ran=ran))


def test_a_gain_that_the_medians_contradict_is_not_to_be_relied_on() -> None:
    """The plan took 15.2 ms and A alone 21.0: by the medians it gains 38 %, whatever pairs of calls say."""
    assert "rely on neither" not in page(replace(SLICED, ran=RAN))
    text = page(replace(SLICED, ran=replace(RAN, gains=(-0.05,) * 40)))
    assert "by the medians of each it is +38%: they contradict each other, so rely on neither" in text


def test_the_interval_of_a_gain_holds_its_median() -> None:
    middle, low, high = interval([0.1, 0.2, 0.3, 0.4, 0.5] * 8)
    assert middle == pytest.approx(0.3)
    assert 0.1 <= low <= middle <= high <= 0.5


@pytest.mark.parametrize(
    ("difference", "words"), [(None, "NOT those of the whole model: other shapes"), (0.5, "5.0e-01 of the largest")]
)
def test_wrong_outputs_are_said(difference: float | None, words: str) -> None:
    assert words in page(replace(SLICED, ran=replace(RAN, difference=difference, equal=False)))
    assert "exactly" in page(replace(SLICED, ran=replace(RAN, difference=0.0)))


def test_a_plan_of_the_users_own_may_be_worse_and_says_whose_it_is() -> None:
    given = replace(SLICED, plan=read_plan(COSTS.table, "A_1"), given=True)
    text = page(given)
    assert "the plan is yours" in text
    assert "B preferred 13.0 -62%" in text
    assert document(given)["given"] is True


@pytest.mark.parametrize("width", [60, 80])
def test_the_page_fits_its_width(width: int) -> None:
    assert max(map(len, sliced_text("m", replace(SLICED, ran=RAN), width).splitlines())) <= width
