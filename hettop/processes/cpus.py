"""Which CPUs this process may use: its affinity (`taskset`), and the share of time that its control group allows."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
OWN_CGROUP = Path("/proc/self/cgroup")


@dataclass(frozen=True, slots=True)
class UsableCpus:
    """`cpus` that the affinity allows, None where the system has none; `quota` of the control group in CPUs, or None.

    machine: how many CPUs there are.
    """

    machine: int
    cpus: tuple[int, ...] | None
    quota: float | None

    @property
    def threads(self) -> int:
        """How many threads can run at once without being throttled, at least 1."""
        allowed = self.machine if self.cpus is None else len(self.cpus)
        return max(1, allowed if self.quota is None else min(allowed, math.floor(self.quota)))

    @property
    def restricted_to(self) -> str | None:
        """The allowed CPUs as Linux writes them (`0-3,8`); None where all are allowed."""
        return None if self.cpus is None or len(self.cpus) >= self.machine else cpu_list(self.cpus)

    @property
    def warnings(self) -> list[str]:
        found = []
        if self.restricted_to is not None and self.cpus is not None:
            found.append(f"restricted by CPU affinity to {len(self.cpus)} of {self.machine} CPUs: {self.restricted_to}")
        if self.quota is not None:
            found.append(f"limited by its control group to {self.quota:.3g} CPUs: beyond that, calls are throttled")
        return found


def usable_cpus(cgroups: Path = CGROUPS, own_cgroup: Path = OWN_CGROUP) -> UsableCpus:
    """What this process may use now. The folders are those of Linux; elsewhere there are none."""
    machine = os.cpu_count() or 1
    cpus = tuple(sorted(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else None
    quota = min(_quotas(cgroups, own_cgroup), default=math.inf)
    return UsableCpus(machine, cpus, quota if quota < machine else None)


def usable_threads() -> int:
    """How many threads can run at once: the number of cores, unless the process may use fewer."""
    return usable_cpus().threads


def cpu_list(cpus: Sequence[int]) -> str:
    """`0-3,8` for 0, 1, 2, 3 and 8, ascending."""
    runs = []
    for _, group in groupby(enumerate(cpus), key=lambda pair: pair[1] - pair[0]):
        run = [cpu for _, cpu in group]
        runs.append(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}")
    return ",".join(runs)


def _quotas(cgroups: Path, own_cgroup: Path) -> Iterator[float]:
    """The limits in CPUs of the process's control group and of those that it lies in."""
    try:
        entries = [line.split(":", 2) for line in own_cgroup.read_text().splitlines()]
    except (OSError, UnicodeDecodeError):
        return
    for _, controllers, path in (entry for entry in entries if len(entry) == 3):
        if controllers and "cpu" not in controllers.split(","):
            continue
        root = cgroups / "cpu" if controllers else cgroups
        # In a container the path may be the host's, of which only the root is mounted.
        folder = root / path.lstrip("/")
        while True:
            quota = _version_1(folder) if controllers else _version_2(folder)
            if quota is not None:
                yield quota
            if folder == root or root not in folder.parents:
                break
            folder = folder.parent


def _version_2(folder: Path) -> float | None:
    """`cpu.max` is `200000 100000`: microseconds of every period, or `max`."""
    try:
        quota, period = (folder / "cpu.max").read_text().split()
        return None if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError, ArithmeticError):
        return None


def _version_1(folder: Path) -> float | None:
    """Microseconds of every period, -1 without a limit."""
    try:
        quota = int((folder / "cpu.cfs_quota_us").read_text())
        period = int((folder / "cpu.cfs_period_us").read_text())
        return quota / period if quota > 0 else None
    except (OSError, ValueError, ArithmeticError):
        return None
