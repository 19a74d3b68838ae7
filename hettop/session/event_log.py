"""The lines of the event log as the fold keeps them: in the order in which they began, never taken back.

A line grows where the same happens again: spikes of a unit with nothing else between them are one line, and so is an
event that comes again unchanged. No line ever vanishes or counts less than before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import NamedTuple

import msgspec

from hettop.events import Control, LevelDrift, Load, LogEntry, LogEvent, LogState, Mark, SpikeRun

KEPT = 10_000
"""Lines in memory: some megabytes."""

TAIL = 48
"""Lines that a keyframe carries: as many as a large screen shows. What is older is read from the lines of the file."""

TAIL_BYTES = 12_000
"""Of them as JSON, so that hostile texts cannot make a keyframe long."""

SPIKE = "spike"

_MOMENTS = (Control, Load, Mark, LevelDrift)
"""Events whose moments are drawn on the timeline: they have a line each, however alike they are."""


def kind_of(entry: LogEvent | LogEntry | SpikeRun) -> str:
    """The kind of event that an entry of the log is of."""
    if isinstance(entry, SpikeRun):
        return SPIKE
    return entry.kind if isinstance(entry, LogEntry) else str(entry.__struct_config__.tag)


@dataclass(frozen=True, slots=True)
class Logged:
    """One line: what happened, how often, and when for the last time."""

    entry: LogEvent | LogEntry | SpikeRun
    n: int = 1
    last_ns: int = 0

    @property
    def t(self) -> int:
        """When it happened first."""
        return self.entry.t

    @property
    def separates(self) -> bool:
        """Whether spikes after it are another line than those before it. A drift is found by the fold, at a moment
        between samples that came at once: it does not."""
        return not isinstance(self.entry, SpikeRun | LevelDrift)


class Tail(NamedTuple):
    """The last lines as a keyframe holds them."""

    entries: list[LogEntry]
    events: list[LogEvent]
    state: LogState | None


class EventLog:
    """The last `KEPT` lines, oldest first, and counts of all.

    `counts` are events by kind, each spike as one. `lines` counts all lines that there ever were; None where the log
    goes on from a keyframe of an older fold, which does not know it. `changes` is another number after each change.
    """

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.lines: int | None = 0
        self.changes = 0
        self._held: deque[Logged] = deque()

    def __iter__(self) -> Iterator[LogEvent | LogEntry | SpikeRun]:
        return (line.entry for line in self._held)

    def __len__(self) -> int:
        return len(self._held)

    def __getitem__(self, place: int) -> LogEvent | LogEntry | SpikeRun:
        return self._held[place].entry

    @property
    def held(self) -> Sequence[Logged]:
        """The lines in memory."""
        return self._held

    @property
    def earlier(self) -> int | None:
        """How many lines there were before those in memory; None where that is unknown."""
        return None if self.lines is None else max(0, self.lines - len(self._held))

    def add(self, event: LogEvent) -> None:
        """Take in an event."""
        self._count(kind_of(event))
        place, last = next(((i, line) for i, line in self._newest_first() if line.separates), (0, None))
        if last is not None and _is_same(last.entry, event):
            self._held[place] = replace(last, n=last.n + 1, last_ns=max(last.last_ns, event.t))
        else:
            self._insert(Logged(event, last_ns=event.t))

    def spike(self, unit: str, end_ns: int, latency_ns: int) -> None:
        """Take in a spike: one more of the unit's run since what happened last before it, else a line of its own.

        Samples are folded up to a second after they ended, so something else may be in the log that came later.
        """
        self._count(SPIKE)
        found: int | None = None
        for place, line in self._newest_first():
            if line.separates and line.t <= end_ns:
                break
            if line.separates:  # what is behind it came after it
                found = None
            elif isinstance(line.entry, SpikeRun) and line.entry.unit == unit:
                found = place
        if found is None:
            self._insert(Logged(SpikeRun(end_ns, end_ns, unit, 1, latency_ns), last_ns=end_ns))
            return
        run = self._held[found].entry
        assert isinstance(run, SpikeRun)  # noqa: S101 - by the search
        n, last_ns = run.n + 1, max(run.last_ns, end_ns)
        self._held[found] = Logged(SpikeRun(run.t, last_ns, unit, n, max(run.max_ns, latency_ns)), n, last_ns)

    def since(self, t: int) -> list[LogEvent | LogEntry | SpikeRun]:
        """What began at `t` or later, oldest first."""
        return list(takewhile(lambda entry: entry.t >= t, (line.entry for line in reversed(self._held))))[::-1]

    def prepend(self, lines: Iterable[Logged]) -> None:
        """Put lines before those in memory, which were read from a recording."""
        self._held.extendleft(reversed(list(lines)))
        self.changes += 1

    def tail(self) -> Tail:
        """What a keyframe holds of it."""
        kept: list[Logged] = []
        room = TAIL_BYTES
        for _, line in self._newest_first():
            room -= len(msgspec.json.encode(line.entry))
            if len(kept) == TAIL or room < 0:
                break
            kept.append(line)
        kept.reverse()
        happened = [line for line in kept if not isinstance(line.entry, SpikeRun | LogEntry)]
        state = None
        if self.lines is not None:
            spikes = [line.entry for line in kept if isinstance(line.entry, SpikeRun)]
            repeats = [(place, line.n, line.last_ns) for place, line in enumerate(happened) if line.n > 1]
            state = LogState(lines=self.lines, counts=dict(self.counts), spikes=spikes, repeats=repeats)
        return Tail(
            [line.entry for line in kept if isinstance(line.entry, LogEntry)],
            [line.entry for line in happened if not isinstance(line.entry, SpikeRun | LogEntry)],
            state,
        )

    @classmethod
    def restored(cls, entries: Sequence[LogEvent | LogEntry], state: LogState | None) -> EventLog:
        """The log that a keyframe describes. Without a state, of an older fold, it has no counts."""
        log = cls()
        known = state or LogState()
        words = sum(isinstance(entry, LogEntry) for entry in entries)
        repeats = {place + words: (n, last) for place, n, last in known.repeats}
        for place, entry in enumerate(entries):
            n, last = repeats.get(place, (1, entry.t))
            log._insert(Logged(entry, n, last))
        for run in known.spikes:
            log._insert(Logged(run, run.n, run.last_ns))
        log.counts = dict(known.counts)
        log.lines = None if state is None else known.lines
        return log

    def _newest_first(self) -> Iterator[tuple[int, Logged]]:
        return ((len(self._held) - 1 - i, line) for i, line in enumerate(reversed(self._held)))

    def _count(self, kind: str) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + 1
        self.changes += 1

    def _insert(self, line: Logged) -> None:
        """In its place by time, behind what began at the same moment; runs of that moment by unit."""
        place = next((i + 1 for i, other in self._newest_first() if not _is_before(line, other)), 0)
        self._held.insert(place, line)
        if self.lines is not None:
            self.lines += 1
        if len(self._held) > KEPT:
            self._held.popleft()


def _is_before(line: Logged, other: Logged) -> bool:
    if line.t != other.t:
        return line.t < other.t
    ours, others = line.entry, other.entry
    return isinstance(others, SpikeRun) and (not isinstance(ours, SpikeRun) or ours.unit < others.unit)


def _is_same(before: LogEvent | LogEntry | SpikeRun, event: LogEvent) -> bool:
    """Whether an event says what the one before it said."""
    if type(before) is not type(event) or isinstance(event, _MOMENTS):
        return False
    return all(getattr(before, field) == getattr(event, field) for field in event.__struct_fields__ if field != "t")
