"""What is said of a plan beside the power that was drawn."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from hettop.events import Failure, Plan, PlannedDevice
from hettop.session import placement
from hettop.session.placement import Calls

evidence = partial(placement.evidence, validated=("ane", "gpu"))
"""On a machine whose rails were seen to count."""

NE, GPU, CPU = "Neural Engine", "GPU", "CPU"


def plan(accelerator: str | None = NE, costs: dict[str, float | None] | None = None, ops: Any = None) -> Plan:
    shares = {NE: 0.98, CPU: 0.02} if costs is None else costs
    devices = [PlannedDevice(device=name, ops=(ops or {}).get(name, 10), cost=cost) for name, cost in shares.items()]
    return Plan(t=0, unit="U", accelerator=accelerator, ops=sum(each.ops for each in devices), devices=devices)


@pytest.mark.parametrize(
    ("power", "words"),
    [
        ({"ane_mw": 0.0, "gpu_mw": 5.0}, "plan: 98% Neural Engine; ANE 0 mW while running: probably on the CPU"),
        ({"ane_mw": 1240.0, "gpu_mw": 5.0}, "plan: 98% Neural Engine; ANE drew 1,240 mW while running"),
        ({"ane_mw": None, "gpu_mw": None}, "plan: 98% Neural Engine; ANE power n/a"),
        (
            {"ane_mw": 0.0, "gpu_mw": 900.0, "idle_gpu_mw": 30.0},
            "plan: 98% Neural Engine; ANE 0 mW while running: probably on the GPU",
        ),
        # Another program keeps the Neural Engine busy: what it draws idle, too, is no evidence.
        (
            {"ane_mw": 205.0, "gpu_mw": 5.0, "idle_ane_mw": 200.0},
            "plan: 98% Neural Engine; ANE 205 mW while running: probably on the CPU",
        ),
    ],
)
def test_a_claim_stands_beside_its_evidence(power: dict[str, Any], words: str) -> None:
    assert evidence(plan(), **power) == words


def test_a_gpu_is_judged_above_what_the_screen_draws() -> None:
    gpu = plan(GPU, {GPU: 1.0})
    assert evidence(gpu, ane_mw=0, gpu_mw=35, idle_gpu_mw=30) == (
        "plan: 100% GPU; GPU 35 mW while running: probably on the CPU"
    )
    assert evidence(gpu, ane_mw=0, gpu_mw=35) == "plan: 100% GPU; GPU drew 35 mW while running (idle baseline n/a)"


def test_a_plan_for_two_accelerators_is_held_against_both() -> None:
    both = plan(NE, {NE: 0.6, GPU: 0.3, CPU: 0.1})
    assert evidence(both, ane_mw=700, gpu_mw=300, idle_gpu_mw=20) == (
        "plan: 60% Neural Engine, 30% GPU; ANE drew 700 mW while running, GPU drew 300 mW while running"
    )
    assert evidence(both, ane_mw=0, gpu_mw=300, idle_gpu_mw=20) == (
        "plan: 60% Neural Engine, 30% GPU; ANE 0 mW while running, GPU drew 300 mW while running: "
        "probably not on the Neural Engine"
    )


def test_a_plan_that_gives_the_accelerator_nothing_agrees_with_its_silence() -> None:
    cpu = plan(NE, {CPU: 1.0})
    assert evidence(cpu, ane_mw=0, gpu_mw=0) == "plan: 0% Neural Engine; ANE 0 mW while running"
    assert evidence(cpu, ane_mw=900, gpu_mw=0, idle_ane_mw=0) == (
        "plan: 0% Neural Engine; ANE drew 900 mW while running: more runs on the Neural Engine than planned"
    )


def test_a_unit_without_an_accelerator_has_a_claim_alone() -> None:
    assert evidence(plan(None, {CPU: 1.0}), ane_mw=0, gpu_mw=0) == "plan: 100% CPU"


def test_without_costs_the_share_is_of_the_operations() -> None:
    counted = plan(NE, {NE: None, CPU: None}, {NE: 3, CPU: 1})
    assert evidence(counted, ane_mw=500, gpu_mw=0) == (
        "plan: 75% Neural Engine of the operations; ANE drew 500 mW while running"
    )


def test_what_is_not_all_is_not_called_all() -> None:
    assert evidence(plan(NE, {NE: 0.999, CPU: 0.001}), ane_mw=500, gpu_mw=0) == (
        "plan: >99% Neural Engine; ANE drew 500 mW while running"
    )


def test_without_a_plan_there_is_nothing_to_set_it_beside() -> None:
    assert evidence(None, ane_mw=500, gpu_mw=0) is None


def test_why_there_is_no_plan_stands_beside_what_was_drawn() -> None:
    none = Plan(t=0, unit="U", accelerator=NE, error=Failure(kind="plan", message="compute plans need macOS 14.4"))
    assert evidence(none, ane_mw=500.0, gpu_mw=None) == (
        "no plan: compute plans need macOS 14.4; ANE drew 500 mW while running"
    )
    assert evidence(none, ane_mw=None, gpu_mw=None) == "no plan: compute plans need macOS 14.4"


# A step of 1 mJ in windows of .5 s leaves 2 mW of a mean open.
def paced(duty: float, blur_mw: float = 2.0) -> Calls:
    return Calls(period_ms=100.0, latency_ms=100.0 * duty, blur_mw=blur_mw)


def test_a_neural_engine_that_works_a_hundredth_of_the_time_is_not_accused() -> None:
    # 300 mW in each call of 1 ms every 100 ms: 3 mW on average, less than an idle rail may show; .3 mJ a call.
    assert evidence(plan(), ane_mw=3.0, gpu_mw=5.0, calls=paced(0.01)) == (
        "plan: 98% Neural Engine; ANE 0.3 mJ/call (1% of the time in calls)"
    )


def test_where_the_counter_is_too_coarse_for_so_few_calls_nothing_is_said_of_the_device() -> None:
    # At a duty of 1% a device that works may count as little as the 2 mW that the counter cannot distinguish from none.
    assert evidence(plan(), ane_mw=0.0, gpu_mw=5.0, calls=paced(0.01)) == (
        "plan: 98% Neural Engine; ANE 0.0 mW on average: duty too low to conclude from (1% of the time in calls)"
    )


def test_an_idle_rail_is_reported_as_soon_as_the_counter_can() -> None:
    # 10 mW in the calls, half of the time, are 5 mW: more than the 2 mW left open.
    assert evidence(plan(), ane_mw=0.0, gpu_mw=5.0, calls=paced(0.5)) == (
        "plan: 98% Neural Engine; ANE 0 mJ/call (50% of the time in calls): probably on the CPU"
    )


def test_the_idle_baseline_is_a_reading_with_a_step_of_its_own() -> None:
    # 3 mW above idle are within the 2 + 2 mW of two readings, and within the 2 mW of one they are not.
    accused = evidence(plan(), ane_mw=203.0, gpu_mw=5.0, idle_ane_mw=200.0, calls=paced(0.01))
    assert accused is not None
    assert "duty too low to conclude from" in accused


def test_between_idle_and_work_nothing_is_claimed() -> None:
    assert evidence(plan(), ane_mw=9.0, gpu_mw=5.0, calls=paced(1.0)) == (
        "plan: 98% Neural Engine; ANE 9 mW while running: too little to conclude from"
    )


NO_EVIDENCE = "power reading not validated on this machine, so no evidence"


@pytest.mark.parametrize("calls", [paced(1.0), paced(0.5), paced(0.01)])
@pytest.mark.parametrize(("rail", "device"), [("ane", NE), ("gpu", GPU)])
def test_a_zero_of_a_rail_that_never_counted_is_no_evidence_whatever_the_duty(
    rail: str, device: str, calls: Calls
) -> None:
    idle = partial(placement.evidence, plan(device, {device: 1.0}), ane_mw=0.0, gpu_mw=0.0, calls=calls)
    assert idle() == f"plan: 100% {device}; {rail.upper()} {NO_EVIDENCE}"
    assert idle(validated={"ane", "gpu"} - {rail}) == idle()
    assert NO_EVIDENCE not in str(idle(validated={rail}))


def test_what_is_not_known_of_one_rail_accuses_no_device_and_hides_no_other_reading() -> None:
    both = plan(NE, {NE: 0.6, GPU: 0.3, CPU: 0.1})
    assert placement.evidence(both, ane_mw=0, gpu_mw=300, idle_gpu_mw=20, validated=["gpu"]) == (
        f"plan: 60% Neural Engine, 30% GPU; ANE {NO_EVIDENCE}, GPU drew 300 mW while running"
    )
    assert placement.evidence(plan(), ane_mw=0, gpu_mw=900, idle_gpu_mw=30, validated=["gpu"]) == (
        f"plan: 98% Neural Engine; ANE {NO_EVIDENCE}"
    )


def test_a_rail_that_reads_work_needs_no_other_proof() -> None:
    assert placement.evidence(plan(), ane_mw=1240.0, gpu_mw=None) == (
        "plan: 98% Neural Engine; ANE drew 1,240 mW while running"
    )


def test_without_a_plan_too_a_zero_counts_only_once_the_rail_does() -> None:
    none = Plan(t=0, unit="U", accelerator=NE, error=Failure(kind="plan", message="compute plans need macOS 14.4"))
    assert placement.evidence(none, ane_mw=0.0, gpu_mw=None) == (
        f"no plan: compute plans need macOS 14.4; ANE {NO_EVIDENCE}"
    )


@pytest.mark.parametrize(
    ("power", "words"),
    [
        (
            {"ane_mw": 900, "gpu_mw": 5, "idle_ane_mw": 0},
            "ANE drew 900 mW while running, GPU 5 mW while running: partly on the Neural Engine",
        ),
        ({"ane_mw": 0, "gpu_mw": 0}, "ANE 0 mW while running, GPU 0 mW while running: probably on the CPU"),
        (
            {"ane_mw": 0, "gpu_mw": 900, "idle_gpu_mw": 30},
            "ANE 0 mW while running, GPU drew 900 mW while running: "
            "partly on the GPU, probably not on the Neural Engine",
        ),
        # Without a baseline the power may be another program's.
        ({"ane_mw": 900, "gpu_mw": None}, "ANE drew 900 mW while running"),
        # A rail that was never seen to count proves nothing by its zero.
        (
            {"ane_mw": 0, "gpu_mw": None, "validated": ()},
            "ANE power reading not validated on this machine, so no evidence",
        ),
    ],
)
def test_of_core_ai_the_rails_alone_say_where_it_ran(power: dict[str, Any], words: str) -> None:
    assert evidence(None, unit="COREAI:prefers_ne", **power) == f"Core AI reports no placement; {words}"


def test_of_core_ai_without_power_and_of_other_units_without_a_plan_nothing_is_said() -> None:
    assert evidence(None, ane_mw=None, gpu_mw=None, unit="COREAI:default") is None
    assert evidence(None, ane_mw=900, gpu_mw=0, unit="CPU_AND_NE") is None
    assert evidence(None, ane_mw=900, gpu_mw=0, unit="COREAI:default~b") is None
