"""What is known of one condition: the distribution of its steady samples, and the spikes seen as they came.

Knows nothing of engines, screens or files.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from hettop.events import Column, ConditionState, Samples
from hettop.session.rails import RailSums
from hettop.session.series import Series
from hettop.session.trailing import Trailing
from hettop.stats.spikes import fence_of_histogram

# The fence is renewed at fixed counts, never at the end of a window, so that the spikes found do not depend on how
# samples were windowed: doubling at first, because a young fence is a poor one, then every 1,024, and from 32,768 on
# with every 16th to 32nd part more, because an old fence hardly moves and a renewal costs as much as 1,000 samples.
FIRST_FENCE_AT = 64
FENCE_STEP_BITS = 10
FENCE_STEPS_PER_OCTAVE_BITS = 5
RECENT_SPIKES = 8


class ConditionKey(NamedTuple):
    """Unit x load x thermal state under which samples were taken."""

    unit: str
    load: str
    thermal: str | None


class Condition:
    """The folded steady samples of one condition."""

    def __init__(self, key: ConditionKey, raw_limit: int) -> None:
        self.key = key
        self.wall = Series(raw_limit)
        self.native: Series | None = None
        self.response: Series | None = None
        self.active_ns = 0
        self.misses = 0
        self.limit_ns: int | None = None
        self.fence_ns: int | None = None
        self.spikes = 0
        self.recent_spikes: deque[tuple[int, int]] = deque(maxlen=RECENT_SPIKES)
        self.trailing = Trailing()
        self.energy = RailSums()
        self._raw_limit = raw_limit

    @property
    def paced(self) -> bool:
        """Whether arrivals were planned, so that there is a response time beside the service time."""
        return self.response is not None

    @property
    def throughput_per_s(self) -> float | None:
        """Inferences a second: n over the sum of latencies, or over the time elapsed when arrivals were planned."""
        busy = self.active_ns if self.paced else self.wall.moments.sum_ns
        return self.wall.n / busy * 1e9 if busy else None

    def add(self, window: Samples, ends: Column, gap_before: int | None, limit_ns: int | None) -> None:
        """Take in a steady window. `gap_before` is the pause before it if it directly follows steady samples."""
        self._add_latencies(window.lat_ns, ends)
        self.trailing.add(ends, window.lat_ns)
        self.active_ns += int(ends[-1]) - window.t0 + (gap_before or 0)
        if window.native_ns is not None:
            self.native = self.native or Series(self._raw_limit)
            self.native.add(window.native_ns)
        if window.late_ns is not None:
            self._add_responses(window.lat_ns + np.maximum(window.late_ns, 0), limit_ns)

    def _add_latencies(self, latencies: Column, ends: Column) -> None:
        done = 0
        while done < len(latencies):
            until = done + next_fence_at(self.wall.n) - self.wall.n
            part = latencies[done:until]
            if self.fence_ns is not None:
                self._note_spikes(part, ends[done:until], self.fence_ns)
            self.wall.add(part)
            if self.wall.n == next_fence_at(self.wall.n - 1):
                fence = fence_of_histogram(self.wall.histogram)
                self.fence_ns = None if fence is None else round(fence)
            done = until

    def _note_spikes(self, latencies: Column, ends: Column, fence_ns: int) -> None:
        if int(latencies.max()) <= fence_ns:
            return
        above = np.flatnonzero(latencies > fence_ns)
        self.spikes += len(above)
        for index in above[-RECENT_SPIKES:].tolist():
            self.recent_spikes.append((int(ends[index]), int(latencies[index])))

    def _add_responses(self, responses: Column, limit_ns: int | None) -> None:
        self.response = self.response or Series(self._raw_limit)
        self.response.add(responses)
        if limit_ns is not None:
            self.limit_ns = limit_ns
            self.misses += int(np.count_nonzero(responses > limit_ns))

    def state(self) -> ConditionState:
        return ConditionState(
            unit=self.key.unit,
            load=self.key.load,
            thermal=self.key.thermal,
            wall=self.wall.state(),
            native=self.native.state() if self.native else None,
            response=self.response.state() if self.response else None,
            active_ns=self.active_ns,
            misses=self.misses,
            limit_ns=self.limit_ns,
            fence_ns=self.fence_ns,
            spikes=self.spikes,
            recent_spikes=list(self.recent_spikes),
            energy=self.energy.state(),
        )

    @classmethod
    def restored(cls, state: ConditionState) -> Condition:
        """The condition a keyframe describes. ValueError when it contradicts itself."""
        condition = cls(ConditionKey(state.unit, state.load, state.thermal), raw_limit=0)
        condition.wall = Series.restored(state.wall)
        condition.native = Series.restored(state.native) if state.native else None
        condition.response = Series.restored(state.response) if state.response else None
        condition.active_ns = state.active_ns
        condition.misses = state.misses
        condition.limit_ns = state.limit_ns
        condition.fence_ns = state.fence_ns
        condition.spikes = state.spikes
        condition.recent_spikes.extend(state.recent_spikes)
        condition.energy = RailSums.restored(state.energy)
        return condition


def next_fence_at(n: int) -> int:
    """The count above `n` at which the fence is renewed next."""
    if n < 1 << FENCE_STEP_BITS:
        return max(FIRST_FENCE_AT, 1 << n.bit_length())
    step = 1 << max(FENCE_STEP_BITS, n.bit_length() - FENCE_STEPS_PER_OCTAVE_BITS)
    return n - n % step + step
