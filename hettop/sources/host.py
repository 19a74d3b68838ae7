"""The machine: what it is, for the header, and what the rest of it is doing, as a source of `host` events.

Asks psutil and the platform.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path

import psutil

from hettop import events
from hettop.processes.command import command_output
from hettop.sources.macos import macos_version
from hettop.text import clean
from hettop.version import __version__

INTERVAL_NS = 5 * 10**9  # slow enough to cost neither cycles nor bytes, fast enough to explain a minute of samples
FRAMEWORKS = ("onnxruntime", "coremltools", "numpy")


Run = Callable[[Sequence[str]], str]
"""Runs a command and returns what it printed; "" where there is none."""


PMSET = ("/usr/bin/pmset", "-g")
BRAND = ("/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string")
MODEL = ("/usr/sbin/sysctl", "-n", "hw.model")
PROC_TRANSLATED = ("/usr/sbin/sysctl", "-n", "sysctl.proc_translated")

ROSETTA = (
    "Python runs under Rosetta, which slows down everything except the accelerators; hint: install an arm64 Python"
)
LOW_POWER = "low power mode is on and increases latencies"


def describe_host(system: str = sys.platform, run: Run = command_output) -> events.Host:
    """Chip, OS, cores, memory and versions of this machine; None where the platform does not report.

    `system` as `sys.platform` names it.
    """
    mode = power_mode(system, run)
    return events.Host(
        chip=chip_name(system, Path("/proc/cpuinfo"), run),
        os=clean(_operating_system(system)),
        cores=psutil.cpu_count(),
        memory_mb=psutil.virtual_memory().total >> 20,
        python=platform.python_version(),
        hettop=__version__,
        frameworks=_versions(),
        power_mode=mode,
        warnings=[ROSETTA] * is_translated(system, run) + [LOW_POWER] * (mode == "low power"),
    )


def chip_name(system: str, cpuinfo: Path, run: Run) -> str | None:
    """The processor as its maker calls it: `Apple M2`, `AMD EPYC`. `system` as `sys.platform` names it."""
    try:
        name = run(BRAND) if system == "darwin" else _linux_chip(cpuinfo)
    except OSError:
        name = ""
    return clean(name.strip() or platform.processor() or platform.machine(), 80) or None


def machine_model(system: str, run: Run = command_output) -> str | None:
    """A Mac's model as its system names it (`Mac14,2`); None elsewhere, and where it does not report."""
    if system != "darwin":
        return None
    return clean(run(MODEL).strip(), 80) or None


def power_mode(system: str, run: Run) -> str | None:
    """`low power`, `high power` or `normal`, as `pmset` has it in use on a Mac; None elsewhere, and if it is silent."""
    if system != "darwin":
        return None
    settings = {name: value for name, value, *_ in (f"{line} - -".split() for line in run(PMSET).splitlines())}
    if "1" in (settings.get("lowpowermode"), settings.get("powermode")):
        return "low power"
    if settings.get("highpowermode") == "1" or settings.get("powermode") == "2":
        return "high power"
    return "normal" if settings.keys() & {"lowpowermode", "powermode"} else None


def is_translated(system: str, run: Run) -> bool:
    """Whether this Python is an Intel program on an Apple chip."""
    return system == "darwin" and run(PROC_TRANSLATED).strip() == "1"


def _linux_chip(cpuinfo: Path) -> str:
    lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((line.partition(":")[2] for line in lines if line.startswith("model name")), "")


def _operating_system(system: str) -> str:
    if system == "darwin":
        return f"macOS {macos_version(system)}".strip()
    if system == "linux":
        try:
            return f"{platform.freedesktop_os_release()['PRETTY_NAME']} ({platform.release()})"
        except (OSError, KeyError):
            return platform.platform(terse=True)
    return platform.platform(terse=True)


def _versions() -> dict[str, str]:
    found = {}
    for name in FRAMEWORKS:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def cpu_seconds() -> tuple[float, float]:
    """Seconds that the cores were busy, and all seconds of all cores, since the machine started.

    Waiting for storage is not busy. Linux counts the time of guests within that of users.
    """
    times = psutil.cpu_times()._asdict()
    total = sum(value for name, value in times.items() if not name.startswith("guest"))
    return total - times["idle"] - times.get("iowait", 0.0), total


class HostSource:
    """Looks at the machine every five seconds; cheap enough for the thread that draws."""

    def __init__(self) -> None:
        self._next_ns = 0
        psutil.cpu_percent(percpu=True)  # the first answer covers the time since boot: discard it

    def drain(self, t: int) -> list[events.HostLoad]:
        """At most one event, when its time has come."""
        if t < self._next_ns:
            return []
        first = self._next_ns == 0
        self._next_ns = t + INTERVAL_NS
        if first:
            return []
        battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
        return [
            events.HostLoad(
                t=t,
                cpu_percent=[min(100.0, percent) for percent in psutil.cpu_percent(percpu=True)],
                memory_percent=psutil.virtual_memory().percent,
                swap_mb=psutil.swap_memory().used >> 20,
                battery_percent=battery.percent if battery else None,
                on_battery=not battery.power_plugged if battery and battery.power_plugged is not None else None,
            )
        ]
