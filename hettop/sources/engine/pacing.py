"""The plan of a paced unit: arrivals at a fixed rate, whether or not they can be served in time.

Arithmetic alone: reads no clock; times are in nanoseconds.
"""

from __future__ import annotations

from hettop.units import NS_PER_S


class Pace:
    """Planned starts at origin + i / `rate_hz`; the origin is the first moment asked for after an interruption."""

    def __init__(self, rate_hz: float) -> None:
        self._period = NS_PER_S / rate_hz
        self._origin: int | None = None
        self._started = 0
        self.unfinished = 0
        """Arrivals that were due before an interruption and had not been started."""

    def next_start(self, now: int) -> int:
        """The planned start of the next sample."""
        if self._origin is None:
            self._origin = now
        return self._origin + int(self._started * self._period)

    def started(self) -> None:
        """That sample was started: the one after it is next."""
        self._started += 1

    def interrupt(self, now: int) -> None:
        """The unit stops at `now`. Nothing arrives until the next start is asked for."""
        if self._origin is not None:
            due = int((now - self._origin) / self._period) + 1
            self.unfinished += max(0, due - self._started)
        self._origin = None
        self._started = 0
