"""coremltools as hettop uses it: imported without a word, asked for devices, asked to compile and to load.

The one module that touches coremltools' API. Only for processes that may
be lost: what it calls holds the GIL throughout, and has been seen to hang, abort and be killed.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import logging
import math
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hettop.compute_units import CORE_ML_UNITS, OWN_UNIT
from hettop.compute_units import DEVICES as UNIT_DEVICES
from hettop.errors import HettopError
from hettop.processes.framework_errors import full_disk, reason
from hettop.sources.engine.backend import split_unit
from hettop.sources.engine.coreml.availability import Host, this_host
from hettop.sources.engine.placement import OpFacts
from hettop.text import clean

DEVICES = {
    "MLCPUComputeDevice": "CPU",
    "MLGPUComputeDevice": "GPU",
    "MLNeuralEngineComputeDevice": "Neural Engine",
}
"""coremltools' classes of devices, in words."""

NEEDS = {unit: UNIT_DEVICES[each] for each, unit in OWN_UNIT.items()}

UNCOMPILED = "Compile the model"
UNCOMPILED_HINT = "not a complete compiled model; pass its .mlpackage, which hettop compiles"
"""What Core ML advises is for who writes an application; here it is a folder that was copied in part, or renamed."""

LOW_PRECISION = "allowLowPrecisionAccumulationOnGPU"
RESHAPE = "reshapeFrequency"
STRATEGY = "specializationStrategy"
TRUTH = {"true": True, "false": False}


VERSION_LOOKUP = "_macos_version"
MODULES_WITH_LOOKUP = ("utils", "model", "_compiled_model")
"""Modules of `coremltools.models` that have a reference of their own to the function above."""


class Framework:
    """coremltools, once it is imported. Making one imports it, which takes a second or two."""

    def __init__(self) -> None:
        """Raises HettopError: `missing`, if coremltools cannot be imported."""
        self._coremltools = _imported()
        _look_up_version_once(self._coremltools)

    def devices(self) -> tuple[str, ...]:
        """`CPU`, `GPU`, `Neural Engine`, as far as Core ML may use them; empty where it cannot say."""
        try:
            found = self._coremltools.models.MLModel.get_available_compute_devices()
        except Exception:  # noqa: BLE001 (how a system before macOS 14 says that it does not know)
            return ()
        return tuple(dict.fromkeys(DEVICES.get(type(device).__name__, "") for device in found or ()))

    def hints(self, asked: Mapping[str, str]) -> dict[str, Any]:
        """Optimisation hints as coremltools takes them. Raises HettopError: `usage`, naming what there is."""
        known: dict[str, Mapping[str, Any]] = {
            LOW_PRECISION: TRUTH,
            RESHAPE: self._coremltools.ReshapeFrequency.__members__,
            STRATEGY: self._coremltools.SpecializationStrategy.__members__,
        }
        return {name: _hint(name, value, known) for name, value in asked.items()}

    def compile_model(self, source: Path, destination: Path) -> None:
        """Compiles to `destination`, which ends in `.mlmodelc`. Points fd 1 at /dev/null meanwhile.

        Raises HettopError: `load`; OSError where the disk is full, as another place may have room.
        """
        try:
            self._coremltools.models.utils.compile_model(str(source), str(destination))
        except Exception as error:
            if (number := full_disk(error)) is not None:
                raise OSError(number, os.strerror(number), str(destination)) from error
            raise HettopError("load", f"cannot compile {clean(source.name)}: {reason(error)}") from error

    def load(self, compiled: Path, unit: str, function: str | None, hints: Mapping[str, Any]) -> Any:
        """A CompiledMLModel. Raises HettopError: `load`."""
        ct = self._coremltools
        try:
            return ct.models.CompiledMLModel(str(compiled), ct.ComputeUnit[unit], function, dict(hints) or None)
        except Exception as error:
            words = reason(error)
            hint = UNCOMPILED_HINT if UNCOMPILED in words else "leave out the optimisation hints" if hints else ""
            raise HettopError("load", f"cannot load {clean(compiled.name)}: {words}", hint) from error

    def plan(self, compiled: Path, unit: str) -> Any:
        """An MLComputePlan of what lies compiled there. Raises HettopError: `plan`."""
        if compiled.suffix.lower() != ".mlmodelc":
            raise HettopError("plan", f"{clean(compiled.name)} is not compiled, so it has no plan")
        from coremltools.models.compute_plan import MLComputePlan

        try:
            return MLComputePlan.load_from_path(str(compiled), self._coremltools.ComputeUnit[unit])
        except Exception as error:
            raise HettopError("plan", f"{clean(compiled.name)} has no plan: {reason(error)}") from error


def devices_here() -> tuple[str, ...]:
    """See `Framework.devices`. Raises HettopError: `missing`."""
    return Framework().devices()


def check_device(unit: str, devices: tuple[str, ...]) -> None:
    """Raises HettopError: `unsupported-unit`, if Core ML has no such device. Unknown devices may exist.

    Loading for a device that is not there has been seen to hang in compilation.
    """
    needed = NEEDS.get(unit)
    if needed is None or not devices or needed in devices:
        return
    others = ", ".join(name for name in CORE_ML_UNITS if NEEDS.get(name) in (None, *devices))
    raise HettopError("unsupported-unit", f"Core ML has no {needed} here", f"use {others}")


