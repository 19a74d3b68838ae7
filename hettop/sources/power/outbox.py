"""What a thread has to tell the stream until somebody takes it: bounded, the oldest given up first and counted.

Knows power windows and statuses; turns moments of a clock into times of the session.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass

import msgspec

from hettop.events import Power, PowerStatus
from hettop.sources.power.sample import PowerSample, as_event


@dataclass(frozen=True, slots=True)
class Window:
    """A sample whose window ended at `moment` of the clock."""

    moment: int
    elapsed_ns: int
    sample: PowerSample


@dataclass(frozen=True, slots=True)
class Status:
    """What is to be said of the source since `moment` of the clock; the event's own time counts for nothing."""

    moment: int
    event: PowerStatus


class Outbox:
    """Filled by one thread, emptied by another. The session began at `origin_ns` of the clock."""

    def __init__(self, origin_ns: int, most: int) -> None:
        self._origin, self._most = origin_ns, most
        self._lock = threading.Lock()
        self._told: deque[Window | Status] = deque()
        self.dropped = 0

    def put(self, told: Window | Status) -> None:
        with self._lock:
            self._told.append(told)
            while len(self._told) > self._most:
                self.dropped += isinstance(self._told.popleft(), Window)

    def take(self, earliest: int, latest: int) -> list[Power | PowerStatus]:
        """All of it as events, in order, with times from `earliest` to `latest` (ns of the session)."""
        with self._lock:
            told, self._told = self._told, deque()
        events: list[Power | PowerStatus] = []
        t = earliest
        for each in told:
            t = max(t, min(each.moment - self._origin, latest))
            if isinstance(each, Status):
                events.append(msgspec.structs.replace(each.event, t=t))
            else:
                events.append(as_event(each.sample, t, min(each.elapsed_ns, t)))
        return events
