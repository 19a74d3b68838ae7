"""Turns frames of samples into `Samples` events: one condition, one phase, bounded length, times of the session.

Knows which competing load was in force when, and nothing of processes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hettop.events import NO_LOAD, WINDOW_LIMIT, Samples
from hettop.sources.engine.frames import Column, SampleFrame

REMEMBERED = 1000
"""Changes of load are made by hand or by a schedule of seconds, and frames arrive within seconds."""


@dataclass(frozen=True, slots=True)
class _Change:
    since: int
    condition: str
    confirmed: bool


class LoadHistory:
    """The competing load over time, in nanoseconds of the samples' clock. Changes are told in order."""

    def __init__(self) -> None:
        self._changes: deque[_Change] = deque([_Change(0, NO_LOAD, True)], maxlen=REMEMBERED)

    @property
    def condition(self) -> str:
        """The load in force now."""
        return self._changes[-1].condition

    def change(self, now: int, condition: str, confirmed: bool) -> None:
        self._changes.append(_Change(now, condition, confirmed))

    def split(self, starts: Column) -> Iterator[tuple[slice, str, bool]]:
        """Cuts ascending `starts` where the load changed; yields where, the condition, and whether it was confirmed."""
        bounds = np.searchsorted(starts, [change.since for change in self._changes])
        bounds[0] = 0  # what began before all that is remembered was under the oldest of it
        ends = [*bounds[1:].tolist(), len(starts)]
        for change, begin, end in zip(self._changes, bounds.tolist(), ends, strict=True):
            if begin < end:
                yield slice(begin, end), change.condition, change.confirmed


def to_events(
    frame: SampleFrame, *, t: int, unit: str, origin_ns: int, previous_end: int | None, loads: LoadHistory
) -> Iterator[Samples]:
    """The events of one frame, committed at `t`. `previous_end` is where this unit's last sample ended, if known."""
    gaps = np.empty_like(frame.start)
    gaps[0] = 0 if previous_end is None else frame.start[0] - previous_end
    gaps[1:] = frame.start[1:] - (frame.start[:-1] + frame.latency[:-1])
    for part, condition, confirmed in loads.split(frame.start):
        for begin in range(part.start, part.stop, WINDOW_LIMIT):
            piece = slice(begin, min(begin + WINDOW_LIMIT, part.stop))
            yield Samples(
                t=t,
                unit=unit,
                condition=condition,
                phase="transition" if frame.phase == "steady" and not confirmed else frame.phase,
                t0=max(0, int(frame.start[begin]) - origin_ns),
                n=piece.stop - piece.start,
                gap_ns=gaps[piece],
                lat_ns=frame.latency[piece],
                native_ns=None if frame.native is None else frame.native[piece],
                late_ns=None if frame.late is None else frame.late[piece],
            )
