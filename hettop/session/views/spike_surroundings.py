"""The view of what was around one spike: the calls before and after it, what happened, power and thermal state.

Pure. Calls are known for the last minute, as far as the longest time window reaches.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hettop.events import Column
from hettop.session.event_log import SPIKE, kind_of
from hettop.session.log import in_words
from hettop.session.session import Session
from hettop.session.views.machine import MW_PER_W
from hettop.session.views.spikes import SpikeRow, Surroundings, cause_rows
from hettop.session.views.structs import ViewRequest
from hettop.units import NS_PER_MS

HALF_NS = 10**9
MOST_HAPPENED = 8


def surroundings(session: Session, rows: Sequence[SpikeRow], request: ViewRequest) -> Surroundings | None:
    """Of the spike that was asked for, else of the newest one; None where there is none."""
    row = next((row for row in rows if (row.end_ns, row.unit) == request.spike), next(iter(rows), None))
    if row is None:
        return None
    ends, latencies = _calls(session, row)
    start_ns = row.end_ns - HALF_NS
    slots: list[float | None] = [None] * max(1, request.spike_slots)
    places = ((ends - start_ns) * len(slots) // (2 * HALF_NS)).clip(0, len(slots) - 1)
    for place, latency_ns in zip(places.tolist(), latencies.tolist(), strict=True):
        slots[place] = max(slots[place] or 0.0, latency_ns / NS_PER_MS)
    before, after = latencies[ends < row.end_ns], latencies[ends > row.end_ns]
    power = next(iter(session.power_history.between(row.end_ns - 1, row.end_ns)), None)
    rails = () if power is None else tuple((rail, mw / MW_PER_W) for rail, mw in power.mw.items() if mw is not None)
    return Surroundings(
        row=row,
        slots=tuple(slots),
        calls=len(ends),
        before_ms=_median_ms(before),
        after_ms=_median_ms(after),
        reason="" if len(ends) else "calls are known for the last minute only",
        verdicts=_verdicts(session, row),
        happened=_happened(session, row, request.now_ns),
        power=rails,
        thermal=row.thermal if power is None else power.thermal,
    )


def _calls(session: Session, row: SpikeRow) -> tuple[Column, Column]:
    """Ends and latencies of the calls of its unit within a second, by end."""
    found = [
        condition.trailing.between(row.end_ns - HALF_NS - 1, row.end_ns + HALF_NS)
        for key, condition in session.conditions.items()
        if key.unit == row.unit
    ]
    ends, latencies = (np.concatenate(columns) for columns in zip(*found, strict=True))
    order = np.argsort(ends, kind="stable")
    return ends[order], latencies[order]


def _median_ms(latencies: Column) -> float | None:
    return float(np.median(latencies)) / NS_PER_MS if len(latencies) else None


def _verdicts(session: Session, row: SpikeRow) -> tuple[tuple[str, str], ...]:
    condition = next(
        each
        for key, each in session.conditions.items()
        if (key.unit, key.load, key.thermal) == (row.unit, row.load, row.thermal)
    )
    said = {cause.words: "correlated" if cause.more else cause.verdict for cause in cause_rows(session, condition)}
    return tuple((words, said.get(words, "not observed")) for words in row.causes)


def _happened(session: Session, row: SpikeRow, now_ns: int) -> tuple[tuple[int, str], ...]:
    """Loads, switches, marks and all else in the event log but spikes, of the last ones as many as are shown."""
    until = min(row.end_ns + HALF_NS, now_ns)
    near = [
        (entry.t - row.end_ns, in_words(entry).text)
        for entry in session.log.since(row.end_ns - HALF_NS)
        if entry.t <= until and kind_of(entry) != SPIKE
    ]
    return tuple(near[:MOST_HAPPENED])
