"""Times of screen redraws, gathered into `frame` events: a candidate cause of spikes.

Knows neither the screen nor the session.
"""

from __future__ import annotations

from hettop import events

INTERVAL_NS = 2 * 10**9  # seldom, but well before what came at the same time is judged (`session.causes`)
NS_PER_MS = 1_000_000


class FrameTimes:
    """A source of at most one `frame` event per interval."""

    def __init__(self) -> None:
        self._redraws = 0
        self._total_ns = 0
        self._worst_ns = 0
        self._next_ns = INTERVAL_NS
        self._spans: list[tuple[int, int]] = []
        self._began_ns: int | None = None

    def add(self, duration_ns: int, now_ns: int) -> None:
        """The redraw before the one that begins now took this long."""
        if self._began_ns is not None:
            self._spans.append((self._began_ns // NS_PER_MS, (self._began_ns + duration_ns) // NS_PER_MS))
        self._began_ns = now_ns
        self._redraws += 1
        self._total_ns += duration_ns
        self._worst_ns = max(self._worst_ns, duration_ns)

    def drain(self, t: int) -> list[events.Frame]:
        if t < self._next_ns:
            return []
        self._next_ns = t + INTERVAL_NS
        if not self._redraws:
            return []
        event = events.Frame(
            t=t,
            redraws=self._redraws,
            total_ns=self._total_ns,
            worst_ns=self._worst_ns,
            spans=self._spans[-events.SPANS_LIMIT :],
        )
        self._redraws = self._total_ns = self._worst_ns = 0
        self._spans = []
        return [event]
