"""The spikes of one condition, and how often each candidate cause was present at them and at all its other moments.

Bounded: some hundred spikes to list, and counts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hettop.events import CauseCounts, Column, SpikesState
from hettop.session.causes import CAUSES, IDLE, SLOT_NS, Marks, occupied, runs_of, slots_of
from hettop.stats.causes import WIDTHS, Judged, Presence, Verdict, chance_of, judge, width_class

RECENT = 8
"""Spikes that a keyframe carries; the others of the last minute are found again by folding it."""

LISTED = 256
"""Of a condition; a machine in distress has more, and nobody reads them."""

APART_SLOTS = 20
"""Spikes that follow another within a second are no further evidence: what caused the one may still go on."""

IDLE_NS = 5_000_000
"""A pause before a call after which clocks, caches or the framework may have gone to sleep."""

FOR_EVER = 1 << 62

_CLASS_OF_AGE = tuple(width_class(age + 1) for age in range(WIDTHS[-1]))
"""By how many slots ago a cause was present: the class of the shortest spike that it would have been present in."""


@dataclass(slots=True)
class Spike:
    """One spike: when it ended, how long it took, and the causes present at it, as bits, once that is judged."""

    end_ns: int
    latency_ns: int
    idle: bool
    causes: int | None = None

    @property
    def slot(self) -> int:
        return self.end_ns // SLOT_NS

    @property
    def slots(self) -> int:
        """How many slots it touches."""
        return self.slot - (self.end_ns - self.latency_ns) // SLOT_NS + 1


@dataclass(frozen=True, slots=True)
class CountedSpike:
    """A spike that counts as evidence: the slot it ended in, its `width_class`, and whether a pause came before it."""

    slot: int
    width: int
    idle: bool


class Spikes:
    """Counts of one condition. `listed` is oldest first; `n` counts all spikes ever."""

    def __init__(self) -> None:
        self.n = 0
        self.listed: deque[Spike] = deque(maxlen=LISTED)
        self.idle_samples = 0
        self.trials = [0] * len(WIDTHS)
        self.hits = [0] * len(CAUSES)
        self.moments = 0
        self.distances: dict[int, list[int]] = {}
        self._last_trial: int | None = None
        self._waiting: list[int] = []
        self._waiting_trials: list[CountedSpike] = []

    def ran(self, ends: Column, widest_ns: int, idle: int, settled: int) -> None:
        """Take in when steady samples ended, how far apart at most, and how many of them came after a pause."""
        self.idle_samples += idle
        after = self._waiting[-1] if self._waiting else settled - 1
        self._waiting += occupied(ends, after, widest_ns)

    def add(self, end_ns: int, latency_ns: int, *, idle: bool, settled: int) -> None:
        """Take in a spike."""
        self.n += 1
        spike = Spike(end_ns, latency_ns, idle)
        self.listed.append(spike)
        apart = self._last_trial is None or spike.slot - self._last_trial >= APART_SLOTS
        if apart and spike.slot >= settled:
            self._last_trial = spike.slot
            self._waiting_trials.append(CountedSpike(spike.slot, width_class(spike.slots), idle))

    def settle(self, until: int, marks: tuple[Marks, ...]) -> None:
        """Count what ended before slot `until`: by then all that was present is known."""
        if self._waiting and self._waiting[0] < until:
            at = bisect_left(self._waiting, until)
            self._count_moments(self._waiting[:at], marks)
            del self._waiting[:at]
        while self._waiting_trials and self._waiting_trials[0].slot < until:
            self._count_trial(self._waiting_trials.pop(0), marks)
        for spike in reversed(self.listed):
            if spike.causes is not None:
                break
            if spike.slot < until:
                spike.causes = present(spike, marks)

    def _count_moments(self, moments: list[int], marks: tuple[Marks, ...]) -> None:
        self.moments += len(moments)
        for group in marks:
            for cause in group.watched:
                counts = self.distances.setdefault(cause, [0] * len(WIDTHS))
                for age in group.ages(cause, moments):
                    if age < WIDTHS[-1]:
                        counts[_CLASS_OF_AGE[age]] += 1

    def _count_trial(self, trial: CountedSpike, marks: tuple[Marks, ...]) -> None:
        self.trials[trial.width] += 1
        self.hits[IDLE] += trial.idle
        for group in marks:
            for cause in group.watched:
                age = group.age(cause, trial.slot)
                self.hits[cause] += age is not None and age < WIDTHS[trial.width]

    def judged(self, marks: tuple[Marks, ...], samples: int) -> dict[int, Judged]:
        """What is to be said of every cause that was watched, with all that is known now; `samples` were taken."""
        now = self._copy()
        now.settle(FOR_EVER, marks)
        found = {
            cause: Presence(now.hits[cause], chance_of(counts, now.moments, now.trials))
            for cause, counts in sorted(now.distances.items())
        }
        found[IDLE] = Presence(now.hits[IDLE], now.idle_samples / samples if samples else 0.0)
        occurred = [cause for cause, presence in found.items() if presence.chance or presence.hits]
        spikes = sum(now.trials)
        judged = judge([found[cause] for cause in occurred], spikes)
        # What never was there needs no test, and takes nothing from the power of the others.
        never = Judged(inside=0.0 if spikes else None, outside=0.0, p=None, verdict=Verdict.NO_MORE)
        return dict.fromkeys(found, never) | dict(zip(occurred, judged, strict=True))

    def evidence(self) -> int:
        """How many spikes count as evidence, those too that are not judged yet."""
        return sum(self.trials) + len(self._waiting_trials)

    def recent(self, since_ns: int, marks: tuple[Marks, ...]) -> Iterator[tuple[Spike, int]]:
        """The spikes that ended at or after `since_ns`, and the last few of before, with their causes, oldest first."""
        first_sure = len(self.listed) - RECENT
        for place, spike in enumerate(self.listed):
            if place >= first_sure or spike.end_ns >= since_ns:
                yield spike, present(spike, marks) if spike.causes is None else spike.causes

    def _copy(self) -> Spikes:
        """For counting on: without the list."""
        copy = Spikes()
        copy.idle_samples, copy.moments = self.idle_samples, self.moments
        copy.trials, copy.hits = list(self.trials), list(self.hits)
        copy.distances = {cause: list(counts) for cause, counts in self.distances.items()}
        copy._waiting, copy._waiting_trials = list(self._waiting), list(self._waiting_trials)
        return copy

    def state(self, settled: int) -> SpikesState:
        """For a keyframe."""
        known = [spike.causes for spike in self._kept() if spike.causes is not None]
        return SpikesState(
            moments=self.moments,
            idle_samples=self.idle_samples,
            last_trial=self._last_trial,
            trials=list(self.trials) if any(self.trials) else [],
            counts=[CauseCounts(cause, self.hits[cause], counts) for cause, counts in self.distances.items()],
            idle_hits=self.hits[IDLE],
            waiting=runs_of(self._waiting, settled),
            waiting_trials=[(trial.slot, trial.width, trial.idle) for trial in self._waiting_trials],
            recent_causes=known,
            recent_idle=[place for place, spike in enumerate(self._kept()) if spike.idle and spike.causes is None],
        )

    def _kept(self) -> list[Spike]:
        return list(self.listed)[-RECENT:]

    def recent_pairs(self) -> list[tuple[int, int]]:
        """End and latency of the last few, oldest first."""
        return [(spike.end_ns, spike.latency_ns) for spike in self._kept()]

    @classmethod
    def restored(cls, n: int, recent: Iterable[tuple[int, int]], state: SpikesState, settled: int) -> Spikes:
        """As a keyframe describes them. ValueError when it contradicts itself."""
        spikes = cls()
        spikes.n = n
        spikes.listed.extend(Spike(end, latency, idle=False, causes=None) for end, latency in recent)
        if len(state.trials) not in (0, len(WIDTHS)):
            raise ValueError("a keyframe's spikes have other widths")
        for place, spike in enumerate(spikes.listed):
            spike.causes = state.recent_causes[place] if place < len(state.recent_causes) else None
            spike.idle = place in state.recent_idle or bool(spike.causes and spike.causes >> IDLE & 1)
        spikes.moments, spikes.idle_samples = state.moments, state.idle_samples
        spikes.trials = list(state.trials) or spikes.trials
        spikes._last_trial = state.last_trial
        spikes._waiting = slots_of(state.waiting, settled)
        spikes._waiting_trials = [CountedSpike(*trial) for trial in state.waiting_trials]
        spikes._restore_counts(state)
        return spikes

    def _restore_counts(self, state: SpikesState) -> None:
        self.hits[IDLE] = state.idle_hits
        for counts in state.counts:
            if counts.cause >= len(CAUSES) or len(counts.distances) != len(WIDTHS):
                raise ValueError("a keyframe counts causes that are none")
            self.hits[counts.cause] = counts.hits
            self.distances[counts.cause] = list(counts.distances)
        if any(not 0 <= trial.width < len(WIDTHS) for trial in self._waiting_trials):
            raise ValueError("a keyframe's spikes have other widths")


def present(spike: Spike, marks: tuple[Marks, ...]) -> int:
    """The causes present in any slot that the spike touches, as bits."""
    found = 1 << IDLE if spike.idle else 0
    for group in marks:
        for cause in group.watched:
            age = group.age(cause, spike.slot)
            if age is not None and age < spike.slots:
                found |= 1 << cause
    return found
