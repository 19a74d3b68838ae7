"""What a plan found becomes a line of a recording: small, and with the same figures."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pytest

from hettop.errors import HettopError
from hettop.events import TEXT_LIMIT, Study, encode
from hettop.report.document import to_json
from hettop.studies.plan.cutting.result import Survey
from hettop.studies.plan.measure import contradiction, plan_result, table_result
from hettop.studies.plan.result import MovingCost, PlanResult, PlanSlice
from hettop.studies.plan.slicing.costs import CostTable
from hettop.studies.plan.slicing.planner import Plan, Slice
from hettop.studies.registry import read_document
from tests.studies.plan.sliced import RAN, SLICED

FOUND = plan_result(replace(SLICED, ran=RAN))
LARGEST_LINE = 10_240


def kept(found: PlanResult) -> PlanResult:
    """As a recording has it."""
    return PlanResult.from_line(json.loads(msgspec.json.encode(found.line())))


def test_plan_slices_and_singles_are_kept() -> None:
    """B_1, A_2, B_3 cost 1 + 1.1, 1.1 + 1 + 1.6 and 1.6 + 2; all layers 21 ms on A and 13 on B."""
    found = kept(FOUND)
    assert (found.plan, found.cost, found.cost_unit, found.layers) == ("B_1, A_2, B_3", 9.4, "ms", 3)
    assert found.singles == {"A": 21, "B": 13}
    assert found.best_single == "B"
    assert found.gain == pytest.approx(13 / 9.4 - 1)
    assert found.slices[0] == PlanSlice(1, 1, "B", 2.1, 4.0, -0.475, 2.1, 0.05, "a", 4.2, 0.0, 1.1)
    assert found.slices[0].execution == pytest.approx(1.0)
    assert [each.cost for each in found.slices] == [2.1, 3.7, 3.6]
    assert [found.devices[device] for device in found.strip] == ["B", "A", "B"]
    assert found.layer_cost == [1, 1, 2]
    assert found.moving[0] == MovingCost("A", 1.0, 1.2, 1.0, [(0.1, 1.3), (0.4, 1.6), (1.6, 2.8), (3.2, 4.4)])


def test_the_run_is_kept_and_may_be_missing() -> None:
    run = kept(FOUND).run
    assert run is not None
    assert (run.predicted_ms, run.measured_ms, run.best_single) == (9.4, 15.2, "A")
    assert run.gain == 0.4
    assert run.gain_ci == (0.4, 0.4)
    assert run.adjusted_error == pytest.approx(15.1 / 15.2 - 1, rel=1e-5)
    assert (run.outputs_equal, run.output_difference, run.tolerance, run.runs) == (True, 2e-7, 1e-5, 20)
    assert run.slices == []
    planned = kept(plan_result(SLICED))
    assert planned.run is None
    assert planned.slices[0].measured_ms is None


def test_what_its_command_prints_is_kept_the_same() -> None:
    assert read_document("plan", json.loads(to_json(FOUND.document()))).line() == FOUND.line()


def test_a_contradiction_is_kept_apart_from_notes_and_whole() -> None:
    """The run took 26 ms on B alone where the survey saw 13."""
    found = kept(FOUND)
    assert found.contradiction is not None
    assert found.contradiction == FOUND.contradiction
    assert found.contradiction in FOUND.notes
    assert found.contradiction not in found.notes


def test_the_longest_contradiction_fits() -> None:
    devices = [f"{letter * 40}" for letter in "ABC"]
    survey = Survey((), (1_234.5, 1_234.5, 1_234.5), (), profiled_ms=(0.0123, 0.0123, 0.0123))
    told = contradiction(devices, survey, None)
    assert told is not None
    assert len(told) <= TEXT_LIMIT
    assert "(2 more)" in told


def test_baselines_are_distinguished_from_the_cheapest_to_those_that_cannot_run() -> None:
    many = {"no": None, "dear": 5.0, "cheap": 1.0, **{f"d{i}": 9.0 for i in range(40)}}
    found = kept(msgspec.structs.replace(FOUND, baselines=many))
    assert list(found.baselines)[:2] == ["cheap", "dear"]
    assert len(found.baselines) == 8


def test_where_a_device_has_no_place_in_a_line_there_is_no_strip() -> None:
    """Nine devices run a slice each, eight of them are reported."""
    nine = [f"d{place}" for place in range(9)]
    slices = [PlanSlice(place + 1, place + 1, device, 1.0) for place, device in enumerate(nine)]
    found = msgspec.structs.replace(FOUND, devices=nine, slices=slices, strip=[*range(9)])
    assert (kept(found).devices, kept(found).strip) == (nine[:8], [])
    two = msgspec.structs.replace(found, devices=[*nine, "x"], slices=[PlanSlice(1, 9, "x", 9.0)], strip=[9] * 9)
    assert kept(two).devices == [*nine[:7], "x"]
    assert kept(two).strip == [7] * 9


@pytest.mark.parametrize("layers", [256, 5_000])
def test_the_largest_model_still_fits_a_line(layers: int) -> None:
    """On 40 devices with the longest names, a slice for each layer."""
    devices = tuple(f"{place}{'d' * 60}" for place in range(40))
    none = np.zeros((layers, len(devices)))
    table = CostTable(devices, none + 1.23456e-3, none, none, np.zeros(layers), np.full(len(devices), np.inf))
    chosen = Plan(tuple(Slice(layer, layer, layer % 8) for layer in range(layers)), 1.23456e-3 * layers)
    by_device = dict.fromkeys(devices, 1.23456789)
    compared = {f"{device} preferred": 1.23456789 for device in devices}
    planned = table_result(table, chosen, compared, objective="latency", planner_ms=0.123456789)
    measured = msgspec.structs.replace(FOUND.slices[0], begins="n" * 300, entry=1.23456789, exit=1.23456789)
    assert FOUND.run is not None
    found = msgspec.structs.replace(
        planned,
        slices=[msgspec.structs.replace(measured, device=each.device) for each in planned.slices],
        described=list(devices),
        singles=by_device,
        end_to_end_ms=by_device,
        moving=FOUND.moving * 20,
        run=msgspec.structs.replace(FOUND.run, alone_ms=by_device, apart=by_device, slices=FOUND.run.slices * 2_000),
        contradiction=FOUND.contradiction,
    )
    line = encode(Study(t=1, name="plan", state="done", elapsed_ns=1, found=found.line()))
    assert len(line) < LARGEST_LINE
    read = kept(found)
    assert read.slices_n == read.layers == layers
    assert len(read.layer_cost) == len(read.strip) == 256
    assert sum(read.layer_cost) == pytest.approx(layers * 1.23456e-3, rel=0.01)
    assert len(read.plan) == TEXT_LIMIT


@pytest.mark.parametrize("changed", [{"slices": 5}, {"cost": float("nan")}, {"layers": None}, {"cost": -1.0}])
def test_what_is_no_such_document_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(HettopError) as refused:
        read_document("plan", {**FOUND.document(), **changed})
    assert refused.value.kind == "study"
