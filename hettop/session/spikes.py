"""The spikes of one condition, and how often each candidate cause was present at them and at all its other moments.

Bounded: some hundred spikes to list, and counts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hettop.events import CauseCounts, Column, SpikesState
from hettop.session.causes import CAUSES, IDLE, SLOT_NS, Marks, occupied, runs_of, slots_of
from hettop.stats.causes import WIDTHS, Judged, Presence, Verdict, are_regular, chance_of, judge, width_class

RECENT = 8
"""Spikes that a keyframe carries; the others of the last minute are found again by folding it."""

LISTED = 256
"""Of a condition; a machine in distress has more, and nobody reads them."""

APART_SLOTS = 20
"""Spikes that follow another within a second are no further evidence: what caused the one may still go on."""

IDLE_NS = 5_000_000
"""A pause before a call after which clocks, caches or the framework may have gone to sleep."""

STRATUM_SLOTS = 200
"""Ten seconds. A spike is compared with the other moments of its own stratum, so that events and spikes which are both
more frequent at some time of a session are not correlated by that alone."""

INTERVALS = 64
"""Between the last spikes that count: enough to see that they are regular."""

STRATUM_NS = STRATUM_SLOTS * SLOT_NS
FOR_EVER = 1 << 62

Paused = npt.NDArray[np.bool_]

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
    """Counts of one condition. `listed` is oldest first; `n` counts all spikes ever.

    `hits` and `past` are of all spikes that count, `expected` of those of past strata: the hits by chance. `trials`,
    `moments` and `distances` are of the stratum that is being counted; `idle` maps a stratum to its samples and those
    after a pause.
    """

    def __init__(self) -> None:
        self.n = 0
        self.listed: deque[Spike] = deque(maxlen=LISTED)
        self.hits = [0] * len(CAUSES)
        self.past = 0
        self.expected = [0.0] * len(CAUSES)
        self.stratum = 0
        self.trials = [0] * len(WIDTHS)
        self.moments = 0
        self.distances: dict[int, list[int]] = {}
        self.idle: dict[int, tuple[int, int]] = {}
        self._occurred: set[int] = set()
        self._intervals: deque[int] = deque(maxlen=INTERVALS)
        self._last_trial: int | None = None
        self._waiting: list[int] = []
        self._waiting_trials: list[CountedSpike] = []

    def ran(self, ends: Column, widest_ns: int, idle: Paused | None, settled: int) -> None:
        """Take in when steady samples ended, how far apart at most, and which of them came after a pause, if any."""
        self._count_idle(ends, idle)
        after = self._waiting[-1] if self._waiting else settled - 1
        self._waiting += occupied(ends, after, widest_ns)

    def _count_idle(self, ends: Column, idle: Paused | None) -> None:
        begin = 0
        while begin < len(ends):
            stratum = int(ends[begin]) // STRATUM_NS
            end = len(ends)
            if int(ends[-1]) >= (stratum + 1) * STRATUM_NS:
                end = int(np.searchsorted(ends, (stratum + 1) * STRATUM_NS))
            if stratum >= self.stratum:
                samples, paused = self.idle.get(stratum, (0, 0))
                more = 0 if idle is None else int(np.count_nonzero(idle[begin:end]))
                self.idle[stratum] = samples + end - begin, paused + more
            begin = end

    def add(self, end_ns: int, latency_ns: int, *, idle: bool, settled: int) -> None:
        """Take in a spike."""
        self.n += 1
        spike = Spike(end_ns, latency_ns, idle)
        self.listed.append(spike)
        apart = self._last_trial is None or spike.slot - self._last_trial >= APART_SLOTS
        if apart and spike.slot >= settled:
            if self._last_trial is not None:
                self._intervals.append(spike.slot - self._last_trial)
            self._last_trial = spike.slot
            self._waiting_trials.append(CountedSpike(spike.slot, width_class(spike.slots), idle))

    def settle(self, until: int, marks: tuple[Marks, ...]) -> None:
        """Count what ended before slot `until`: by then all that was present is known."""
        for stratum in self._strata_before(until):
            if stratum > self.stratum:
                self._close()
                self.stratum = stratum
            self._count(min(until, (stratum + 1) * STRATUM_SLOTS), marks)
        for spike in reversed(self.listed):
            if spike.causes is not None:
                break
            if spike.slot < until:
                spike.causes = present(spike, marks)

    def _strata_before(self, until: int) -> Sequence[int]:
        """The strata of all that waits to be counted and ended before slot `until`, ascending."""
        pending = [*self._waiting[:1], *self._waiting[-1:], *(trial.slot for trial in self._waiting_trials)]
        if not pending or (first := min(pending)) >= until:
            return ()
        if max(pending) // STRATUM_SLOTS == first // STRATUM_SLOTS:  # nearly always
            return (first // STRATUM_SLOTS,)
        return sorted({slot // STRATUM_SLOTS for slot in (*pending, *self._waiting) if slot < until})

    def _count(self, until: int, marks: tuple[Marks, ...]) -> None:
        at = bisect_left(self._waiting, until)
        self._count_moments(self._waiting[:at], marks)
        del self._waiting[:at]
        while self._waiting_trials and self._waiting_trials[0].slot < until:
            self._count_trial(self._waiting_trials.pop(0), marks)

    def _close(self) -> None:
        """The stratum is over: what is kept of it is how many hits chance would have given."""
        for cause, hits in self._hits_by_chance().items():
            self.expected[cause] += hits
        self._occurred |= {cause for cause, counts in self.distances.items() if any(counts)}
        if self.idle.get(self.stratum, (0, 0))[1]:
            self._occurred.add(IDLE)
        self.past += sum(self.trials)
        self.trials = [0] * len(WIDTHS)
        self.moments = 0
        self.distances = {}
        self.idle = {stratum: counts for stratum, counts in self.idle.items() if stratum > self.stratum}

    def _hits_by_chance(self) -> dict[int, float]:
        """Of the spikes of this stratum, if they had come at its other moments."""
        spikes = sum(self.trials)
        if not spikes:
            return {}
        samples, paused = self.idle.get(self.stratum, (0, 0))
        found = {
            cause: spikes * chance_of(counts, self.moments, self.trials) for cause, counts in self.distances.items()
        }
        return {**found, IDLE: spikes * paused / samples if samples else 0.0}

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

    def judged(self, marks: tuple[Marks, ...]) -> dict[int, Judged]:
        """What is to be said of every cause that was watched, with all that is known now."""
        now = self._copy()
        now.settle(FOR_EVER, marks)
        now._close()
        spikes = now.past
        found = {
            cause: Presence(now.hits[cause], now.expected[cause] / spikes if spikes else 0.0)
            for cause in sorted({IDLE, *(cause for group in marks for cause in group.watched)})
        }
        occurred = [cause for cause, presence in found.items() if cause in now._occurred or presence.hits]
        judged = judge([found[cause] for cause in occurred], spikes, regular=are_regular(self._intervals))
        # What never was there needs no test, and takes nothing from the power of the others.
        never = Judged(inside=0.0 if spikes else None, outside=0.0, p=None, verdict=Verdict.NO_MORE)
        return dict.fromkeys(found, never) | dict(zip(occurred, judged, strict=True))

    def evidence(self) -> int:
        """How many spikes count as evidence, those too that are not judged yet."""
        return self.past + sum(self.trials) + len(self._waiting_trials)

    def recent(self, since_ns: int, marks: tuple[Marks, ...]) -> Iterator[tuple[Spike, int]]:
        """The spikes that ended at or after `since_ns`, and the last few of before, with their causes, oldest first."""
        first_sure = len(self.listed) - RECENT
        for place, spike in enumerate(self.listed):
            if place >= first_sure or spike.end_ns >= since_ns:
                yield spike, present(spike, marks) if spike.causes is None else spike.causes

    def _copy(self) -> Spikes:
        """For counting on: without the list."""
        copy = Spikes()
        copy.stratum, copy.moments, copy.past = self.stratum, self.moments, self.past
        copy.trials, copy.hits, copy.expected = list(self.trials), list(self.hits), list(self.expected)
        copy.idle, copy._occurred = dict(self.idle), set(self._occurred)
        copy.distances = {cause: list(counts) for cause, counts in self.distances.items()}
        copy._waiting, copy._waiting_trials = list(self._waiting), list(self._waiting_trials)
        return copy

    def state(self, settled: int) -> SpikesState:
        """For a keyframe."""
        known = [spike.causes for spike in self._kept() if spike.causes is not None]
        return SpikesState(
            moments=self.moments,
            stratum=self.stratum,
            past=self.past,
            expected=[(cause, self.expected[cause]) for cause in sorted(self._occurred)],
            idle=[(stratum, *counts) for stratum, counts in self.idle.items()],
            intervals=list(self._intervals),
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
        spikes.moments, spikes.stratum, spikes.past = state.moments, state.stratum, state.past
        spikes.idle = {stratum: (samples, paused) for stratum, samples, paused in state.idle}
        spikes._intervals.extend(state.intervals)
        spikes.trials = list(state.trials) or spikes.trials
        spikes._last_trial = state.last_trial
        spikes._waiting = slots_of(state.waiting, settled)
        spikes._waiting_trials = [CountedSpike(*trial) for trial in state.waiting_trials]
        spikes._restore_counts(state)
        return spikes

    def _restore_counts(self, state: SpikesState) -> None:
        if state.idle or state.past:  # the first fold did not count samples
            self.hits[IDLE] = state.idle_hits
        for cause, expected in state.expected:
            if cause >= len(CAUSES):
                raise ValueError("a keyframe counts causes that are none")
            self.expected[cause] = expected
            self._occurred.add(cause)
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
