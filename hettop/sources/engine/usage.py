"""What the operating system charges this process: page faults, context switches, memory.

Read once per flush, never per sample.
"""

from __future__ import annotations

import gc
import resource
import sys
import time
from collections.abc import Callable

import psutil

from hettop.sources.engine.frames import UsageReport

KIB = 1024

RESIDENT_NS = 10 * 10**9
"""How often the memory is reported: most leaks that matter take minutes."""

LOOK_NS = 10**8
GREW_MB = 256
"""How often it is looked at, which takes some 50 us between two samples, and what growth is reported at once. While the
process never was that large, which costs nothing to know, nobody need look."""


class UsageMeter:
    """Differences of `getrusage(RUSAGE_SELF)`: all threads, since a framework's own threads fault and switch, too.

    The memory in use is reported with the first report, every ten seconds by `now` (ns), and soon after it has grown.
    """

    def __init__(
        self,
        now: Callable[[], int] = time.monotonic_ns,
        resident_bytes: Callable[[], int] | None = None,
        peak_mb: Callable[[], float] | None = None,
    ) -> None:
        self._now = now
        self._peak_mb = peak_mb or peak_memory_mb
        self._resident_bytes = resident_bytes or _resident_bytes(psutil.Process())
        self._look_at: int | None = None
        self._tell_at = 0
        self._told_mb = 0.0
        self._last = _counters()
        self._read_at = self._now()

    def read(self) -> UsageReport | None:
        """The charge since the last report; None, and not begun anew, while there is nothing that could disturb."""
        counters = _counters()
        minor, major, voluntary, involuntary, collections = (
            new - old for new, old in zip(counters, self._last, strict=True)
        )
        since, self._read_at = self._read_at, self._now()
        resident_mb = self._resident_mb(self._read_at)
        if not (minor or major or involuntary or collections or resident_mb):
            return None
        self._last = counters
        return UsageReport(
            minor_faults=minor,
            major_faults=major,
            voluntary_switches=voluntary,
            involuntary_switches=involuntary,
            collections=collections,
            resident_mb=resident_mb,
            since_ns=since,
            until_ns=self._read_at,
        )

    def _resident_mb(self, now: int) -> float | None:
        """The resident memory in MB (10^6 bytes), to a tenth; None when it is unchanged."""
        first = self._look_at is None
        waits = self._look_at is not None and now < self._tell_at
        if waits and (now < (self._look_at or 0) or self._peak_mb() < self._told_mb + GREW_MB):
            return None
        self._look_at = now + LOOK_NS
        resident_mb: float = round(self._resident_bytes() / 1e6, 1)
        if not first and now < self._tell_at and resident_mb < self._told_mb + GREW_MB:
            return None
        self._tell_at, self._told_mb = now + RESIDENT_NS, resident_mb
        return resident_mb


def _resident_bytes(process: psutil.Process) -> Callable[[], int]:
    return lambda: int(process.memory_info().rss)


def _counters() -> tuple[int, int, int, int, int]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    collections = sum(generation["collections"] for generation in gc.get_stats())
    return used.ru_minflt, used.ru_majflt, used.ru_nvcsw, used.ru_nivcsw, collections


def peak_memory_mb(platform: str = sys.platform) -> float:
    """The largest resident size this process has had so far, in MB (10^6 bytes), to a tenth.

    `platform` as `sys.platform` names it: macOS counts bytes, others KiB.
    """
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(largest * (1 if platform == "darwin" else KIB) / 1e6, 1)
