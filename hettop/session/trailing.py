"""The last minute, for the panels that look at a trailing window: samples of one condition, and power samples.

Bounded whatever the rate; what it answers depends on the samples alone, not on how they arrived. No keyframe carries
it, because seeking folds the longest window again.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from hettop.events import Column, Power

LONGEST_WINDOW_NS = 60 * 10**9
TRAILING_SAMPLES = 1 << 18  # 4 MiB a condition; above 4,369 samples/s the longest window is shorter than a minute
_FIRST_CAPACITY = 4096
_NOTHING = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)


class Trailing:
    """Sample ends (ns of session time, ascending) and latencies (ns), oldest first."""

    __slots__ = ("_ends", "_filled", "_latencies")

    def __init__(self) -> None:
        self._ends = np.empty(_FIRST_CAPACITY, dtype=np.int64)
        self._latencies = np.empty(_FIRST_CAPACITY, dtype=np.int64)
        self._filled = 0

    def add(self, ends: Column, latencies: Column) -> None:
        new = len(ends)
        if self._filled + new > len(self._ends):
            self._make_room(new, int(ends[-1]))
        # Ends rise, and are sought by halving. A damaged recording can claim otherwise: then time stands still.
        last = self._ends[self._filled - 1] if self._filled else ends[0]
        self._ends[self._filled : self._filled + new] = ends if ends[0] >= last else np.maximum(ends, last)
        self._latencies[self._filled : self._filled + new] = latencies
        self._filled += new

    def between(self, start_ns: int, end_ns: int) -> tuple[Column, Column]:
        """Ends and latencies of the samples that ended in (start_ns, end_ns], at most the last `TRAILING_SAMPLES`."""
        oldest = max(0, self._filled - TRAILING_SAMPLES)
        ends = self._ends[oldest : self._filled]
        first, last = np.searchsorted(ends, (start_ns, end_ns), side="right").tolist()
        return ends[first:last], self._latencies[oldest + first : oldest + last]

    def all(self) -> tuple[Column, Column]:
        """Ends and latencies of everything that any window can still reach."""
        newest = self.last_end_ns
        return _NOTHING if newest is None else self.between(newest - LONGEST_WINDOW_NS, newest)

    @property
    def last_end_ns(self) -> int | None:
        return int(self._ends[self._filled - 1]) if self._filled else None

    def _make_room(self, new: int, newest_ns: int) -> None:
        """Drop what no window can reach any more; grow only if what is left fills over half."""
        ends, latencies = self.between(newest_ns - LONGEST_WINDOW_NS, newest_ns)
        capacity = len(self._ends)
        while capacity < 2 * (len(ends) + new):
            capacity *= 2
        kept_ends = np.empty(capacity, dtype=np.int64)
        kept_latencies = np.empty(capacity, dtype=np.int64)
        kept_ends[: len(ends)] = ends
        kept_latencies[: len(ends)] = latencies
        self._ends, self._latencies, self._filled = kept_ends, kept_latencies, len(ends)


class NoTrailing(Trailing):
    """Of a fold that nobody looks at, such as the one that makes a recording's keyframes: it keeps nothing."""

    __slots__ = ()

    def add(self, ends: Column, latencies: Column) -> None:
        pass


MOST = 2048  # a minute of samples every 30 ms


class PowerHistory:
    """Power samples, oldest first; their windows end in ascending order."""

    def __init__(self) -> None:
        self._samples: deque[Power] = deque(maxlen=MOST)

    def add(self, event: Power) -> None:
        self._samples.append(event)
        while self._samples[0].t < event.t - LONGEST_WINDOW_NS - self._samples[0].elapsed_ns:
            self._samples.popleft()

    def between(self, start_ns: int, end_ns: int) -> list[Power]:
        """Those whose windows overlap (start_ns, end_ns)."""
        return [each for each in self._samples if each.t > start_ns and each.t - each.elapsed_ns < end_ns]
