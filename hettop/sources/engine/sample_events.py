"""Counts the samples that a unit's processes publish, and makes events of them.

Knows frames and the load in force, and nothing of processes.
"""

from __future__ import annotations

from collections import deque

from hettop import events
from hettop.sources.engine.conditions import LoadHistory, to_events
from hettop.sources.engine.frames import BrokenStreamError, Column, SampleFrame

RECENT = 64
"""Latest latencies that tell what is usual; the same number as in the sampling loop."""


class Tally:
    """The samples of one unit. steady: how many of them were. largest_ns: the longest one, first calls apart."""

    def __init__(self, unit: str, *, origin_ns: int, loads: LoadHistory) -> None:
        self.steady = 0
        self.largest_ns = 0
        self._unit = unit
        self._origin_ns = origin_ns
        self._loads = loads
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
        """The events of a frame, with `t` still 0. Raises BrokenStreamError for numbers that no event can hold."""
        _check("latency", frame.latency, 0, events.LATENCY_LIMIT_NS)
        _check("native time", frame.native, 0, events.LATENCY_LIMIT_NS)
        _check("lateness", frame.late, 0, events.LATENESS_LIMIT_NS)
        _check("start", frame.start, self._origin_ns, self._origin_ns + events.LARGEST_EXACT - events.LATENCY_LIMIT_NS)
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
