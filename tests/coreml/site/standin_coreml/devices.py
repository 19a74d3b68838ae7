"""The machine's devices, as many of them as the settings say."""

from __future__ import annotations

import importlib
from typing import Any

from .behaviour import settings

NEURAL_ENGINE_CORES = 16


class _MLCPUComputeDeviceProxy:
    pass


class _MLGPUComputeDeviceProxy:
    pass


class _MLNeuralEngineComputeDeviceProxy:
    def get_total_core_count(self) -> int:
        return NEURAL_ENGINE_CORES


def available() -> list[Any]:
    devices = settings().devices
    if devices is None:
        raise RuntimeError("MLComputeDevice is only available on macOS >= 14.0")
    return [device(name) for name in devices]


def device(name: str) -> Any:
    """coremltools' object for `cpu`, `gpu` or `ne`."""
    classes: Any = importlib.import_module("coremltools.models.compute_device")
    if name == "cpu":
        return classes.MLCPUComputeDevice(_MLCPUComputeDeviceProxy())
    if name == "gpu":
        return classes.MLGPUComputeDevice(_MLGPUComputeDeviceProxy())
    return classes.MLNeuralEngineComputeDevice(_MLNeuralEngineComputeDeviceProxy())
