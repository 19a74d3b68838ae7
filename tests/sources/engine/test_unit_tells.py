"""What the engine tells of a unit beside its latency, through real processes: outputs, plans, processes replaced."""

from __future__ import annotations

import json
from typing import Any

import psutil
import pytest

from hettop import events
from hettop.sources.engine import planning
from hettop.sources.engine.watchdog import Timeouts
from hettop.units import NS_PER_S
from tests.processes.waiting import gone
from tests.sources.engine.answering import NAME as ANSWERING
from tests.sources.engine.sessions import Session, Start

Plan, Outputs = events.Plan, events.Outputs


def answering(start: Start, *units: str, options: dict[str, Any] | None = None, **model: Any) -> Session:
    return start(*units, backend=ANSWERING, model=json.dumps(model), **(options or {}))


def outputs(session: Session, unit: str) -> list[events.Outputs]:
    return [event for event in session.events if isinstance(event, Outputs) and event.unit == unit]


def plans(session: Session) -> dict[str, events.Plan]:
    return {event.unit: event for event in session.events if isinstance(event, Plan)}


def spawned(session: Session, unit: str) -> list[events.Engine]:
    return [e for e in session.events if isinstance(e, events.Engine) and (e.unit, e.state) == (unit, "spawning")]


def run_each(session: Session, *units: str) -> None:
    for unit in units:
        session.engine.switch(unit)
        session.until(lambda unit=unit: unit in {*session.engine.done, *session.engine.failures}, f"{unit} is done")  # type: ignore[misc]


# -- outputs ----------------------------------------------------------------------------------------------------------


def test_each_unit_is_compared_with_cpu_only_on_eight_sets_of_inputs(start: Start) -> None:
    session = answering(start, "ALL", "CPU_ONLY", ALL={"offset": 0.5}, options={"runs": 5, "warmup": 3})
    run_each(session, "ALL", "CPU_ONLY")
    assert outputs(session, "CPU_ONLY") == []
    (told,) = outputs(session, "ALL")
    assert (told.reference, told.inputs, told.sampled, told.error) == ("CPU_ONLY", 8, False, None)
    assert [(output.name, output.values) for output in told.outputs] == [("scores", 32), ("labels", 24)]
    scores, labels = told.outputs
    assert scores.max_abs == pytest.approx(0.5, abs=1e-6)
    assert scores.top1 == 1.0
    assert (labels.max_abs, labels.cosine, labels.top1) == (0.0, 1.0, None)
    # The calls that answered are not samples.
    assert [session.count("ALL", phase) for phase in ("first", "warmup", "steady")] == [1, 3, 5]


def test_the_first_unit_is_the_reference_until_cpu_only_is_known(start: Start) -> None:
    units = ("CPU_AND_GPU", "ALL", "CPU_ONLY")
    session = answering(start, *units, CPU_AND_GPU={"offset": 1.0}, options={"runs": 2})
    run_each(session, *units)
    assert [(told.reference, round(told.outputs[0].max_abs or 0, 6)) for told in outputs(session, "ALL")] == [
        ("CPU_AND_GPU", 1.0),
        ("CPU_ONLY", 0.0),
    ]
    assert [told.reference for told in outputs(session, "CPU_AND_GPU")] == ["CPU_ONLY"]


def test_numbers_that_are_none_are_counted(start: Start) -> None:
    session = answering(start, "CPU_ONLY", "ALL", ALL={"nan": True}, options={"runs": 2})
    run_each(session, "CPU_ONLY", "ALL")
    worst = outputs(session, "ALL")[0].outputs[0]
    assert (worst.name, worst.not_finite, worst.max_abs) == ("scores", 8, 0.0)


def test_inputs_that_the_user_gave_are_the_only_set(start: Start) -> None:
    session = answering(start, "CPU_ONLY", "CPU_ONLY@2", options={"runs": 2, "values": {"x": "0.25"}})
    run_each(session, "CPU_ONLY", "CPU_ONLY@2")
    (told,) = outputs(session, "CPU_ONLY@2")
    largest = {output.name: output.largest for output in told.outputs}
    assert (told.reference, told.inputs, largest["scores"]) == ("CPU_ONLY", 1, 0.5)


