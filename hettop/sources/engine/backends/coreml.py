"""Runs Core ML models by Core ML itself, on the compute units it is asked for, through coremltools.

A compute unit is a permission: what in the end runs a model, it does not report.
coremltools is imported when a model is loaded, in the engine process alone.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hettop.compute_units import CORE_ML_UNITS
from hettop.errors import HettopError
from hettop.models.cache import ModelCache, default_cache
from hettop.models.compiled import COMPILED_SUFFIX, CompiledModel, CompiledModels, default_compiled_models, system_build
from hettop.models.inputs import make_inputs
from hettop.models.package_ports import package_port
from hettop.models.ports import Feed, InputOptions, Port
from hettop.models.resolve import core_ml_file
from hettop.processes.framework_errors import reason
from hettop.sources.engine.backend import Clock, Loaded, LoadOptions, split_unit
from hettop.sources.engine.coreml.availability import (
    NEURAL_ENGINE,
    Host,
    core_ml_units,
    find_native,
    load_limit,
    this_host,
    units_on_request,
)
from hettop.sources.engine.coreml.framework import Framework, check_device, native_duration, native_load_duration
from hettop.text import clean

STATE_NOTE = "its state is created once when loading and kept between calls"
FRESH_STATE_NOTE = "its state is created before each call, outside the measured time"
NO_NEURAL_ENGINE_NOTE = "Core ML has no Neural Engine here"

STEPS_KEPT = 1000
"""Core ML reads inputs on a thread of its own, up to a second after a call; a step takes no less than 1 ms."""

IMAGE_CALLS = 800
"""A process was seen to run out of the surfaces that image outputs lie in after about 1,000 predictions."""

NEEDS_MACOS_15 = re.compile(r"macOS\D*15")
"""The binding says `only available on macOS >= 15.0`, coremltools' Python `only supported on macOS 15+`."""

Predict = Callable[[dict[str, Any], Any], dict[str, Any]]


