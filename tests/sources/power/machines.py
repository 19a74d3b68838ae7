"""Machines for the sources: a Mac whose sudo, powermetrics and macmon are stand-ins, a PC whose sysfs is a folder."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from hettop.processes.child_process import ChildProcess, ProcessGuard
from hettop.sources.power.sample import PowerSample
from hettop.sources.power.source import Machine, PowerSource
from tests.clocks import FakeClock
from tests.processes.waiting import environment, gone
from tests.sources.load.fakes import ListedGuard

STAND_INS = Path(__file__).parent / "stand_ins"
PROGRAMS = {"/usr/bin/sudo": "sudo.py", "/usr/bin/powermetrics": "powermetrics.py", "macmon": "macmon.py"}


class Guard(ListedGuard):
    """A guard that can be closed."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = False

    def close(self) -> None:
        self.closed = True


class Bench:
    """A machine, with what was started on it written down."""

    def __init__(
        self,
        system: str,
        *,
        release: str = "15.1",
        chip: str = "Apple M2",
        sysfs: Path = Path("/nowhere"),
        **modes: str,
    ) -> None:
        self.guard = Guard()
        self.started: list[list[str]] = []
        self.processes: list[ChildProcess] = []
        self.kill: Callable[[int, int], None] = os.kill
        self.missing: set[str] = set()
        self.modules: dict[str, Any] = {}
        self.machine = Machine(
            system=system,
            release=release,
            chip=chip,
            euid=501,
            environment={**environment(), **{f"STAND_IN_{name.upper()}": value for name, value in modes.items()}},
            now=time.monotonic_ns,
            find=self._find,
            spawn=self._spawn,
            guard=lambda: self.guard,
            load=self._load,
            sysfs=sysfs,
        )

    @property
    def alive(self) -> list[int]:
        return [process.pid for process in self.processes if not gone([process.pid])]

    def _find(self, name: str) -> str | None:
        return name if name in PROGRAMS and name not in self.missing else None

    def _spawn(self, argv: Sequence[str], env: Mapping[str, str] | None, guard: ProcessGuard | None) -> ChildProcess:
        self.started.append(list(argv))
        if argv[0] in self.missing:
            raise FileNotFoundError(2, "No such file or directory")
        command = [sys.executable, str(STAND_INS / PROGRAMS[argv[0]]), *argv[1:]]
        process = ChildProcess(command, env, guard, stdin=False, blocked=(), kill=self.kill)
        self.processes.append(process)
        return process

    def _load(self, name: str) -> Any:
        if name not in self.modules:
            raise ImportError(name)
        return self.modules[name]


def mac(**changes: Any) -> Bench:
    return Bench("darwin", **changes)


def pc(sysfs: Path) -> Bench:
    return Bench("linux", sysfs=sysfs)


def zeus_module(energies: Mapping[str, int | None], **quirks: Any) -> Any:
    """A library whose every window has these energies in mJ."""

    class AppleEnergyMonitor:
        def __init__(self) -> None:
            self.open: set[str] = set()
            if "refuses" in quirks:
                raise RuntimeError(quirks["refuses"])

        def begin_window(self, key: str) -> None:
            assert key not in self.open
            self.open.add(key)

        def end_window(self, key: str) -> Any:
            self.open.remove(key)
            return SimpleNamespace(**energies)

    return SimpleNamespace(AppleEnergyMonitor=AppleEnergyMonitor)


def write_tree(folder: Path, files: Mapping[str, object]) -> Path:
    """Files with a line each, as sysfs shows them."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    return folder


class Driven:
    """A clock that a source's own waiting moves on; in the meantime `meanwhile` happens."""

    def __init__(self, machine: Machine) -> None:
        self.clock = FakeClock()
        self.changes: Iterator[Mapping[str, object]] = iter(())
        self._folder = machine.sysfs
        self.machine = replace(machine, now=self.clock.now, wait=self._wait)

    def _wait(self, seconds: float) -> None:
        self.clock.pass_time(round(seconds * 1e9))
        write_tree(self._folder, next(self.changes, {}))


RAPL_FILES = {
    "class/powercap/intel-rapl:0/name": "package-0",
    "class/powercap/intel-rapl:0/energy_uj": 1_000_000,
    "class/powercap/intel-rapl:0/max_energy_range_uj": 262_143_328_850,
    "class/powercap/intel-rapl:0:0/name": "core",
    "class/powercap/intel-rapl:0:0/energy_uj": 500_000,
    "class/powercap/intel-rapl:0:0/max_energy_range_uj": 262_143_328_850,
}
HWMON_FILES = {
    "class/hwmon/hwmon3/name": "board",
    "class/hwmon/hwmon3/power1_label": "Socket 0",
    "class/hwmon/hwmon3/power1_average": 42_500_000,
}


def first(source: PowerSource, n: int, interval_ns: int = 50_000_000) -> list[PowerSample]:
    """The first `n` samples."""
    samples = source.samples(interval_ns)
    try:
        return [next(samples) for _ in range(n)]
    finally:
        samples.close()


class Reading:
    """Reads a source in a thread, as the feed does; `samples` grows, `error` is what ended it."""

    def __init__(self, source: PowerSource, interval_ns: int = 50_000_000) -> None:
        self.samples: list[PowerSample] = []
        self.error: BaseException | None = None
        self._source, self._interval_ns = source, interval_ns
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def ended(self) -> bool:
        return not self._thread.is_alive()

    def _read(self) -> None:
        try:
            for sample in self._source.samples(self._interval_ns):
                self.samples.append(sample)
        except BaseException as error:  # noqa: BLE001 - the test looks at it
            self.error = error
