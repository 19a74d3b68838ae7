"""The timeline view: each unit's latencies in time slots, from its samples or, for more than a minute, its history.

Pure functions, called for every redraw. Slots are aligned to the session clock, so that a bar keeps its height while it
moves to the left.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from hettop.events import NO_LOAD, Column
from hettop.session.condition import Condition
from hettop.session.history import Cell, UnitHistory
from hettop.session.session import LONGEST_WINDOW_NS, Session, current_condition
from hettop.session.views.structs import (
    TimelineLane,
    TimelineLoad,
    TimelineMark,
    TimelineSlot,
    TimelineView,
    ViewRequest,
)
from hettop.stats.quantiles import linear_quantiles
from hettop.units import NS_PER_MS

Slots = tuple[TimelineSlot | None, ...]


class _Grid:
    """`count` slots of `slot_ns`, the last of which holds `now_ns`. `first` is the number of the first one."""

    def __init__(self, now_ns: int, window_ns: int, count: int) -> None:
        self.now_ns = now_ns
        self.count = max(1, count)
        self.slot_ns = max(1, window_ns // self.count)
        self.first = now_ns // self.slot_ns - self.count + 1

    def slot(self, moment_ns: int) -> int:
        """The slot of a moment, from 0 on; it may be outside of the window."""
        return moment_ns // self.slot_ns - self.first

    def holds(self, slot: int) -> bool:
        return 0 <= slot < self.count


def timeline(session: Session, unit: str | None, request: ViewRequest) -> TimelineView:
    """All units' samples in the window, or the viewed unit's alone."""
    window_ns = min(request.span_ns, max(request.now_ns, LONGEST_WINDOW_NS))
    grid = _Grid(request.now_ns, window_ns, request.timeline_slots)
    names = [unit] if unit is not None and not request.all_units else list(session.units)
    long = window_ns > LONGEST_WINDOW_NS
    lanes = []
    used_ns: set[int] = set()
    for name in names:
        if long:
            history = session.history.units.get(name)
            slots, spikes, widths = _of_history(history, grid) if history is not None else ((), 0, [])
            used_ns.update(widths)
        else:
            conditions = [condition for key, condition in session.conditions.items() if key.unit == name]
            slots = _of_samples(conditions, grid, _earlier_slots(request.earlier_timeline, name, grid))
            spikes = sum(slot.spikes for slot in slots if slot is not None)
        if any(slot is not None for slot in slots) or name == unit:
            lanes.append(_lane(session, name, slots or (None,) * grid.count, spikes, request))
    shown = [lane for lane in lanes if any(slot is not None for slot in lane.slots)] or lanes
    counted = [lane.spikes for lane in shown if lane.spikes is not None]
    return TimelineView(
        window_ns=window_ns,
        slot_ns=grid.slot_ns,
        lanes=tuple(shown),
        spikes=sum(counted) if counted else None,
        marks=tuple(
            TimelineMark(slot, moment.kind, moment.text)
            for moment in session.history.moments
            if grid.holds(slot := grid.slot(moment.t))
        ),
        loads=_loads(session, grid),
        budget_ms=request.budget_ms,
        pointed=_pointed(request.pointed_ns, grid),
        cells_ns=(min(used_ns), max(used_ns)) if used_ns else None,
        whole=long and window_ns < request.window_ns,
        first=grid.first,
    )


def _lane(session: Session, unit: str, slots: Slots, spikes: int, request: ViewRequest) -> TimelineLane:
    current = current_condition(session, unit)
    p90 = None
    shown = _lane_of(request.earlier_timeline, unit) if request.reused is not None else None
    if shown is not None:
        p90 = shown.p90_ms
    elif current is not None:
        recent_ns = min(request.window_ns, LONGEST_WINDOW_NS)
        _, latencies = current.trailing.between(request.now_ns - recent_ns, request.now_ns)
        if len(latencies) == current.wall.n:  # as the table has it
            p90 = current.wall.quantile_ms(0.9)
        elif len(latencies):
            p90 = linear_quantiles(latencies, (0.9,))[0] / NS_PER_MS
    threshold = _threshold_ns(session, unit)
    return TimelineLane(
        unit=unit,
        slots=slots,
        p90_ms=p90,
        threshold_ms=None if threshold is None else threshold / NS_PER_MS,
        spikes=None if threshold is None and not spikes else spikes,
    )


def _threshold_ns(session: Session, unit: str) -> int | None:
    thresholds = [c.fence_ns for key, c in session.conditions.items() if key.unit == unit and key.load == session.load]
    return thresholds[-1] if thresholds else None


def _lane_of(timeline: TimelineView | None, unit: str) -> TimelineLane | None:
    return None if timeline is None else next((lane for lane in timeline.lanes if lane.unit == unit), None)


def _earlier_slots(timeline: TimelineView | None, unit: str, grid: _Grid) -> dict[int, TimelineSlot]:
    """The unit's slots of an earlier timeline, by their numbers on this grid; none where those had another length."""
    if timeline is None or timeline.slot_ns != grid.slot_ns:
        return {}
    lane = _lane_of(timeline, unit)
    slots = () if lane is None else lane.slots
    shift = timeline.first - grid.first
    return {at + shift: slot for at, slot in enumerate(slots) if slot is not None}