class CoreMLBackend:
    """One model loaded by Core ML. Whatever runs it, the wall time of a call has coremltools' own share in it."""

    name = "coreml"
    simulated = False
    has_native = True

    def __init__(
        self,
        clock: Clock,
        cache: ModelCache | None = None,
        compiled: CompiledModels | None = None,
        host: Host | None = None,
    ) -> None:
        self.clock = clock
        self._cache = default_cache() if cache is None else cache
        self._compiled = default_compiled_models() if compiled is None else compiled
        self._host = this_host() if host is None else host
        self._model: CompiledModel | None = None
        self._run: Predict = _nothing_loaded
        self._state: Any = None
        self._make_state: Callable[[], Any] | None = None
        self._inputs: tuple[Port, ...] = ()
        self._last: Mapping[str, Any] = {}
        self._kept: list[NativeFeed] = []
        self._steps: deque[NativeFeed] = deque(maxlen=STEPS_KEPT)
        self._pairs: dict[str, str] = {}
        self._carried: Feed = {}
        self.native_ns: Callable[[], int | None] = _no_time

    def units(self) -> dict[str, str | None]:
        return core_ml_units(self._host, find_native)

    def units_on_request(self) -> dict[str, str]:
        return units_on_request(self._host)

    def load(self, model: str, unit: str, options: LoadOptions) -> Loaded:
        """Loads a package, a `.mlmodel`, a compiled model, or a built network by its name.

        What is not compiled is compiled first and kept in the cache. Raises HettopError: `unsupported-unit`, `missing`,
        `format`, `input` (an unknown function), `usage` (an unknown hint), `load`, `io`.
        """
        self._check_unit(unit, options)
        self._unload()
        source = core_ml_file(model, self._cache)
        ports = _described(source, options.function)
        check_kinds(ports.inputs, clean(source.name))
        framework = Framework()
        devices = framework.devices()
        check_device(unit, devices)
        hints = framework.hints(options.hints)
        compilation = self._compilation(source, framework, options.tell)
        options.tell("loading")
        with load_limit(unit, self._host, devices):
            start = self.clock.now()
            loaded = framework.load(compilation.path, unit, ports.function, hints)
            load_ns = native_load_duration(loaded, self.clock.now() - start)
        if ports.stateful:
            self._make_state = partial(_new_state, loaded, source)
            self.renew_state()
        self._run, self.native_ns, self._inputs = loaded.predict, native_duration(loaded), ports.inputs
        notes = (
            "" if not ports.stateful else FRESH_STATE_NOTE if options.fresh_state else STATE_NOTE,
            NO_NEURAL_ENGINE_NOTE if unit == "ALL" and devices and NEURAL_ENGINE not in devices else "",
            f"hints: {', '.join(f'{name}={value}' for name, value in options.hints.items())}" if hints else "",
        )
        return Loaded(
            unit,
            None,  # a permission is not a placement
            load_ns,
            ports.inputs,
            ports.outputs,
            clean("; ".join(filter(None, notes))),
            compilation.compile_ns,
            compilation.cached,
            str(compilation.path),
            IMAGE_CALLS if any(port.kind == "image" for port in ports.outputs) else None,
            ports.stateful,
        )

    def make_inputs(self, ports: Sequence[Port], options: InputOptions) -> Feed:
        feed = NativeFeed(make_inputs(ports, options), ports)
        self._kept.append(feed)  # Core ML releases them later than any call ends
        return feed

    def predict(self, feed: Feed) -> None:
        """One prediction of inputs from `make_inputs`, outputs included. Raises HettopError: `predict`."""
        if not isinstance(feed, NativeFeed):
            raise HettopError("predict", "these inputs were not created for Core ML")
        try:
            # A copy: what gets the dict may change it.
            self._last = self._run(feed.native.copy(), self._state)
        except HettopError:
            raise
        except Exception as error:
            takes = ", ".join(port.describe() for port in self._inputs)
            raise HettopError(
                "predict",
                f"Core ML cannot run the model: {reason(error)}",
                clean(f"its inputs are {takes}; set them with --shape or --input"),
            ) from error

    def renew_state(self) -> None:
        """A state as new, for a model that has one; what the calls before left is forgotten. Raises HettopError."""
        if self._make_state is not None:
            self._state = self._make_state()

    def carry(self, pairs: Mapping[str, str]) -> None:
        """Core ML carries its own state; beside it, feed these inputs what these outputs gave in the call before."""
        self._pairs = dict(pairs)

    def begin_state(self, state: Feed) -> None:
        """A state as new, and what the inputs of pairs are fed in the next call."""
        self.renew_state()
        self._carried = dict(state)

    def advance(self, feed: Feed) -> Mapping[str, Any]:
        """One call with the state that it carries."""
        self._steps.append(NativeFeed({**feed, **self._carried}, self._inputs))
        self.predict(self._steps[-1])
        outputs = self.outputs()
        self._carried = {
            name: outputs[output].astype(self._carried[name].dtype) for name, output in self._pairs.items()
        }
        return outputs

    def outputs(self) -> Mapping[str, Any]:
        return {name: output_array(value) for name, value in self._last.items()}

    def told_load(self, condition: str) -> None:
        pass

    def _check_unit(self, unit: str, options: LoadOptions) -> None:
        try:
            name, threads = split_unit(unit)
        except ValueError as error:
            raise HettopError("unsupported-unit", clean(str(error))) from error
        hint = f"use one of {', '.join(CORE_ML_UNITS)}"
        if name not in CORE_ML_UNITS:
            raise HettopError("unsupported-unit", f"unknown unit {clean(unit)} for Core ML", hint)
        if threads is not None or options.threads is not None:
            raise HettopError(
                "unsupported-unit", f"invalid unit {clean(unit)}: Core ML chooses its number of threads", hint
            )
        why_not = self.units()[name]
        if why_not is not None:
            raise HettopError("unsupported-unit", f"{unit} cannot run here: {why_not}")

    def _unload(self) -> None:
        self._run, self.native_ns = _nothing_loaded, _no_time
        self._state, self._make_state = None, None
        self._last = {}
        if self._model is not None:
            self._model.lease.close()
            self._model = None

    def _compilation(self, source: Path, framework: Framework, tell: Callable[[str], None]) -> _Compilation:
        """The compiled model to load; a source that is one already is taken as it is."""
        if source.suffix.lower() == COMPILED_SUFFIX:
            return _Compilation(source, None, None)
        took: list[int] = []

        def compile_model(package: Path, destination: Path) -> None:
            tell("compiling")
            start = self.clock.now()
            framework.compile_model(package, destination)
            took.append(self.clock.now() - start)

        self._model = self._compiled.use(source, system_build(), compile_model)
        return _Compilation(self._model.path, took[-1] if took else None, self._model.cached)


@dataclass(frozen=True, slots=True)
class _Compilation:
    path: Path
    compile_ns: int | None
    cached: bool | None


