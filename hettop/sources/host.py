"""The machine: what it is, for the header, and what the rest of it is doing, as a source of `host` events.

Asks psutil and the platform.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import psutil

from hettop import events
from hettop.processes.command import command_output
from hettop.processes.cpus import usable_cpus
from hettop.sources.macos import macos_version
from hettop.text import clean
from hettop.units import BYTES_PER_MB
from hettop.version import __version__

INTERVAL_NS = 5 * 10**9  # slow enough to cost neither cycles nor bytes, fast enough to explain a minute of samples
FRAMEWORKS = ("onnxruntime", "coremltools", "coreai-core", "numpy")


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
    mode, usable = power_mode(system, run), usable_cpus()
    return events.Host(
        chip=chip_name(system, Path("/proc/cpuinfo"), run),
        os=clean(_operating_system(system)),
        cores=psutil.cpu_count(),
        cpus=usable.restricted_to,
        cpu_quota=usable.quota,
        core_kinds=core_kinds(DEVICES, psutil.cpu_count() or 0),
        memory_mb=psutil.virtual_memory().total >> 20,
        python=platform.python_version(),
        hettop=__version__,
        frameworks=_versions(),
        power_mode=mode,
        warnings=[
            *[ROSETTA] * is_translated(system, run),
            *[LOW_POWER] * (mode == "low power"),
            *usable.warnings,
        ],
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


DEVICES = Path("/sys/devices")
_KINDS = {"P": "cpu_core", "E": "cpu_atom"}
"""The names that Linux gives to the performance counters of the two kinds of cores of an Intel processor."""


def core_kinds(devices: Path, cores: int) -> list[str]:
    """`P` or `E` for each core by Linux's `cpu_core/cpus` (`0-7`) and `cpu_atom/cpus`; empty without these files."""
    found: dict[int, str] = {}
    for kind, name in _KINDS.items():
        try:
            for part in (devices / name / "cpus").read_text(encoding="ascii").strip().split(","):
                first, _, last = part.partition("-")
                found.update(dict.fromkeys(range(int(first), min(int(last or first), cores) + 1), kind))
        except (OSError, ValueError):
            return []
    return [found[core] for core in range(cores)] if set(found) == set(range(cores)) else []


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


PRESSURE = Path("/proc/pressure/memory")
SENSORS = ("coretemp", "k10temp", "zenpower", "cpu_thermal", "soc_thermal")
"""The processor's temperature by the names of Linux drivers; other sensors are of disks and batteries."""


def cpu_seconds() -> tuple[float, float]:
    """Seconds that the cores were busy, and all seconds of all cores, since the machine started.

    Waiting for storage is not busy. Linux counts the time of guests within that of users.
    """
    times = psutil.cpu_times()._asdict()
    total = sum(value for name, value in times.items() if not name.startswith("guest"))
    return total - times["idle"] - times.get("iowait", 0.0), total


class HostSource:
    """Looks at the machine and at hettop's own processes every five seconds; cheap enough for the thread that draws.

    engines: the process ids of the engines.
    """

    def __init__(self, engines: Callable[[], Sequence[int]] = tuple, pressure: Path = PRESSURE) -> None:
        self._next_ns = 0
        self._pressure = pressure
        self._engines = engines
        self._own = ProcessWeight()
        self._engine_weights: dict[int, ProcessWeight] = {}
        psutil.cpu_percent(percpu=True)  # the first answer covers the time since boot: discard it

    def drain(self, t: int) -> list[events.HostLoad]:
        """At most one event, when its time has come."""
        if t < self._next_ns:
            return []
        first = self._next_ns == 0
        self._next_ns = t + INTERVAL_NS
        own, engines = self._own.since_last(), self._weigh_engines()
        if first:
            return []
        battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
        return [
            events.HostLoad(
                t=t,
                cpu_percent=[min(100.0, percent) for percent in psutil.cpu_percent(percpu=True)],
                memory_percent=psutil.virtual_memory().percent,
                swap_mb=psutil.swap_memory().used >> 20,
                pressure_percent=memory_pressure(self._pressure),
                mhz=clock_mhz(sys.platform),
                temperature_c=temperature_c(),
                own_cpu_percent=own.cpu_percent,
                own_memory_mb=own.memory_mb,
                engine_cpu_percent=engines.cpu_percent,
                engine_memory_mb=engines.memory_mb,
                battery_percent=battery.percent if battery else None,
                on_battery=not battery.power_plugged if battery and battery.power_plugged is not None else None,
            )
        ]

    def _weigh_engines(self) -> Weight:
        """All engine processes together; one that has just begun counts from the next time on."""
        pids = self._engines()
        self._engine_weights = {pid: self._engine_weights.get(pid) or ProcessWeight(pid) for pid in pids}
        return total([weight.since_last() for weight in self._engine_weights.values()])


@dataclass(frozen=True, slots=True)
class Weight:
    """What a process took: CPU time since the last look, 100% being one core, and resident memory; None: unknown."""

    cpu_percent: float | None = None
    memory_mb: float | None = None


def total(weights: Sequence[Weight]) -> Weight:
    """The sum of what is known."""
    cpus = [weight.cpu_percent for weight in weights if weight.cpu_percent is not None]
    memories = [weight.memory_mb for weight in weights if weight.memory_mb is not None]
    return Weight(sum(cpus) if cpus else None, sum(memories) if memories else None)


class ProcessWeight:
    """Looks at one process, this one by default, again and again."""

    def __init__(self, pid: int | None = None) -> None:
        try:
            self._process: psutil.Process | None = psutil.Process(pid)
        except psutil.Error:
            self._process = None
        self._seen = False

    def since_last(self) -> Weight:
        """What it took since the last call; the first one knows nothing of the CPU time."""
        if self._process is None:
            return Weight()
        try:
            percent, resident = self._process.cpu_percent(), self._process.memory_info().rss
        except psutil.Error:  # it has ended
            return Weight()
        seen, self._seen = self._seen, True
        return Weight(percent if seen else None, resident / BYTES_PER_MB)


def memory_pressure(path: Path) -> float | None:
    """The share of the last ten seconds in which some process waited for memory, in percent; None where Linux does not
    report it (`/proc/pressure/memory`, the first line's `avg10`)."""
    try:
        line = path.read_text(encoding="ascii").partition("\n")[0]
        fields = dict(field.split("=", 1) for field in line.split()[1:])
        return min(100.0, max(0.0, float(fields["avg10"])))
    except (OSError, ValueError, KeyError):
        return None


def clock_mhz(system: str) -> float | None:
    """The mean frequency of the cores; None on a Mac, where psutil has the highest one that is possible instead."""
    if system == "darwin" or not hasattr(psutil, "cpu_freq"):
        return None
    try:
        frequency = psutil.cpu_freq()
    except (OSError, RuntimeError, NotImplementedError):
        return None
    return frequency.current if frequency and frequency.current > 0 else None


def temperature_c() -> float | None:
    """The hottest sensor of the processor in degrees Celsius; None where there is none that psutil can read."""
    if not hasattr(psutil, "sensors_temperatures"):
        return None
    try:
        sensors = psutil.sensors_temperatures()
    except (OSError, RuntimeError):
        return None
    return max((each.current for name in SENSORS for each in sensors.get(name, []) if each.current), default=None)
