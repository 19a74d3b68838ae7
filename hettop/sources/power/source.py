"""The interfaces between hettop and a source of power samples, and between a source and the machine.

The machine is passed in, so that each source runs anywhere a test puts it.
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from hettop.errors import HettopError
from hettop.processes.child_process import ProcessGuard
from hettop.processes.command import Start, start_command
from hettop.processes.reaper import Reaper
from hettop.sources.macos import macos_version
from hettop.sources.power.sample import PowerSample
from hettop.units import NS_PER_S

# States (of events.POWER_STATES) in which a source may be lost.
FAILED = "failed"  # trying again may help
EXPIRED = "expired"  # the user has to give access
UNAVAILABLE = "unavailable"  # this machine will not give any
ENDED = "starting"  # as it was meant to: it only has to be started again


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a source works here; if not, why, and the command or step that fixes it.

    impossible: nothing that the user could do while hettop runs would fix it, as access could be given.
    reason of one that works: what it lacks.
    absent: nothing is broken or denied: this system has no such thing, or an optional part is not installed.
    foreign: it is of another system. needs_access: all it lacks is the access that the user can give.
    """

    ok: bool
    reason: str = ""
    fix: str = ""
    impossible: bool = False
    absent: bool = False
    foreign: bool = False
    needs_access: bool = False


def of_another_system(system: str) -> Availability:
    """The availability of a source that exists only on `system`, on any other system."""
    return Availability(False, f"{system} only", impossible=True, absent=True, foreign=True)


class PowerLostError(HettopError):
    """A source ended without being stopped. `state`, one of the above, shows whether to try again."""

    def __init__(self, message: str, hint: str = "", *, state: str = FAILED) -> None:
        super().__init__("power", message, hint)
        self.state = state


class PowerSource(Protocol):
    """A source of power samples.

    `samples` runs in a thread of its own and gives samples as their windows end, until `stop` is called in another
    thread; returning unasked means that there will be no more. It raises PowerLostError, or HettopError for what is
    wrong in itself. `stop` never waits and may be called at any time, and again; then `samples` may be asked for anew.
    """

    @property
    def name(self) -> str: ...

    @property
    def resolution_mj(self) -> float | None:
        """The step of the energy counters behind the samples; None where it is not reported."""

    @property
    def note(self) -> str:
        """What to know of its samples, in words; mostly nothing."""

    def granted_ns(self, asked_ns: int) -> int | None:
        """The interval it will keep when `asked_ns` is asked for; None for windows that are what they are."""

    def probe(self) -> Availability: ...

    def samples(self, interval_ns: int) -> Generator[PowerSample, None, None]: ...

    def stop(self) -> None: ...


Wait = Callable[[float], object]
"""Pauses for so many seconds."""


class Guard(ProcessGuard, Protocol):
    """Kills what is registered with it, however this process ends; `close` ends the guard."""

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Machine:
    """`system` as `sys.platform` names it, `release` of macOS (`15.1`), `chip` by its maker's name; None if unknown.

    now: monotonic ns. wait: None pauses in real time. find: the path of an executable by name or path, or None.
    sysfs, procfs: where the kernel shows devices and processes on Linux. load: imports a module by name.
    engines: the process ids of hettop's engines.
    """

    system: str
    release: str
    chip: str | None
    euid: int
    environment: Mapping[str, str]
    now: Callable[[], int]
    find: Callable[[str], str | None]
    spawn: Start
    guard: Callable[[], Guard]
    load: Callable[[str], Any]
    sysfs: Path = Path("/sys")
    procfs: Path = Path("/proc")
    engines: Callable[[], Sequence[int]] = tuple
    wait: Wait | None = None

    @property
    def is_mac(self) -> bool:
        return self.system == "darwin"


def this_machine(environment: Mapping[str, str] = os.environ, chip: str | None = None) -> Machine:
    """Return the machine that hettop runs on."""
    return Machine(
        system=sys.platform,
        release=macos_version(),
        chip=chip,
        euid=os.geteuid(),
        environment=environment,
        now=time.monotonic_ns,
        find=lambda name: _find(name, environment),
        spawn=start_command,
        guard=Reaper,
        load=importlib.import_module,
    )


# Where package managers of a Mac put programs; a shell that was not set up for them has none of these in its PATH.
USUAL_PLACES = ("/opt/homebrew/bin", "/usr/local/bin", "/opt/local/bin")


def _find(name: str, environment: Mapping[str, str]) -> str | None:
    path = environment.get("PATH", os.defpath)
    return shutil.which(name, path=os.pathsep.join((path, *USUAL_PLACES)))


class ReadingInterval:
    """Moments at which to read. `stop` ends `moments` also while it waits; they may be asked for anew after it."""

    def __init__(self, now: Callable[[], int], wait: Wait | None = None) -> None:
        self._now = now
        self._stopped = threading.Event()
        self._wait = wait or self._stopped.wait

    def moments(self, interval_ns: int) -> Iterator[int]:
        """Now, and then every `interval_ns`, in ns of the clock. Moments that were slept through are left out."""
        self._stopped.clear()
        due = self._now()
        yield due
        while True:
            moment = self._now()
            due = max(due + interval_ns, moment)
            self._wait((due - moment) / NS_PER_S)
            if self._stopped.is_set():
                return
            yield self._now()

    def stop(self) -> None:
        self._stopped.set()
