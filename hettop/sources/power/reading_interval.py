"""The rhythm of a source that is read, not heard: when to read its counters next.

On a clock that is passed in; knows no counter.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from hettop.sources.power.machine import Wait
from hettop.units import NS_PER_S


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
