"""What the user wrote, checked before anything starts."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.measurement.options import AnswerOptions, ModelOptions
from hettop.measurement.setup import answer_job, prepare, usual_backend
from hettop.sources.engine.backend import Backend, Clock
from hettop.sources.engine.backends import create
from hettop.sources.engine.backends.coreml import CoreMLBackend
from hettop.sources.engine.backends.onnxruntime import OnnxRuntimeBackend
from hettop.sources.engine.coreml.availability import Host
from hettop.sources.engine.providers.probe import Device, Found
from tests.models.test_resolve import classifier
from tests.sources.engine.backends.onnx_files import relu
from tests.sources.engine.backends.test_onnx_core_ml import MAC

SIMULATED = ModelOptions(backend="simulated")
CORE_ML = ("CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE", "ALL")


class HereOrNot(CoreMLBackend):
    """Core ML on a machine that is given whether it has it."""

    def __init__(self, clock: Clock, why_not: str | None) -> None:
        super().__init__(clock)
        self._why_not = why_not

    def units(self) -> dict[str, str | None]:
        return dict.fromkeys(CORE_ML, self._why_not)


def on_a_mac(name: str, clock: Clock) -> Backend:
    return HereOrNot(clock, None) if name == "coreml" else create(name, clock)


LINUX = Host("linux", "x86_64", "#1 SMP", (), (3, 12))


def elsewhere(name: str, clock: Clock) -> Backend:
    """On a machine that is no Mac, whatever the tests run on."""
    if name == "onnxruntime":
        return OnnxRuntimeBackend(clock, host=LINUX)
    return CoreMLBackend(clock, host=LINUX) if name == "coreml" else create(name, clock)


def a_mac_that_has(
    native: bool | None, python: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, Clock], Backend]:
    """`native`: whether coremltools has its native part there, None: there is no coremltools."""
    monkeypatch.setattr("hettop.sources.engine.backends.coreml.find_native", lambda: native)
    host = replace(MAC, python=python)

    def make(name: str, clock: Clock) -> Backend:
        return CoreMLBackend(clock, host=host) if name == "coreml" else OnnxRuntimeBackend(clock, host=host)

    return make


@pytest.mark.parametrize(
    ("native", "python", "units", "reason"),
    [
        (None, (3, 14), None, "Core ML needs coremltools, which has no release for Python 3.14: use 3.13"),
        (None, (3, 12), None, "Core ML needs coremltools: pip install coremltools"),
        (
            False,
            (3, 12),
            ("all",),
            "this coremltools lacks its native part: pip install --force-reinstall coremltools",
        ),
        (
            True,
            (3, 12),
            ("CPU_ONLY", "CPU_ONLY@2"),
            "CPU_ONLY@2 sets a number of threads, which Core ML does not: name units without @",
        ),
    ],
)
def test_a_mac_warns_wherever_core_ml_is_passed_over(
    native: bool | None,
    python: tuple[int, int],
    units: tuple[str, ...] | None,
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make = a_mac_that_has(native, python, monkeypatch)
    for model in ("mobilenetv2", str(classifier(tmp_path / "net.mlmodel"))):
        setup = prepare(ModelOptions(model=model), units, 2, make)
        assert setup.backend == "onnxruntime"
        assert setup.warnings == (f"ONNX Runtime runs this model instead of Core ML: {reason}",)


def test_nothing_is_warned_of_where_core_ml_was_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "model.onnx"
    file.write_bytes(b"an ONNX model")
    without = a_mac_that_has(None, (3, 12), monkeypatch)
    assert prepare(ModelOptions(), None, 2, on_a_mac).warnings == ()
    assert prepare(ModelOptions(model=str(file)), None, 2, without).warnings == (), "Core ML cannot run it"
    assert prepare(ModelOptions(backend="onnxruntime"), None, 2, without).warnings == (), "it was asked for"
    assert prepare(ModelOptions(), ("CPU_ONLY@2",), 2, elsewhere).warnings == (), "no Mac"


@pytest.mark.parametrize("model", ["mobilenetv2", "mobilenetv2:64x64:b2", "m.mlpackage", "M.MLMODEL", "m.mlmodelc"])
def test_core_ml_runs_what_it_can_where_it_is(model: str) -> None:
    assert usual_backend(model, None, on_a_mac) == "coreml"
    assert usual_backend(model, ("CPU_ONLY", "ALL"), on_a_mac) == "coreml"
    assert usual_backend(model, ("CPU_ONLY", "CPU_ONLY@2"), on_a_mac) == "onnxruntime"
    assert usual_backend(model, None, elsewhere) == "onnxruntime"


@pytest.mark.parametrize("model", ["m.onnx", "m.bin", "mlpackage"])
def test_onnx_runtime_runs_everything_else_on_a_mac_too(model: str) -> None:
    assert usual_backend(model, None, on_a_mac) == "onnxruntime"


def test_what_runs_a_package_is_said(tmp_path: Path) -> None:
    file = ModelOptions(model=str(classifier(tmp_path / "net.mlmodel")))
    native = prepare(file, None, 2, on_a_mac)
    assert (native.backend, native.model.note) == ("coreml", "")
    translated = prepare(file, None, 2, elsewhere)
    assert (translated.backend, translated.model.note) == ("onnxruntime", "feature model translated to ONNX, CPU")


def test_a_translation_that_core_ml_may_run_again_is_not_said_to_be_on_the_cpu(tmp_path: Path) -> None:
    def mac_without_coremltools(name: str, clock: Clock) -> Backend:
        return OnnxRuntimeBackend(clock, host=MAC) if name == "onnxruntime" else elsewhere(name, clock)

    setup = prepare(ModelOptions(model=str(classifier(tmp_path / "net.mlmodel"))), ("all",), 2, mac_without_coremltools)
    assert setup.units == (*CORE_ML, "CPU_ONLY@1", "CPU_ONLY@2")
    assert setup.model.note == "feature model translated to ONNX"


VIRTUAL = Host("darwin", "arm64", "RELEASE_ARM64_VMAPPLE", (15, 1), (3, 12), virtual=True)
WHY = "a virtual machine has no Neural Engine, and loading can hang for minutes: measured only if named explicitly"


class InAVirtualMachine(CoreMLBackend):
    """Core ML with what it needs to run, and without a Neural Engine."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock, host=VIRTUAL)

    def units(self) -> dict[str, str | None]:
        return dict.fromkeys(CORE_ML)


