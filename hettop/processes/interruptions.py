"""Notices that a process did not run for a while: it was stopped and continued (Ctrl-Z, SIGSTOP), or the machine slept.

A stop is known by SIGCONT alone, which nobody can miss: a long call looks the same to any clock. How long it lasted is
known only as the time since the process last noticed that it runs. Sleep is what a clock that goes on meanwhile has
gained on one that does not.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from hettop.units import NS_PER_S

STOPPED, ASLEEP = "stopped", "asleep"
MOST_SIGNALS = 4096
LEAST_SLEEP_NS = 100_000_000
"""Two clocks are read one after the other: a smaller difference does not count as sleep."""


TICK_S = 0.2
"""How often a watch notes that the process runs, and so how exactly it knows how long a stop lasted."""

T = TypeVar("T")


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


class ContinueListener:
    """Handles SIGCONT until it is closed; each call returns whether there was one since the call before.

    To be made in the main thread. The signal is noted by the interpreter in whichever thread it arrives: the main
    thread, where Python runs handlers, may wait in a read for hours.
    """

    def __init__(self) -> None:
        self._read_end, self._write_end = os.pipe()
        for end in (self._read_end, self._write_end):
            os.set_blocking(end, False)
        self._handler_before = signal.signal(signal.SIGCONT, lambda _signal, _frame: None)
        self._wakeup_before = signal.set_wakeup_fd(self._write_end, warn_on_full_buffer=False)

    def __call__(self) -> bool:
        try:
            return signal.SIGCONT in os.read(self._read_end, MOST_SIGNALS)
        except BlockingIOError:
            return False

    def close(self) -> None:
        """Handle SIGCONT as before."""
        signal.set_wakeup_fd(self._wakeup_before)
        signal.signal(signal.SIGCONT, self._handler_before)
        os.close(self._read_end)
        os.close(self._write_end)


def slept_ns() -> int:
    """How long the machine has slept since it was booted, but for a constant; 0 where there is no such clock."""
    if hasattr(time, "CLOCK_BOOTTIME"):  # Linux: it counts sleep, and the monotonic clock does not
        return time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    if hasattr(time, "CLOCK_UPTIME_RAW"):  # macOS: the raw monotonic clock counts sleep
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - time.clock_gettime_ns(time.CLOCK_UPTIME_RAW)
    return 0


def uninterrupted(measure: Callable[[], T], interruption: Callable[[], Interruption | None]) -> T:
    """What `measure` returns; if there was an interruption meanwhile, all of it is measured again."""
    interruption()  # what came before
    while True:
        found = measure()
        if interruption() is None:
            return found


@dataclass(slots=True)
class InterruptionTotals:
    """How often this process was stopped and the machine slept, and how long these lasted in all."""

    stops: int = 0
    stopped_ns: int = 0
    sleeps: int = 0
    slept_ns: int = 0

    def add(self, found: Interruption, stopped_ns: int) -> None:
        """stopped_ns: how long it was stopped, if that is why."""
        if found.why == ASLEEP:
            self.sleeps += 1
            self.slept_ns += found.slept_ns
        else:
            self.stops += 1
            self.stopped_ns += stopped_ns


@contextmanager
def interruptions_watched() -> Iterator[InterruptionTotals]:
    """The interruptions of this process, which a thread keeps up to date. To be used in the main thread."""
    totals, ended, listener = InterruptionTotals(), threading.Event(), ContinueListener()
    poll = Interruptions(listener, slept_ns).poll
    thread = threading.Thread(target=add_interruptions, args=(totals, poll, ended.wait), daemon=True)
    thread.start()
    try:
        yield totals
    finally:
        ended.set()
        thread.join()
        listener.close()


def add_interruptions(
    totals: InterruptionTotals,
    poll: Callable[[], Interruption | None],
    wait: Callable[[float], bool],
    now: Callable[[], int] = time.monotonic_ns,
) -> None:
    """Add to `totals` until `wait` returns True. A wait that took too long is how long a stop lasted."""
    moment, before = now(), 0
    while not wait(TICK_S):
        ended = now()
        late, moment = ended - moment - int(TICK_S * NS_PER_S), ended
        if (found := poll()) is not None:
            totals.add(found, max(late, before, 0))
        before = late  # the signal may be noted a little after the wait has ended
