"""Gathers the fine flushes of the engines into lines of up to a second, without changing what they say.

Pure: takes events, returns the events to commit, in order and stamped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TypeVar

import msgspec
import numpy as np

from hettop.events import SPANS_LIMIT, WINDOW_LIMIT, AnyEvent, Canary, Column, Frame, HostLoad, Power, Samples, Usage
from hettop.units import NS_PER_MS

# A window is committed by the first flush at which its first sample began this long ago. Short of the second that a
# crash may cost by the 50 ms between two flushes of an engine and the 250 ms between two looks at them, with 10 ms to
# spare.
GATHER_NS = 690_000_000

AnyStamped = TypeVar("AnyStamped", Samples, Usage, Frame)


@dataclass(slots=True)
class _Pending:
    since: int  # the start of the oldest sample
    windows: list[Samples] = field(default_factory=list)
    n: int = 0


def coalesce(drained: Sequence[AnyEvent]) -> list[AnyEvent]:
    """The events of one look at a source, with consecutive windows of a unit as one; their usage comes after them."""
    found: list[AnyEvent] = []
    run, usage = _Pending(since=0), list[AnyEvent]()
    for event in drained:
        if isinstance(event, Usage):
            usage.append(event)
            continue
        if not (isinstance(event, Samples) and run.windows and _continues(run, event)):
            found += [*_merged(run), *usage]
            run, usage = _Pending(since=0), []
        if isinstance(event, Samples):
            run.windows.append(event)
            run.n += event.n
        else:
            found.append(event)
    return [*found, *_merged(run), *usage]


def _merged(run: _Pending) -> list[Samples]:
    return merge(run.windows, run.windows[-1].t) if run.windows else []


class WindowCoalescer:
    """Holds back windows, usage and frame times of up to `GATHER_NS`; the order of a unit's windows never changes."""

    def __init__(self) -> None:
        self._windows: dict[str, _Pending] = {}
        self._usage: dict[str, tuple[int, Usage]] = {}
        self._frame: tuple[int, Frame] | None = None
        self._oldest: int | None = None

    def add(self, event: AnyEvent) -> list[AnyEvent]:
        """Take in one event; returns what is to be committed now, in order, none stamped later than the event."""
        match event:
            case Samples():
                ended = self._add_window(event)
                return [*ended, *self.due(event.t)]
            case Usage():
                self._add_usage(event)
            case Frame():
                self._add_frame(event)
            case Power() | HostLoad() | Canary():
                # Readings beside the samples: they commute with windows. All else ends the windows before it.
                return [*self.due(event.t), event]
            case _:
                return [*self.flush(event.t), event]
        return self.due(event.t)

    def due(self, now: int) -> list[AnyEvent]:
        """What has been held back for `GATHER_NS` by `now`."""
        if self._oldest is None or now - self._oldest < GATHER_NS:
            return []
        return self._take(now, now - GATHER_NS)

    def flush(self, now: int) -> list[AnyEvent]:
        """All that is held back, stamped `now`, oldest first."""
        return self._take(now, now)

    def _take(self, now: int, since: int) -> list[AnyEvent]:
        taken: list[AnyEvent] = []
        for unit in [unit for unit, pending in self._windows.items() if pending.since <= since]:
            taken += merge(self._windows.pop(unit).windows, now)
        for unit in [unit for unit, (began, _) in self._usage.items() if began <= since]:
            taken.append(stamped(self._usage.pop(unit)[1], now))
        if self._frame is not None and self._frame[0] <= since:
            taken.append(stamped(self._frame[1], now))
            self._frame = None
        self._oldest = min(self._held_since(), default=None)
        return taken

    def _held_since(self) -> Iterator[int]:
        yield from (pending.since for pending in self._windows.values())
        yield from (began for began, _ in self._usage.values())
        if self._frame is not None:
            yield self._frame[0]

    def _hold(self, since: int) -> None:
        self._oldest = since if self._oldest is None else min(self._oldest, since)

    def _add_window(self, window: Samples) -> list[Samples]:
        flushed: list[Samples] = []
        pending = self._windows.get(window.unit)
        if pending is not None and not _continues(pending, window):
            flushed = merge(self._windows.pop(window.unit).windows, window.t)
            pending = None
        if pending is None:
            pending = self._windows[window.unit] = _Pending(since=min(window.t0, window.t))
            self._hold(pending.since)
        pending.windows.append(window)
        pending.n += window.n
        return flushed

    def _add_usage(self, usage: Usage) -> None:
        since, held = self._usage.get(usage.unit, (usage.t, None))
        self._hold(since)
        self._usage[usage.unit] = since, usage if held is None else _summed(held, usage)

    def _add_frame(self, frame: Frame) -> None:
        if self._frame is None:
            self._frame = frame.t, frame
            self._hold(frame.t)
            return
        since, held = self._frame
        self._frame = (
            since,
            Frame(
                t=frame.t,
                redraws=held.redraws + frame.redraws,
                total_ns=held.total_ns + frame.total_ns,
                worst_ns=max(held.worst_ns, frame.worst_ns),
                spans=[*held.spans, *frame.spans][-SPANS_LIMIT:],
            ),
        )