def in_a_virtual_machine(name: str, clock: Clock) -> Backend:
    return InAVirtualMachine(clock) if name == "coreml" else OnnxRuntimeBackend(clock, host=VIRTUAL)


@pytest.mark.parametrize(("backend", "more"), [("coreml", ()), ("onnxruntime", ("CPU_ONLY@1", "CPU_ONLY@2"))])
def test_all_units_are_those_that_cannot_hang_and_another_must_be_named(backend: str, more: tuple[str, ...]) -> None:
    options = ModelOptions(backend=backend)
    every = prepare(options, ("all",), 2, in_a_virtual_machine)
    assert every.units == every.available == ("CPU_ONLY", "CPU_AND_GPU", *more)
    assert every.absent == {"CPU_AND_NE": WHY, "ALL": WHY}
    assert every.warnings == (
        f"--units all skips CPU_AND_NE: {WHY} (--units CPU_AND_NE)",
        f"--units all skips ALL: {WHY} (--units ALL)",
    )
    named = prepare(options, ("ALL",), 2, in_a_virtual_machine)
    assert (named.units, named.available, named.warnings) == (("ALL",), every.available, ())
    assert named.absent == {"CPU_AND_NE": WHY}
    first = prepare(options, None, 2, in_a_virtual_machine)
    assert (first.units, first.warnings, first.absent) == (("CPU_ONLY",), (), every.absent)


def test_a_compiled_model_is_for_core_ml_alone(tmp_path: Path) -> None:
    compiled = tmp_path / "m.mlmodelc"
    compiled.mkdir()
    (compiled / "coremldata.bin").write_bytes(b"compiled")
    assert prepare(ModelOptions(model=str(compiled)), None, 2, on_a_mac).units == ("CPU_ONLY",)
    with pytest.raises(HettopError, match="compiled model"):
        prepare(ModelOptions(model=str(compiled)), None, 2, elsewhere)


