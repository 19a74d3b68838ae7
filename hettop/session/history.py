"""The course of a session over minutes and hours: cells of P50, P90, maximum, samples and spikes for each unit.

The last minute is drawn from the samples themselves; this is what is left of those before it. There are levels of ever
wider cells, each of which forgets its oldest. A cell is closed with the histogram of all its samples, which is made of
those of the narrower cells in it and then dropped: so no quantile is ever made of quantiles. Counts, maxima and spikes
are exact; P50 and P90 are the samples of rank ceil(q n), to within 0.8% (half a bucket).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hettop.events import Column, HistoryState, LevelState, MomentState, PartState, UnitHistoryState
from hettop.stats.histogram import BUCKET_BASE, BUCKET_SHIFT, BUCKETS, SUB_BUCKETS

CELL_NS = 2 * 10**9
"""Width of the cells of the first level."""

LEVELS = ((1, 61), (2, 76), (8, 58), (32, 58), (128, 86), (512, 86), (2048, 86), (8192, 86), (65536, 86))
"""Width of a level's cells, in those of the first level, and how many of them are kept: for 2, 5, 15 minutes, 1 hour, 6
hours, a day, 4 days, 16 days and 4 months. Each width is a multiple of the one before it."""

MOST_WAITING = 1 << 14  # samples of the open cell that are kept before they are counted
MOST_LOADS = MOST_MOMENTS = 48
LONGEST_TEXT = 32
_COARSER = 1  # bits of the histogram's bucket number that are left out
_BUCKETS = BUCKETS >> _COARSER
_FIRST = BUCKET_BASE >> _COARSER


class Part(NamedTuple):
    """Samples of a stretch of time: `counts[i]` of them in bucket `low` + i. Parts can be joined exactly."""

    max_ns: int
    spikes: int
    low: int
    counts: npt.NDArray[np.int64]


class Cell(NamedTuple):
    """Samples of a cell, the `number`th since the session began; `p50` and `p90` are buckets."""

    number: int
    n: int
    p50: int
    p90: int
    max_ns: int
    spikes: int

    def quantiles_ns(self) -> tuple[float, float]:
        """P50 and P90."""
        return _middle(self.p50, self.max_ns), _middle(self.p90, self.max_ns)


class Moment(NamedTuple):
    """Something to mark on the timeline: `kind` is an event's, `text` what it is called there."""

    t: int
    kind: str
    text: str


def part_of(latencies: Column, spikes: int) -> Part:
    """The samples' counts; their buckets are found as by `bucket_index`, in half the time."""
    buckets = latencies.astype(np.float64).view(np.int64)
    buckets >>= BUCKET_SHIFT + _COARSER
    low = int(buckets.min())
    if low < _FIRST:  # samples of 0 ns are counted as 1 ns
        low = _FIRST
        np.maximum(buckets, low, out=buckets)
    buckets -= low
    return Part(int(latencies.max()), spikes, low - _FIRST, np.bincount(buckets))


def joined(one: Part | None, other: Part | None) -> Part | None:
    """The samples of both."""
    if one is None or other is None:
        return one or other
    low = min(one.low, other.low)
    counts = np.zeros(max(one.low + len(one.counts), other.low + len(other.counts)) - low, dtype=np.int64)
    for part in (one, other):
        counts[part.low - low : part.low - low + len(part.counts)] += part.counts
    return Part(max(one.max_ns, other.max_ns), one.spikes + other.spikes, low, counts)


def cell_of(number: int, part: Part) -> Cell:
    upto = np.cumsum(part.counts)
    n = int(upto[-1])
    ranks = (math.ceil(n / 2), math.ceil(n * 9 / 10))
    p50, p90 = (np.searchsorted(upto, ranks) + part.low).tolist()
    return Cell(number, n, p50, p90, part.max_ns, part.spikes)


def _middle(bucket: int, most: int) -> float:
    """The value in the middle of a bucket, as of `bucket_low`, but for one bucket at a time."""
    low, high = _low(bucket), _low(bucket + 1)
    return min((low + max(high - 1, low)) / 2, float(most))


def _low(bucket: int) -> float:
    exponent, mantissa = divmod(bucket, SUB_BUCKETS >> _COARSER)
    return math.ldexp(1 + mantissa / (SUB_BUCKETS >> _COARSER), exponent)


