"""What can be read of a GPU or NPU at one moment, whatever reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

SUSPENDED = "suspended: not read, because reading would wake it"
NO_POWER = "the driver reports no power"
NO_UTILIZATION = "the driver reports no utilization of the whole device"


@dataclass(frozen=True, slots=True)
class Raw:
    """One look at a device: counters and readings, None where there is none.

    `why` names what could not be read, with the reason. mw: a reading of the moment, where there is no counter.
    """

    energy_uj: int | None = None
    mw: float | None = None
    busy_us: int | None = None
    busy: float | None = None
    mhz: float | None = None
    temperature_c: float | None = None
    why: Mapping[str, str] = field(default_factory=dict)


class Device(Protocol):
    """A GPU or NPU. slot: its address on the PCI bus; period_ns: how long a reading of it is to be kept."""

    @property
    def rail(self) -> str: ...

    @property
    def driver(self) -> str: ...

    @property
    def slot(self) -> str: ...

    @property
    def period_ns(self) -> int: ...

    def look(self) -> Raw: ...


def is_suspended(folder: Path) -> bool:
    """Whether the kernel has suspended this device; asking that wakes nothing (Documentation/power/runtime_pm.rst)."""
    return text_of(folder / "power" / "runtime_status") in ("suspended", "suspending")


def text_of(path: Path) -> str:
    """The content of a file of sysfs without its line feed; empty where it cannot be read."""
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
