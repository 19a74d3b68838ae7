"""The Core ML backend over coremltools' own Python code, with a stand-in for what is native (see tests/coreml)."""

from __future__ import annotations

import inspect
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hettop.errors import HettopError
from hettop.models.cache import ModelCache
from hettop.models.compiled import CompiledModels
from hettop.models.ports import Feed, InputOptions
from hettop.sources.engine.backend import Loaded, LoadOptions, RealClock
from hettop.sources.engine.backends.coreml import CoreMLBackend
from hettop.sources.engine.backends.onnxruntime import OnnxRuntimeBackend
from hettop.sources.engine.coreml.availability import Host
from tests.coreml.bench import Bench
from tests.sources.engine.backends import onnx_files
from tests.sources.engine.backends.contract import BackendContract

pytest.importorskip("coremltools", reason="coremltools is not installed")
pytest.importorskip("PIL", reason="Pillow is not installed")

from tests.coreml import models


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return models.linear(tmp_path_factory.mktemp("models") / "linear.mlpackage")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A Core ML in this process."""
    made = Bench(tmp_path)
    with made.here():
        yield made


def new_backend(folder: Path, host: Host | None = None) -> CoreMLBackend:
    cache = ModelCache(folder / "cache", folder / "fallback")
    compiled = CompiledModels(ModelCache(folder / "compiled", folder / "compiled-fallback"))
    return CoreMLBackend(RealClock(), cache, compiled, host)


class Running:
    """A model that is loaded and fed."""

    def __init__(
        self, path: Path | str, folder: Path, unit: str = "CPU_ONLY", *, shapes: Any = None, **options: Any
    ) -> None:
        self.told: list[str] = []
        self.backend = new_backend(folder)
        self.loaded: Loaded = self.backend.load(str(path), unit, LoadOptions(tell=self.told.append, **options))
        self.feed: Feed = self.backend.make_inputs(self.loaded.inputs, InputOptions(shapes=shapes or {}))

    def outputs(self) -> dict[str, Any]:
        self.backend.predict(self.feed)
        return dict(self.backend.outputs())


def refused(run: Callable[[], object], kind: str) -> HettopError:
    with pytest.raises(HettopError) as caught:
        run()
    assert caught.value.kind == kind
    return caught.value


def native_loads() -> list[Any]:
    native: Any = sys.modules["coremltools.libcoremlpython"]
    return list(native._MLModelProxy.loads)


class TestContract(BackendContract):
    unit = "CPU_AND_NE"

    @pytest.fixture(autouse=True)
    def _on_bench(self, bench: Bench, package: Path, tmp_path: Path) -> None:
        self.package, self.folder = package, tmp_path

    def new_backend(self) -> CoreMLBackend:
        return new_backend(self.folder)

    def model(self) -> str:
        return str(self.package)


class TestImageContract(TestContract):
    """Images cross into Core ML as PIL images: what the engine sees stays arrays."""

    unit = "ALL"

    @pytest.fixture(autouse=True)
    def _images(self, _on_bench: None) -> None:
        self.package = models.picture(self.folder / "picture.mlpackage", "RGB")


class TestContractWithoutNeuralEngine(TestContract):
    """Whose `units()` has a unit that cannot run."""

    unit = "CPU_ONLY"

    def new_backend(self) -> CoreMLBackend:
        return new_backend(self.folder, Host("darwin", "x86_64", "RELEASE_X86_64", (14,), (3, 12)))


# -- loading ------------------------------------------------------------------------------------------------------


def test_a_first_load_compiles_and_a_second_one_does_not(bench: Bench, package: Path, tmp_path: Path) -> None:
    first, second = Running(package, tmp_path), Running(package, tmp_path, "ALL")
    assert (first.told, second.told) == (["compiling", "loading"], ["loading"])
    assert (first.loaded.cached, second.loaded.cached) == (False, True)
    assert first.loaded.compile_ns is not None
    assert first.loaded.compile_ns > 0
    assert second.loaded.compile_ns is None
    assert first.loaded.compiled == second.loaded.compiled


@pytest.mark.parametrize(("told", "believed"), [(7, 7), (10**18, None), (-1, None)])
def test_the_time_of_a_load_is_the_frameworks_own_if_it_fits_into_the_call(
    told: int, believed: int | None, bench: Bench, package: Path, tmp_path: Path
) -> None:
    bench.behave(native_load_ns=told)
    loaded = Running(package, tmp_path).loaded
    assert (loaded.load_ns == believed) if believed else (0 < (loaded.load_ns or 0) < 10**18)


class LookUps:
    """A clock that one look-up of the macOS version takes a second of, and nothing else any: it reads their log."""

    def __init__(self, log: Path) -> None:
        self.log = log
        log.touch()

    def now(self) -> int:
        return len(self.log.read_text(encoding="utf-8").splitlines()) * 10**9

    def sleep_until(self, moment: int) -> None:
        raise AssertionError


def test_no_look_up_of_the_macos_version_is_in_the_times_of_compilation_and_load(
    package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from coremltools.models import _compiled_model, model, utils

    look_up, clock = inspect.unwrap(utils._macos_version), LookUps(tmp_path / "log")
    (folder := tmp_path / "bin").mkdir()
    (command := folder / "sw_vers").write_text(f"#!/bin/sh\necho >> '{clock.log}'\necho 15.0\n", encoding="utf-8")
    command.chmod(0o755)
    with Bench(tmp_path).here():
        monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)  # before the stand-in's own
        for module in (_compiled_model, model, utils):
            monkeypatch.setattr(module, "_macos_version", look_up)
        compiled = CompiledModels(ModelCache(tmp_path / "compiled", tmp_path / "compiled-fallback"))
        backend = CoreMLBackend(clock, ModelCache(tmp_path / "cache", tmp_path / "fallback"), compiled)
        options = LoadOptions(hints={"reshapeFrequency": "Infrequent"})
        loaded = backend.load(str(package), "CPU_ONLY", options)
        monkeypatch.undo()
    assert (loaded.cached, loaded.compile_ns, loaded.load_ns) == (False, 0, 0)
    assert clock.now() == 10**9, "coremltools looked once"


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
    ("unit", "devices", "virtual", "limited"),
    [("ALL", ("cpu", "gpu"), False, True), ("ALL", ("cpu", "gpu", "ne"), True, False), ("ALL", None, True, True),
     ("CPU_AND_NE", None, True, True), ("ALL", None, False, False), ("CPU_AND_GPU", ("cpu", "gpu"), True, False)],
)  # fmt: skip
def test_loading_for_a_neural_engine_that_is_not_there_has_a_time_limit(
    unit: str, devices: Any, virtual: bool, limited: bool, bench: Bench, package: Path, tmp_path: Path
) -> None:
    bench.set(devices=devices)
    clock, host = Limited(), Host("darwin", "arm64", "RELEASE_ARM64_VMAPPLE", (15,), (3, 12), virtual)
    compiled = CompiledModels(ModelCache(tmp_path / "compiled", tmp_path / "compiled-fallback"))
    backend = CoreMLBackend(clock, ModelCache(tmp_path / "cache", tmp_path / "fallback"), compiled, host)
    backend.load(str(package), unit, LoadOptions())
    compiling, loading = [False, False], [limited, limited]
    assert clock.found == [*compiling, *loading]
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_only_compiled_models_are_loaded_so_that_core_ml_never_compiles_by_itself(
    bench: Bench, package: Path, tmp_path: Path
) -> None:
    before = len(native_loads())
    running = Running(package, tmp_path, "CPU_AND_NE")
    assert native_loads()[before:] == [(running.loaded.compiled, "CPU_AND_NE", "", {})]
    assert str(running.loaded.compiled).endswith(".mlmodelc")


def test_where_it_runs_is_not_known_from_what_was_asked_for(bench: Bench, package: Path, tmp_path: Path) -> None:
    assert Running(package, tmp_path, "CPU_AND_GPU").loaded.placed is None


def test_it_computes_what_the_model_says(bench: Bench, package: Path, tmp_path: Path) -> None:
    running = Running(package, tmp_path)
    (y,) = running.outputs().values()
    np.testing.assert_allclose(y, running.feed["x"] @ models.WEIGHT.T, rtol=1e-5)


def test_numbers_from_a_file_go_in(bench: Bench, package: Path, tmp_path: Path) -> None:
    """A file is mapped, and the binding takes no memory that it may not write to."""
    np.save(tmp_path / "x.npy", np.array([[1, 2, 3, 4]], np.float32))
    backend = new_backend(tmp_path)
    loaded = backend.load(str(package), "CPU_ONLY", LoadOptions())
    backend.predict(backend.make_inputs(loaded.inputs, InputOptions(values={"x": str(tmp_path / "x.npy")})))
    # The rows of 0..11 less 5, times 1, 2, 3 and 4.
    assert backend.outputs()["y"].tolist() == [[-30.0, 10.0, 50.0]]


def test_the_default_model_agrees_with_its_onnx_form(bench: Bench, tmp_path: Path) -> None:
    running = Running("mobilenetv2:32x32", tmp_path)
    other = OnnxRuntimeBackend(RealClock(), ModelCache(tmp_path / "cache", tmp_path / "fallback"))
    other.load("mobilenetv2:32x32", "CPU_ONLY", LoadOptions())
    other.predict({"image": running.feed["image"].astype(np.float32) / np.float32(255)})
    (wanted,) = other.outputs().values()
    (got,) = running.outputs().values()
    assert np.abs(got - wanted).max() <= 1e-2 * np.abs(wanted).max()  # half precision


def test_a_compiled_model_is_taken_as_it_is(bench: Bench, package: Path, tmp_path: Path) -> None:
    compiled = str(Running(package, tmp_path).loaded.compiled)
    running = Running(compiled, tmp_path)
    assert (running.told, running.loaded.cached, running.loaded.compile_ns) == (["loading"], None, None)
    assert (running.loaded.inputs, running.loaded.outputs) == (
        Running(package, tmp_path).loaded.inputs,
        Running(package, tmp_path).loaded.outputs,
    )
    assert running.outputs()["y"].shape == (1, 3)


@pytest.mark.parametrize("build", [models.ranged, models.enumerated, models.counter, models.half])
def test_a_compiled_model_takes_what_its_package_takes(
    build: Callable[[Path], Path], bench: Bench, tmp_path: Path
) -> None:
    package = Running(build(tmp_path / "m.mlpackage"), tmp_path)
    compiled = Running(str(package.loaded.compiled), tmp_path)
    assert compiled.loaded.inputs == package.loaded.inputs
    assert compiled.loaded.note == package.loaded.note
    compiled.outputs()


def test_a_single_file_model_of_any_kind_is_loaded(bench: Bench, tmp_path: Path) -> None:
    network = Running(models.neural_network(tmp_path / "network.mlmodel"), tmp_path)
    assert network.outputs()["y"].shape == (4,)
    number = Running(models.regressor(tmp_path / "number.mlmodel"), tmp_path)
    assert type(number.feed.native["x"]) is float  # type: ignore[attr-defined]
    number.outputs()


def test_an_onnx_model_is_sent_to_the_other_backend(bench: Bench, tmp_path: Path) -> None:
    path = onnx_files.relu(tmp_path / "m.onnx")
    error = refused(lambda: Running(path, tmp_path), "format")
    assert "--backend onnxruntime" in error.hint


def test_functions_are_loaded_by_name(bench: Bench, tmp_path: Path) -> None:
    path = models.two_functions(tmp_path)
    before = len(native_loads())
    assert Running(path, tmp_path).outputs()["y"].shape == (1, 3)
    large = Running(path, tmp_path, function="large")
    assert large.outputs()["y"].shape == (1, 7)
    assert [load[2] for load in native_loads()[before:]] == ["", "large"]
    compiled = Running(str(large.loaded.compiled), tmp_path, function="large")
    assert compiled.outputs()["y"].shape == (1, 7)
    assert "small, large" in refused(lambda: Running(path, tmp_path, function="huge"), "input").hint


def test_optimisation_hints_reach_the_framework_and_are_noted(bench: Bench, package: Path, tmp_path: Path) -> None:
    hints = {
        "reshapeFrequency": "infrequent",
        "specializationStrategy": "FastPrediction",
        "allowLowPrecisionAccumulationOnGPU": "true",
    }
    running = Running(package, tmp_path, hints=hints)
    assert native_loads()[-1][3] == {
        "reshapeFrequency": "Infrequent",
        "specializationStrategy": "FastPrediction",
        "allowLowPrecisionAccumulationOnGPU": "True",
    }
    assert "specializationStrategy=FastPrediction" in running.loaded.note


def test_hints_that_do_not_exist_are_refused_with_those_that_do(bench: Bench, package: Path, tmp_path: Path) -> None:
    error = refused(lambda: Running(package, tmp_path, hints={"speed": "high"}), "usage")
    assert "reshapeFrequency" in error.hint
    error = refused(lambda: Running(package, tmp_path, hints={"reshapeFrequency": "often"}), "usage")
    assert error.hint == "valid values: Frequent, Infrequent"
    bench.set(macos=(14, 5))
    error = refused(lambda: Running(package, tmp_path, hints={"reshapeFrequency": "frequent"}), "load")
    assert "macOS >= 15.0" in error.message


def test_a_unit_without_its_device_is_refused_before_anything_is_compiled_for_it(
    bench: Bench, package: Path, tmp_path: Path
) -> None:
    bench.set(devices=["cpu", "gpu"], hang_in_compile=True)
    error = refused(lambda: Running(package, tmp_path, "CPU_AND_NE"), "unsupported-unit")
    assert error.message == "Core ML has no Neural Engine here"
    assert error.hint == "use CPU_ONLY, CPU_AND_GPU, ALL"


def test_all_without_a_neural_engine_says_so(bench: Bench, package: Path, tmp_path: Path) -> None:
    bench.set(devices=["cpu", "gpu"])
    assert "no Neural Engine" in Running(package, tmp_path, "ALL").loaded.note
    assert Running(package, tmp_path, "CPU_ONLY").loaded.note == ""


def test_a_system_that_cannot_list_its_devices_is_given_the_benefit_of_the_doubt(
    bench: Bench, package: Path, tmp_path: Path
) -> None:
    bench.set(devices=None)
    assert Running(package, tmp_path, "CPU_AND_NE").loaded.note == ""


def test_what_the_framework_says_of_a_failed_load_is_told(bench: Bench, package: Path, tmp_path: Path) -> None:
    bench.behave("CPU_AND_NE", raise_in_load="ANE model load has failed")
    error = refused(lambda: Running(package, tmp_path, "CPU_AND_NE"), "load")
    assert error.message == "cannot load linear.mlmodelc: ANE model load has failed"
    bench.set(raise_in_compile="Failed to parse the model specification")
    error = refused(lambda: Running(models.half(tmp_path / "half.mlpackage"), tmp_path), "load")
    assert error.message == "cannot compile half.mlpackage: Failed to parse the model specification"


# -- running ------------------------------------------------------------------------------------------------------


def test_half_precision_goes_in_and_comes_out(bench: Bench, tmp_path: Path) -> None:
    running = Running(models.half(tmp_path / "m.mlpackage"), tmp_path)
    assert running.feed["x"].dtype == np.float16
    np.testing.assert_array_equal(running.outputs()["y"], 2 * running.feed["x"].astype(np.float32))


@pytest.mark.parametrize("layout", ["RGB", "BGR", "GRAYSCALE", "GRAYSCALE_FLOAT16"])
def test_images_of_every_layout_arrive_as_they_are_seen(layout: str, bench: Bench, tmp_path: Path) -> None:
    running = Running(models.picture(tmp_path / "m.mlpackage", layout), tmp_path)
    np.testing.assert_array_equal(running.outputs()["y"], running.feed["x"].astype(np.float32))


def test_image_outputs_are_pixels_and_call_for_a_new_process_in_time(bench: Bench, tmp_path: Path) -> None:
    bench.behave(images_until_exhausted=1000)
    running = Running(models.picture_to_picture(tmp_path / "m.mlpackage"), tmp_path)
    np.testing.assert_array_equal(running.outputs()["y"], np.moveaxis(running.feed["x"][0], 0, -1))
    assert running.loaded.recycle_after is not None
    for _ in range(running.loaded.recycle_after):
        running.backend.predict(running.feed)

    def go_on() -> None:
        for _ in range(1000):
            running.backend.predict(running.feed)

    error = refused(go_on, "predict")
    assert "IOSurface" in error.message


def test_a_model_without_image_outputs_needs_no_new_process(bench: Bench, package: Path, tmp_path: Path) -> None:
    assert Running(package, tmp_path).loaded.recycle_after is None


def test_flexible_shapes_run_within_their_limits(bench: Bench, tmp_path: Path) -> None:
    path = models.ranged(tmp_path / "m.mlpackage")
    for shapes, expected in ((None, (3, 4)), ({"x": (8, 4)}, (8, 4))):
        assert Running(path, tmp_path, shapes=shapes).outputs()["y"].shape == expected
    refused(lambda: Running(path, tmp_path, shapes={"x": (9, 4)}), "input")


def test_enumerated_sizes_run_and_no_other(bench: Bench, tmp_path: Path) -> None:
    path = models.enumerated(tmp_path / "m.mlpackage")
    for shapes, expected in ((None, (1, 3, 16, 8)), ({"x": (1, 3, 8, 8)}, (1, 3, 8, 8))):
        assert Running(path, tmp_path, shapes=shapes).outputs()["y"].shape == expected
    refused(lambda: Running(path, tmp_path, shapes={"x": (1, 3, 12, 8)}), "input")


def test_a_state_lives_from_load_to_load_and_that_is_said(bench: Bench, tmp_path: Path) -> None:
    path = models.counter(tmp_path / "m.mlpackage")
    running = Running(path, tmp_path)
    assert running.loaded.note == "its state is created once when loading and kept between calls"
    assert [port.name for port in running.loaded.inputs] == ["x"]
    first, second = running.outputs()["y"], running.outputs()["y"]
    np.testing.assert_allclose(second, 2 * first, rtol=1e-2)
    np.testing.assert_allclose(Running(path, tmp_path).outputs()["y"], first)


def test_a_state_that_is_to_be_fresh_is_made_anew_and_that_is_said(bench: Bench, tmp_path: Path) -> None:
    path = models.counter(tmp_path / "m.mlpackage")
    backend = new_backend(tmp_path)
    loaded = backend.load(str(path), "CPU_ONLY", LoadOptions(fresh_state=True))
    assert loaded.note == "its state is created before each call, outside the measured time"
    feed = backend.make_inputs(loaded.inputs, InputOptions(values={"x": "1"}))
    sums = []
    for renew in (True, False, False, True):
        if renew:
            backend.renew_state()
        backend.predict(feed)
        sums.append(float(backend.outputs()["y"][0]))
    assert sums == [1.0, 2.0, 3.0, 1.0]


def test_a_model_without_a_state_has_none_to_renew(bench: Bench, package: Path, tmp_path: Path) -> None:
    backend = new_backend(tmp_path)
    loaded = backend.load(str(package), "CPU_ONLY", LoadOptions(fresh_state=True))
    assert "state" not in loaded.note
    backend.renew_state()
    backend.predict(backend.make_inputs(loaded.inputs, InputOptions()))
    assert set(backend.outputs()) == {"y"}


def test_a_state_that_the_system_does_not_know_is_a_failed_load(bench: Bench, tmp_path: Path) -> None:
    bench.set(macos=(14, 5))
    path = models.counter(tmp_path / "m.mlpackage")
    error = refused(lambda: Running(path, tmp_path), "load")
    assert "Stateful model is only available on macOS >= 15.0" in error.message
    assert error.hint == "update macOS: models that keep a state need macOS 15"


def test_a_framework_that_changes_what_it_is_given_does_not_spoil_the_next_call(
    bench: Bench, package: Path, tmp_path: Path
) -> None:
    bench.behave(clears_inputs=True)
    running = Running(package, tmp_path)
    np.testing.assert_array_equal(running.outputs()["y"], running.outputs()["y"])


def test_native_time_is_the_frameworks_own(bench: Bench, package: Path, tmp_path: Path) -> None:
    bench.behave("CPU_ONLY", native_ns=123_456).behave("ALL", native_ns=-1)
    known, unknown = Running(package, tmp_path), Running(package, tmp_path, "ALL")
    known.outputs(), unknown.outputs()
    assert known.backend.native_ns() == 123_456
    assert unknown.backend.native_ns() is None


def test_units_can_answer_differently(bench: Bench, package: Path, tmp_path: Path) -> None:
    bench.behave("CPU_AND_NE", noise_level=0.01).behave("ALL", wrong=True)
    exact = Running(package, tmp_path).outputs()["y"]
    noisy = Running(package, tmp_path, "CPU_AND_NE").outputs()["y"]
    assert 0 < np.abs(noisy - exact).max() < 0.1 * np.abs(exact).max()
    np.testing.assert_array_equal(Running(package, tmp_path, "ALL").outputs()["y"], np.flip(exact))


def test_a_refusal_to_predict_is_told_with_what_the_model_takes(bench: Bench, package: Path, tmp_path: Path) -> None:
    bench.behave(raise_in_predict="Could not create inference context", at_call=2)
    running = Running(package, tmp_path)
    running.outputs()
    error = refused(running.outputs, "predict")
    assert error.message == "Core ML cannot run the model: Could not create inference context"
    assert "x float32[1,4]" in error.hint


def test_after_a_failed_load_nothing_is_loaded(bench: Bench, package: Path, tmp_path: Path) -> None:
    running = Running(package, tmp_path)
    refused(lambda: running.backend.load("nowhere.mlpackage", "CPU_ONLY", LoadOptions()), "missing")
    refused(lambda: running.backend.predict(running.feed), "predict")
    assert running.backend.outputs() == {}