def native_duration(model: Any) -> Callable[[], int | None]:
    """The function that gives the framework's own time of the last call in ns, for a loaded CompiledMLModel.

    Only MLModel makes it public; both hold the same native object.
    """
    found: Callable[[], int | None] | None = getattr(
        getattr(model, "_proxy", None), "get_last_predict_duration_in_nano_seconds", None
    )
    return found if found is not None else lambda: None


def native_load_duration(model: Any, wall_ns: int) -> int:
    """Return the framework's own time of the load in ns, or `wall_ns` where it gives none that can be right."""
    read = getattr(getattr(model, "_proxy", None), "get_load_duration_in_nano_seconds", None)
    native_ns = read() if read is not None else None
    return native_ns if native_ns is not None and 0 < native_ns <= wall_ns else wall_ns


def _imported() -> Any:
    # Off a Mac it says eight times what it lacks, on a Mac which other packages it has not been tried with.
    logging.getLogger("coremltools").addHandler(logging.NullHandler())
    try:
        import coremltools
    except Exception as error:
        raise HettopError(
            "missing", f"cannot import coremltools: {reason(error)}", "pip install --force-reinstall coremltools"
        ) from error
    return coremltools


def _look_up_version_once(coremltools: Any) -> None:
    """Run coremltools' look-up of the macOS version now, and never again with this framework.

    It starts a process, `sw_vers`, at each compilation and load, and those are timed.
    """
    modules = [getattr(coremltools.models, name, None) for name in MODULES_WITH_LOOKUP]
    users = [module for module in modules if hasattr(module, VERSION_LOOKUP)]
    if users:
        # What an earlier framework left is unwrapped: this one looks for itself.
        look_up = functools.cache(inspect.unwrap(getattr(users[0], VERSION_LOOKUP)))
        with contextlib.suppress(Exception):  # raised again, and reported, when coremltools needs the version
            look_up()
        for module in users:
            setattr(module, VERSION_LOOKUP, look_up)


def _hint(name: str, value: str, known: Mapping[str, Mapping[str, Any]]) -> Any:
    values = known.get(name)
    if values is None:
        raise HettopError("usage", f"unknown optimisation hint {clean(name)!r}", f"valid hints: {', '.join(known)}")
    for word, meaning in values.items():
        if word.lower() == value.lower():
            return meaning
    raise HettopError("usage", f"invalid value {clean(value)!r} of {name}", f"valid values: {', '.join(values)}")


NEEDS_MACOS = (14, 4)
MAIN = "main"


def read_plan(compiled: str, unit: str, function: str | None, host: Host | None = None) -> list[OpFacts]:
    """The operations of the function (None: the model's own choice) of the `.mlmodelc` at `compiled`, in order.

    Raises HettopError: `plan`, `missing`.
    """
    macos = (this_host() if host is None else host).macos
    if macos and macos < NEEDS_MACOS:
        here = ".".join(map(str, macos))
        raise HettopError("plan", f"compute plans need macOS 14.4; this is {here}", "update macOS")
    plan = Framework().plan(Path(compiled), split_unit(unit)[0])
    return list(walk(plan, plan.model_structure, function))


def walk(plan: Any, structure: Any, function: str | None) -> Iterator[OpFacts]:
    """The facts of a model's structure, those of a pipeline's models one after another."""
    if structure.program is not None and structure.program.functions:
        yield from _block(plan, _function(structure.program.functions, function).block)
    elif structure.neuralnetwork is not None:
        for layer in structure.neuralnetwork.layers:
            yield _facts(layer.name, layer.type, plan.get_compute_device_usage_for_neuralnetwork_layer(layer), None)
    elif structure.pipeline is not None:
        for _, model in structure.pipeline.sub_models:
            yield from walk(plan, model, None)


def _function(functions: Mapping[str, Any], function: str | None) -> Any:
    name = function or (MAIN if MAIN in functions else next(iter(functions)))
    if name not in functions:
        has = clean(", ".join(functions))
        raise HettopError("plan", f"the compiled model has no function {clean(name)!r}", f"its functions: {has}")
    return functions[name]


def _block(plan: Any, block: Any) -> Iterator[OpFacts]:
    """Operations in order, each before those in its own blocks: a loop's body, a condition's branches."""
    for op in block.operations:
        name = op.outputs[0].name if op.outputs else op.operator_name
        usage = plan.get_compute_device_usage_for_mlprogram_operation(op)
        cost = plan.get_estimated_cost_for_mlprogram_operation(op)
        yield _facts(name, op.operator_name, usage, cost)
        for inner in op.blocks:
            yield from _block(plan, inner)


def _facts(name: str, op: str, usage: Any, cost: Any) -> OpFacts:
    preferred = None if usage is None else usage.preferred_compute_device
    weight = math.nan if cost is None else float(cost.weight)
    return OpFacts(
        name=name,
        op=op.rpartition(".")[2],  # operations carry the set they belong to: `ios15.conv`
        preferred=None if preferred is None else _device(preferred),
        supported=() if usage is None else tuple(map(_device, usage.supported_compute_devices)),
        cost=weight if math.isfinite(weight) and weight >= 0 else None,
    )


def _device(device: Any) -> str:
    kind = type(device).__name__
    return DEVICES.get(kind, kind)