def test_the_default_is_the_default_model_on_the_first_unit() -> None:
    setup = prepare(ModelOptions(), None, 4, elsewhere)
    assert setup.model.name == "mobilenetv2:224x224:b1"
    assert setup.backend == "onnxruntime"
    assert setup.units == ("CPU_ONLY",)
    assert setup.simulated is False


def test_all_means_every_configuration_of_this_machine() -> None:
    assert prepare(ModelOptions(), ("all",), 4, elsewhere).units == (
        "CPU_ONLY",
        "CPU_ONLY@1",
        "CPU_ONLY@2",
        "CPU_ONLY@4",
    )
    assert prepare(SIMULATED, ("all",), 4).units == CORE_ML


def test_units_that_cannot_run_here_are_reported_with_the_reason() -> None:
    absent = prepare(ModelOptions(), None, 2, elsewhere).absent
    assert set(absent) == {"CPU_AND_GPU", "CPU_AND_NE", "ALL"}
    assert all("Core ML" in why for why in absent.values())
    assert prepare(SIMULATED, None, 2).absent == {}


def test_units_come_in_the_order_asked_for_and_once() -> None:
    assert prepare(SIMULATED, ("ALL", "CPU_ONLY", "ALL"), 2).units == ("ALL", "CPU_ONLY")


def test_a_thread_count_that_is_not_among_the_offered_ones_runs_too() -> None:
    assert prepare(ModelOptions(), ("CPU_ONLY@3",), 2, elsewhere).units == ("CPU_ONLY@3",)


@pytest.mark.parametrize(
    ("options", "unit", "kind", "message"),
    [
        (ModelOptions(), "WARP_DRIVE", "usage", "unknown unit: 'WARP_DRIVE'"),
        (ModelOptions(), "", "usage", "unknown unit: ''"),
        (ModelOptions(), "cpu_only", "usage", "unknown unit: 'cpu_only'"),
        (ModelOptions(), "\x1b[31m", "usage", "unknown unit: '�[31m'"),
        (ModelOptions(), "CPU_ONLY@0", "usage", "threads must be an integer of at least 1"),
        (ModelOptions(), "CPU_ONLY@two", "usage", "threads must be an integer of at least 1"),
        (ModelOptions(), "CPU_ONLY@01", "usage", "threads must be an integer of at least 1"),
        (ModelOptions(), "CPU_ONLY@٢", "usage", "threads must be an integer of at least 1"),
        (ModelOptions(), "CPU_ONLY@1025", "usage", "too many threads: CPU_ONLY@1025 (the limit is 1024)"),
        (ModelOptions(), "CPU_AND_NE", "unsupported-unit", "this unit cannot run here: CPU_AND_NE: "),
        (SIMULATED, "CPU_ONLY@2", "unsupported-unit", "this backend cannot set threads"),
    ],
)
def test_a_unit_that_there_is_not_is_refused_with_those_that_there_are(
    options: ModelOptions, unit: str, kind: str, message: str
) -> None:
    with pytest.raises(HettopError) as caught:
        prepare(options, ("CPU_ONLY", unit), 2, elsewhere)
    assert caught.value.kind == kind
    assert message in caught.value.message
    assert "units of this machine: CPU_ONLY, " in caught.value.hint


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
        with pytest.raises(HettopError, match="invalid hint"):
            prepare(ModelOptions(backend="simulated", hints=(text,)), None, 2)


def test_hints_that_nothing_would_take_are_refused() -> None:
    with pytest.raises(HettopError, match="has no effect with ONNX Runtime"):
        prepare(ModelOptions(backend="onnxruntime", hints=("reshapeFrequency=Infrequent",)), None, 2)


