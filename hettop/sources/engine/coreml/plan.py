"""Reads from Core ML where it would run each operation of a compiled model.

Walks what coremltools returns and knows nothing of what becomes of it. Only for a process that may be lost.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hettop.errors import HettopError
from hettop.sources.engine.backend import split_unit
from hettop.sources.engine.coreml.availability import Host, this_host
from hettop.sources.engine.coreml.framework import DEVICES, Framework
from hettop.sources.engine.placement import OpFacts
from hettop.text import clean

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
        raise HettopError("plan", f"the compiled model has no function {clean(name)!r}", f"it has: {has}")
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
