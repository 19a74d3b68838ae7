"""Which compute units Core ML has on this machine, found out without importing coremltools, which takes seconds.

By the system and where modules lie; what devices there really are, the framework says later.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from hettop.compute_units import CORE_ML_UNITS, DEVICES, USED_BY
from hettop.processes.time_limit import time_limit
from hettop.sources.macos import is_virtual_machine, macos_version

PACKAGE = "coremltools"
NATIVE_MODULE = f"{PACKAGE}.libcoremlpython"
"""The binding to Core ML; coremltools has it on macOS only."""

NEWEST_PYTHON = (3, 13)
"""coremltools 9 has wheels up to this one."""

NEURAL_ENGINE = DEVICES["ane"]
NEEDS_MACOS = "Core ML needs macOS"

NEURAL_ENGINE_MACOS = (13,)
"""The configuration CPU_AND_NE exists from this macOS on."""


@dataclass(frozen=True, slots=True)
class Host:
    """system: as `sys.platform`; processor: as `uname -m`; kernel: as `uname -v`; macos: its version, () elsewhere.

    virtual: whether it is a virtual machine.
    """

    system: str
    processor: str
    kernel: str
    macos: tuple[int, ...]
    python: tuple[int, int]
    virtual: bool = False

    @property
    def is_mac(self) -> bool:
        return self.system == "darwin"

    @property
    def is_intel_mac(self) -> bool:
        """Not an Apple chip whose Python runs translated by Rosetta: the kernel still reports the chip."""
        return self.is_mac and self.processor == "x86_64" and "ARM64" not in self.kernel


def this_host(system: str = sys.platform) -> Host:
    kernel, python = os.uname(), (sys.version_info.major, sys.version_info.minor)
    macos = tuple(int(part) for part in macos_version(system).split(".") if part.isdecimal())
    return Host(system, kernel.machine, kernel.version, macos, python, is_virtual_machine(system))


def core_ml_units(host: Host, native_is_here: Callable[[], bool | None]) -> dict[str, str | None]:
    """Every unit with None if it may run here, else why not. `native_is_here` as `find_native`."""
    missing = _missing(host, native_is_here())
    return {unit: missing or why_not(unit, host) for unit in CORE_ML_UNITS}


def why_no_neural_engine(host: Host) -> str | None:
    """Why there is certainly no Neural Engine, as far as is known before Core ML is asked; None if there may be one."""
    if host.is_intel_mac:
        return "an Intel Mac has no Neural Engine"
    return "a virtual machine has no Neural Engine" if host.is_mac and host.virtual else None


def load_limit(unit: str, host: Host, devices: Sequence[str] = ()) -> AbstractContextManager[None]:
    """A short time limit where Core ML may compile for a Neural Engine that is not there. devices: empty if unknown."""
    here = NEURAL_ENGINE in devices if devices else why_no_neural_engine(host) is None
    return (
        nullcontext() if here or unit not in USED_BY["ane"] else time_limit(f"loading {unit} without a {NEURAL_ENGINE}")
    )


def units_on_request(host: Host) -> dict[str, str]:
    """Units that may run but are to be measured only if they are named, each with the reason.

    Where there is no Neural Engine, Core ML was seen to compile for it all the same, and to hang for 27 minutes in it.
    """
    lacking = why_no_neural_engine(host)
    if lacking is None:
        return {}
    reason = f"{lacking}, and loading can hang for minutes: measured only if named explicitly"
    return {unit: reason for unit in USED_BY["ane"] if why_not(unit, host) is None}


def find_native(finders: Iterable[Any] | None = None) -> bool | None:
    """Whether coremltools has its native part; None if coremltools is not installed. Nothing is imported.

    Every finder of modules is asked as an import would ask it; `find_spec` would import the package first.
    """
    try:
        package = importlib.util.find_spec(PACKAGE)
    except (ImportError, ValueError):  # a module half imported
        return None
    if package is None:
        return None
    places = package.submodule_search_locations
    asked = list(sys.meta_path if finders is None else finders)
    return any(finder.find_spec(NATIVE_MODULE, places) is not None for finder in asked)


def _missing(host: Host, native: bool | None) -> str | None:
    if native:
        return None
    if not host.is_mac:
        return NEEDS_MACOS
    if native is not None:
        return f"this {PACKAGE} lacks its native part: pip install --force-reinstall {PACKAGE}"
    if host.python > NEWEST_PYTHON:
        newest, this = (".".join(map(str, version)) for version in (NEWEST_PYTHON, host.python))
        return f"Core ML needs {PACKAGE}, which has no release for Python {this}: use {newest}"
    return f"Core ML needs {PACKAGE}: pip install {PACKAGE}"


def why_not(unit: str, host: Host) -> str | None:
    """Why a Mac like this one lacks the unit, whatever runs it there; None if it has it."""
    if unit != "CPU_AND_NE" or not host.is_mac:
        return None
    if host.is_intel_mac:
        return why_no_neural_engine(host)
    if host.macos and host.macos < NEURAL_ENGINE_MACOS:
        return "CPU_AND_NE needs macOS 13"
    return None
