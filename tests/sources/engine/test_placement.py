"""What a plan adds up to, worked out by hand."""

from __future__ import annotations

import pytest

from hettop import events
from hettop.sources.engine.placement import OpFacts, make_plan

BOTH = ("CPU", "Neural Engine")

FACTS = (
    OpFacts("w", "const"),
    OpFacts("a", "conv", "Neural Engine", BOTH, 0.6),
    OpFacts("b", "gather", "CPU", ("CPU",), 0.1),
    OpFacts("c", "relu", "CPU", BOTH, 0.1),
    OpFacts("d", "conv", "Neural Engine", BOTH, 0.2),
    OpFacts("e", "identity"),
    OpFacts("v", "constexpr_lut_to_dense"),
)


def test_counts_shares_and_fallbacks() -> None:
    plan = make_plan("CPU_AND_NE", FACTS)
    assert (plan.unit, plan.accelerator, plan.ops, plan.unplaced) == ("CPU_AND_NE", "Neural Engine", 4, 1)
    assert [(each.device, each.ops) for each in plan.devices] == [("Neural Engine", 2), ("CPU", 2)]
    assert [each.cost for each in plan.devices] == pytest.approx([0.8, 0.2])
    assert plan.fallback_ratio_count == 0.5
    assert plan.fallback_ratio_cost == pytest.approx(0.2)
    assert plan.error is None


@pytest.mark.parametrize(
    ("unit", "here", "accelerator"),
    [
        ("ALL", (), "Neural Engine"),
        ("ALL", ("CPU", "GPU", "Neural Engine"), "Neural Engine"),
        ("ALL", ("CPU", "GPU"), "GPU"),
        ("ALL", ("CPU",), None),
        ("CPU_AND_NE", ("CPU", "GPU"), None),
        ("CPU_AND_GPU", ("CPU", "GPU"), "GPU"),
    ],
)
def test_a_plan_is_told_against_no_device_that_is_not_there(
    unit: str, here: tuple[str, ...], accelerator: str | None
) -> None:
    assert make_plan(unit, FACTS, here).accelerator == accelerator


def test_what_breaks_the_run_is_named_in_order_and_says_why() -> None:
    breaks = make_plan("ALL", FACTS).breaks
    assert [(each.name, each.op, each.preferred, each.why) for each in breaks] == [
        ("b", "gather", "CPU", "not supported on the Neural Engine"),
        ("c", "relu", "CPU", "the Neural Engine supports it, but the CPU is preferred"),
    ]
    assert breaks[0].cost == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("unit", "accelerator", "ratio"),
    [
        ("CPU_ONLY", None, None),
        ("CPU_AND_GPU", "GPU", 1.0),
        ("CPU_AND_NE", "Neural Engine", 0.5),
        ("ALL@2", "Neural Engine", 0.5),
    ],
)
def test_each_unit_is_held_against_its_own_accelerator(unit: str, accelerator: str | None, ratio: float | None) -> None:
    plan = make_plan(unit, FACTS)
    assert (plan.accelerator, plan.fallback_ratio_count) == (accelerator, ratio)
    assert bool(plan.breaks) == (accelerator is not None)


def test_without_costs_there_are_no_shares_of_cost() -> None:
    plan = make_plan("ALL", [OpFacts("a", "conv", "CPU", ("CPU",)), OpFacts("b", "conv", "GPU", ("CPU", "GPU"))])
    assert (plan.fallback_ratio_count, plan.fallback_ratio_cost) == (1.0, None)
    assert [each.cost for each in plan.devices] == [None, None]


def test_a_reason_that_is_not_known_is_not_made_up() -> None:
    assert make_plan("ALL", [OpFacts("a", "conv", "CPU")]).breaks[0].why is None


def test_operations_without_a_place_are_counted_and_explained() -> None:
    plan = make_plan("ALL", [OpFacts("w", "const"), *(OpFacts(f"o{n}", "conv") for n in range(1200))])
    assert (plan.ops, plan.unplaced, plan.devices, plan.fallback_ratio_count) == (0, 1200, [], None)
    assert plan.error is not None
    assert plan.error.message == "the framework reports no device for any of the 1,200 operations"


def test_a_program_without_operations_has_no_plan() -> None:
    plan = make_plan("ALL", [])
    assert plan.error is not None
    assert plan.error.message == "the compiled model lists no operations"


def test_a_plan_of_many_fallbacks_can_be_recorded() -> None:
    facts = [OpFacts(f"op \x1b {n}" * 40, "loop", "CPU", ("CPU",) * 20, 1e9) for n in range(5000)]
    plan = make_plan("ALL", facts)
    assert len(plan.breaks) == events.NAMED_LIMIT
    read = events.decode(events.encode(plan))
    assert isinstance(read, events.Plan)
    assert read.fallback_ratio_cost == 1.0
    assert "\x1b" not in read.breaks[0].name
