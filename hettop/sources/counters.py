"""Cache misses of this process, by the processor's counters, where Linux lets a program read them (perf_event_open)."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

from hettop.text import clean

SYSTEM_CALLS = {"x86_64": 298, "aarch64": 241}
"""The number of perf_event_open, by machine."""

ATTRIBUTES = struct.Struct("=IIQQQQQIIQ")
"""struct perf_event_attr in its first version (perf_event_open(2)): type, size, config, sample period and type, read
format, flags, and three fields that counting does not use."""

TIMES = 1 | 2
"""Read format: for how long an event was enabled, and for how long it had a counter."""

INHERIT, EXCLUDE_KERNEL, EXCLUDE_HYPERVISOR = 1 << 1, 1 << 5, 1 << 6
"""Flags: threads that begin later count, too; without the kernel no rights are needed."""

CLOSE_ON_EXEC = 8
READING = struct.Struct("=QQQ")

LINE_BYTES = 64
"""Of a cache line, on x86 and on the Arm cores that run Linux."""


class Event(NamedTuple):
    """What is counted, by the numbers of the kernel."""

    kind: int
    config: int


REFERENCES, MISSES = Event(0, 2), Event(0, 3)
"""Accesses to the last-level cache, and those that it did not have: generic hardware events."""

PAGE_FAULTS = Event(1, 2)
"""Counted by the kernel itself, where the processor has no counters."""


class Traffic(NamedTuple):
    """Accesses to the last-level cache and misses, while they were counted."""

    references: float
    misses: float


def open_event(event: Event, machine: str = platform.machine(), system: str = sys.platform) -> int:
    """A descriptor from which the count of this process can be read. Raises OSError: why there is none."""
    number = SYSTEM_CALLS.get(machine)
    if system != "linux" or number is None:
        raise OSError(errno.ENOSYS, "Linux alone lets a program read them")
    attributes = ATTRIBUTES.pack(
        event.kind,
        ATTRIBUTES.size,
        event.config,
        0,
        0,
        TIMES,
        INHERIT | EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR,
        0,
        0,
        0,
    )
    library = ctypes.CDLL(None, use_errno=True)
    any_core, no_group = -1, -1
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    descriptor = int(library.syscall(number, buffer, 0, any_core, no_group, CLOSE_ON_EXEC))
    if descriptor < 0:
        found = ctypes.get_errno()
        raise OSError(found, _WHY.get(found, os.strerror(found)))
    return descriptor


_WHY = {
    errno.ENOENT: "the processor, or the virtual machine, has no such counters",
    errno.EACCES: "denied: /proc/sys/kernel/perf_event_paranoid is above 2",
    errno.EPERM: "denied: perf_event_open is not allowed here, as in many containers",
}


class CacheCounters:
    """Counts between `begin` and `end`, in all threads that this process starts from now on; close it."""

    def __init__(
        self, opened: Callable[[Event], int] = open_event, events: Sequence[Event] = (REFERENCES, MISSES)
    ) -> None:
        """Raises OSError where there are no counters."""
        self._descriptors: list[int] = []
        self._sums = [[0, 0, 0] for _ in events]
        self._before: list[tuple[int, ...]] = []
        try:
            for event in events:
                self._descriptors.append(opened(event))
        except OSError:
            self.close()
            raise

    def begin(self) -> None:
        self._before = self._read()

    def end(self) -> None:
        for total, then, now in zip(self._sums, self._before, self._read(), strict=True):
            for place in range(3):
                total[place] += now[place] - then[place]

    def traffic(self) -> Traffic | None:
        """All that was counted; None if an event never had a counter. Scaled where events shared one."""
        if any(running == 0 for _, _, running in self._sums):
            return None
        return Traffic(*(count * enabled / running for count, enabled, running in self._sums))

    def close(self) -> None:
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors = []

    def _read(self) -> list[tuple[int, ...]]:
        return [READING.unpack(os.read(descriptor, READING.size)) for descriptor in self._descriptors]


def why_no_counters(counters: Callable[[], CacheCounters] = CacheCounters) -> str:
    """Why cache misses cannot be counted here; empty if they can."""
    try:
        counters().close()
    except (OSError, AttributeError) as error:
        return clean(getattr(error, "strerror", None) or str(error), 80)
    return ""
