"""Notices that a process did not run for a while: it was stopped and continued (Ctrl-Z, SIGSTOP), or the machine slept.

A stop is known by SIGCONT alone, which nobody can miss: a long call looks the same to any clock. How long it lasted is
known only as the time since the process last noticed that it runs. Sleep is what a clock that goes on meanwhile has
gained on one that does not.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from typing import NamedTuple

STOPPED, ASLEEP = "stopped", "asleep"
MOST_SIGNALS = 4096
LEAST_SLEEP_NS = 100_000_000
"""Two clocks are read one after the other: a smaller difference does not count as sleep."""


class Interruption(NamedTuple):
    """Why the process did not run. slept_ns: how long the machine slept, if that is why."""

    why: str
    slept_ns: int = 0


class Interruptions:
    """Reports each interruption once. continued: whether the process was stopped and continued since asked last."""

    def __init__(self, continued: Callable[[], bool], slept_ns: Callable[[], int]) -> None:
        self._continued = continued
        self._slept_ns = slept_ns
        self._slept_before = slept_ns()

    def poll(self) -> Interruption | None:
        """The interruption since this was asked last, if there was one."""
        slept, continued = self._slept_ns(), self._continued()
        gained, self._slept_before = slept - self._slept_before, slept
        if gained >= LEAST_SLEEP_NS:
            return Interruption(ASLEEP, gained)
        return Interruption(STOPPED) if continued else None


def listen_for_continue() -> Callable[[], bool]:
    """Handle SIGCONT from now on; the returned function says whether there was one since it was called last.

    To be called in the main thread. The signal is noted by the interpreter in whichever thread it arrives: the main
    thread, where Python runs handlers, may wait in a read for hours.
    """
    read_end, write_end = os.pipe()
    for end in (read_end, write_end):
        os.set_blocking(end, False)
    signal.signal(signal.SIGCONT, lambda _signal, _frame: None)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)

    def continued() -> bool:
        try:
            return signal.SIGCONT in os.read(read_end, MOST_SIGNALS)
        except BlockingIOError:
            return False

    return continued


def slept_ns() -> int:
    """How long the machine has slept since it was booted, but for a constant; 0 where there is no such clock."""
    if hasattr(time, "CLOCK_BOOTTIME"):  # Linux: it counts sleep, and the monotonic clock does not
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    if hasattr(time, "CLOCK_UPTIME_RAW"):  # macOS: the raw monotonic clock counts sleep
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - time.clock_gettime_ns(time.CLOCK_UPTIME_RAW)
    return 0
