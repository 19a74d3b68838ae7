"""ONNX Runtime's Core ML provider: asked for by unit, and believed only as far as it can be counted."""

from __future__ import annotations

import signal
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper

from hettop.errors import HettopError
from hettop.models.cache import ModelCache
from hettop.models.ports import InputOptions
from hettop.processes.scratch import remove_forgotten
from hettop.sources.engine.backend import Loaded, LoadOptions, RealClock
from hettop.sources.engine.backends import onnx_core_ml
from hettop.sources.engine.backends.onnx_core_ml import Share, compiled_folder, placed
from hettop.sources.engine.backends.onnxruntime import OnnxRuntimeBackend
from hettop.sources.engine.coreml.availability import Host
from tests.sources.engine.backends import onnx_files
from tests.sources.engine.backends.contract import BackendContract
from tests.sources.engine.backends.core_ml_provider import CORE_ML, CPU, IDLE, ClaimingRuntime
from tests.sources.engine.backends.onnx_files import FLOAT
from tests.sources.engine.backends.test_packages import relu as relu_package

MAC = Host("darwin", "arm64", "Darwin Kernel Version 24.1.0: RELEASE_ARM64_T6000", (15, 1), (3, 12))
INTEL_MAC = replace(MAC, processor="x86_64", kernel="Darwin Kernel Version 22.0: RELEASE_X86_64", macos=(13, 0))
MONTEREY = replace(MAC, macos=(12, 6))
LINUX = Host("linux", "x86_64", "#1 SMP", (), (3, 11))


newer = pytest.mark.skipif(ClaimingRuntime.old, reason="this ONNX Runtime cannot tell which node went where")


def new_backend(folder: Path, runtime: ClaimingRuntime, host: Host = MAC) -> OnnxRuntimeBackend:
    cache = ModelCache(folder / "cache", folder / "fallback")
    return OnnxRuntimeBackend(RealClock(), cache, host, lambda: runtime)


def three_nodes(path: Path, shape: tuple[int | str, ...] = (1, 4)) -> str:
    """Three operations that nothing fuses."""
    nodes = [
        helper.make_node(kind, [source], [target])
        for kind, source, target in (("Sin", "x", "a"), ("Cos", "a", "b"), ("Tanh", "b", "y"))
    ]
    return onnx_files.save(path, nodes, [("x", FLOAT, shape)], [("y", FLOAT, shape)])


def load(tmp_path: Path, runtime: ClaimingRuntime, unit: str = "ALL") -> tuple[OnnxRuntimeBackend, Loaded]:
    backend = new_backend(tmp_path, runtime)
    return backend, backend.load(three_nodes(tmp_path / "m.onnx"), unit, LoadOptions())


class Limited:
    """A clock that keeps whether this process is under a time limit whenever it is read."""

    def __init__(self) -> None:
        self.found: list[bool] = []

    def now(self) -> int:
        self.found.append(signal.getitimer(signal.ITIMER_REAL)[0] > 0)
        return 0

    def sleep_until(self, moment: int) -> None:
        raise AssertionError


@pytest.mark.timeout(0)  # pytest's own time limit is a timer of the same kind
@pytest.mark.parametrize(
    ("unit", "virtual", "limited"),
    [("ALL", True, True), ("CPU_AND_NE", True, True), ("ALL", False, False), ("CPU_AND_GPU", True, False)],
)
def test_loading_for_a_neural_engine_that_a_virtual_machine_lacks_has_a_time_limit(
    unit: str, virtual: bool, limited: bool, tmp_path: Path
) -> None:
    clock, cache = Limited(), ModelCache(tmp_path / "cache", tmp_path / "fallback")
    backend = OnnxRuntimeBackend(clock, cache, replace(MAC, virtual=virtual), lambda: ClaimingRuntime(takes=1))
    backend.load(three_nodes(tmp_path / "m.onnx"), unit, LoadOptions())
    assert clock.found == [limited, limited]
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


class TestOnMacContract(BackendContract):
    unit = "CPU_AND_GPU"

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def new_backend(self) -> OnnxRuntimeBackend:
        return new_backend(self.folder, ClaimingRuntime(takes=1))

    def model(self) -> str:
        return onnx_files.relu(self.folder / "relu.onnx")


# -- which units there are -------------------------------------------------------------------------------------------