def test_a_set_of_inputs_that_fails_ends_the_comparison_and_not_the_unit(start: Start) -> None:
    session = answering(start, "CPU_ONLY", "ALL", ALL={"odd_call": 4}, options={"runs": 5})
    run_each(session, "CPU_ONLY", "ALL")
    assert session.engine.failures == {}
    assert [told.inputs for told in outputs(session, "ALL")] == [3]
    assert session.count("ALL") == 5


def test_outputs_of_another_shape_are_said_to_be_and_the_others_are_compared(start: Start) -> None:
    session = answering(start, "CPU_ONLY", "ALL", ALL={"labels": 5}, options={"runs": 2})
    run_each(session, "CPU_ONLY", "ALL")
    (told,) = outputs(session, "ALL")
    assert told.error is not None
    assert told.error.message == "output labels has shape [5] here and [3] on CPU_ONLY"
    assert [output.name for output in told.outputs] == ["scores"]


def test_a_restarted_unit_is_compared_again(start: Start) -> None:
    session = answering(start, "CPU_ONLY", "ALL", options={"runs": 3})
    run_each(session, "CPU_ONLY", "ALL")
    session.engine.restart("ALL")
    session.until(lambda: len(outputs(session, "ALL")) == 2, "a second comparison")


def test_a_backend_that_computes_nothing_is_not_compared(start: Start) -> None:
    session = start("CPU_ONLY", "ALL", backend="simulated", runs=3)
    run_each(session, "CPU_ONLY", "ALL")
    assert not [event for event in session.events if isinstance(event, Outputs)]


# -- plans ------------------------------------------------------------------------------------------------------------


def test_a_plan_is_read_before_the_unit_runs(start: Start) -> None:
    session = answering(start, "CPU_AND_NE", plan="slowly", options={"runs": 3})
    session.engine.switch("CPU_AND_NE")
    session.until(lambda: session.engine.finished, "three runs")
    plan = plans(session)["CPU_AND_NE"]
    assert (plan.ops, plan.unplaced, plan.accelerator, plan.error) == (2, 0, "Neural Engine", None)
    assert (plan.fallback_ratio_count, plan.fallback_ratio_cost) == (0.5, 0.25)
    assert [(op.name, op.why) for op in plan.breaks] == [("c", "not supported on the Neural Engine")]
    assert session.windows("CPU_AND_NE", "steady")[0].t0 > plan.t - 500_000_000  # read for half a second, until then
    assert session.windows("CPU_AND_NE", "steady")[0].t >= plan.t


def test_plans_of_interleaved_units_are_read_before_the_turns_begin(start: Start) -> None:
    units = ("CPU_ONLY", "CPU_AND_NE", "ALL")
    session = answering(start, *units, plan="well", options={"runs": 40})
    session.engine.interleave(units)
    session.until(lambda: session.engine.finished, "40 runs each")
    last_plan = max(plan.t for plan in plans(session).values())
    assert set(plans(session)) == set(units)
    assert all(session.windows(unit, "steady")[0].t >= last_plan for unit in units)
    assert [session.count(unit) for unit in units] == [40, 40, 40]


@pytest.mark.parametrize(
    ("fault", "kind", "message"),
    [
        ("abort", "crashed", "the plan reader killed by SIGABRT"),
        ("vanish", "crashed", "the plan reader killed by SIGKILL"),
        ("refuse", "plan", "ValueError: odd"),
    ],
)
def test_a_plan_that_goes_wrong_is_told_and_hurts_nothing_else(
    start: Start, fault: str, kind: str, message: str
) -> None:
    session = answering(start, "ALL", plan=fault, options={"runs": 20})
    session.engine.switch("ALL")
    session.until(lambda: session.engine.finished and bool(plans(session)), "20 runs and a word on the plan")
    error = plans(session)["ALL"].error
    assert error is not None
    assert (error.kind, error.message) == (kind, message)
    if fault == "abort":
        assert error.log[0] == "assertion failed: \ufffd[31mpackage"
    assert session.engine.failures == {}
    assert session.count("ALL") == 20