class _Samples(NamedTuple):
    """The samples of one condition in the window; `cuts`: where each slot begins in them, and the last one ends."""

    condition: Condition
    ends: Column
    latencies: Column
    cuts: list[int]


def _of_samples(conditions: Sequence[Condition], grid: _Grid, earlier: dict[int, TimelineSlot]) -> Slots:
    """One unit's slots; those that have as many samples as before are the same: samples are only added."""
    edges = np.arange(grid.first, grid.first + grid.count + 1) * grid.slot_ns
    samples = []
    for condition in conditions:
        ends, latencies = condition.trailing.between(grid.first * grid.slot_ns - 1, grid.now_ns)
        if len(ends):
            samples.append(_Samples(condition, ends, latencies, np.searchsorted(ends, edges).tolist()))
    found: list[TimelineSlot | None] = []
    for slot in range(grid.count):
        inside = [each for each in samples if each.cuts[slot] < each.cuts[slot + 1]]
        n = sum(each.cuts[slot + 1] - each.cuts[slot] for each in inside)
        known = earlier.get(slot)
        found.append(known if known is not None and known.n == n else _slot(inside, slot, n))
    return tuple(found)


def _slot(inside: Sequence[_Samples], slot: int, n: int) -> TimelineSlot | None:
    """One slot, of the `n` samples that these conditions have in it; None without any."""
    if not inside:
        return None
    parts = []
    spikes = 0
    for condition, ends, latencies, cuts in inside:
        begin, end = cuts[slot], cuts[slot + 1]
        parts.append(latencies[begin:end])
        spikes += int(np.count_nonzero(condition.thresholds.exceeded(ends[begin:end], latencies[begin:end])))
    p50, p90, highest = linear_quantiles(parts[0] if len(parts) == 1 else np.concatenate(parts), (0.5, 0.9, 1.0))
    return TimelineSlot(p50 / NS_PER_MS, p90 / NS_PER_MS, highest / NS_PER_MS, spikes, n)


def _of_history(history: UnitHistory, grid: _Grid) -> tuple[Slots, int, list[int]]:
    """One unit's slots, the spikes in their cells, and the widths of those.

    Each slot shows the cell that its middle lies in: of the first level that is not narrower than slots are, so that no
    cell is left out, and that reaches so far back.
    """
    found: list[TimelineSlot | None] = [None] * grid.count
    middles = [(grid.first + slot) * grid.slot_ns + grid.slot_ns // 2 for slot in range(grid.count)]
    levels = list(history.levels())
    spikes, widths = 0, list[int]()
    until = grid.count  # the slots from here on are done
    for width_ns, first, cells in [level for level in levels if level[0] >= grid.slot_ns] or levels[-1:]:
        begin = next((slot for slot in range(until) if middles[slot] // width_ns >= first), until)
        numbers = range(middles[begin] // width_ns, middles[until - 1] // width_ns + 1) if begin < until else range(0)
        shown = {cell.number: cell for cell in cells if cell.number in numbers}
        drawn = {number: _slot_of(cell) for number, cell in shown.items()}
        spikes += sum(cell.spikes for cell in shown.values())
        widths += [width_ns] if shown else []
        for slot in range(begin, until):
            found[slot] = drawn.get(middles[slot] // width_ns)
        until = begin
    return tuple(found), spikes, widths


def _slot_of(cell: Cell) -> TimelineSlot:
    p50, p90 = cell.quantiles_ns()
    return TimelineSlot(p50 / NS_PER_MS, p90 / NS_PER_MS, cell.max_ns / NS_PER_MS, cell.spikes, cell.n)


def _loads(session: Session, grid: _Grid) -> tuple[TimelineLoad, ...]:
    """The loads in the window; what was before the oldest change that is kept is not known."""
    changes = [*session.history.loads, (grid.now_ns + grid.slot_ns, NO_LOAD)]
    found = []
    for (since_ns, load), (until_ns, _) in pairwise(changes):
        first, last = grid.slot(since_ns), grid.slot(until_ns)
        if load != NO_LOAD and last >= 0 and first < grid.count:
            begins, ends = first >= 0, last < grid.count
            found.append(TimelineLoad(max(first, 0), min(last, grid.count - 1), load, begins, ends))
    return tuple(found)


def _pointed(moment_ns: int | None, grid: _Grid) -> int | None:
    slot = None if moment_ns is None else grid.slot(moment_ns)
    return slot if slot is not None and grid.holds(slot) else None