def test_a_mac_has_all_units_and_other_systems_one(tmp_path: Path) -> None:
    assert set(new_backend(tmp_path, ClaimingRuntime()).units().values()) == {None}
    elsewhere = new_backend(tmp_path, ClaimingRuntime(), LINUX).units()
    assert [unit for unit, why in elsewhere.items() if why is None] == ["CPU_ONLY"]


@pytest.mark.parametrize(
    ("host", "why"), [(INTEL_MAC, "an Intel Mac has no Neural Engine"), (MONTEREY, "CPU_AND_NE needs macOS 13")]
)
def test_a_mac_without_the_neural_engine_has_the_others(host: Host, why: str, tmp_path: Path) -> None:
    units = new_backend(tmp_path, ClaimingRuntime(), host).units()
    assert units == {"CPU_ONLY": None, "CPU_AND_GPU": None, "CPU_AND_NE": why, "ALL": None}


def test_a_runtime_that_was_built_without_the_provider_says_so_when_it_is_loaded(tmp_path: Path) -> None:
    with pytest.raises(HettopError) as caught:
        load(tmp_path, ClaimingRuntime(available=False))
    assert (caught.value.kind, caught.value.message) == (
        "unsupported-unit",
        "ALL: this ONNX Runtime has no Core ML provider",
    )
    assert "pip install" in caught.value.hint


@pytest.mark.parametrize("unit", ["CPU_AND_GPU", "CPU_AND_NE", "ALL"])
def test_a_runtime_that_ignores_the_choice_of_units_runs_none_of_them_under_its_name(unit: str, tmp_path: Path) -> None:
    runtime = ClaimingRuntime(takes=3, ignores_options=True)
    with pytest.raises(HettopError) as caught:
        load(tmp_path, runtime, unit)
    error = caught.value
    assert error.kind == "unsupported-unit"
    assert error.message == f"{unit}: ONNX Runtime 1.0 stand-in ignores the compute units of its Core ML provider"
    assert error.hint == "pip install -U onnxruntime"
    assert len(runtime.requests) == 1, "the model itself was not loaded"


def test_a_runtime_that_ignores_the_choice_of_units_still_has_its_cpu(tmp_path: Path) -> None:
    _, loaded = load(tmp_path, ClaimingRuntime(ignores_options=True), "CPU_ONLY")
    assert loaded.placed == "CPU (ONNX Runtime CPUExecutionProvider)"


def test_a_provider_that_fails_before_it_reads_its_options_is_not_believed(tmp_path: Path) -> None:
    refusal = RuntimeError("[ONNXRuntimeError] : 11 : EP_FAIL : no framework")
    with pytest.raises(HettopError) as caught:
        load(tmp_path, ClaimingRuntime(ignores_options=True, refuses=refusal))
    assert caught.value.kind == "unsupported-unit"
    assert caught.value.message == ("ALL: cannot set compute units of ONNX Runtime's Core ML provider: no framework")


def test_the_model_that_asks_for_no_unit_at_all_is_a_real_one() -> None:
    session = onnxruntime.InferenceSession(onnx_core_ml.IDENTITY_MODEL, providers=[CPU])
    (y,) = session.run(None, {"x": np.array([2.5], np.float32)})
    assert y.tolist() == [2.5]


@pytest.mark.parametrize(("unit", "threads"), [("CPU_AND_GPU@2", None), ("CPU_AND_GPU", 2)])
def test_threads_belong_to_the_cpus_unit_alone(unit: str, threads: int | None, tmp_path: Path) -> None:
    with pytest.raises(HettopError, match="only CPU_ONLY has a number of threads") as caught:
        new_backend(tmp_path, ClaimingRuntime()).load("mobilenetv2", unit, LoadOptions(threads=threads))
    assert caught.value.kind == "unsupported-unit"


# -- what is asked for -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("unit", "named"), [("CPU_AND_GPU", "CPUAndGPU"), ("CPU_AND_NE", "CPUAndNeuralEngine"), ("ALL", "ALL")]
)
def test_the_provider_is_asked_by_its_own_names(unit: str, named: str, tmp_path: Path) -> None:
    runtime = ClaimingRuntime(takes=3)
    _, loaded = load(tmp_path, runtime, unit)
    ((core_ml, cpu),) = runtime.requests
    assert cpu == CPU
    assert core_ml[0] == CORE_ML
    folder = Path(core_ml[1].pop("ModelCacheDirectory"))
    assert core_ml[1] == {"MLComputeUnits": named, "ModelFormat": "MLProgram"}
    assert folder.is_dir()
    assert folder.parent == tmp_path / "cache" / "onnxruntime.noindex", "where Spotlight does not look"
    assert loaded.requested == unit


