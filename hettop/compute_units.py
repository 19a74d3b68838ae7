"""Core ML's compute units, and the accelerators that each may use beside the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

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


def wanted_device(unit: str) -> str | None:
    """The device that Core ML is to prefer on the unit; None for one without accelerators, or of another framework."""
    return next((DEVICES[each] for each in ACCELERATORS.get(unit, ())), None)
