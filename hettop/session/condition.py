"""What is known of one condition: the distribution of its steady samples, the last minute of them, and its spikes.

Memory is bounded whatever the rate; what is known depends on the samples alone, not on how they arrived.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from hettop.events import (
    LATENCY_LIMIT_NS,
    BatchesState,
    Column,
    ConditionState,
    Power,
    Samples,
    SeriesState,
    SpikesState,
)
from hettop.session.drift import Drift
from hettop.session.gaps import Gaps
from hettop.session.rails import EnergyBatches, RailSums
from hettop.session.spikes import IDLE_NS, Spikes
from hettop.stats.batches import MOST_BATCHES, Batches
from hettop.stats.histogram import Histogram
from hettop.stats.moments import Moments
from hettop.stats.quantiles import early_stopping_rank, linear_quantiles, quantile, quantile_interval
from hettop.stats.resampling import dependence_time
from hettop.stats.spikes import fence_of_histogram
from hettop.units import NS_PER_MS

# The spike threshold is renewed at fixed counts, never at the end of a window, so that the spikes found do not depend
# on how samples were windowed: doubling at first, because a young spike threshold is a poor one, then every 1,024, and
# from 32,768 on with every 16th to 32nd part more, because an old spike threshold hardly moves and a renewal costs as
# much as 1,000 samples.
FIRST_FENCE_AT = 64
JUDGED_FROM = FIRST_FENCE_AT + 1  # samples; with fewer none was judged
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
        self.energy_batches = EnergyBatches()
        self.gaps = Gaps()
        self.turns = Turns()
        self.dependence = Dependence()
        self._raw_limit = raw_limit

    @property
    def fence_ns(self) -> int | None:
        """The spike threshold that the next sample will be judged by; None while there is none."""
        return self.thresholds.now

    @property
    def paced(self) -> bool:
        """Whether arrivals were planned, so that there is a response time beside the service time."""
        return self.response is not None

    @property
    def spikes(self) -> int:
        """How many samples were above the spike threshold when they came: the only count of spikes that there is."""
        return self.found.n

    @property
    def known_spikes(self) -> int | None:
        """`spikes`; None while no sample was judged yet, because the first ones make the threshold."""
        return None if self.wall.n < JUDGED_FROM else self.spikes

    @property
    def recent_spikes(self) -> list[tuple[int, int]]:
        """End and latency in ns of the last few spikes, oldest first."""
        return self.found.recent_pairs()

    @property
    def throughput_per_s(self) -> float | None:
        """Inferences per second: n over the sum of latencies, or over the time elapsed when arrivals were planned."""
        busy = self.active_ns if self.paced else self.wall.moments.sum_ns
        return self.wall.n / busy * 1e9 if busy else None

    def effective_samples(self, q: float) -> int | None:
        """How many independent samples those of the wall time are worth, for their q-quantile; None where unknown.

        By all samples while they are kept or few, else by what `Dependence` keeps of them.
        """
        if not self.wall.n:
            return None
        samples = self.wall.raw()
        if samples is None and self.wall.n <= FEW:
            recent = self.trailing.all()[1]
            samples = recent if len(recent) == self.wall.n else None
        time = self.dependence.time() if samples is None else dependence_time(samples.astype(np.float64), q)
        return None if time is None else max(1, int(self.wall.n / time))

    def add(
        self,
        window: Samples,
        ends: Column,
        gap_before: int | None,
        limit_ns: int | None,
        settled: int = 0,
        *,
        wait_ns: int = 0,
    ) -> list[tuple[int, int]]:
        """Take in a steady window; returns end and latency of its spikes, in ns.

        `gap_before` is the pause before it if it directly follows steady samples.

        Before slot `settled`, candidate causes of spikes have been counted already. `wait_ns` is running time before a
        window that does not (`Unit.wait_before`).
        """
        # Nearly always the longest gap and the longest latency are enough to exclude spikes and causes.
        longest, widest = int(window.lat_ns.max()), int(window.gap_ns.max())
        idle = pauses(window, gap_before) if max(widest, gap_before or 0) >= IDLE_NS else None
        self.found.ran(ends, longest + widest, idle, settled)
        spikes = self._add_latencies(window.lat_ns, ends, longest, Around(idle, settled))
        self.trailing.add(ends, window.lat_ns)
        self.active_ns += int(ends[-1]) - window.t0 + (wait_ns if gap_before is None else gap_before)
        if window.native_ns is not None:
            self.native = self.native or DurationSeries(self._raw_limit)
            self.native.add(window.native_ns)
        if window.late_ns is not None:
            self._add_responses(window.lat_ns + np.maximum(window.late_ns, 0), ends, limit_ns)
        return spikes

    def _add_latencies(self, latencies: Column, ends: Column, longest_ns: int, around: Around) -> list[tuple[int, int]]:
        spikes: list[tuple[int, int]] = []
        done = followed = 0
        while done < len(latencies):
            until = done + next_fence_at(self.wall.n) - self.wall.n
            part = latencies[done:until]
            if self.fence_ns is not None and longest_ns > self.fence_ns:
                for at in (np.flatnonzero(part > self.fence_ns) + done).tolist():
                    idle = around.idle is not None and bool(around.idle[at])
                    spikes.append((int(ends[at]), int(latencies[at])))
                    self.found.add(*spikes[-1], idle=idle, settled=around.settled)
            self.wall.add(part)
            self.dependence.add(part, self.wall)
            if self.wall.n == next_fence_at(self.wall.n - 1):
                if self.drift.due(self.wall.n):
                    self.drift.add(latencies[followed:until], ends[followed:until])
                    self.drift.learn(self.wall.histogram)
                    followed = until
                fence = fence_of_histogram(self.wall.histogram)
                # Two modes far apart can put it beyond all that is believed; there it finds nothing either way.
                limit = None if fence is None else min(round(fence), LATENCY_LIMIT_NS)
                self.thresholds.renew(int(ends[min(until, len(ends)) - 1]), limit)
            done = until
        self.drift.add(latencies[followed:], ends[followed:])
        return spikes

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
            energy_batches=self.energy_batches.state(),
            gaps=self.gaps.state(),
            dependence=self.dependence.state(),
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
        condition.energy_batches = EnergyBatches.restored(state.energy_batches)
        condition.drift = Drift.restored(state.drift)
        condition.gaps = Gaps.restored(state.gaps)
        condition.dependence = Dependence.restored(state.dependence)
        return condition


def pauses(window: Samples, gap_before: int | None) -> npt.NDArray[np.bool_]:
    """Which samples came after a pause: the first gap of a window is informative, the other gaps are exact."""
    idle = window.gap_ns >= IDLE_NS
    idle[0] = (gap_before or 0) >= IDLE_NS
    return idle


def next_fence_at(n: int) -> int:
    """The count above `n` at which the spike threshold is renewed next."""
    if n < 1 << FENCE_STEP_BITS:
        return max(FIRST_FENCE_AT, 1 << n.bit_length())
    step = 1 << max(FENCE_STEP_BITS, n.bit_length() - FENCE_STEPS_PER_OCTAVE_BITS)
    return n - n % step + step


class SpikeThresholds:
    """`now` is the active spike threshold, in ns; None while there is none."""

    __slots__ = ("_since", "now")

    def __init__(self, now: int | None = None) -> None:
        self.now = now
        # (end of the last sample before it, spike threshold); it holds for the samples that ended later.
        self._since: deque[tuple[int, int]] = deque([] if now is None else [(-1, now)])

    def renew(self, after_ns: int, fence_ns: int | None) -> None:
        """From the sample after the one that ended at `after_ns` on, this is the spike threshold."""
        if fence_ns == self.now or fence_ns is None:  # once there is a threshold, it stays
            return
        self.now = fence_ns
        self._since.append((after_ns, fence_ns))
        while len(self._since) > 1 and self._since[1][0] < after_ns - LONGEST_WINDOW_NS:
            self._since.popleft()

    def exceeded(self, ends: Column, latencies: Column) -> npt.NDArray[np.bool_]:
        """Which of these trailing samples, whose ends ascend, were above the active spike threshold when they came."""
        found = np.zeros(len(ends), dtype=np.bool_)
        befores = np.array([after for after, _ in self._since], dtype=np.int64)
        begins = [*np.searchsorted(ends, befores, side="right").tolist(), len(ends)]
        for (begin, end), (_, fence) in zip(pairwise(begins), self._since, strict=True):
            np.greater(latencies[begin:end], fence, out=found[begin:end])
        return found


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


FEW = 2048
"""Samples whose dependence is computed from them all at every look."""

LEVELS = (0.5, 0.9)
"""Quantiles above which samples are counted: slow waves and states show at the median, tails at P90."""


class Dependence:
    """How much the samples of one condition depend on each other, from batches of them; see `stats.batches`.

    What is counted are the samples above quantiles of the first `FIRST_FENCE_AT`; a part never goes beyond these.
    """

    def __init__(self) -> None:
        self._batches: tuple[Batches, ...] = ()

    def add(self, samples: Column, series: DurationSeries) -> None:
        """The samples that came next, which `series` has already."""
        for batches in self._batches:
            batches.add(samples)
        if not self._batches and series.n == FIRST_FENCE_AT:
            self._batches = tuple(Batches(round(series.histogram.quantile(level) or 0)) for level in LEVELS)

    def time(self) -> float | None:
        """Samples that carry as much as one independent sample; None while there are too few."""
        times = [batches.time() for batches in self._batches]
        return max((time for time in times if time is not None), default=None)

    def state(self) -> list[BatchesState]:
        return [BatchesState(**asdict(batches)) for batches in self._batches]

    @classmethod
    def restored(cls, states: Sequence[BatchesState]) -> Dependence:
        """What a keyframe describes. ValueError when it contradicts itself."""
        restored = cls()
        restored._batches = tuple(Batches(**msgspec.structs.asdict(state)) for state in states)
        sound = (
            len(each.counts) < MOST_BATCHES
            and max(each.counts, default=0) <= each.size
            and each.last <= each.filled < each.size
            for each in states
        )
        if not all(sound):
            raise ValueError("a keyframe counts more samples than a batch has")
        return restored


LEAST_BREAK_NS = 250_000_000
"""A pause as long as the shortest turn of another unit ends a turn, whatever ran meanwhile."""


class TurnNumbers:
    """Numbers the turns of all units.

    Times decide, and not the order of arrival: the last windows of a turn often arrive after the first ones of the next
    unit's.
    """

    def __init__(self) -> None:
        self._last = 0
        self._latest: dict[str, _LatestWindow] = {}

    def resumed(self, window: Samples) -> None:
        """Take in a window of phase `resume`: after a break that is long enough, the unit's turn is over."""
        if int(window.gap_ns[0]) >= LEAST_BREAK_NS:
            self._latest.pop(window.unit, None)

    def of(self, window: Samples, end_ns: int) -> int:
        """The number of the turn that a steady window, which ends at `end_ns`, belongs to."""
        before = self._latest.get(window.unit)
        if before is None or any(before.end_ns <= other.t0 < window.t0 for other in self._latest.values()):
            self._last += 1
            turn = self._last
        else:
            turn = before.turn
        self._latest[window.unit] = _LatestWindow(turn, window.t0, end_ns)
        return turn


