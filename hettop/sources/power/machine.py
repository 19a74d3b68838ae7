"""What the power sources need of the machine, passed in so that each runs anywhere a test puts it.

Knows no source.
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from hettop.processes.child_process import ProcessGuard
from hettop.processes.command import Start, start_command
from hettop.processes.reaper import Reaper
from hettop.sources.macos import macos_version

Wait = Callable[[float], object]
"""Pauses for so many seconds."""


class Guard(ProcessGuard, Protocol):
    """Kills what is registered with it, however this process ends; `close` ends the guard."""

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Machine:
    """`system` as `sys.platform` names it, `release` of macOS (`15.1`), `chip` by its maker's name; None if unknown.

    now: monotonic ns. wait: None pauses in real time. find: the path of an executable by name or path, or None.
    sysfs: where the kernel shows power counters on Linux. load: imports a module by name.
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
    wait: Wait | None = None

    @property
    def is_mac(self) -> bool:
        return self.system == "darwin"


def this_machine(environment: Mapping[str, str] = os.environ, chip: str | None = None) -> Machine:
    """The real one."""
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