def test_what_a_framework_prints_does_not_get_into_the_plan(start: Start) -> None:
    session = answering(start, "ALL", plan="noisily", options={"runs": 2})
    session.engine.switch("ALL")
    session.until(lambda: session.engine.finished and bool(plans(session)), "two runs and a plan")
    assert (plans(session)["ALL"].ops, plans(session)["ALL"].error) == (2, None)


def test_a_plan_that_hangs_is_given_up_and_leaves_no_process(start: Start) -> None:
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    session = answering(start, "ALL", plan="hang", options={"runs": 5, "timeouts": Timeouts(plan_s=1.0)})
    session.engine.switch("ALL")
    session.until(lambda: bool(plans(session)), "the time-out")
    error = plans(session)["ALL"].error
    assert error is not None
    assert error.kind == "timeout"
    session.until(lambda: session.engine.finished, "five runs")
    session.engine.close()
    left = {process.pid for process in psutil.Process().children(recursive=True)} - before - {session.pid("ALL")}
    assert gone(left)


def test_a_plan_that_hangs_holds_a_unit_for_five_seconds_at_most(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    assert planning.HOLD_NS == 5 * NS_PER_S
    monkeypatch.setattr(planning, "HOLD_NS", NS_PER_S)
    session = answering(start, "ALL", plan="hang", options={"runs": 5})
    session.engine.switch("ALL")
    session.until(lambda: session.engine.finished, "five runs")
    assert plans(session) == {}


def test_a_plan_is_read_once_however_often_the_unit_is_restarted(start: Start) -> None:
    session = answering(start, "ALL", plan="well", options={"runs": 2})
    run_each(session, "ALL")
    session.engine.restart("ALL")
    session.until(lambda: session.count("ALL", "first") == 2 and session.engine.finished, "two runs more")
    assert sum(isinstance(event, Plan) for event in session.events) == 1


def test_while_a_unit_runs_alone_no_plan_is_read_beside_it(start: Start) -> None:
    session = answering(start, "CPU_ONLY", "ALL", plan="well")
    session.engine.switch("CPU_ONLY")
    session.until_steady("CPU_ONLY", 5)
    session.engine.preload(["ALL"])
    session.until_state("ALL", "paused")
    session.until_steady("CPU_ONLY", session.count("CPU_ONLY") + 100)
    assert set(plans(session)) == {"CPU_ONLY"}
    session.engine.switch("ALL")
    session.until_steady("ALL", 5)
    assert set(plans(session)) == {"CPU_ONLY", "ALL"}


# -- processes that are replaced --------------------------------------------------------------------------------------


def test_a_worn_process_is_replaced_and_the_runs_come_out_exact(start: Start) -> None:
    session = answering(start, "ALL", recycle_after=60, options={"runs": 150, "warmup": 4})
    session.engine.switch("ALL")
    session.until(lambda: session.engine.finished, "150 runs")
    assert session.count("ALL") == 150
    # Of the first process's 60 predictions 7 answered further sets of inputs; the others are not asked for outputs.
    second = session.events.index(spawned(session, "ALL")[1])
    assert sum(event.n for event in session.events[:second] if isinstance(event, events.Samples)) == 53
    assert [session.count("ALL", phase) for phase in ("first", "warmup")] == [3, 12]
    assert [event.note for event in spawned(session, "ALL")] == [
        None,
        *["recycled after 60 predictions: to limit known memory leaks of its framework"] * 2,
    ]
    assert len({event.pid for event in spawned(session, "ALL")}) == 3
    assert len(outputs(session, "ALL")) == 0
    assert session.engine.failures == {}


def test_interleaved_units_are_replaced_without_losing_count(start: Start) -> None:
    session = answering(start, "CPU_ONLY", "ALL", ALL={"recycle_after": 90}, options={"runs": 200})
    session.engine.interleave(["CPU_ONLY", "ALL"])
    session.until(lambda: session.engine.finished, "200 runs each")
    assert (session.count("CPU_ONLY"), session.count("ALL")) == (200, 200)
    assert len(spawned(session, "CPU_ONLY")) == 1
    assert len(spawned(session, "ALL")) >= 3
    assert len(outputs(session, "ALL")) == 1


def test_no_unit_runs_beside_the_load_of_a_process_that_takes_over(start: Start) -> None:
    session = answering(start, "CPU_ONLY", "ALL", ALL={"recycle_after": 650, "load_s": 1.0}, options={"runs": 1200})
    session.engine.interleave(["CPU_ONLY", "ALL"])
    session.until(lambda: session.engine.finished, "1,200 runs each")
    told = [event for event in session.events if isinstance(event, events.Engine) and event.unit == "ALL"]
    begins = [event.t for event in told if event.state == "spawning"][1:]
    ends = [event.t for event in told if event.load_ns is not None][1:]
    ran = [int(begin) for window in session.windows("CPU_ONLY", "steady") for begin in window.starts_ns()]
    assert begins
    assert ran[-1] > ends[0], "it still had to run"
    # The word to wait takes a moment to arrive, on a busy machine a longer one.
    late = 300_000_000
    assert not [at for at in ran for begin, end in zip(begins, ends, strict=True) if begin + late < at < end]


def test_a_paced_unit_is_replaced_without_losing_count(start: Start) -> None:
    session = answering(start, "ALL", recycle_after=40, options={"runs": 60, "rate_hz": 200.0})
    session.engine.switch("ALL")
    session.until(lambda: session.engine.finished, "60 paced runs")
    assert session.count("ALL") == 60
    assert len(spawned(session, "ALL")) == 2
    # What would have arrived while the process was replaced is none of the unit's doing.
    *_, paused = [e for e in session.events if isinstance(e, events.Engine) and e.state == "paused"]
    assert paused.unfinished is not None
    assert paused.unfinished < 60


def test_a_duration_goes_on_where_the_last_process_left_it(start: Start) -> None:
    session = answering(start, "ALL", recycle_after=80, options={"duration_ns": 200_000_000})
    session.engine.switch("ALL")
    session.until(lambda: session.engine.finished, "200 ms")
    assert len(spawned(session, "ALL")) >= 2
    steady = session.windows("ALL", "steady")
    assert sum(int(window.lat_ns.sum()) for window in steady) <= 200_000_000 + max(int(w.lat_ns.max()) for w in steady)


def test_the_peak_memory_of_a_unit_is_that_of_the_largest_of_its_processes(start: Start) -> None:
    session = answering(start, "ALL", recycle_after=60, options={"runs": 100})
    session.engine.switch("ALL")
    session.until(lambda: session.engine.finished, "100 runs")
    peaks = [e.peak_memory_mb for e in session.events if isinstance(e, events.Engine) and e.peak_memory_mb is not None]
    assert len(peaks) >= 4
    assert peaks == sorted(peaks)


def test_a_worn_unit_that_is_not_to_run_waits_for_its_turn(start: Start) -> None:
    session = answering(start, "CPU_ONLY", "ALL", ALL={"recycle_after": 60}, options={"runs": 200})
    session.engine.switch("ALL")
    session.until(lambda: session.count("ALL") > 40, "it is about to be worn out")
    session.engine.switch("CPU_ONLY")
    session.until(lambda: "CPU_ONLY" in session.engine.done, "the other unit's runs")
    session.engine.switch("ALL")
    session.until(lambda: session.engine.finished, "200 runs each")
    assert (session.count("CPU_ONLY"), session.count("ALL")) == (200, 200)
    assert session.engine.failures == {}


def test_a_replaced_unit_that_is_restarted_begins_anew(start: Start) -> None:
    session = answering(start, "ALL", recycle_after=60, options={"runs": 70})
    session.engine.switch("ALL")
    session.until(lambda: session.engine.finished, "70 runs")
    session.engine.restart("ALL")
    session.until(lambda: session.count("ALL") == 140, "70 runs more")
    assert [event.note is None for event in spawned(session, "ALL")] == [True, False, True, False]
