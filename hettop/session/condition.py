"""What is known of one condition: the distribution of its steady samples, spike thresholds, and spikes as they came."""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hettop.events import LATENCY_LIMIT_NS, Column, ConditionState, Samples, SpikesState
from hettop.session.drift import Drift
from hettop.session.gaps import Gaps
from hettop.session.rails import RailSums
from hettop.session.series import DurationSeries
from hettop.session.spikes import IDLE_NS, Spikes
from hettop.session.trailing import LONGEST_WINDOW_NS, NoTrailing, Trailing
from hettop.stats.drift import REFERENCE
from hettop.stats.spikes import fence_of_histogram

# The fence is renewed at fixed counts, never at the end of a window, so that the spikes found do not depend on how
# samples were windowed: doubling at first, because a young fence is a poor one, then every 1,024, and from 32,768 on
# with every 16th to 32nd part more, because an old fence hardly moves and a renewal costs as much as 1,000 samples.
FIRST_FENCE_AT = 64
FENCE_STEP_BITS = 10
FENCE_STEPS_PER_OCTAVE_BITS = 5


class ConditionKey(NamedTuple):
    """Unit x load x thermal state under which samples were taken."""

    unit: str
    load: str
    thermal: str | None


class Around(NamedTuple):
    """What else is to be known of a window: which samples came after a pause (None: none did), and up to which slot
    candidate causes have been counted already."""

    idle: npt.NDArray[np.bool_] | None
    settled: int


class Condition:
    """The folded steady samples of one condition."""

    def __init__(self, key: ConditionKey, raw_limit: int, *, trailing: bool = True) -> None:
        self.key = key
        self.wall = DurationSeries(raw_limit)
        self.native: DurationSeries | None = None
        self.response: DurationSeries | None = None
        self.active_ns = 0
        self.misses = 0
        self.limit_ns: int | None = None
        self.thresholds = SpikeThresholds()
        self.found = Spikes()
        self.drift = Drift()
        self._new_trailing = Trailing if trailing else NoTrailing
        self.trailing = self._new_trailing()
        self.trailing_responses: Trailing | None = None
        self.energy = RailSums()
        self.gaps = Gaps()
        self._raw_limit = raw_limit

    @property
    def fence_ns(self) -> int | None:
        """The fence that the next sample will be judged by; None while there is none."""
        return self.thresholds.now

    @property
    def paced(self) -> bool:
        """Whether arrivals were planned, so that there is a response time beside the service time."""
        return self.response is not None

    @property
    def spikes(self) -> int:
        """How many samples were above the fence when they came."""
        return self.found.n

    @property
    def recent_spikes(self) -> list[tuple[int, int]]:
        """End and latency in ns of the last few spikes, oldest first."""
        return self.found.recent_pairs()

    @property
    def throughput_per_s(self) -> float | None:
        """Inferences a second: n over the sum of latencies, or over the time elapsed when arrivals were planned."""
        busy = self.active_ns if self.paced else self.wall.moments.sum_ns
        return self.wall.n / busy * 1e9 if busy else None

    def add(
        self, window: Samples, ends: Column, gap_before: int | None, limit_ns: int | None, settled: int = 0
    ) -> None:
        """Take in a steady window. `gap_before` is the pause before it if it directly follows steady samples.

        Before slot `settled`, candidate causes of spikes have been counted already.
        """
        # Nearly always the longest gap and the longest latency tell all that spikes and their causes ask of a window.
        longest, widest = int(window.lat_ns.max()), int(window.gap_ns.max())
        idle = pauses(window, gap_before) if max(widest, gap_before or 0) >= IDLE_NS else None
        count = 0 if idle is None else int(np.count_nonzero(idle))
        self.found.ran(ends, longest + widest, count, settled)
        self._add_latencies(window.lat_ns, ends, longest, Around(idle, settled))
        self.trailing.add(ends, window.lat_ns)
        self.active_ns += int(ends[-1]) - window.t0 + (gap_before or 0)
        if window.native_ns is not None:
            self.native = self.native or DurationSeries(self._raw_limit)
            self.native.add(window.native_ns)
        if window.late_ns is not None:
            self._add_responses(window.lat_ns + np.maximum(window.late_ns, 0), ends, limit_ns)

    def _add_latencies(self, latencies: Column, ends: Column, longest_ns: int, around: Around) -> None:
        done = followed = 0
        while done < len(latencies):
            until = done + next_fence_at(self.wall.n) - self.wall.n
            part = latencies[done:until]
            if self.fence_ns is not None and longest_ns > self.fence_ns:
                for at in (np.flatnonzero(part > self.fence_ns) + done).tolist():
                    idle = around.idle is not None and bool(around.idle[at])
                    self.found.add(int(ends[at]), int(latencies[at]), idle=idle, settled=around.settled)
            self.wall.add(part)
            if self.drift.level is None and self.wall.n <= REFERENCE:
                self._begin_drift(part, ends[done:until])
                followed = until
            if self.wall.n == next_fence_at(self.wall.n - 1):
                fence = fence_of_histogram(self.wall.histogram)
                # Two modes far apart can put it beyond all that is believed; there it finds nothing either way.
                limit = None if fence is None else min(round(fence), LATENCY_LIMIT_NS)
                self.thresholds.renew(int(ends[min(until, len(ends)) - 1]), limit)
            done = until
        if self.drift.level is not None:
            self.drift.add(latencies[followed:], ends[followed:])

    def _begin_drift(self, latencies: Column, ends: Column) -> None:
        """The first samples say what the level is. A fence is renewed at their last, so no part goes beyond it."""
        self.drift.add(latencies, ends)
        if self.wall.n == REFERENCE:
            self.drift.begin(self.wall.histogram)

    def _add_responses(self, responses: Column, ends: Column, limit_ns: int | None) -> None:
        self.response = self.response or DurationSeries(self._raw_limit)
        self.response.add(responses)
        self.trailing_responses = self.trailing_responses or self._new_trailing()
        self.trailing_responses.add(ends, responses)
        if limit_ns is not None:
            self.limit_ns = limit_ns
            self.misses += int(np.count_nonzero(responses > limit_ns))

    def state(self, settled: int = 0) -> ConditionState:
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
            recent_spikes=self.recent_spikes,
            causes=self.found.state(settled),
            drift=self.drift.state(),
            energy=self.energy.state(),
            gaps=self.gaps.state(),
        )

    @classmethod
    def restored(cls, state: ConditionState, settled: int = 0) -> Condition:
        """The condition a keyframe describes. ValueError when it contradicts itself."""
        condition = cls(ConditionKey(state.unit, state.load, state.thermal), raw_limit=0)
        condition.wall = DurationSeries.restored(state.wall)
        condition.native = DurationSeries.restored(state.native) if state.native else None
        condition.response = DurationSeries.restored(state.response) if state.response else None
        condition.active_ns = state.active_ns
        condition.misses = state.misses
        condition.limit_ns = state.limit_ns
        condition.thresholds = SpikeThresholds(state.fence_ns)
        condition.found = Spikes.restored(state.spikes, state.recent_spikes, state.causes or SpikesState(), settled)
        condition.energy = RailSums.restored(state.energy)
        condition.drift = Drift.restored(state.drift)
        condition.gaps = Gaps.restored(state.gaps)
        return condition