def test_the_cpus_unit_asks_for_no_other_provider(tmp_path: Path) -> None:
    runtime = ClaimingRuntime(takes=3)
    _, loaded = load(tmp_path, runtime, "CPU_ONLY@1")
    assert runtime.requests == [[CPU]]
    assert loaded.placed == "CPU (ONNX Runtime CPUExecutionProvider)"
    assert not (tmp_path / "cache").exists()


def test_what_was_compiled_is_known_by_content_unit_and_version(tmp_path: Path) -> None:
    cache = ModelCache(tmp_path / "cache", tmp_path / "fallback")
    file = Path(three_nodes(tmp_path / "m.onnx"))
    folders = [compiled_folder(file, unit, version, cache) for unit in ("ALL", "CPU_AND_NE") for version in ("1", "2")]
    assert len(set(folders)) == 4
    assert compiled_folder(file, "ALL", "1", cache) == folders[0]
    onnx_files.relu(file)
    assert compiled_folder(file, "ALL", "1", cache) not in folders


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (folder := tmp_path / "T").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_a_model_whose_weights_lie_beside_it_is_compiled_anew_each_time(tmp_path: Path, temporary: Path) -> None:
    weight = numpy_helper.from_array(np.ones(4, dtype=np.float32), "w")
    path = onnx_files.save(
        tmp_path / "m.onnx",
        [helper.make_node("Add", ["x", "w"], ["y"])],
        [("x", FLOAT, (1, 4))],
        [("y", FLOAT, (1, 4))],
        initializers=[weight],
    )
    onnx.save_model(onnx.load(path), path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    runtime = ClaimingRuntime(takes=1)
    backend = new_backend(tmp_path, runtime)
    for _ in range(2):
        backend.load(path, "ALL", LoadOptions())
    folders = [Path(asked[0][1]["ModelCacheDirectory"]) for asked in runtime.requests]
    assert len(set(folders)) == 2
    assert not (tmp_path / "cache").exists()
    for folder in folders:  # and not in the system's temporary folder, where what a killed process made stays for good
        assert (folder.parent, folder.name[:12]) == (temporary, "hettop-onnx-")
        assert folder.is_dir(), "as long as the process"
    assert remove_forgotten(temporary) == 0, "its maker lives"


def test_without_a_cache_it_runs_all_the_same(tmp_path: Path, temporary: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    cache = ModelCache(tmp_path / "file" / "cache", tmp_path / "file" / "fallback")
    runtime = ClaimingRuntime(takes=3)
    backend = OnnxRuntimeBackend(RealClock(), cache, MAC, lambda: runtime)
    backend.load(three_nodes(tmp_path / "m.onnx"), "ALL", LoadOptions())
    assert Path(runtime.requests[0][0][1]["ModelCacheDirectory"]).parent == temporary


# -- what is said of who ran it --------------------------------------------------------------------------------------


@newer
@pytest.mark.parametrize(
    ("takes", "said"),
    [
        (0, "CPU (Core ML provider runs no node)"),
        (2, "Core ML 2 of 3 nodes, CPU 1 (ONNX Runtime)"),
        (3, "Core ML (ONNX Runtime CoreMLExecutionProvider), 3 nodes"),
    ],
)
def test_placement_is_what_the_runtime_assigned(takes: int, said: str, tmp_path: Path) -> None:
    _, loaded = load(tmp_path, ClaimingRuntime(takes=takes), "CPU_AND_NE")
    assert loaded.placed == said
    assert loaded.note == "Core ML may choose among CPU and Neural Engine"


@pytest.mark.parametrize(
    ("takes", "said"),
    [
        (0, "CPU (Core ML provider runs no kernel)"),
        (1, "Core ML 1 of 3 kernels, CPU 2 (ONNX Runtime)"),
        (3, "Core ML (ONNX Runtime CoreMLExecutionProvider), 3 kernels"),
    ],
)
def test_an_older_runtime_is_counted_by_the_profile_of_one_call(takes: int, said: str, tmp_path: Path) -> None:
    runtime = ClaimingRuntime(takes=takes, old=True)
    backend, loaded = load(tmp_path, runtime, "CPU_AND_GPU")
    assert loaded.placed == said
    assert loaded.note.endswith("called once while loading, to count the operations of each provider")
    (profile,) = runtime.profiles
    assert not profile.exists()
    assert not profile.parent.exists()
    assert list(Path.cwd().glob("onnxruntime_profile*")) == []
    backend.predict(backend.make_inputs(loaded.inputs, InputOptions()))


def test_a_call_that_fails_leaves_the_placement_unknown_and_says_why(tmp_path: Path) -> None:
    five = onnx_files.save(
        tmp_path / "m.onnx",
        [helper.make_node("Reshape", ["x", "five"], ["y"], name="squeeze_in")],
        [("x", FLOAT, ("n", "m"))],
        [("y", FLOAT, (5, 5))],
        initializers=[numpy_helper.from_array(np.array([5, 5]), "five")],
    )
    runtime = ClaimingRuntime(old=True)
    loaded = new_backend(tmp_path, runtime).load(five, "ALL", LoadOptions())
    assert loaded.placed is None
    assert "the share of the Core ML provider is unknown: node squeeze_in (Reshape)" in loaded.note
    assert not runtime.profiles[0].exists()


def test_inputs_that_cannot_be_made_up_leave_the_placement_unknown(tmp_path: Path) -> None:
    def no_inputs() -> dict[str, object]:
        raise HettopError("input", "x: its 9 GB do not fit")

    runtime, options = ClaimingRuntime(old=True), onnxruntime.SessionOptions()
    counting = onnx_core_ml.count_by(runtime, options, tmp_path)
    model = Path(three_nodes(tmp_path / "m.onnx"))
    session = runtime.InferenceSession(model, options, providers=[CORE_ML, CPU], enable_fallback=0)
    counted = counting(session, no_inputs)
    assert counted.share is None
    assert counted.note == "the share of the Core ML provider is unknown: x: its 9 GB do not fit"


@pytest.mark.parametrize("old", [pytest.param(False, marks=newer), True])
def test_a_session_without_the_provider_is_said_to_be_the_cpus(old: bool, tmp_path: Path) -> None:
    _, loaded = load(tmp_path, ClaimingRuntime(leaves_out=True, old=old))
    assert loaded.placed == "CPU (ONNX Runtime left its Core ML provider out)"


def test_a_provider_that_fails_is_an_error_and_not_the_cpu(tmp_path: Path) -> None:
    refusal = RuntimeError("[ONNXRuntimeError] : 11 : EP_FAIL : Error in building plan")
    with pytest.raises(HettopError) as caught:
        load(tmp_path, ClaimingRuntime(refuses=refusal))
    assert caught.value.kind == "load"
    assert caught.value.message == "cannot load m.onnx: Error in building plan"


def test_providers_beside_the_two_are_named() -> None:
    share = Share("node", {CORE_ML: 5, "XnnpackExecutionProvider": 1, CPU: 2})
    assert placed([CORE_ML, CPU], share) == "Core ML 5 of 8 nodes, Xnnpack 1, CPU 2 (ONNX Runtime)"


@newer
def test_a_translated_model_is_not_said_to_be_on_the_cpu(tmp_path: Path) -> None:
    path = relu_package(tmp_path / "net.mlpackage")
    for unit, note in (
        ("CPU_ONLY@1", "ML Program translated to ONNX, CPU"),
        ("ALL", "ML Program translated to ONNX; Core ML may choose among CPU, GPU and Neural Engine"),
    ):
        loaded = new_backend(tmp_path, ClaimingRuntime(takes=1)).load(str(path), unit, LoadOptions())
        assert loaded.note == note


# -- what the real runtime does with a provider of no use ------------------------------------------------------------


@pytest.mark.skipif(IDLE not in onnxruntime.get_available_providers(), reason="this ONNX Runtime has one provider only")
def test_the_real_runtime_lists_a_provider_that_takes_nothing(tmp_path: Path) -> None:
    """Why the list of a session's providers proves nothing."""
    options = onnxruntime.SessionOptions()
    counting = onnx_core_ml.count_by(onnxruntime, options, tmp_path)
    session = onnxruntime.InferenceSession(three_nodes(tmp_path / "m.onnx"), options, providers=[IDLE, CPU])
    share = counting(session, lambda: {"x": np.zeros((1, 4), np.float32)}).share
    assert IDLE in session.get_providers()
    assert share is not None
    assert (share.counts[IDLE], share.counts[CPU]) == (0, 3)