@dataclass(frozen=True, slots=True)
class _Ports:
    """What one function takes and gives. `function`: the name to load it by, None where it has none of its own."""

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    stateful: bool
    function: str | None


def _described(source: Path, function: str | None) -> _Ports:
    """From the source: a loaded compiled model does not report."""
    if source.suffix.lower() == COMPILED_SUFFIX:
        from hettop.sources.engine.coreml.metadata import read_metadata

        compiled = read_metadata(source)
        found, named = compiled.function(function, source), compiled.named
    else:
        from hettop.models.mil.package import open_package

        package = open_package(source)
        found, named = package.function(function), bool(package.spec.description.functions)
    inputs, outputs = (tuple(map(package_port, ports)) for ports in (found.inputs, found.outputs))
    return _Ports(inputs, outputs, bool(found.states), found.name if named and function is not None else None)


def _new_state(loaded: Any, source: Path) -> Any:
    try:
        return loaded.make_state()
    except Exception as error:
        words = reason(error)
        hint = (
            "update macOS: models that keep a state need macOS 15"
            if NEEDS_MACOS_15.search(words)
            else "restart the unit, or convert the model again"
        )
        raise HettopError("load", f"cannot create the state of {clean(source.name)}: {words}", hint) from error


def _nothing_loaded(_feed: dict[str, Any], _state: Any) -> dict[str, Any]:
    raise HettopError("predict", "no model is loaded")


def _no_time() -> int | None:
    return None


Array = npt.NDArray[Any]

TAKEN_KINDS = frozenset({"array", "image", "scalar"})

ARRAY_DTYPES = {"float16": "float32", "float32": "float32", "float64": "float64", "int32": "int32", "int8": "int8"}
"""As what arrays are handed to Core ML: the binding takes no others, and reads any order of bytes as the machine's own.

Half precision goes in as float32: coremltools would make it so anew at each call."""


class NativeFeed(Feed):
    """Arrays by name, as every backend's, and in `native` the same values as Core ML takes them.

    Core ML releases inputs on a thread of its own, up to a second after a call: what `native` holds must outlive that.
    """

    __slots__ = ("native",)

    def __init__(self, feed: Mapping[str, Any], ports: Sequence[Port]) -> None:
        super().__init__(feed)
        self.native = {port.name: native_value(port, feed[port.name]) for port in ports if port.name in feed}


def check_kinds(ports: Sequence[Port], model: str) -> None:
    """Raises HettopError: `format`, for an input of a kind that no values are made for."""
    for port in ports:
        if port.kind not in TAKEN_KINDS:
            raise HettopError(
                "format", f"{model}: input {clean(port.name)} is a {port.kind}; only arrays and images can be generated"
            )


def native_value(port: Port, array: Array) -> Any:
    """The value of one input as the binding takes it: a Python number or text, an image, an array.

    Raises HettopError: `input`, for an array of a type that Core ML has not.
    """
    if port.kind == "scalar":
        return np.asarray(array).item()
    if port.kind == "image":
        return _picture(port, array)
    if array.dtype.name not in ARRAY_DTYPES:
        raise HettopError("input", f"{clean(port.name)}: Core ML has no arrays of type {array.dtype.name}")
    # The binding asks for memory it may write to, and refuses a mapped file or a view of an image without saying why.
    return np.require(np.atleast_1d(array), ARRAY_DTYPES[array.dtype.name], ["C", "A", "W", "E"])


def output_array(value: Any) -> Array:
    """What a prediction gave as an array: an image's pixels, a number, a dictionary's values sorted by its keys."""
    if isinstance(value, Mapping):
        return np.array([value[key] for key in sorted(value)])
    return np.asarray(value)


def _picture(port: Port, array: Array) -> Any:
    """A PIL image: `RGB` for both orders of colours (coremltools turns it round for BGR), `L`, or `F`."""
    try:
        from PIL import Image
    except ImportError as error:
        raise HettopError(
            "input", f"{clean(port.name)}: Core ML needs Pillow for images", "pip install pillow"
        ) from error
    pixels = array[0]
    if port.color == "GRAYSCALE_FLOAT16":
        return Image.fromarray(np.ascontiguousarray(pixels[0], np.float32))
    if port.color == "GRAYSCALE":
        return Image.fromarray(np.ascontiguousarray(pixels[0]))
    ordered = pixels[::-1] if port.color == "BGR" else pixels
    return Image.fromarray(np.ascontiguousarray(np.moveaxis(ordered, 0, -1)))
