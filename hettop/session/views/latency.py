"""The latency view and the timeline view: the time window as a distribution, and in time slots.

Pure functions, called for every redraw. Slots are aligned to the session clock, so that a bar keeps its height while it
moves to the left.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from hettop.events import Column
from hettop.session.event_log import kind_of
from hettop.session.session import LONGEST_WINDOW_NS, Session, current_condition
from hettop.session.views.structs import LatencyView, TimelineSlot, TimelineView, ViewRequest
from hettop.stats.quantiles import further_samples, linear_quantiles
from hettop.units import NS_PER_MS


def latency(session: Session, unit: str | None, request: ViewRequest) -> LatencyView:
    """The distribution of one unit in the time window, in columns."""
    window_ns = min(request.window_ns, LONGEST_WINDOW_NS)
    known = current_condition(session, unit) if unit else None
    if known is None:
        latencies: Column = np.empty(0, dtype=np.int64)
    else:
        _, latencies = known.trailing.between(request.now_ns - window_ns, request.now_ns)
    n = len(latencies)
    if n == 0:
        return LatencyView(
            unit, window_ns, 0, (0,) * request.histogram_columns, 0.0, 1.0, 0, None, None, None, None, None
        )
    smallest, p01, p50, p90, p99, largest = linear_quantiles(latencies, (0.0, 0.01, 0.5, 0.9, 0.99, 1.0))
    low, high = axis(smallest, p01, p99, largest)
    needs = further_samples(n, 0.99)
    return LatencyView(
        unit=unit,
        window_ns=window_ns,
        n=n,
        counts=_columns(latencies, low, high, request.histogram_columns),
        low_ms=low / NS_PER_MS,
        high_ms=high / NS_PER_MS,
        above=int(np.count_nonzero(latencies > high)),
        p50_ms=p50 / NS_PER_MS,
        p90_ms=p90 / NS_PER_MS,
        p99_ms=None if needs else p99 / NS_PER_MS,
        max_ms=largest / NS_PER_MS,
        p99_needs=needs or None,
    )


def _columns(latencies: Column, low: float, high: float, columns: int) -> tuple[int, ...]:
    """The number of latencies in each of equal columns between `low` and `high`; those at `high` are in the last one.

    `np.histogram` does the same in six times the time.
    """
    places = ((latencies - low) * (columns / (high - low))).astype(np.int64)
    places = places[(latencies >= low) & (latencies <= high)]
    return tuple(np.bincount(np.minimum(places, columns - 1), minlength=columns).tolist())


def axis(smallest: float, p01: float, p99: float, largest: float) -> tuple[float, float]:
    """Ends of a linear axis: all but the far tail, on round numbers so that it rarely changes.

    A percentile read from buckets may lie outside of `smallest` to `largest`, as of samples that are all 0.
    """
    p01, p99 = (min(max(each, smallest), largest) for each in (p01, p99))
    spread = max(p99 - p01, 0.02 * p99, 1.0)
    low = max(smallest, p01 - 0.2 * spread)
    high = min(largest, p99 + spread)
    step = _round_step((high - low) / 8 if high > low else spread / 8)
    return math.floor(low / step) * step, (math.floor(high / step) + 1) * step


def _round_step(rough: float) -> float:
    """The next larger of 1, 2 or 5 times a power of ten."""
    magnitude = 10.0 ** math.floor(math.log10(max(rough, 1e-9)))
    return next(factor * magnitude for factor in (1.0, 2.0, 5.0, 10.0) if factor * magnitude >= rough)


MARKED_KINDS = ("mark", "control", "load", "drift")


def timeline(session: Session, unit: str | None, request: ViewRequest) -> TimelineView:
    """All units' samples when they run one at a time; the viewed unit's alone while units are interleaved."""
    window_ns = min(request.window_ns, LONGEST_WINDOW_NS)
    slots = max(1, request.timeline_slots)
    slot_ns = max(1, window_ns // slots)
    last = request.now_ns // slot_ns
    first = last - slots + 1
    alone = session.control is None or session.control.mode != "interleave"
    names = list(session.units) if alone or unit is None else [unit]
    found: list[TimelineSlot | None] = [None] * slots
    most = [0] * slots
    spikes = 0
    for condition in session.conditions.values():
        name = condition.key.unit
        if name not in names:
            continue
        ends, latencies = condition.trailing.between(first * slot_ns - 1, request.now_ns)
        above = np.flatnonzero(condition.thresholds.exceeded(ends, latencies))
        spikes += len(above)
        spiked = set((ends[above] // slot_ns - first).tolist())
        begins = np.searchsorted(ends, np.arange(first, first + slots + 1) * slot_ns).tolist()
        for slot, (begin, end) in enumerate(pairwise(begins)):
            if end - begin > most[slot]:
                most[slot] = end - begin
                p90, highest = linear_quantiles(latencies[begin:end], (0.9, 1.0))
                found[slot] = TimelineSlot(p90 / NS_PER_MS, highest / NS_PER_MS, slot in spiked, name)
    threshold = _threshold_ns(session, unit) if unit else None
    marks = tuple(
        (entry.t // slot_ns - first, kind_of(entry))
        for entry in session.log.since(first * slot_ns)
        if kind_of(entry) in MARKED_KINDS and entry.t // slot_ns <= last
    )
    return TimelineView(
        window_ns=window_ns,
        slot_ns=slot_ns,
        slots=tuple(found),
        threshold_ms=None if threshold is None else threshold / NS_PER_MS,
        spikes=None if threshold is None and not spikes else spikes,
        marks=marks,
        pointed=None if request.pointed_ns is None else _slot_of(request.pointed_ns // slot_ns - first, slots),
    )


def _slot_of(slot: int, slots: int) -> int | None:
    return slot if 0 <= slot < slots else None


def _threshold_ns(session: Session, unit: str) -> int | None:
    thresholds = [c.fence_ns for key, c in session.conditions.items() if key.unit == unit and key.load == session.load]
    return thresholds[-1] if thresholds else None
