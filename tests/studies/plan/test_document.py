"""The document of a plan becomes a line of the stream: small, and with the same figures."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest

from hettop.errors import HettopError
from hettop.events import TEXT_LIMIT, Study, encode
from hettop.studies.plan.contradiction import contradiction
from hettop.studies.plan.cutting.result import Survey
from hettop.studies.plan.findings import begins
from hettop.studies.plan.result import MovingCost, PlanResult, PlanSlice
from hettop.studies.plan.sliced_page import sliced_document
from hettop.studies.reading import found_of
from tests.studies.plan.test_sliced_page import RAN, SLICED

DOCUMENT = sliced_document({"name": "m"}, replace(SLICED, ran=RAN))
LARGEST_LINE = 9_216


def read(document: dict[str, Any]) -> PlanResult:
    found = found_of("plan", document)
    assert isinstance(found, PlanResult)
    return found


def test_plan_slices_and_singles_are_kept() -> None:
    """B_1, A_2, B_3 cost 1 + 1.1, 1.1 + 1 + 1.6 and 1.6 + 2; all layers 21 ms on A and 13 on B."""
    found = read(DOCUMENT)
    assert (found.plan, found.cost, found.cost_unit, found.layers) == ("B_1, A_2, B_3", 9.4, "ms", 3)
    assert found.singles == {"A": 21, "B": 13}
    assert found.best_single == "B"
    assert found.gain == pytest.approx(13 / 9.4 - 1)
    assert found.slices[0] == PlanSlice(1, 1, "B", 2.1, 4.0, -0.475, 2.1, 0.05, "a")
    assert [each.cost for each in found.slices] == [2.1, 3.7, 3.6]


def test_a_contradiction_is_kept_apart_from_notes_and_whole() -> None:
    """The run took 26 ms on B alone where the survey saw 13."""
    found = read(DOCUMENT)
    assert found.contradiction is not None
    assert found.contradiction == DOCUMENT["contradiction"]
    assert found.contradiction not in found.notes
    assert read({**DOCUMENT, "contradiction": None}).contradiction is None


def test_the_longest_contradiction_fits() -> None:
    devices = [f"{letter * 40}" for letter in "ABC"]
    survey = Survey((), (1_234.5, 1_234.5, 1_234.5), (), profiled_ms=(0.0123, 0.0123, 0.0123))
    told = contradiction(devices, survey, None)
    assert told is not None
    assert len(told) <= TEXT_LIMIT
    assert "(2 more such)" in told


def test_each_layer_has_its_device_and_its_own_cost() -> None:
    found = read(DOCUMENT)
    assert [found.devices[device] for device in found.strip] == ["B", "A", "B"]
    assert found.layer_cost == [1, 1, 2]


def test_of_many_layers_each_entry_is_of_several_and_a_slice_keeps_its_own() -> None:
    """1,024 layers in 256 entries of four: layer 6 alone on B is in the second."""
    document = copy.deepcopy(DOCUMENT)
    document["layers"] = [{"name": "x"}] * 1_024
    document["layer_costs"] = [0.5] * 1_024
    document["slices"] = [
        {"first": first, "last": last, "device": device, "cost": 1.0}
        for first, last, device in ((1, 5, "A"), (6, 6, "B"), (7, 1_024, "A"))
    ]
    found = read(document)
    assert found.strip == [0, 1, *[0] * 254]
    assert set(found.layer_cost) == {2.0}
    assert begins(found) == {0: 1, 1: 6}


def test_the_regression_keeps_what_was_tried() -> None:
    moving = read(DOCUMENT).moving[0]
    assert moving == MovingCost("A", 1.0, 1.2, 1.0, [(0.1, 1.3), (0.4, 1.6), (1.6, 2.8), (3.2, 4.4)])


def test_the_run_is_kept_and_may_be_missing() -> None:
    run = read(DOCUMENT).run
    assert run is not None
    assert (run.predicted_ms, run.measured_ms, run.best_single) == (9.4, 15.2, "A")
    assert run.gain == 0.4
    assert run.gain_ci == (0.4, 0.4)
    assert run.adjusted_error == pytest.approx(15.1 / 15.2 - 1, rel=1e-5)
    assert (run.outputs_equal, run.output_difference, run.tolerance, run.runs) == (True, 2e-7, 1e-5, 20)
    planned = read(sliced_document({"name": "m"}, SLICED))
    assert planned.run is None
    assert planned.slices[0].measured_ms is None


def test_baselines_are_told_from_the_cheapest_to_those_that_cannot_run() -> None:
    document = copy.deepcopy(DOCUMENT)
    document["baselines"] = {"no": None, "dear": 5.0, "cheap": 1.0, **{f"d{i}": 9.0 for i in range(40)}}
    found = read(document)
    assert list(found.baselines)[:2] == ["cheap", "dear"]
    assert len(found.baselines) == 8


def test_the_largest_model_still_fits_a_line() -> None:
    """5,000 layers on 40 devices with the longest names, a slice each."""
    for layers in (256, 5_000):
        document = copy.deepcopy(DOCUMENT)
        devices = [f"{place}{'d' * 60}" for place in range(40)]
        document["devices"] = devices
        document["described"] = devices
        document["plan"] = "p" * 100_000
        document["slices"] = [
            {"first": n, "last": n, "device": devices[n % 8], "cost": 1.23456789e-3} for n in range(1, layers + 1)
        ]
        document["layers"] = [{"name": f"{n}{'n' * 300}"} for n in range(layers)]
        document["layer_costs"] = [1.23456e-3] * layers
        document["singles"] = dict.fromkeys(devices, 1.23456789)
        document["baselines"] = {f"{device} preferred": 1.23456789 for device in devices}
        document["communication"] = document["communication"] * 20
        document["run"]["slices"] = [document["run"]["slices"][0]] * layers
        document["run"]["alone_ms"] = dict.fromkeys(devices, 1.23456789)
        found = read(document)
        assert found.slices_n == layers
        assert len(found.layer_cost) == len(found.strip) == 256
        assert sum(found.layer_cost) == pytest.approx(layers * 1.23456e-3, rel=0.01)
        line = encode(Study(t=1, name="plan", state="done", elapsed_ns=1, found=found.line()))
        assert len(line) < LARGEST_LINE


@pytest.mark.parametrize("changed", [{"slices": 5}, {"cost": float("nan")}, {"layers": None}, {"cost": -1.0}])
def test_what_is_no_such_document_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(HettopError) as refused:
        found_of("plan", {**DOCUMENT, **changed})
    assert refused.value.kind == "study"
