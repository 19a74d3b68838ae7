"""The timeline view: the trailing window cut into slots, with the P90 and the maximum of each.

Slots are aligned to the session clock, so a bar keeps its height while it wanders to the left.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from hettop.session.log import kind_of
from hettop.session.series import NS_PER_MS
from hettop.session.session import LONGEST_WINDOW_NS, Session
from hettop.session.views import TimelineSlot, TimelineView, ViewRequest
from hettop.stats.quantiles import linear_quantiles

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
        above = np.flatnonzero(condition.fences.exceeded(ends, latencies))
        spikes += len(above)
        spiked = set((ends[above] // slot_ns - first).tolist())
        begins = np.searchsorted(ends, np.arange(first, first + slots + 1) * slot_ns).tolist()
        for slot, (begin, end) in enumerate(pairwise(begins)):
            if end - begin > most[slot]:
                most[slot] = end - begin
                p90, highest = linear_quantiles(latencies[begin:end], (0.9, 1.0))
                found[slot] = TimelineSlot(p90 / NS_PER_MS, highest / NS_PER_MS, slot in spiked, name)
    fence = _fence(session, unit) if unit else None
    marks = tuple(
        (entry.t // slot_ns - first, kind_of(entry))
        for entry in session.log
        if kind_of(entry) in MARKED_KINDS and first <= entry.t // slot_ns <= last
    )
    return TimelineView(
        window_ns=window_ns,
        slot_ns=slot_ns,
        slots=tuple(found),
        fence_ms=None if fence is None else fence / NS_PER_MS,
        spikes=None if fence is None and not spikes else spikes,
        marks=marks,
        pointed=None if request.pointed_ns is None else _slot_of(request.pointed_ns // slot_ns - first, slots),
    )


def _slot_of(slot: int, slots: int) -> int | None:
    return slot if 0 <= slot < slots else None


def _fence(session: Session, unit: str) -> int | None:
    fences = [c.fence_ns for key, c in session.conditions.items() if key.unit == unit and key.load == session.load]
    return fences[-1] if fences else None
