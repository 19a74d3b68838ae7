"""Clocks that samples are taken with: the machine's own, and a virtual one for a simulation that only sleeps.

Knows no backend; nanoseconds, monotonic, and the same origin in every process of this machine.
"""

from __future__ import annotations

import time

from hettop.sources.engine.backend import Clock
from hettop.units import NS_PER_S

MAX_LEAD_NS = 1_000_000
"""How far virtual time may run ahead of real time: a sleep overshoots by about 60 us, so shorter ones are saved up."""


class RealClock:
    """The monotonic clock of this machine."""

    # The bare builtin: one call less on either side of every timed inference.
    now = staticmethod(time.monotonic_ns)

    def sleep_until(self, moment: int) -> None:
        """Sleeps until `moment` (ns), not at all when it has passed."""
        left = moment - time.monotonic_ns()
        if left > 0:
            time.sleep(left / NS_PER_S)


class VirtualClock:
    """A clock on which simulated work takes exactly as long as it is said to, in step with the real one.

    `advance` is the work. The next `now` is its exact end; any other `now` first catches up with real time, so that
    pauses, sleeps and the caller's own work count as they happen. Once `advance` returns, virtual time is less than
    `MAX_LEAD_NS` ahead of real time. It belongs to the one thread that runs the work.
    """

    def __init__(self, real: Clock) -> None:
        self._real = real
        self._moment = real.now()
        self._just_worked = False

    @property
    def moment(self) -> int:
        """Virtual time as it was last told, without catching up."""
        return self._moment

    def now(self) -> int:
        if self._just_worked:
            self._just_worked = False
        else:
            self._moment = max(self._moment, self._real.now())
        return self._moment

    def sleep_until(self, moment: int) -> None:
        self._just_worked = False
        self._real.sleep_until(moment)
        self._moment = max(self._moment, moment)

    def advance(self, duration: int) -> None:
        """Lets `duration` (ns) of work pass."""
        self._moment += duration
        self._just_worked = True
        if self._moment - self._real.now() >= MAX_LEAD_NS:
            self._real.sleep_until(self._moment)
