"""What is said of a plan beside the power that was drawn."""

from __future__ import annotations

from typing import Any

import pytest

from hettop.events import Failure, Plan, PlannedDevice
from hettop.session.placement import evidence

NE, GPU, CPU = "Neural Engine", "GPU", "CPU"


def plan(accelerator: str | None = NE, costs: dict[str, float | None] | None = None, ops: Any = None) -> Plan:
    shares = {NE: 0.98, CPU: 0.02} if costs is None else costs
    devices = [PlannedDevice(device=name, ops=(ops or {}).get(name, 10), cost=cost) for name, cost in shares.items()]
    return Plan(t=0, unit="U", accelerator=accelerator, ops=sum(each.ops for each in devices), devices=devices)


@pytest.mark.parametrize(
    ("power", "words"),
    [
        ({"ane_mw": 0.0, "gpu_mw": 5.0}, "plan: 98 % Neural Engine; ANE 0 mW while running: probably on the CPU"),
        ({"ane_mw": 1240.0, "gpu_mw": 5.0}, "plan: 98 % Neural Engine; ANE drew 1,240 mW while it ran"),
        ({"ane_mw": None, "gpu_mw": None}, "plan: 98 % Neural Engine; ANE power n/a"),
        (
            {"ane_mw": 0.0, "gpu_mw": 900.0, "idle_gpu_mw": 30.0},
            "plan: 98 % Neural Engine; ANE 0 mW while running: probably on the GPU",
        ),
        # Another program keeps the Neural Engine busy: what it draws idle, too, is no evidence.
        (
            {"ane_mw": 205.0, "gpu_mw": 5.0, "idle_ane_mw": 200.0},
            "plan: 98 % Neural Engine; ANE 205 mW while running: probably on the CPU",
        ),
    ],
)
def test_a_claim_stands_beside_its_evidence(power: dict[str, float | None], words: str) -> None:
    assert evidence(plan(), **power) == words


def test_a_gpu_is_judged_above_what_the_screen_draws() -> None:
    gpu = plan(GPU, {GPU: 1.0})
    assert evidence(gpu, ane_mw=0, gpu_mw=35, idle_gpu_mw=30) == (
        "plan: 100 % GPU; GPU 35 mW while running: probably on the CPU"
    )
    assert evidence(gpu, ane_mw=0, gpu_mw=35) == "plan: 100 % GPU; GPU drew 35 mW while it ran (idle baseline n/a)"


def test_a_plan_for_two_accelerators_is_held_against_both() -> None:
    both = plan(NE, {NE: 0.6, GPU: 0.3, CPU: 0.1})
    assert evidence(both, ane_mw=700, gpu_mw=300, idle_gpu_mw=20) == (
        "plan: 60 % Neural Engine, 30 % GPU; ANE drew 700 mW while it ran, GPU drew 300 mW while it ran"
    )
    assert evidence(both, ane_mw=0, gpu_mw=300, idle_gpu_mw=20) == (
        "plan: 60 % Neural Engine, 30 % GPU; ANE 0 mW while running, GPU drew 300 mW while it ran: "
        "probably not on the Neural Engine"
    )


def test_a_plan_that_gives_the_accelerator_nothing_agrees_with_its_silence() -> None:
    cpu = plan(NE, {CPU: 1.0})
    assert evidence(cpu, ane_mw=0, gpu_mw=0) == "plan: 0 % Neural Engine; ANE 0 mW while running"
    assert evidence(cpu, ane_mw=900, gpu_mw=0, idle_ane_mw=0) == (
        "plan: 0 % Neural Engine; ANE drew 900 mW while it ran: more runs on the Neural Engine than planned"
    )


def test_a_unit_without_an_accelerator_has_a_claim_alone() -> None:
    assert evidence(plan(None, {CPU: 1.0}), ane_mw=0, gpu_mw=0) == "plan: 100 % CPU"


def test_without_costs_the_share_is_of_the_operations() -> None:
    counted = plan(NE, {NE: None, CPU: None}, {NE: 3, CPU: 1})
    assert evidence(counted, ane_mw=500, gpu_mw=0) == (
        "plan: 75 % Neural Engine of the operations; ANE drew 500 mW while it ran"
    )


def test_what_is_not_all_is_not_called_all() -> None:
    assert evidence(plan(NE, {NE: 0.999, CPU: 0.001}), ane_mw=500, gpu_mw=0) == (
        "plan: >99 % Neural Engine; ANE drew 500 mW while it ran"
    )


def test_without_a_plan_there_is_nothing_to_set_it_beside() -> None:
    assert evidence(None, ane_mw=500, gpu_mw=0) is None


def test_why_there_is_no_plan_stands_beside_what_was_drawn() -> None:
    none = Plan(t=0, unit="U", accelerator=NE, error=Failure(kind="plan", message="compute plans need macOS 14.4"))
    assert evidence(none, ane_mw=500.0, gpu_mw=None) == (
        "no plan: compute plans need macOS 14.4; ANE drew 500 mW while it ran"
    )
    assert evidence(none, ane_mw=None, gpu_mw=None) == "no plan: compute plans need macOS 14.4"
