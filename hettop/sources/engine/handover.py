"""When a unit's process had better be replaced by a new one, and what it hands on to that.

Compares amounts of memory that it is given, and adds up what the processes of a unit did.
"""

from __future__ import annotations

import psutil

from hettop.sources.engine.frames import RetireReport
from hettop.sources.engine.job import Limits

GROWTH_MB = 512
GROWTH_SHARE = 0.5
"""Grown by this much, and by this share, a process has a leak that will soon bite; less may be a cache that fills."""

RISES = 6
"""Consecutive readings that must each find more memory for a leak: a minute's worth."""

FAST_MB = 1024
FAST_SHARE = 1.0
FAST_RISES = 3
"""Grown by this much, and doubled, in so few looks: a leak that would fill the memory before a minute is over. Growth
by a quarter of that is reported at once (`usage`): a process grows by that much, and by what it leaks in the half
second until it is heard of and asked to retire."""


BUDGET_SHARE = 0.25
"""Of this machine's memory, for all engine processes together that wait for their turn: the rest is the user's."""

TOO_MANY = "other units need the memory"


def memory_budget_mb() -> float:
    """How much memory, in MB (10^6 bytes), loaded units may take up; beyond it, those that do not run are ended."""
    return float(psutil.virtual_memory().total) / 1e6 * BUDGET_SHARE


class MemoryWatch:
    """Looks for a steady slope in the resident memory of one process, and for growth that cannot wait for one."""

    def __init__(self) -> None:
        self._from_mb: float | None = None
        self.last_mb = 0.0
        self._rises = 0

    def add(self, resident_mb: float) -> str | None:
        """Takes in the next look; returns why the process had better be replaced, in words, if it had."""
        if self._from_mb is None or resident_mb < self.last_mb:
            self._from_mb, self._rises = resident_mb, 0
        else:
            self._rises += resident_mb > self.last_mb
        rose = resident_mb > self.last_mb
        self.last_mb = resident_mb
        grown = resident_mb - self._from_mb
        slope = self._rises >= RISES and grown > max(GROWTH_MB, GROWTH_SHARE * self._from_mb)
        rush = self._rises >= FAST_RISES and grown > max(FAST_MB, FAST_SHARE * self._from_mb)
        if not rose or not (slope or rush):
            return None
        return f"its memory grew from {self._from_mb:,.0f} to {resident_mb:,.0f} MB"


class WorkerHandover:
    """What the processes of one unit hand on, when one replaces another on purpose.

    asked: why the present process was asked to retire, None if it was not.
    vacant: a process has retired, and none follows it yet.
    recycled: the present process follows one that retired.
    """

    def __init__(self) -> None:
        self.asked: str | None = None
        self.vacant = False
        self.recycled = False
        self.note: str | None = None
        self._goal = 0  # so many steady samples the unit is to have in the end
        self._steady_ns = 0
        self._unfinished: int | None = None
        self._peak_memory_mb: float | None = None

    def retired(self, report: RetireReport) -> None:
        """The present process said its last words."""
        self.vacant = True
        why = self.asked or "to limit known memory leaks of its framework"
        self.note = f"recycled after {report.predictions:,} predictions: {why}"
        self._steady_ns += report.steady_ns
        self._unfinished = self.unfinished(report.unfinished)
        self._peak_memory_mb = self.peak_memory_mb(report.peak_memory_mb)

    def begin(self) -> None:
        """A process starts: it goes on where the last one retired, or anew."""
        self.asked = None
        self.recycled, self.vacant = self.vacant, False

    def limits(self, limits: Limits, steady: int) -> Limits:
        """What the process that begins is to do, of a unit that has `steady` samples; one with enough begins anew."""
        runs, duration_ns = limits.runs, limits.duration_ns
        if runs is not None:
            if not self.recycled:
                self._goal = runs if runs > steady else steady + runs
            runs = self.lacking(steady)
        if duration_ns is not None and duration_ns > self._steady_ns:
            duration_ns -= self._steady_ns
        return Limits(runs=runs, duration_ns=duration_ns, least_runs=max(0, limits.least_runs - steady))

    def lacking(self, steady: int) -> int:
        """How many steady samples a unit that has `steady` of them still lacks; none where there is no such limit."""
        return max(0, self._goal - steady)

    def peak_memory_mb(self, present: float | None) -> float | None:
        """The largest of all processes that hand on to each other."""
        known = [value for value in (self._peak_memory_mb, present) if value is not None]
        return max(known, default=None)

    def unfinished(self, present: int | None) -> int | None:
        """Those of all processes together."""
        known = [value for value in (self._unfinished, present) if value is not None]
        return sum(known) if known else None