def merge(windows: list[Samples], t: int) -> list[Samples]:
    """Consecutive windows of one unit, condition and phase as one, stamped `t`; every start and latency as before.

    Should the windows' clocks run backwards, so that one window cannot hold them, they come back unmerged.
    """
    first = windows[0]
    if len(windows) == 1:
        return [stamped(first, t)]
    gaps = np.concatenate([window.gap_ns for window in windows])
    latencies = np.concatenate([window.lat_ns for window in windows])
    heads = np.array([0, *accumulate(window.n for window in windows[:-1])])
    starts = np.array([window.t0 for window in windows])
    # The end of a window is its start plus all its gaps (but the first, which t0 overrules) and latencies.
    ends = starts + np.add.reduceat(gaps + latencies, heads) - gaps[heads]
    gaps[heads[1:]] = starts[1:] - ends[:-1]
    if (starts[1:] < ends[:-1] - latencies[heads[1:] - 1]).any():
        return [stamped(window, t) for window in windows]
    return [
        msgspec.structs.replace(
            first,
            t=t,
            n=len(latencies),
            gap_ns=gaps,
            lat_ns=latencies,
            native_ns=_joined([window.native_ns for window in windows]),
            late_ns=_joined([window.late_ns for window in windows]),
        )
    ]


def split(window: Samples) -> tuple[Samples, Samples]:
    """The two halves of a window of at least two samples; every start and latency as before."""
    half = window.n // 2
    start = int(window.starts_ns()[half])
    return cut(window, slice(0, half), window.t0), cut(window, slice(half, window.n), start)


def since(window: Samples, origin_ns: int) -> Samples | None:
    """The samples of a window that started at or after `origin_ns`; None when there are none."""
    if window.t0 >= origin_ns:
        return window
    starts = window.starts_ns()
    kept = int(np.count_nonzero(starts < origin_ns))
    if kept == window.n:
        return None
    return cut(window, slice(kept, window.n), int(starts[kept]))


def later(event: AnyEvent, origin_ns: int) -> AnyEvent:
    """The event with the stretches that it describes on a clock that began at `origin_ns`, without those before."""
    if not origin_ns or not isinstance(event, Usage | Frame) or not event.spans:
        return event
    origin = origin_ns // NS_PER_MS
    kept = [(max(0, span[0] - origin), span[1] - origin, *span[2:]) for span in event.spans if span[1] >= origin]
    return msgspec.structs.replace(event, spans=kept)


def stamped(event: AnyStamped, t: int) -> AnyStamped:
    """The event with another moment of commit."""
    return event if event.t == t else msgspec.structs.replace(event, t=t)


def cut(window: Samples, part: slice, start: int) -> Samples:
    """A part of a window, of which the first sample started at `start`; every start and latency as before."""
    return msgspec.structs.replace(
        window,
        position=None if window.position is None else window.position + part.start,
        t0=start,
        n=part.stop - part.start,
        gap_ns=window.gap_ns[part],
        lat_ns=window.lat_ns[part],
        native_ns=None if window.native_ns is None else window.native_ns[part],
        late_ns=None if window.late_ns is None else window.late_ns[part],
    )


def _continues(pending: _Pending, window: Samples) -> bool:
    last = pending.windows[-1]
    return (
        window.unit == last.unit
        and window.condition == last.condition
        and window.phase == last.phase
        and window.thermal == last.thermal
        and window.answer == last.answer
        and (window.position is None or window.position == (last.position or 0) + last.n)
        and (window.native_ns is None) == (last.native_ns is None)
        and (window.late_ns is None) == (last.late_ns is None)
        and pending.n + window.n <= WINDOW_LIMIT
    )


def _joined(columns: list[Column | None]) -> Column | None:
    present = [column for column in columns if column is not None]
    return np.concatenate(present) if present else None


def _summed(one: Usage, other: Usage) -> Usage:
    return Usage(
        t=other.t,
        unit=one.unit,
        minor_faults=one.minor_faults + other.minor_faults,
        major_faults=one.major_faults + other.major_faults,
        voluntary_switches=one.voluntary_switches + other.voluntary_switches,
        involuntary_switches=one.involuntary_switches + other.involuntary_switches,
        collections=one.collections + other.collections,
        spans=_joined_spans(one.spans, other.spans),
    )


def _joined_spans(one: list[tuple[int, int, int]], other: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Both, those as one that follow each other at once and were charged with the same."""
    if one and other and one[-1][1] == other[0][0] and one[-1][2] == other[0][2]:
        (start, _, charged), (_, end, _) = one[-1], other[0]
        return [*one[:-1], (start, end, charged), *other[1:]][-SPANS_LIMIT:]
    return [*one, *other][-SPANS_LIMIT:]