def pauses(window: Samples, gap_before: int | None) -> npt.NDArray[np.bool_]:
    """Which samples came after a pause: the first gap of a window is informative, the other gaps are exact."""
    idle = window.gap_ns >= IDLE_NS
    idle[0] = (gap_before or 0) >= IDLE_NS
    return idle


def next_fence_at(n: int) -> int:
    """The count above `n` at which the fence is renewed next."""
    if n < 1 << FENCE_STEP_BITS:
        return max(FIRST_FENCE_AT, 1 << n.bit_length())
    step = 1 << max(FENCE_STEP_BITS, n.bit_length() - FENCE_STEPS_PER_OCTAVE_BITS)
    return n - n % step + step


class SpikeThresholds:
    """`now` is the fence in force, in ns; None while there is none."""

    __slots__ = ("_since", "now")

    def __init__(self, now: int | None = None) -> None:
        self.now = now
        # (end of the last sample before it, fence); it holds for the samples that ended later.
        self._since: deque[tuple[int, int]] = deque([] if now is None else [(-1, now)])

    def renew(self, after_ns: int, fence_ns: int | None) -> None:
        """From the sample after the one that ended at `after_ns` on, this is the fence."""
        if fence_ns == self.now or fence_ns is None:  # a distribution that has a fence never loses it
            return
        self.now = fence_ns
        self._since.append((after_ns, fence_ns))
        while len(self._since) > 1 and self._since[1][0] < after_ns - LONGEST_WINDOW_NS:
            self._since.popleft()

    def exceeded(self, ends: Column, latencies: Column) -> npt.NDArray[np.bool_]:
        """Which of these trailing samples, whose ends ascend, were above the fence in force when they came."""
        found = np.zeros(len(ends), dtype=np.bool_)
        befores = np.array([after for after, _ in self._since], dtype=np.int64)
        begins = [*np.searchsorted(ends, befores, side="right").tolist(), len(ends)]
        for (begin, end), (_, fence) in zip(pairwise(begins), self._since, strict=True):
            np.greater(latencies[begin:end], fence, out=found[begin:end])
        return found