class Level:
    """The closed cells of one width, oldest first. `open` has those of the level before in the cell not closed yet."""

    __slots__ = ("cells", "kept", "open", "width")

    def __init__(self, width: int, kept: int) -> None:
        self.width, self.kept = width, kept
        self.cells: deque[Cell] = deque()
        self.open: Part | None = None

    def close(self, number: int, part: Part) -> None:
        self.cells.append(cell_of(number, part))
        while self.cells and self.cells[0].number <= number + 1 - self.kept:  # one place is the open cell's
            self.cells.popleft()


class UnitHistory:
    """The cells of one unit's steady samples under whatever load."""

    __slots__ = ("_at", "_levels", "_spikes", "_waiting", "_waiting_n")

    def __init__(self) -> None:
        self._levels = [Level(width, kept) for width, kept in LEVELS]
        self._at = 0  # the open cell of the first level
        self._waiting: list[Column] = []
        self._waiting_n = self._spikes = 0

    def add(self, ends: Column, latencies: Column, spikes: int, above: Callable[[], npt.NDArray[np.bool_]]) -> None:
        """Take in samples, `spikes` of them spikes; `above` gives which ones."""
        first, last = int(ends[0]) // CELL_NS, int(ends[-1]) // CELL_NS
        if first == last:
            self._take(last, latencies, spikes)
            return
        flags = above() if spikes else np.zeros(len(ends), dtype=np.bool_)
        if last - first < len(ends):
            edges = np.arange(first + 1, last + 1) * CELL_NS
            # Rising even where a damaged recording's clock runs backwards.
            begins = [0, *np.maximum.accumulate(np.searchsorted(ends, edges)).tolist(), len(ends)]
            cells = range(first, last + 1)
        else:
            numbers = ends // CELL_NS
            begins = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(ends)]
            cells = numbers[begins[:-1]].tolist()
        for cell, (begin, end) in zip(cells, pairwise(begins), strict=False):
            if begin < end:
                self._take(cell, latencies[begin:end], int(np.count_nonzero(flags[begin:end])))

    def _take(self, cell: int, latencies: Column, spikes: int) -> None:
        # A damaged recording can claim that time ran backwards: then it stands still.
        if cell > self._at:
            self._close(cell)
        self._waiting.append(latencies)
        self._waiting_n += len(latencies)
        self._spikes += spikes
        if self._waiting_n >= MOST_WAITING:
            self._count_waiting()

    def _count_waiting(self) -> None:
        """Count the samples of the open cell."""
        if self._waiting:
            first = self._levels[0]
            part = part_of(np.concatenate(self._waiting), self._spikes)
            first.open = part if first.open is None else joined(first.open, part)
            self._waiting, self._waiting_n, self._spikes = [], 0, 0

    def _close(self, following: int) -> None:
        """Close what ends before the cell `following` of the first level."""
        self._count_waiting()
        part: Part | None = None
        for level in self._levels:
            level.open = joined(level.open, part)
            number = self._at // level.width
            if following // level.width == number:
                break
            part, level.open = level.open, None
            if part is not None:
                level.close(number, part)
        self._at = following

    def levels(self) -> Iterator[tuple[int, int, list[Cell]]]:
        """Width of the cells (ns), the first cell that is kept, and the cells with the open one, of every level."""
        self._count_waiting()
        part: Part | None = None
        for level in self._levels:
            part = joined(level.open, part)
            number = self._at // level.width
            open_cell = [] if part is None else [cell_of(number, part)]
            yield level.width * CELL_NS, number - level.kept + 1, [*level.cells, *open_cell]

    def state(self) -> UnitHistoryState:
        self._count_waiting()
        last = max((at for at, level in enumerate(self._levels) if level.cells or level.open is not None), default=-1)
        return UnitHistoryState(self._at, [_level_state(level) for level in self._levels[: last + 1]])

    @classmethod
    def restored(cls, state: UnitHistoryState) -> UnitHistory:
        """What a keyframe describes. ValueError when it contradicts itself."""
        history = cls()
        history._at = state.at
        if len(state.levels) > len(LEVELS):
            raise ValueError("a keyframe's history has more levels than there are")
        for level, described in zip(history._levels, state.levels, strict=False):
            level.cells.extend(_cells(described))
            if len(level.cells) > level.kept or (level.cells and level.cells[-1].number >= state.at // level.width):
                raise ValueError("a keyframe's history has cells that cannot be")
            level.open = _restored_part(described.open)
        return history


def _level_state(level: Level) -> LevelState:
    cells = level.cells
    part = level.open
    return LevelState(
        runs=_number_runs([cell.number for cell in cells]),
        n=[cell.n for cell in cells],
        p50=[cell.p50 - before for before, cell in zip([0, *(cell.p50 for cell in cells)], cells, strict=False)],
        p90=[cell.p90 - cell.p50 for cell in cells],
        max_ns=[cell.max_ns for cell in cells],
        spikes=_encoded([cell.spikes for cell in cells]),
        open=None if part is None else PartState(part.max_ns, part.spikes, [part.low, *_encoded(part.counts.tolist())]),
    )


def _cells(state: LevelState) -> Iterator[Cell]:
    numbers = _numbers(state.runs)
    spikes = _decoded(state.spikes, len(numbers))
    p50 = 0
    for number, n, change, above, max_ns, found in zip(
        numbers, state.n, state.p50, state.p90, state.max_ns, spikes, strict=True
    ):
        p50 += change
        if not (0 <= p50 <= p50 + above < _BUCKETS and n > 0):
            raise ValueError("a keyframe's history has a cell that cannot be")
        yield Cell(number, n, p50, p50 + above, max_ns, found)


def _restored_part(state: PartState | None) -> Part | None:
    if state is None:
        return None
    low, *runs = state.runs or [0]
    counts = _decoded(runs, sum(max(1, -run) for run in runs))
    if not counts or not 0 <= low <= low + len(counts) <= _BUCKETS or min(counts[0], counts[-1]) <= 0:
        raise ValueError("a keyframe's history has an open cell that cannot be")
    return Part(state.max_ns, state.spikes, low, np.array(counts, dtype=np.int64))


def _number_runs(numbers: Sequence[int]) -> list[int]:
    """Cells from 0 on: so many left out, so many there, by turns."""
    runs: list[int] = []
    following = 0
    for number in numbers:
        if number > following or not runs:
            runs += [number - following, 0]
        runs[-1] += 1
        following = number + 1
    return runs


def _numbers(runs: Sequence[int]) -> list[int]:
    most = max(kept for _, kept in LEVELS)
    if sum(runs[1::2]) > most or len(runs) % 2:
        raise ValueError("a keyframe's history has too many cells")
    found: list[int] = []
    following = 0
    for out, there in zip(runs[::2], runs[1::2], strict=True):
        found += range(following + out, following + out + there)
        following += out + there
    return found


def _encoded(counts: Sequence[int]) -> list[int]:
    """As a histogram's runs: -k for k zeros, else a count; without the zeros at the end."""
    runs: list[int] = []
    zeros = 0
    for count in counts:
        if count:
            runs += [-zeros, count] if zeros else [count]
            zeros = 0
        else:
            zeros += 1
    return runs


def _decoded(runs: Sequence[int], length: int) -> list[int]:
    if sum(max(1, -run) for run in runs) > min(length, _BUCKETS):
        raise ValueError("a keyframe's history counts beyond its cells")
    counts: list[int] = []
    for run in runs:
        counts += [0] * -run if run < 0 else [run]
    return counts + [0] * (length - len(counts))


class History:
    """The cells of every unit, and what changed meanwhile: loads, units, marks.

    `loads` are (since when, load); before the first one there was none. Of too many, the oldest are forgotten.
    """

    def __init__(self) -> None:
        self.units: dict[str, UnitHistory] = {}
        self.loads: deque[tuple[int, str]] = deque(maxlen=MOST_LOADS)
        self.moments: deque[Moment] = deque(maxlen=MOST_MOMENTS)

    def unit(self, name: str) -> UnitHistory:
        if name not in self.units:
            self.units[name] = UnitHistory()
        return self.units[name]

    def mark(self, t: int, kind: str, text: str) -> None:
        self.moments.append(Moment(t, kind, text[:LONGEST_TEXT]))

    def reset(self) -> None:
        """Forget the samples."""
        self.units = {}

    def state(self) -> HistoryState:
        return HistoryState(
            units={name: unit.state() for name, unit in self.units.items()},
            loads=list(self.loads),
            moments=[MomentState(*moment) for moment in self.moments],
        )

    @classmethod
    def restored(cls, state: HistoryState | None) -> History:
        """What a keyframe describes; nothing of an older fold's. ValueError when it contradicts itself."""
        history = cls()
        if state is not None:
            history.units = {name: UnitHistory.restored(unit) for name, unit in state.units.items()}
            history.loads.extend(state.loads)
            history.moments.extend(Moment(each.t, each.kind, each.text) for each in state.moments)
        return history