@pytest.mark.skipif(sys.platform == "darwin", reason="a Mac has Core ML")
@pytest.mark.parametrize("units", [None, ("all",), ("CPU_ONLY",)])
def test_a_backend_that_is_not_here_is_refused_with_its_reason(units: tuple[str, ...] | None) -> None:
    with pytest.raises(HettopError, match="Core ML needs macOS") as refusal:
        prepare(ModelOptions(backend="coreml"), units, 2)
    assert refusal.value.kind == "unsupported-unit"


# -- execution providers -------------------------------------------------------------------------------------------

OPENVINO = Found(prefix="OV", version="1.8", devices=(Device(unit="OV:CPU", name="Acme One"),))


def with_openvino(name: str, clock: Clock) -> Backend:
    if name == "onnxruntime":
        return OnnxRuntimeBackend(clock, host=LINUX, find_providers=lambda: (OPENVINO,))
    return elsewhere(name, clock)


def without_providers(name: str, clock: Clock) -> Backend:
    if name == "onnxruntime":
        return OnnxRuntimeBackend(clock, host=LINUX, find_providers=lambda: ())
    return elsewhere(name, clock)


def test_all_units_include_those_of_providers(tmp_path: Path) -> None:
    options = ModelOptions(model=relu(tmp_path / "m.onnx"))
    setup = prepare(options, ("all",), 2, with_openvino)
    assert setup.units == ("CPU_ONLY", "OV:CPU", "CPU_ONLY@1", "CPU_ONLY@2")
    assert setup.absent["OV:GPU"] == "OpenVINO has no GPU here"
    assert prepare(options, None, 2, with_openvino).units == ("CPU_ONLY",)


def test_a_unit_of_a_provider_that_is_not_installed_names_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HETTOP_PROVIDERS")
    with pytest.raises(HettopError) as caught:
        prepare(ModelOptions(model=relu(tmp_path / "m.onnx")), ("OV:CPU",), 2, without_providers)
    assert caught.value.kind == "unsupported-unit"
    assert caught.value.message == "this unit cannot run here: OV:CPU: OpenVINO is not installed"
    assert caught.value.hint == "pip install 'hettop[openvino]'"


def test_a_unit_that_the_user_left_out_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HETTOP_PROVIDERS", "CUDA")
    with pytest.raises(HettopError) as caught:
        prepare(ModelOptions(model=relu(tmp_path / "m.onnx")), ("OV:CPU",), 2, elsewhere)
    assert caught.value.message == "this unit cannot run here: OV:CPU: left out by HETTOP_PROVIDERS"
    assert caught.value.hint == "unset HETTOP_PROVIDERS, or add OV to it"


@pytest.mark.parametrize(("prompt", "answer"), [(100_000, 64), (2048, 2), (2, 2048)])
def test_more_positions_than_tinydecoder_has_are_refused(prompt: int, answer: int) -> None:
    options = ModelOptions(model="tinydecoder", answers=AnswerOptions(prompt_tokens=prompt, max_tokens=answer))
    with pytest.raises(HettopError, match=r"at most 2,048 positions: prompt \+ answer take") as caught:
        answer_job(options)
    assert caught.value.kind == "usage"


def test_all_positions_of_tinydecoder_can_be_used() -> None:
    job = answer_job(ModelOptions(model="tinydecoder", answers=AnswerOptions(prompt_tokens=2048, max_tokens=1)))
    assert job is not None
    assert job.prompt_tokens == 2048


def test_a_units_provider_decides_the_backend_on_a_mac() -> None:
    assert usual_backend("mobilenetv2", ("MLX:GPU",), on_a_mac) == "onnxruntime"
    assert usual_backend("mobilenetv2", ("CPU_ONLY",), on_a_mac) == "coreml"


def test_strict_needs_a_backend_that_counts_nodes(tmp_path: Path) -> None:
    options = ModelOptions(model=relu(tmp_path / "m.onnx"), strict=True)
    assert prepare(options, None, 2, elsewhere).strict
    with pytest.raises(HettopError, match="does not report which device runs each operation") as caught:
        prepare(replace(SIMULATED, strict=True), None, 2)
    assert caught.value.hint == "leave out --strict, or add --backend onnxruntime"
