"""What happened on the machine around each spike: candidate causes, gathered from the stream and counted at spikes and
at all other moments alike.

Time is cut into slots of 50 ms, the step in which engines report what they were charged.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hettop import events
from hettop.events import CauseMarks, CausesState, Column

LAG_SLOTS = 80
"""Slots are judged when they are 4 s old: redraws are reported after 2 s, and a file gathers for another second."""

SETTLED_EVERY = 20
"""Slots judged at a time: a second's."""

NEXT_TO = 1
"""A power sample was taken just before it was reported: it is present in its slot and the one before."""

LOAD_SLOTS = 10
"""Starting or ending the processes of a load may disturb for half a second."""

CLOCK_STEP = 0.10
"""Relative change of a cluster's mean frequency, from one power sample to the next, that counts as a change."""

LONGEST_SLOTS = 400
"""Of one stretch that a line of a file may claim."""

FRAME_PERIOD_NS = 10**9 // 60


@dataclass(frozen=True, slots=True)
class Cause:
    """A candidate: its name in data, and in words."""

    name: str
    words: str


REDRAW, LOAD, POWER, CLOCK, CANARY, COLLECTION, MAJOR, MINOR, SWITCH, IDLE = range(10)
CAUSES = (
    Cause("ui_frame", "screen redraw"),
    Cause("load_change", "load change"),
    Cause("power_sample", "power sample taken"),
    Cause("clock_change", "clock or thermal change"),
    Cause("canary_stall", "machine stalled (canary)"),
    Cause("collection", "garbage collection"),
    Cause("major_fault", "major page fault"),
    Cause("minor_fault", "page fault"),
    Cause("involuntary_switch", "involuntary context switch"),
    Cause("after_idle", "first call after idle"),
)
OF_MACHINE = (REDRAW, LOAD, POWER, CLOCK, CANARY)
OF_ENGINE = {
    COLLECTION: events.COLLECTED,
    MAJOR: events.FAULTED_MAJOR,
    MINOR: events.FAULTED_MINOR,
    SWITCH: events.SWITCHED,
}
"""Reported of each engine process, with their bits in `usage` lines."""


class Marks:
    """The slots in which each of some causes was present: those not judged yet, and the last one before."""

    def __init__(self, watched: Iterable[int] = ()) -> None:
        self.slots: dict[int, list[int]] = {cause: [] for cause in watched}
        self._last: dict[int, int] = {}

    @property
    def watched(self) -> Iterable[int]:
        """Causes of which it is known whether they were present."""
        return self.slots

    def watch(self, cause: int) -> None:
        self.slots.setdefault(cause, [])

    def add(self, cause: int, first: int, last: int) -> None:
        """The cause was present from slot `first` to slot `last`."""
        known = self.slots.setdefault(cause, [])
        for slot in range(max(first, last - LONGEST_SLOTS), last + 1):
            if not known or slot > known[-1]:
                known.append(slot)
            elif (at := bisect_right(known, slot)) == 0 or known[at - 1] != slot:
                insort(known, slot)

    def age(self, cause: int, slot: int) -> int | None:
        """How many slots before `slot` the cause was last present (0: in it); None if never."""
        known = self.slots[cause]
        at = bisect_right(known, slot)
        last = known[at - 1] if at else self._last.get(cause)
        return None if last is None or last > slot else slot - last

    def ages(self, cause: int, slots: Sequence[int]) -> Iterator[int]:
        """What `age` is of each of the `slots`, which ascend; those before the cause was ever present have none."""
        if not slots:
            return
        known = self.slots[cause]
        at = bisect_right(known, slots[0])
        last = known[at - 1] if at else self._last.get(cause)
        for slot in slots:
            while at < len(known) and known[at] <= slot:
                last = known[at]
                at += 1
            if last is not None and last <= slot:
                yield slot - last

    def forget_before(self, slot: int) -> None:
        for cause, known in self.slots.items():
            if known and known[0] < slot:
                at = bisect_right(known, slot - 1)
                self._last[cause] = max(known[at - 1], self._last.get(cause, 0))
                del known[:at]

    def state(self, settled: int) -> list[CauseMarks]:
        return [
            CauseMarks(cause, self._last.get(cause), runs_of(known, settled)) for cause, known in self.slots.items()
        ]

    @classmethod
    def restored(cls, states: Iterable[CauseMarks], settled: int) -> Marks:
        """As a keyframe describes them. ValueError when it contradicts itself."""
        marks = cls()
        for state in states:
            if state.cause >= len(CAUSES):
                raise ValueError("a keyframe knows a cause that is none")
            marks.slots[state.cause] = slots_of(state.runs, settled)
            if state.last is not None:
                marks._last[state.cause] = state.last
        return marks