class _LatestWindow(NamedTuple):
    turn: int
    t0: int
    end_ns: int


MOST_TURNS = 4096


class Turns:
    """Which samples of a condition belong to which turn: between two turns another unit ran, or none for
    `LEAST_BREAK_NS`.

    Bounded: the first half is forgotten when there are too many. Not kept in keyframes.
    """

    def __init__(self) -> None:
        self._starts: list[tuple[int, int, int]] = []

    def begin(self, turn: int, index: int, t0: int) -> None:
        """The next sample has this index and starts at `t0`; it may still belong to the turn before."""
        if not self._starts or self._starts[-1][0] != turn:
            self._starts.append((turn, index, t0))
        if len(self._starts) > MOST_TURNS:
            del self._starts[: MOST_TURNS // 2]

    def of_first(self, n: int) -> Column | None:
        """The turn of each of the first `n` samples; None where that was forgotten or never known."""
        if not self._starts or self._starts[0][1] != 0:
            return None
        return self._at(np.arange(n), 1)

    def of_ends(self, ends: Column) -> Column | None:
        """The turn of the samples that ended at these moments (ns)."""
        if not self._starts or (ends.size and ends[0] < self._starts[0][2]):
            return None
        return self._at(ends, 2)

    def _at(self, places: Column, by: int) -> Column:
        starts = np.array(self._starts, dtype=np.int64)
        return np.asarray(starts[np.searchsorted(starts[:, by], places, side="right") - 1, 0])


class DurationSeries:
    """Takes in windows of nanoseconds; its moments and histogram do not depend on how they were windowed.

    Raw values are kept, in order of arrival, while there are at most `raw_limit` of them, so that quantiles of small
    series are exact; a series restored from a keyframe has none.
    """

    __slots__ = ("_raw", "_raw_limit", "histogram", "moments")

    def __init__(self, raw_limit: int) -> None:
        self.moments = Moments()
        self.histogram = Histogram()
        self._raw_limit = raw_limit
        self._raw: list[Column] | None = [] if raw_limit > 0 else None

    @property
    def n(self) -> int:
        return self.moments.n

    def add(self, values: Column) -> None:
        self.moments.add(values)
        self.histogram.add(values)
        if self._raw is not None:
            self._raw.append(values)
            if self.moments.n > self._raw_limit:
                self._raw = None

    def raw(self) -> Column | None:
        """All values in order of arrival, or None when they were too many to keep."""
        if self._raw is None:
            return None
        if len(self._raw) > 1:
            self._raw = [np.concatenate(self._raw)]
        return self._raw[0] if self._raw else np.empty(0, dtype=np.int64)

    def quantile_ms(self, q: float) -> float | None:
        """Quantile in ms: numpy's linear on raw values, else within the histogram's half bucket. None if empty."""
        raw = self.raw()
        if raw is not None:
            return quantile(raw, q) / NS_PER_MS if raw.size else None
        found = self.histogram.quantile(q)
        return None if found is None else self._inside(found) / NS_PER_MS

    def quantiles_ms(self, levels: Sequence[float]) -> list[float | None]:
        """As `quantile_ms`, of several levels at once, for every redraw."""
        raw = self.raw()
        if raw is None or not raw.size:
            return [self.quantile_ms(q) for q in levels]
        return [value / NS_PER_MS for value in linear_quantiles(raw, levels)]

    def early_stopping_ms(self, q: float, effective: int) -> float | None:
        """MLPerf LoadGen's early stopping estimate of a quantile in ms; None with too few samples.

        Its rank is of as many samples as these are worth (`effective`), stretched to the n there are, upwards.
        """
        rank = early_stopping_rank(effective, q)
        if rank is None:
            return None
        return self._ranked_ms(min(self.n, math.ceil(rank * self.n / effective)))

    def quantile_interval_ms(self, q: float, effective: int) -> tuple[float | None, float | None]:
        """95% interval of a quantile in ms, of samples that are worth `effective` independent ones.

        A side without a finite bound is None; see `stats.resampling.bounds_of_effective`.
        """
        low, high = quantile_interval(effective, q)
        stretch = self.n / effective
        return (
            None if low is None else self._ranked_ms(int((low - 1) * stretch) + 1),
            None if high is None else self._ranked_ms(min(self.n, math.ceil(high * stretch))),
        )

    def _ranked_ms(self, rank: int) -> float:
        """The sample of this rank (from 1), in ms."""
        raw = self.raw()
        if raw is not None:
            return float(np.partition(raw, rank - 1)[rank - 1]) / NS_PER_MS
        return self._inside(self.histogram.order_statistic(rank)) / NS_PER_MS

    def _inside(self, value: float) -> float:
        """A bucket's middle may lie beyond the extremes, which are known exactly."""
        assert self.moments.min_ns is not None  # noqa: S101 - only called on a series that holds values
        assert self.moments.max_ns is not None  # noqa: S101
        return min(max(value, self.moments.min_ns), self.moments.max_ns)

    def state(self) -> SeriesState:
        moments = self.moments
        return SeriesState(
            n=moments.n,
            sum=str(moments.sum_ns),
            sum_sq=str(moments.sum_sq),
            min_ns=moments.min_ns or 0,
            max_ns=moments.max_ns or 0,
            runs=self.histogram.encode(),
        )

    @classmethod
    def restored(cls, state: SeriesState) -> DurationSeries:
        """The series a keyframe describes, without raw values. ValueError when it contradicts itself."""
        series = cls(raw_limit=0)
        series.histogram = Histogram.decode(state.runs)
        if series.histogram.total != state.n or state.min_ns > state.max_ns:
            raise ValueError("a keyframe's series contradicts itself")
        if state.n:
            series.moments = Moments(state.n, int(state.sum), int(state.sum_sq), state.min_ns, state.max_ns)
            _check(series.moments, state)
        return series


def _check(moments: Moments, state: SeriesState) -> None:
    """ValueError unless some series of n values between minimum and maximum could have these sums."""
    n, total, squares = state.n, moments.sum_ns, moments.sum_sq
    if not (n * state.min_ns <= total <= n * state.max_ns and total**2 <= n * squares <= n * n * state.max_ns**2):
        raise ValueError("a keyframe's sums contradict its extremes")
