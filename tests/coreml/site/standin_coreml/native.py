"""The names of `coremltools.libcoremlpython`: models that compute by their translation to ONNX, on one thread.

Inputs go through the real binding's rules of conversion first, where the settings say in which module they are.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import shutil
import time
import weakref
from collections.abc import Callable
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from . import faults, plan
from .behaviour import Behaviour, settings
from .compilation import compile_model, source_of
from .devices import (
    _MLCPUComputeDeviceProxy,
    _MLGPUComputeDeviceProxy,
    _MLNeuralEngineComputeDeviceProxy,
    available,
)
from .network import Network

_MLComputePlanProxy = plan._MLComputePlanProxy
UNITS = ("ALL", "CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE")
HINTS = frozenset({"allowLowPrecisionAccumulationOnGPU", "reshapeFrequency", "specializationStrategy"})
MIB = 1 << 20

Convert = Callable[[dict[str, Any]], dict[str, Any]]
"""What Core ML is handed of a dictionary of inputs. Raises RuntimeError for a value that is not convertible."""


@functools.cache
def _conversion(path: str) -> Convert:
    if not path:
        return dict
    spec = importlib.util.spec_from_file_location("conversion", path, loader=ExtensionFileLoader("conversion", path))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    convert: Convert = module.features
    return convert


class _MLModelAssetProxy:
    """In the binding for models from memory, which hettop has no use for."""


class _State:
    """The values of a model's states between calls."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values
        self.calls = 0

    def read_state(self, name: str) -> Any:
        return self.values[name].astype(np.float32)

    def write_state(self, name: str, value: Any) -> None:
        value = _conversion(settings().conversion)({name: value})[name]
        self.values[name] = np.asarray(value, self.values[name].dtype)


