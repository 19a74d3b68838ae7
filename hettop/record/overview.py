"""An overview of a whole recording: which latencies each stretch of it holds, in bounded memory and without a stall.

Of a short recording the samples themselves are read; of a long one the keyframes, whose histograms hold all samples
up to them, so that the difference of two is what lies between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from hettop.events import Column, Keyframe, Samples
from hettop.record.bytes import RecordingFile, second_reader
from hettop.record.defects import Report
from hettop.record.reader import read_placed
from hettop.record.seek import KeyframeLine, keyframe_before, place_of
from hettop.session.views.replay import Band
from hettop.stats.histogram import BUCKETS, Histogram, bucket_high, bucket_index, bucket_middle, weighted_quantile
from hettop.units import NS_PER_MS

SLOTS = 240  # as many columns as a wide screen has; in a day, six minutes each
# Up to here all samples are read, a second or less of work; beyond it, keyframes.
READ_WHOLE_BYTES = 1 << 26
READ_AT_ONCE_BYTES = 1 << 21
KEYFRAMES_AT_ONCE = 12
# A slot keeps the units with the most samples; a screen has no use for more, and a hostile file has hundreds.
UNITS_KEPT = 8


@dataclass(slots=True)
class _Counts:
    """How many samples of one unit lie in each occupied bucket, and their extremes."""

    indices: Column = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    counts: Column = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    n: int = 0
    max_ns: int = 0

    def add(self, indices: Column, counts: Column, max_ns: int) -> None:
        both = np.concatenate((self.indices, indices))
        weights = np.concatenate((self.counts, counts))
        self.indices, places = np.unique(both, return_inverse=True)
        self.counts = np.bincount(places, weights=weights).astype(np.int64)
        self.n += int(counts.sum())
        self.max_ns = max(self.max_ns, max_ns)


class Overview:
    """Grows as `poll` is called, until it is `done`; `bands` gives what is known so far."""

    def __init__(self, file: RecordingFile, end: int, duration_ns: int, *, whole_bytes: int = READ_WHOLE_BYTES) -> None:
        """Of the first `end` bytes of `file`; up to `whole_bytes` of them are read whole."""
        self.duration_ns = duration_ns
        self.done = False
        self._file, self._end = second_reader(file), end
        self._slots: list[dict[str, _Counts]] = [{} for _ in range(SLOTS)]
        self._work = self._read(0) if end <= whole_bytes else self._difference_keyframes()
        self._made: tuple[int, tuple[Band | None, ...]] | None = None

    def poll(self) -> None:
        """Look at the next part; takes some tens of milliseconds at most."""
        if not self.done:
            self._made = None
            self.done = next(self._work, None) is None

    def bands(self, columns: int) -> tuple[Band | None, ...]:
        """`columns` equal stretches of the recording; None where no steady sample is known."""
        if self._made is None or self._made[0] != columns:
            self._made = columns, tuple(_band(self._slots_of(column, columns)) for column in range(columns))
        return self._made[1]

    def _slots_of(self, column: int, columns: int) -> list[dict[str, _Counts]]:
        first = column * SLOTS // columns
        return self._slots[first : max(first + 1, (column + 1) * SLOTS // columns)]

    def _slot_at(self, moment_ns: int) -> int:
        return min(SLOTS - 1, max(0, moment_ns * SLOTS // max(1, self.duration_ns)))

    def _read(self, start: int) -> Iterator[bool]:
        """Reads all samples from byte `start` on."""
        pause = start + READ_AT_ONCE_BYTES
        for placed in read_placed(self._file, Report(), start, end=self._end):
            if isinstance(placed.event, Samples) and placed.event.phase == "steady":
                self._add_window(placed.event)
            if placed.offset >= pause:
                pause = placed.offset + READ_AT_ONCE_BYTES
                yield True

    def _add_window(self, window: Samples) -> None:
        ends = window.starts_ns() + window.lat_ns
        slots = np.clip(ends * 1.0 / max(1, self.duration_ns) * SLOTS, 0, SLOTS - 1).astype(np.int64)
        indices = bucket_index(window.lat_ns)
        for slot in np.unique(slots).tolist():
            inside = slots == slot
            found, counts = np.unique(indices[inside], return_counts=True)
            self._add(slot, window.unit, found, counts, int(window.lat_ns[inside].max()))

    def _add(self, slot: int, unit: str, indices: Column, counts: Column, max_ns: int) -> None:
        held = self._slots[slot]
        held.setdefault(unit, _Counts()).add(indices, counts, max_ns)
        if len(held) > UNITS_KEPT:
            del held[min(held, key=lambda name: held[name].n)]

    def _difference_keyframes(self) -> Iterator[bool]:
        """The last keyframe of each slot, against that of the slot before."""
        last: KeyframeLine | None = None
        for slot in range(1, SLOTS + 1):
            until = slot * self.duration_ns // SLOTS + 1
            found = keyframe_before(self._file, place_of(self._file, until, self._end), until)
            if found is not None and (last is None or found.offset > last.offset):
                self._add_difference(None if last is None else last.keyframe, found.keyframe)
                last = found
            if slot % KEYFRAMES_AT_ONCE == 0:
                yield True
        yield from self._read(0 if last is None else last.after)

    def _add_difference(self, before: Keyframe | None, keyframe: Keyframe) -> None:
        """What came between two keyframes, into each slot it lies in: finer than keyframes nothing is known."""
        slots = range(self._slot_at(0 if before is None else before.t), self._slot_at(keyframe.t - 1) + 1)
        if before is not None and len(slots) > 1:
            slots = slots[1:]  # the keyframe before lies in the slot that it ended
        for unit, indices, counts in differences(before, keyframe):
            highest = int(bucket_high(indices[-1])) - 1
            for slot in slots:
                self._add(slot, unit, indices, counts, highest)


def differences(before: Keyframe | None, after: Keyframe) -> Iterator[tuple[str, Column, Column]]:
    """Unit, occupied buckets and counts of the steady samples between two keyframes, a unit at a time.

    Where the statistics were reset in between, of those since then. What a damaged keyframe claims is left out.
    """
    earlier = {} if before is None or was_reset(before, after) else _by_condition(before)
    units: dict[str, Column] = {}
    for key, runs in _by_condition(after).items():
        try:
            dense = _dense(runs) - _dense(earlier.get(key, []))
        except ValueError:
            continue
        units[key[0]] = units.get(key[0], 0) + dense
    for unit, dense in units.items():
        indices = np.flatnonzero(dense > 0)
        if len(indices):
            yield unit, indices, dense[indices]


def was_reset(before: Keyframe, after: Keyframe) -> bool:
    """Whether the statistics were reset between two keyframes: the count of all samples goes on, theirs does not."""
    return _held(after) - _held(before) != after.samples - before.samples


def _held(keyframe: Keyframe) -> int:
    apart = sum(sum(unit.apart.values()) for unit in keyframe.units)
    return apart + sum(condition.wall.n for condition in keyframe.conditions)


def _by_condition(keyframe: Keyframe) -> dict[tuple[str, str, str | None], list[int]]:
    return {(state.unit, state.load, state.thermal): state.wall.runs for state in keyframe.conditions}


def _dense(runs: list[int]) -> Column:
    indices, counts = Histogram.decode(runs).nonzero()
    dense = np.zeros(BUCKETS, dtype=np.int64)
    dense[indices] = counts
    return dense


def _band(slots: list[dict[str, _Counts]]) -> Band | None:
    totals: dict[str, int] = {}
    for slot in slots:
        for unit, held in slot.items():
            totals[unit] = totals.get(unit, 0) + held.n
    if not totals:
        return None
    unit = max(totals, key=lambda name: totals[name])
    whole = _Counts()
    for slot in slots:
        if unit in slot:
            whole.add(slot[unit].indices, slot[unit].counts, slot[unit].max_ns)
    middles = bucket_middle(whole.indices)
    p50, p90 = (min(weighted_quantile(middles, whole.counts, q), whole.max_ns) / NS_PER_MS for q in (0.5, 0.9))
    return Band(unit, whole.n, p50, p90, whole.max_ns / NS_PER_MS)
