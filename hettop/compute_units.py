"""The compute units of Core ML and Core AI: names, aliases, and the accelerators that each may use beside the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from hettop.errors import HettopError
from hettop.text import clean

Accelerator = Literal["ane", "gpu"]
"""As a load and a power rail name it."""

ACCELERATORS: Mapping[str, tuple[Accelerator, ...]] = {
    "CPU_ONLY": (),
    "CPU_AND_GPU": ("gpu",),
    "CPU_AND_NE": ("ane",),
    "ALL": ("ane", "gpu"),
}
"""By unit, the one that Core ML takes first where it can before the others."""

CORE_ML_UNITS = tuple(ACCELERATORS)

DEVICES: Mapping[Accelerator, str] = {"ane": "Neural Engine", "gpu": "GPU"}
"""As Core ML names them."""

OWN_UNIT: Mapping[Accelerator, str] = {"ane": "CPU_AND_NE", "gpu": "CPU_AND_GPU"}
"""The unit that uses this accelerator and no other."""

USED_BY: Mapping[Accelerator, tuple[str, ...]] = {
    each: tuple(unit for unit, used in ACCELERATORS.items() if each in used) for each in DEVICES
}
"""The units that may use it."""


CORE_AI_PREFIX = "COREAI:"
CORE_AI_ACCELERATORS: Mapping[str, tuple[Accelerator, ...]] = {
    "COREAI:default": ("ane", "gpu"),
    "COREAI:cpu_only": (),
    "COREAI:prefers_gpu": ("gpu", "ane"),
    "COREAI:prefers_ne": ("ane", "gpu"),
}
"""As `ACCELERATORS`, by unit of Core AI. A preference excludes no device, so all but `cpu_only` may use each."""

CORE_AI_UNITS = tuple(CORE_AI_ACCELERATORS)

CORE_ML_COUNTERPARTS: Mapping[str, str] = {
    "COREAI:default": "ALL",
    "COREAI:cpu_only": "CPU_ONLY",
    "COREAI:prefers_gpu": "CPU_AND_GPU",
    "COREAI:prefers_ne": "CPU_AND_NE",
}
"""By unit of Core AI, the unit of Core ML that an application that migrates had before."""

REFERENCE_UNITS = ("CPU_ONLY", "COREAI:cpu_only")
"""The units that compute in the model's own precision, or nearest to it: others' outputs are compared with theirs."""


def reference_unit(unit: str) -> str:
    """The unit whose outputs those of `unit` are to be compared with."""
    return next(each for each in REFERENCE_UNITS if (each in CORE_AI_ACCELERATORS) == unit.startswith(CORE_AI_PREFIX))


def is_reference_unit(unit: str) -> bool:
    """Whether the outputs of this unit count as correct; with or without a number of threads."""
    return unit.partition("@")[0] in REFERENCE_UNITS


PROVIDER_DEVICES: Mapping[str, tuple[str, ...]] = {
    "OV": ("CPU", "GPU", "NPU"),
    "QNN": ("NPU", "GPU"),
    "MLX": ("GPU",),
    "WEBGPU": ("GPU",),
    "RTX": ("0",),
    "CUDA": ("0",),
}
"""By prefix of the units of ONNX Runtime's execution providers (`OV:CPU`), the devices that each can have."""


_NVIDIA = ("NVIDIA",)
_OWN_RAILS: Mapping[str, tuple[str, ...]] = {
    "OV:GPU": ("Intel GPU",),
    "OV:NPU": ("NPU",),
    "QNN:GPU": ("GPU",),
    "QNN:NPU": ("NPU",),
    "MLX:GPU": (),
    "WEBGPU:GPU": ("Intel GPU", "AMD GPU", *_NVIDIA),
    "RTX": _NVIDIA,
    "CUDA": _NVIDIA,
}
"""What the names of rails begin with that may be of a unit's device: of CUDA and NVML each has its own numbers."""


def own_rails(unit: str) -> tuple[str, ...] | None:
    """What the names of the rails of the unit's own device begin with; None of a unit that runs on the CPU's chip."""
    if not is_provider_unit(unit) or unit.startswith("OV:CPU"):
        return None
    return next((rails for name, rails in _OWN_RAILS.items() if f"{unit}:".startswith(f"{name}:")), ())


def is_provider_unit(unit: str) -> bool:
    """Whether it is a unit of an execution provider: `OV:CPU`, `CUDA:0`."""
    prefix, mark, device = unit.partition(":")
    return bool(mark and device) and prefix in PROVIDER_DEVICES


def uses(accelerator: Accelerator, unit: str) -> bool:
    """Whether the unit may use this accelerator of a Mac."""
    if unit in CORE_AI_ACCELERATORS:
        return accelerator in CORE_AI_ACCELERATORS[unit]
    return unit in USED_BY[accelerator] or (accelerator == "gpu" and is_provider_unit(unit) and ":GPU" in unit)


def wanted_device(unit: str) -> str | None:
    """The device that Core ML or Core AI is to prefer on the unit; None for one without, or of another framework."""
    used = ACCELERATORS.get(unit, CORE_AI_ACCELERATORS.get(unit, ()))
    return next((DEVICES[each] for each in used), None)


ALL_UNITS = "all"
"""Every unit of this machine; `ALL` and `.all` are Core ML's unit of that name."""

ALIASES: Mapping[str, str] = {
    "cpu": "CPU_ONLY",
    "cpuonly": "CPU_ONLY",
    "gpu": "CPU_AND_GPU",
    "cpuandgpu": "CPU_AND_GPU",
    "ne": "CPU_AND_NE",
    "ane": "CPU_AND_NE",
    "cpuandne": "CPU_AND_NE",
    "cpuandane": "CPU_AND_NE",
    "npu": "CPU_AND_NE",
    "neural": "CPU_AND_NE",
    "neuralengine": "CPU_AND_NE",
    "cpuandneuralengine": "CPU_AND_NE",
}
ALIASES_HELP = "cpu, gpu, ne (or ane), all = every unit, ALL = Core ML's ALL"


def parse_unit(text: str) -> str:
    """The name of a unit written in any of the usual ways: `cpu`, `CPU_ONLY@2`, `.cpuAndGPU`, `ane`, `all`, `ALL`.

    A name that is not known here is returned as it is: a backend may have units of its own. Raises HettopError
    (`usage`) for an empty name, and for a spelling of `all` that could mean either.
    """
    name, at, threads = text.strip().partition("@")
    if is_provider_unit(name.upper()):
        return f"{name.upper()}{at}{threads}"
    of_core_ai = next((unit for unit in CORE_AI_UNITS if unit.lower() == name.lower()), None)
    if of_core_ai is not None:
        return f"{of_core_ai}{at}{threads}"
    path, _, word = name.rpartition(".")
    if not name:
        raise HettopError("usage", f"invalid unit: {clean(text)!r}", f"write {ALIASES_HELP}")
    if word.lower() == ALL_UNITS:
        if path or name.startswith(".") or word == "ALL":
            return f"ALL{at}{threads}"
        if word != ALL_UNITS:
            raise HettopError("usage", f"ambiguous unit: {clean(text)!r}", "all = every unit, ALL = Core ML's ALL")
        return f"{ALL_UNITS}{at}{threads}"
    known = ALIASES.get(word.lower().replace("_", "").replace("-", "").replace("+", "and"))
    return text.strip() if known is None else f"{known}{at}{threads}"


def parse_units(text: str) -> tuple[str, ...]:
    """The names of a comma-separated list of units. Raises HettopError (`usage`) as `parse_unit` does."""
    return tuple(map(parse_unit, text.split(",")))
