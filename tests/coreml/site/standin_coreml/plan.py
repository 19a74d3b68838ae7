"""Compute plans: every operation on the strongest device that its unit allows, or as odd as the settings say."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from . import faults
from .behaviour import settings
from .devices import device

ALLOWED = {
    "CPU_ONLY": ("cpu",),
    "CPU_AND_GPU": ("cpu", "gpu"),
    "CPU_AND_NE": ("cpu", "ne"),
    "ALL": ("cpu", "gpu", "ne"),
}
OPSETS = {"CoreML5": "ios15", "CoreML6": "ios16", "CoreML7": "ios17", "CoreML8": "ios18", "CoreML9": "ios26"}


class _MLComputePlanProxy:
    def __init__(self, model_structure: Any, units: str) -> None:
        self.model_structure = model_structure
        self.behaviour = settings().of(units)
        here = settings().devices or ("cpu",)
        self.devices = [name for name in ALLOWED[units] if name in here]
        program = model_structure.program
        blocks = [function.block for function in program.functions.values()] if program is not None else []
        self.counted = sum(operation.operator_name != "const" for block in blocks for operation in block.operations)

    def get_compute_device_usage_for_mlprogram_operation(self, operation: Any) -> Any:
        if operation.operator_name == "const" or self.behaviour.plan == "none":
            return None
        if self.behaviour.plan == "odd":
            return _plans().MLComputePlanDeviceUsage(None, [])
        kind = operation.operator_name.rpartition(".")[2]
        names = ["cpu"] if kind in self.behaviour.on_cpu else self.devices
        return _plans().MLComputePlanDeviceUsage(device(names[-1]), [device(name) for name in names])

    def get_compute_device_usage_for_neuralnetwork_layer(self, layer: Any) -> Any:
        return None

    def get_estimated_cost_for_mlprogram_operation(self, operation: Any) -> Any:
        if operation.operator_name == "const" or self.behaviour.plan == "none":
            return None
        if self.behaviour.plan == "odd":
            return _plans().MLComputePlanCost(float("nan"))
        return _plans().MLComputePlanCost(1.0 / max(self.counted, 1))


def load(source: Path, units: str) -> Any:
    behaviour = settings().of(units)
    if behaviour.hang_in_plan:
        faults.hang()
    faults.die(behaviour.die_in_plan)
    if behaviour.plan == "program-less":
        found = _plans().MLModelStructure(None, None, None)
    elif behaviour.plan == "empty":
        found = _plans().MLModelStructure(None, _plans().MLModelStructureProgram({}), None)
    else:
        found = structure(source)
    return _plans().MLComputePlan(_MLComputePlanProxy(found, units))


def structure(source: Path) -> Any:
    """coremltools' description of a model's operations."""
    from hettop.models.mil.package import open_package

    package = open_package(source)
    plans = _plans()
    if package.kind != "mlprogram":
        return plans.MLModelStructure(plans.MLModelStructureNeuralNetwork([]), None, None)
    functions = {}
    for ports in package.functions:
        message = package.program(ports.name)
        block = _block(package.block(ports.name), OPSETS.get(message.opset, "ios15"))
        functions[ports.name] = plans.MLModelStructureProgramFunction([_named(each) for each in message.inputs], block)
    return plans.MLModelStructure(None, plans.MLModelStructureProgram(functions), None)


def _block(message: Any, opset: str) -> Any:
    operations = [_operation(each, opset) for each in message.operations]
    return _plans().MLModelStructureProgramBlock([], operations, list(message.outputs))


def _operation(message: Any, opset: str) -> Any:
    plans = _plans()
    inputs = {
        name: plans.MLModelStructureProgramArgument([_binding(each) for each in argument.arguments])
        for name, argument in message.inputs.items()
    }
    return plans.MLModelStructureProgramOperation(
        inputs,
        message.type if message.type == "const" else f"{opset}.{message.type}",
        [_named(each) for each in message.outputs],
        [_block(each, opset) for each in message.blocks],
        message,
    )


def _binding(message: Any) -> Any:
    plans = _plans()
    if message.WhichOneof("binding") == "name":
        return plans.MLModelStructureProgramBinding(message.name, None)
    return plans.MLModelStructureProgramBinding(None, plans.MLModelStructureProgramValue())


def _named(message: Any) -> Any:
    plans = _plans()
    return plans.MLModelStructureProgramNamedValueType(message.name, plans.MLModelStructureProgramValueType())


def _plans() -> Any:
    return importlib.import_module("coremltools.models.compute_plan")
