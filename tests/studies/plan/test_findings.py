"""What a plan says of itself: its gain as predicted and as measured, and whether it answers right."""

from __future__ import annotations

import msgspec
import pytest

from hettop.studies.plan.findings import BAD, GOOD, PLAIN, Sentence, plan_sentences
from hettop.studies.plan.result import OthersRun, PlanResult
from tests.studies.planned import NOT_RUN, ONE_DEVICE, PLAN, RUN, TORN


def told(found: PlanResult) -> list[Sentence]:
    return list(plan_sentences(found))


def changed(**run: object) -> list[Sentence]:
    return told(msgspec.structs.replace(PLAN, run=msgspec.structs.replace(RUN, **run)))


def test_the_predicted_gain_is_over_the_best_device_alone() -> None:
    """12.1 / 11 - 1: a tenth more."""
    first = told(PLAN)[0]
    assert first.text == ("The plan: 3 slices, on 2 devices; predicted gain +10% over B alone (11.0 ms against 12.1).")
    assert first.means == GOOD


def test_where_costs_contradict_each_other_that_comes_first_and_no_prediction_is_good_news() -> None:
    first, predicted, *others = told(TORN)
    assert first.text.startswith("Costs are inconsistent: the whole model on A took 1.40 ms while")
    assert first.means == BAD
    assert predicted.means == PLAIN
    assert not any("after adjusting" in each.text for each in others), "nobody knows which speed to adjust to"
    assert any("after adjusting" in each.text for each in told(PLAN))


def test_a_plan_of_one_device_says_why() -> None:
    assert told(ONE_DEVICE)[0] == Sentence("The plan uses one device, B: a cut costs more than it saves.")
    only = msgspec.structs.replace(ONE_DEVICE, devices=["B"])
    assert told(only)[0].text == "The plan uses the only device, B."
    uncut = msgspec.structs.replace(ONE_DEVICE, layers=1)
    assert told(uncut)[0].text == "The model is a single layer and runs on B."


def test_the_users_own_plan_may_be_worse() -> None:
    own = msgspec.structs.replace(NOT_RUN, cost=24.2, given=True)
    assert told(own)[0] == Sentence(
        "Your plan: 3 slices, on 2 devices; predicted gain -50% over B alone (24.2 ms against 12.1).", BAD
    )
    same = msgspec.structs.replace(ONE_DEVICE, given=True)
    assert told(same)[0].text == "Your plan: one slice; no gain over B alone is predicted (12.1 ms against 12.1)."


def test_where_no_device_runs_the_whole_model_no_gain_is_invented() -> None:
    stuck = msgspec.structs.replace(NOT_RUN, singles={"A": None, "B": None})
    assert stuck.gain is None
    assert told(stuck)[0].text == "The plan: 3 slices, on 2 devices; no device can run the whole model alone."


def test_a_plan_that_did_not_run_says_so() -> None:
    assert told(NOT_RUN)[1] == Sentence("Not run: use --run to measure the plan.")


@pytest.mark.parametrize(
    ("gain", "interval", "words", "means"),
    [
        (0.1, (0.05, 0.15), "gain +10% over B alone (+5.0% to +15%, 95%).", GOOD),
        (-0.1, (-0.15, -0.05), "loss 10% against B alone (5.0% to 15%, 95%).", BAD),
        (0.01, (-0.05, 0.15), "gain +1.0% over B alone (-5.0% to +15%, 95%): not significant.", PLAIN),
    ],
)
def test_a_measured_gain_is_proven_or_not(gain: float, interval: tuple[float, float], words: str, means: str) -> None:
    assert changed(gain=gain, gain_ci=interval)[1] == Sentence(f"Measured {words}", means)


def test_a_gain_that_the_medians_contradict_is_not_to_be_relied_on() -> None:
    """The plan took 10 ms and B alone 11: by the medians it gains a tenth, whatever pairs of calls say."""
    assert not any("rely on neither" in each.text for each in told(PLAN))
    assert changed(gain=-0.05, gain_ci=(-0.05, -0.05))[2] == Sentence(
        "The gain is the median over pairs of calls; from the two medians it is +10%: the two "
        "contradict each other, so neither is reliable.",
        BAD,
    )


def test_other_plans_that_ran_are_reported() -> None:
    others = OthersRun(n=9, random_n=7, runs=5, plan_ms=14.0, best_ms=12.0, best_of="random", estimation_error=0.25)
    texts = [each.text for each in changed(others=others, estimation_error=0.03)]
    assert any(
        text.startswith("Of 9 other plans (7 random) the fastest took 12.0 ms, the plan 14.0 ms (random plan); ")
        for text in texts
    )
    assert any(text.endswith("slices are off by 3.0% on average.") for text in texts)


def test_the_prediction_is_held_against_what_it_took() -> None:
    assert told(PLAN)[2].text == (
        "The plan took 10.0 ms, predicted 11.0 ms: 10% too high, 2.0% too high after adjusting for the machine's speed."
    )


@pytest.mark.parametrize(
    ("equal", "difference", "words", "means"),
    [
        (True, 0.0, "identical to those of the whole model", GOOD),
        (True, 2e-7, "difference 2.0e-07 (1e-05 allowed)", GOOD),
        (False, 0.5, "DO NOT match the whole model: difference 5.0e-01", BAD),
        (False, None, "cannot be compared", BAD),
    ],
)
def test_outputs_are_right_or_wrong(equal: bool, difference: float | None, words: str, means: str) -> None:
    last = changed(outputs_equal=equal, output_difference=difference)[3]
    assert words in last.text
    assert last.means == means


def test_the_best_device_measured_against_itself_is_no_gain() -> None:
    run = msgspec.structs.replace(RUN, best_single="B", gain=0.022, gain_ci=(0.011, 0.038))
    itself = told(msgspec.structs.replace(ONE_DEVICE, run=run))[1]
    assert itself == Sentence(
        "The plan is the best device alone; measured against itself it differs by +2.2% (+1.1% to "
        "+3.8%, 95%): measurement noise, not a gain."
    )
    other = told(msgspec.structs.replace(ONE_DEVICE, run=msgspec.structs.replace(run, best_single="A")))[1]
    assert other.text.startswith("Measured gain +2.2% over A alone")
