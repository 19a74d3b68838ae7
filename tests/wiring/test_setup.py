"""What the user wrote, checked before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.wiring.options import ModelOptions
from hettop.wiring.setup import prepare

SIMULATED = ModelOptions(backend="simulated")
CORE_ML = ("CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE", "ALL")


def test_the_default_is_the_default_model_on_the_first_unit() -> None:
    setup = prepare(ModelOptions(), None, 4)
    assert setup.model.name == "mobilenetv2:224x224:b1"
    assert setup.backend == "onnxruntime"
    assert setup.units == ("CPU_ONLY",)
    assert setup.simulated is False


def test_all_means_every_configuration_of_this_machine() -> None:
    assert prepare(ModelOptions(), ("all",), 4).units == ("CPU_ONLY", "CPU_ONLY@1", "CPU_ONLY@2", "CPU_ONLY@4")
    assert prepare(SIMULATED, ("all",), 4).units == CORE_ML


def test_units_that_cannot_run_here_are_told_with_the_reason() -> None:
    absent = prepare(ModelOptions(), None, 2).absent
    assert set(absent) == {"CPU_AND_GPU", "CPU_AND_NE", "ALL"}
    assert all("Core ML" in why for why in absent.values())
    assert prepare(SIMULATED, None, 2).absent == {}


def test_units_come_in_the_order_asked_for_and_once() -> None:
    assert prepare(SIMULATED, ("ALL", "CPU_ONLY", "ALL"), 2).units == ("ALL", "CPU_ONLY")


def test_a_thread_count_that_is_not_among_the_offered_ones_runs_too() -> None:
    assert prepare(ModelOptions(), ("CPU_ONLY@3",), 2).units == ("CPU_ONLY@3",)


@pytest.mark.parametrize(
    ("options", "unit", "kind", "message"),
    [
        (ModelOptions(), "WARP_DRIVE", "usage", "unknown unit 'WARP_DRIVE'"),
        (ModelOptions(), "", "usage", "unknown unit ''"),
        (ModelOptions(), "cpu_only", "usage", "unknown unit 'cpu_only'"),
        (ModelOptions(), "\x1b[31m", "usage", "unknown unit '�[31m'"),
        (ModelOptions(), "CPU_ONLY@0", "usage", "threads must be a whole number of at least 1"),
        (ModelOptions(), "CPU_ONLY@two", "usage", "threads must be a whole number of at least 1"),
        (ModelOptions(), "CPU_ONLY@01", "usage", "threads must be a whole number of at least 1"),
        (ModelOptions(), "CPU_ONLY@٢", "usage", "threads must be a whole number of at least 1"),
        (ModelOptions(), "CPU_ONLY@1025", "usage", "at most 1024 threads"),
        (ModelOptions(), "CPU_AND_NE", "unsupported-unit", "CPU_AND_NE cannot run here: "),
        (SIMULATED, "CPU_ONLY@2", "unsupported-unit", "this backend cannot set threads"),
    ],
)
def test_a_unit_that_there_is_not_is_refused_with_those_that_there_are(
    options: ModelOptions, unit: str, kind: str, message: str
) -> None:
    with pytest.raises(HettopError) as caught:
        prepare(options, ("CPU_ONLY", unit), 2)
    assert caught.value.kind == kind
    assert message in caught.value.message
    assert caught.value.hint.startswith("units of this machine: CPU_ONLY, ")


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        (ModelOptions(backend="nope"), "usage"),
        (ModelOptions(model="missing.onnx"), "missing"),
        (ModelOptions(model="mobilenetv2:big"), "usage"),
        (ModelOptions(shapes=("input",)), "usage"),
        (ModelOptions(shapes=("input=1,x",)), "usage"),
        (ModelOptions(values=("input",)), "usage"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_hint(options: ModelOptions, kind: str) -> None:
    with pytest.raises(HettopError) as caught:
        prepare(options, None, 2)
    assert caught.value.kind == kind
    assert caught.value.hint


def test_inputs_are_taken_as_they_were_written() -> None:
    options = ModelOptions(shapes=("image=1,3,32,32",), values=("scale=0.5",), seed=7)
    inputs = prepare(options, None, 2).inputs
    assert inputs.shapes == {"image": (1, 3, 32, 32)}
    assert inputs.values == {"scale": "0.5"}
    assert inputs.seed == 7


def test_a_file_is_taken_for_a_model_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    file.write_bytes(b"whether it can be run shows when it is loaded")
    setup = prepare(ModelOptions(model=str(file)), None, 2)
    assert setup.model.path == file
    assert len(setup.model.sha256) == 64


def test_hints_are_taken_apart_and_what_is_none_is_refused() -> None:
    setup = prepare(ModelOptions(backend="simulated", hints=("reshapeFrequency=Infrequent", "a=b=c")), None, 2)
    assert setup.hints == {"reshapeFrequency": "Infrequent", "a": "b=c"}
    for text in ("reshapeFrequency", "=x", "x="):
        with pytest.raises(HettopError, match="is no hint"):
            prepare(ModelOptions(backend="simulated", hints=(text,)), None, 2)


def test_hints_that_nothing_would_take_are_refused() -> None:
    with pytest.raises(HettopError, match="takes no optimisation hints"):
        prepare(ModelOptions(backend="onnxruntime", hints=("reshapeFrequency=Infrequent",)), None, 2)
