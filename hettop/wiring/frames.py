"""Times of screen redraws, gathered into `frame` events: a candidate cause of spikes.

Knows neither the screen nor the session.
"""

from __future__ import annotations

from hettop import events

INTERVAL_NS = 5 * 10**9  # a line every five seconds: redraws are many and mostly alike


class FrameTimes:
    """A source of at most one `frame` event per interval."""

    def __init__(self) -> None:
        self._redraws = 0
        self._total_ns = 0
        self._worst_ns = 0
        self._next_ns = INTERVAL_NS

    def add(self, duration_ns: int) -> None:
        """A redraw took this long."""
        self._redraws += 1
        self._total_ns += duration_ns
        self._worst_ns = max(self._worst_ns, duration_ns)

    def drain(self, t: int) -> list[events.Frame]:
        if t < self._next_ns:
            return []
        self._next_ns = t + INTERVAL_NS
        if not self._redraws:
            return []
        event = events.Frame(t=t, redraws=self._redraws, total_ns=self._total_ns, worst_ns=self._worst_ns)
        self._redraws = self._total_ns = self._worst_ns = 0
        return [event]