class Causes:
    """The fold's part that notes when each cause was present, for the machine and for each unit's engine."""

    def __init__(self) -> None:
        self.settled = 0
        self.machine = Marks((LOAD,))
        self.engines: dict[str, Marks] = {}

    def due(self, t: int) -> int | None:
        """The slot up to which all may be judged at `t`, if that is further than before."""
        until = (t // SLOT_NS - LAG_SLOTS) // SETTLED_EVERY * SETTLED_EVERY
        return until if until > self.settled else None

    def of(self, unit: str) -> tuple[Marks, ...]:
        engine = self.engines.get(unit)
        return (self.machine,) if engine is None else (self.machine, engine)

    def forget_before(self, slot: int) -> None:
        self.settled = slot
        for marks in (self.machine, *self.engines.values()):
            marks.forget_before(slot)

    def frame(self, event: events.Frame) -> None:
        if event.spans:
            self.machine.watch(REDRAW)
        for start_ms, end_ms in event.spans:
            self._add(self.machine, REDRAW, start_ms, end_ms, event.t)

    def usage(self, event: events.Usage) -> None:
        if not event.spans:  # a recording need not say when
            return
        if event.unit not in self.engines:
            self.engines[event.unit] = Marks(OF_ENGINE)
        for start_ms, end_ms, charged in event.spans:
            for cause, bit in OF_ENGINE.items():
                if charged & bit:
                    self._add(self.engines[event.unit], cause, start_ms, end_ms, event.t)

    def load(self, event: events.Load) -> None:
        first = event.t // SLOT_NS
        self.machine.add(LOAD, first, first + LOAD_SLOTS)

    def power(self, event: events.Power, before: events.Power | None) -> None:
        slot = event.t // SLOT_NS
        self._add_slots(self.machine, POWER, slot - NEXT_TO, slot)
        if event.thermal is not None or any(cluster.mhz is not None for cluster in event.clusters):
            self.machine.watch(CLOCK)
            if before is not None and clock_changed(before, event):
                self._add_slots(self.machine, CLOCK, (event.t - event.elapsed_ns) // SLOT_NS, slot)

    def canary(self, event: events.Canary) -> None:
        self.machine.watch(CANARY)
        if event.missed:
            began = event.t - event.due * FRAME_PERIOD_NS
            self._add_slots(self.machine, CANARY, began // SLOT_NS, event.t // SLOT_NS)

    def _add(self, marks: Marks, cause: int, start_ms: int, end_ms: int, t: int) -> None:
        """A stretch in ms. Times in the future are damage."""
        last = min(end_ms * 1_000_000, t) // SLOT_NS
        self._add_slots(marks, cause, start_ms * 1_000_000 // SLOT_NS, last)

    def _add_slots(self, marks: Marks, cause: int, first: int, last: int) -> None:
        """What has been judged already stays as it was judged."""
        marks.watch(cause)
        marks.add(cause, max(first, self.settled), last)

    def state(self) -> CausesState:
        return CausesState(
            settled=self.settled,
            machine=self.machine.state(self.settled),
            engines={unit: marks.state(self.settled) for unit, marks in self.engines.items()},
        )

    @classmethod
    def restored(cls, state: CausesState | None) -> Causes:
        """As a keyframe describes it. ValueError when it contradicts itself."""
        causes = cls()
        if state is not None:
            causes.settled = state.settled
            causes.machine = Marks.restored(state.machine, state.settled)
            causes.machine.watch(LOAD)
            causes.engines = {unit: Marks.restored(each, state.settled) for unit, each in state.engines.items()}
        return causes


def clock_changed(before: events.Power, now: events.Power) -> bool:
    """Whether the thermal state is another, or a cluster's frequency is off by more than `CLOCK_STEP`."""
    if before.thermal is not None and now.thermal is not None and before.thermal != now.thermal:
        return True
    known: Mapping[str, float | None] = {cluster.name: cluster.mhz for cluster in before.clusters}
    for cluster in now.clusters:
        earlier = known.get(cluster.name)
        if earlier and cluster.mhz and abs(cluster.mhz / earlier - 1) > CLOCK_STEP:
            return True
    return False


SLOT_NS = 50_000_000
"""As long as an engine gathers before it reports: its own events are not known more finely."""

MOST_SLOTS = 1 << 12  # that a keyframe may name in one set


def occupied(ends: Column, after: int, widest_ns: int) -> Sequence[int]:
    """The slots beyond `after` in which any of these moments (ns, ascending) lies, ascending.

    widest_ns: no two neighbours are further apart. Mostly that means one in every slot.
    """
    first, last = max(after + 1, int(ends[0]) // SLOT_NS), int(ends[-1]) // SLOT_NS
    if widest_ns <= SLOT_NS:
        return range(first, last + 1)
    return [slot for slot in np.unique(ends // SLOT_NS).tolist() if slot >= first]


def runs_of(slots: Sequence[int], base: int) -> list[int]:
    """Ascending slots, none before `base`, as numbers by turns: so many left out, so many taken."""
    runs: list[int] = []
    following = base
    for slot in slots:
        if runs and slot == following:
            runs[-1] += 1
        else:
            runs += [slot - following, 1]
        following = slot + 1
    return runs


def slots_of(runs: Sequence[int], base: int) -> list[int]:
    """The slots that `runs_of` wrote down. ValueError when there are too many."""
    if sum(runs[1::2]) > MOST_SLOTS:
        raise ValueError("a keyframe names too many slots")
    slots: list[int] = []
    at = base
    for skipped, taken in zip(runs[::2], runs[1::2], strict=False):
        slots += range(at + skipped, at + skipped + taken)
        at += skipped + taken
    return slots
