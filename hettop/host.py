"""The machine: what it is, for the header, and what the rest of it is doing, as a source of `host` events.

Asks psutil and the platform; knows nothing of sessions.
"""

from __future__ import annotations

import platform
import sys
from importlib import metadata
from pathlib import Path

import psutil

from hettop import __version__, events
from hettop.text import clean

INTERVAL_NS = 5 * 10**9  # slow enough to cost neither cycles nor bytes, fast enough to explain a minute of samples
FRAMEWORKS = ("onnxruntime", "coremltools", "numpy")


def describe_host() -> events.Host:
    """Chip, OS, cores, memory and versions of this machine; None where the platform does not tell."""
    return events.Host(
        chip=_chip(),
        os=clean(_operating_system()),
        cores=psutil.cpu_count(),
        memory_mb=psutil.virtual_memory().total >> 20,
        python=platform.python_version(),
        hettop=__version__,
        frameworks=_versions(),
    )


def _chip() -> str | None:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    name = names[0] if names else platform.processor() or platform.machine()
    return clean(name, 80) or None


def _operating_system() -> str:
    if sys.platform == "linux":
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