class _MLModelProxy:
    loads: ClassVar[list[tuple[str, str, str, dict[str, str]]]] = []
    """What was loaded in this process, and how: for tests."""

    def __init__(self, path: str, units: str, function: str, hints: dict[str, str], asset: Any = None) -> None:
        if units not in UNITS or not set(hints) <= HINTS or not all(isinstance(v, str) for v in hints.values()):
            raise RuntimeError(f"no such configuration: {units}, {hints}")
        self.behaviour = behaviour = settings().of(units)
        started = time.perf_counter_ns()
        self._own = None if path.rstrip("/").endswith(".mlmodelc") else compile_model(path)
        self.path = self._own or path
        if behaviour.noise:
            faults.shout("loading")
        faults.log(behaviour.log_at_load)
        faults.hold(behaviour.load_ms)
        if behaviour.hang_in_load:
            faults.hang()
        faults.die(behaviour.die_in_load)
        faults.raise_as_framework(behaviour.raise_in_load)
        if not (Path(self.path) / "coremldata.bin").is_file():
            raise faults.framework_error("Compile the model with Xcode or `compileModel`")
        if 0 < behaviour.holds_bytes < _weight_bytes(self.path):
            faults.die(behaviour.die_when_full)
            raise faults.framework_error("Failed to allocate memory for the model")
        self.network = Network(self.path, function)
        self._convert = _conversion(settings().conversion)
        self.calls = 0
        self._leaked: list[bytearray] = []
        self._load_ns = time.perf_counter_ns() - started
        self._last_ns: int | None = None
        type(self).loads.append((path, units, function, dict(hints)))

    def predict(self, inputs: dict[str, Any], state: _State | None = None) -> dict[str, Any]:
        started = time.perf_counter_ns()
        self.calls += 1
        if type(inputs) is not dict or not (state is None or isinstance(state, _State)):
            raise TypeError("predict(): incompatible function arguments.")
        self._misbehave(inputs)
        values = self.network.feed(self._convert(inputs))
        if self.network.states and state is None:
            raise faults.framework_error("The model needs a state")
        if state is not None:
            state.calls += 1
            if self.behaviour.one_call_per_state and state.calls > 1:
                raise faults.framework_error("The state is not fresh")
        outputs = self.network.run(values, state.values if state is not None else {})
        faults.hold(self.behaviour.latency_ms)
        if self.behaviour.needs_inputs:
            for value in inputs.values():
                _crash_if_freed(value, self.behaviour.needs_inputs)
        if self.behaviour.clears_inputs:
            inputs.clear()
            inputs["changed by the framework"] = None
        self._last_ns = time.perf_counter_ns() - started
        return {name: _altered(value, self.behaviour) for name, value in outputs.items()}

    def batchPredict(self, batch: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [self.predict(inputs) for inputs in batch]

    def get_compiled_model_path(self) -> str:
        return self.path

    def get_load_duration_in_nano_seconds(self) -> int | None:
        reported = self.behaviour.native_load_ns
        return (reported if reported > 0 else None) if reported else self._load_ns

    def get_last_predict_duration_in_nano_seconds(self) -> int | None:
        if wrong := self.behaviour.wrong_native_ns:
            return wrong[self.calls % len(wrong)]
        reported = self.behaviour.native_ns
        return (reported if reported > 0 else None) if reported else self._last_ns

    def newState(self) -> _State:
        if settings().macos < (15,):
            raise RuntimeError("Stateful model is only available on macOS >= 15.0")
        return _State(self.network.new_state())

    def __del__(self) -> None:
        if getattr(self, "_own", None):
            shutil.rmtree(os.path.dirname(str(self._own)), ignore_errors=True)  # noqa: PTH120

    def _misbehave(self, inputs: dict[str, Any]) -> None:
        behaviour = self.behaviour
        if behaviour.noise:
            faults.shout(f"call {self.calls}")
        if behaviour.leak_mb:
            self._leaked.append(bytearray(b"\1") * int(behaviour.leak_mb * MIB))
        if 0 < behaviour.images_until_exhausted < self.calls and self.network.gives_images:
            faults.raise_as_framework("Failed to create an IOSurface for an image output")
        if self.calls == behaviour.at_call:
            faults.log(behaviour.log_at_call)
            if behaviour.hang_in_predict:
                faults.hang()
            faults.die(behaviour.die_in_predict)
            faults.raise_as_framework(behaviour.raise_in_predict)

    @staticmethod
    def maximum_supported_specification_version() -> int:
        return 10

    @staticmethod
    def auto_set_specification_version(spec: bytes) -> bytes:
        return spec

    @staticmethod
    def compileModel(path: str) -> str:
        return compile_model(path)

    @staticmethod
    def get_available_compute_devices() -> list[Any]:
        return available()

    @staticmethod
    def get_all_compute_devices() -> list[Any]:
        return available()

    @staticmethod
    def get_model_structure(path: str) -> Any:
        return plan.structure(source_of(path))

    @staticmethod
    def get_compute_plan(path: str, units: str) -> Any:
        if not path.rstrip("/").endswith(".mlmodelc"):
            faults.die("SIGABRT")
        return plan.load(source_of(path), units)


def _weight_bytes(compiled: str) -> int:
    return sum(file.stat().st_size for file in source_of(compiled).rglob("weight.bin"))


def _crash_if_freed(value: Any, seconds: float) -> None:
    """The native side still reads an input for a while after the call; memory that is gone then is a fault."""
    end = time.monotonic() + seconds

    def freed() -> None:
        if time.monotonic() < end:
            faults.die("SIGSEGV")

    with contextlib.suppress(TypeError):  # numbers and text have no memory that could be freed
        weakref.finalize(value, freed).atexit = False


def _altered(value: Any, behaviour: Behaviour) -> Any:
    """What another device would give: half precision with noise, or wrong altogether."""
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return value
    if behaviour.noise_level:
        noise = np.random.default_rng(0).standard_normal(value.shape) * behaviour.noise_level
        value = (value * (1 + noise)).astype(np.float16).astype(value.dtype)
    return np.ascontiguousarray(np.flip(value)) if behaviour.wrong else value


NAMES = frozenset(
    {
        _MLModelProxy.__name__,
        _MLModelAssetProxy.__name__,
        _State.__name__,
        _MLComputePlanProxy.__name__,
        _MLCPUComputeDeviceProxy.__name__,
        _MLGPUComputeDeviceProxy.__name__,
        _MLNeuralEngineComputeDeviceProxy.__name__,
    }
)
