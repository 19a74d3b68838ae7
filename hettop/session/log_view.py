"""The view of what happened: the session's log, with the latest spikes in their places.

Knows nothing of how a line is drawn.
"""

from __future__ import annotations

from typing import NamedTuple

from hettop.events import LogEntry
from hettop.session.log import in_words
from hettop.session.series import NS_PER_MS
from hettop.session.session import Session
from hettop.session.spikes import RECENT
from hettop.session.views import ViewRequest


def log(session: Session, request: ViewRequest) -> tuple[LogEntry, ...]:
    """What happened, with the latest spikes in their places, oldest first."""
    spikes = [
        _Spike(end, latency_ns, condition.key.unit)
        for condition in session.conditions.values()
        for end, latency_ns in condition.recent_spikes
        if end <= request.now_ns
    ]
    entries: list[LogEntry] = []
    between: dict[str, list[_Spike]] = {}
    happened: list[LogEntry | _Spike] = [*map(in_words, session.log), *spikes]
    for each in sorted(happened, key=lambda entry: entry.t):
        if isinstance(each, _Spike):
            between.setdefault(each.unit, []).append(each)
        else:
            entries += [*_told_together(between), each]
            between = {}
    return (*entries, *_told_together(between))


class _Spike(NamedTuple):
    t: int
    latency_ns: int
    unit: str


def _told_together(spikes: dict[str, list[_Spike]]) -> list[LogEntry]:
    """A line for each unit's spikes between two other events: a restless machine must not push those off the screen."""
    lines = []
    for unit, found in spikes.items():
        largest = max(spike.latency_ns for spike in found) / NS_PER_MS
        more = "+" if len(found) >= RECENT else ""  # older ones are forgotten
        text = f"spike {largest:.2f} ms"
        if len(found) > 1:
            text = f"{len(found)}{more} recent spikes, up to {largest:.2f} ms"
        lines.append(LogEntry(t=found[-1].t, level="warning", text=f"{text} {unit}", kind="spike"))
    return sorted(lines, key=lambda entry: entry.t)
