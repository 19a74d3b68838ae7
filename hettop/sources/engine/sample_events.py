"""Counts the samples that a unit's processes publish, and makes events of them.

Knows frames and the load in force, and nothing of processes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from hettop import events
from hettop.events import NO_LOAD, WINDOW_LIMIT, Samples
from hettop.sources.engine.frames import BrokenStreamError, Column, SampleFrame

MOST_AHEAD_NS = 10**9
"""No sample ends after it arrived; a simulated clock may run a little ahead of the machine's."""

RECENT = 64
"""Latest latencies that tell what is usual; the same number as in the sampling loop."""


class SampleEvents:
    """The samples of one unit. steady: how many of them were. largest_ns: the longest one, first calls apart."""

    def __init__(self, unit: str, *, origin_ns: int, loads: LoadHistory, now: Callable[[], int]) -> None:
        """`now` is the clock that samples are taken with."""
        self.steady = 0
        self.largest_ns = 0
        self._unit = unit
        self._origin_ns = origin_ns
        self._loads = loads
        self._now = now
        self._recent: deque[int] = deque(maxlen=RECENT)
        self._previous_end: int | None = None

    def usual_ns(self) -> int | None:
        """P90 of the latest latencies, None when there are none yet."""
        ranked = sorted(self._recent)
        return ranked[len(ranked) * 9 // 10] if ranked else None

    def interrupted(self) -> None:
        """The next sample does not follow the last one that is known."""
        self._previous_end = None

    def take(self, frame: SampleFrame) -> list[events.Samples]:
        """The events of a frame, with `t` still 0. Raises BrokenStreamError for numbers that cannot be right.

        No sample is checked again: what passes here is folded, recorded and read back.
        """
        _check("latency", frame.latency, 0, events.LATENCY_LIMIT_NS)
        _check("native time", frame.native, 0, events.LATENCY_LIMIT_NS)
        _check("lateness", frame.late, 0, events.LATENESS_LIMIT_NS)
        _check("start", frame.start, self._origin_ns, self._origin_ns + events.LARGEST_EXACT - events.LATENCY_LIMIT_NS)
        if (frame.start[1:] < frame.start[:-1]).any():
            raise BrokenStreamError("a sample that starts before the one ahead of it")
        if int(frame.start[-1] + frame.latency[-1]) > self._now() + MOST_AHEAD_NS:
            raise BrokenStreamError("a sample that ends after it arrived")
        windows = list(
            to_events(
                frame,
                t=0,
                unit=self._unit,
                origin_ns=self._origin_ns,
                previous_end=self._previous_end,
                loads=self._loads,
            )
        )
        self.steady += sum(window.n for window in windows if window.phase == "steady")
        self._previous_end = int(frame.start[-1] + frame.latency[-1])
        if frame.phase != "first":  # which says nothing of what is usual
            self._recent.extend(frame.latency[-RECENT:].tolist())
            self.largest_ns = max(self.largest_ns, int(frame.latency.max()))
        return windows


def _check(name: str, column: Column | None, lowest: int, highest: int) -> None:
    if column is None:
        return
    least, most = int(column.min()), int(column.max())
    if least < lowest or most > highest:
        raise BrokenStreamError(f"a {name} of {least if least < lowest else most} ns")


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
