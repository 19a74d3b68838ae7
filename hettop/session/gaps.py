"""Latency against the pause before it, folded: what a call costs after a unit has been idle for a while.

Only what came after a pause is kept here; the rest of the condition's distribution are the calls that followed each
other closely.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hettop.events import Column, GapState
from hettop.stats.histogram import Histogram, bucket_index, bucket_middle, weighted_quantile

MS = 1_000_000
EDGES_NS = np.array([0, MS // 10, MS, 3 * MS, 10 * MS, 30 * MS, 100 * MS, 300 * MS, 1_000 * MS, 3_000 * MS])
"""From one edge to the next is a bin of pauses, each about three times as long as the one before; the last is open.

Below .1 ms, the loop of calls itself and the scheduler take as long.
"""

UNKNOWN, CLOSE = -1, 0
"""What followed nothing known, and the bin of calls that followed each other closely. The others are counted here."""


@dataclass(frozen=True, slots=True)
class GapRow:
    """The samples after a pause of `from_ms` to `to_ms` (None: or longer)."""

    from_ms: float
    to_ms: float | None
    n: int
    p50_ms: float
    p90_ms: float


@dataclass(slots=True)
class Counts:
    """Occupied buckets of a histogram and their counts; there are few, in many bins."""

    found: dict[int, int] = field(default_factory=dict)

    def add(self, latencies: Column) -> None:
        indices, counts = np.unique(bucket_index(latencies), return_counts=True)
        for index, count in zip(indices.tolist(), counts.tolist(), strict=True):
            self.found[index] = self.found.get(index, 0) + count

    def runs(self) -> list[int]:
        """As a keyframe has histograms."""
        runs, following = [], 0
        for index, count in sorted(self.found.items()):
            runs += [following - index, count] if index > following else [count]
            following = index + 1
        return runs

    @classmethod
    def restored(cls, runs: list[int]) -> Counts:
        """ValueError when the runs contradict themselves."""
        indices, counts = Histogram.decode(runs).nonzero()
        return cls(dict(zip(indices.tolist(), counts.tolist(), strict=True)))


class Gaps:
    """Latencies by the pause before them: of steady samples, and of the first ones after a break (`resume`)."""

    def __init__(self) -> None:
        self._steady: dict[int, Counts] = {}
        self._resumed: dict[int, Counts] = {}

    def steady(self, gaps_ns: Column, latencies: Column, first_gap_ns: int | None) -> None:
        """Take in a window. `first_gap_ns` rules for its first sample; None where what it followed is not known."""
        if first_gap_ns is not None and max(first_gap_ns, _longest_within(gaps_ns)) < EDGES_NS[1]:
            return
        bins = np.searchsorted(EDGES_NS, np.maximum(gaps_ns, 0), side="right") - 1
        bins[0] = UNKNOWN if first_gap_ns is None else _bin(first_gap_ns)
        for place in np.unique(bins).tolist():
            if place != CLOSE:
                self._steady.setdefault(place, Counts()).add(latencies[bins == place])

    def resumed(self, gap_ns: int, latencies: Column) -> None:
        """Take in the first sample after a break."""
        self._resumed.setdefault(_bin(gap_ns), Counts()).add(latencies[:1])

    def rows(self, wall: Histogram) -> tuple[GapRow, ...]:
        """The curve, short pauses first; `wall` has all steady samples. Empty while nothing came after a pause."""
        if not ({*self._steady, *self._resumed} - {UNKNOWN, CLOSE}):
            return ()
        close = dict(zip(*(part.tolist() for part in wall.nonzero()), strict=True))
        for counts in self._steady.values():
            for index, count in counts.found.items():
                close[index] = close.get(index, 0) - count
        found = {CLOSE: close}
        for kept in (self._steady, self._resumed):
            for place, counts in kept.items():
                into = found.setdefault(place, {})
                for index, count in counts.found.items():
                    into[index] = into.get(index, 0) + count
        return tuple(row for place in range(len(EDGES_NS)) if (row := _row(place, found.get(place, {}))) is not None)

    def state(self) -> list[GapState]:
        places = sorted({*self._steady, *self._resumed})
        empty = Counts()
        return [
            GapState(place, self._steady.get(place, empty).runs(), self._resumed.get(place, empty).runs())
            for place in places
        ]

    @classmethod
    def restored(cls, states: list[GapState]) -> Gaps:
        """As a keyframe describes it. ValueError when it contradicts itself."""
        found = cls()
        for state in states:
            if not UNKNOWN <= state.place < len(EDGES_NS):
                raise ValueError(f"a keyframe has a bin of pauses that is none: {state.place}")
            for kept, runs in ((found._steady, state.steady), (found._resumed, state.resumed)):
                if runs:
                    kept[state.place] = Counts.restored(runs)
        return found


def _longest_within(gaps_ns: Column) -> int:
    return int(gaps_ns[1:].max()) if len(gaps_ns) > 1 else 0


def _bin(gap_ns: int) -> int:
    return int(np.searchsorted(EDGES_NS, max(gap_ns, 0), side="right")) - 1


def _row(place: int, counts: dict[int, int]) -> GapRow | None:
    kept = sorted((index, count) for index, count in counts.items() if count > 0)
    if not kept:
        return None
    values = bucket_middle(np.array([index for index, _ in kept]))
    weights = np.array([count for _, count in kept])
    last = place == len(EDGES_NS) - 1
    return GapRow(
        from_ms=float(EDGES_NS[place]) / MS,
        to_ms=None if last else float(EDGES_NS[place + 1]) / MS,
        n=int(weights.sum()),
        p50_ms=weighted_quantile(values, weights, 0.5) / MS,
        p90_ms=weighted_quantile(values, weights, 0.9) / MS,
    )
