"""Layers by a plan's estimates: shares of what was measured as a whole, and never called measured."""

from __future__ import annotations

import pytest

from hettop.errors import HettopError
from hettop.models.inspection.graph import Layer
from hettop.sources.engine.placement import OpFacts, make_plan
from hettop.studies.layers.planned import by_event, by_facts

NE, CPU = "Neural Engine", "CPU"
FACTS = [
    OpFacts("w", "const"),
    OpFacts("c1", "conv", NE, (CPU, NE), 3.0),
    OpFacts("c2", "conv", NE, (CPU, NE), 1.0),
    OpFacts("s", "softmax", CPU, (CPU,), 1.0),
    OpFacts("r", "reshape", NE, (CPU, NE), None),
]
WORK = {"c1": Layer("c1", "conv", 1_000, 40, 40, 20, "float16")}


def test_shares_are_those_of_the_costs_and_ms_those_of_the_call() -> None:
    measured = by_facts("CPU_AND_NE", FACTS, WORK, mean_ms=2.0, runs=50)
    assert measured.estimated
    assert [row.name for row in measured.layers] == ["c1", "c2", "s"]
    assert [row.share for row in measured.layers] == pytest.approx([0.6, 0.2, 0.2])
    assert [row.ms for row in measured.layers] == pytest.approx([1.2, 0.4, 0.4])
    assert [(row.device, row.fallback) for row in measured.layers] == [(NE, False), (NE, False), (CPU, True)]
    assert [(row.macs, row.nbytes) for row in measured.layers] == [(1_000, 100), (None, None), (None, None)]
    assert measured.by_op == pytest.approx({"conv": 0.8, "softmax": 0.2})
    assert measured.total_ms == pytest.approx(2.0)
    assert measured.notes == ["1 operations without an estimate are left out"]


def test_a_unit_without_an_accelerator_has_no_fallbacks() -> None:
    measured = by_facts("CPU_ONLY", FACTS, {}, mean_ms=2.0, runs=50)
    assert {row.fallback for row in measured.layers} == {None}


def test_a_plan_without_costs_estimates_nothing() -> None:
    with pytest.raises(HettopError, match="no cost estimate for any of the 1 operations"):
        by_facts("ALL", [OpFacts("c", "conv", NE, (NE,), None)], {}, 1.0, 1)


def test_what_a_recording_keeps_is_fallbacks_by_name_and_the_rest_by_device() -> None:
    measured = by_event(make_plan("CPU_AND_NE", FACTS), mean_ms=10.0, runs=200)
    assert [(row.name, row.op, row.fallback) for row in measured.layers] == [
        ("s", "softmax", True),
        ("3 operations on Neural Engine", "(others)", False),
    ]
    assert [row.ms for row in measured.layers] == pytest.approx([2.0, 8.0])
    assert sum(row.share for row in measured.layers) == pytest.approx(1.0)
    assert measured.estimated


def test_a_plan_that_is_an_error_or_has_no_costs_is_refused() -> None:
    nothing = [OpFacts("c", "conv", NE, (NE,), None)]
    with pytest.raises(HettopError, match="has no estimated costs"):
        by_event(make_plan("CPU_AND_NE", nothing), 1.0, 1)
    with pytest.raises(HettopError, match="the compiled model lists no operations"):
        by_event(make_plan("CPU_AND_NE", []), 1.0, 1)
