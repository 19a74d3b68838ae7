"""What a sampling loop still owes: warm-up, steady samples or time, and when its process is worn out.

Counts and reads no clock; times are nanoseconds of the samples' clock.
"""

from __future__ import annotations

import sys

from hettop.sources.engine.job import Limits

FOREVER = sys.maxsize


class SampleBudget:
    """Counts what was sampled. `after_break`: another unit ran, or a pause, so the next sample is a `resume`.

    `recycle_after` predictions wear the process out (None: none do). At most half of them go into the warm-up, and it
    is not worn before it has taken a steady sample: else one process after another would start and measure nothing.
    """

    def __init__(self, warmup: int, recycle_after: int | None) -> None:
        self.warmups_left = warmup if recycle_after is None else min(warmup, recycle_after // 2)
        self.after_break = False
        self.predictions = 0
        self.steady_ns = 0
        self._recycle_after = recycle_after
        self._steady = 0
        self._counted_to = 0  # steady running time is summed up to this moment

    @property
    def worn(self) -> bool:
        return self._recycle_after is not None and self.predictions >= self._recycle_after and self._steady > 0

    def begin(self, now: int) -> None:
        """Sampling begins: what was done before does not count as running time."""
        self._counted_to = now

    def next_phase(self, limits: Limits) -> tuple[str, int]:
        """The phase of the next samples, and how many of them may follow each other."""
        phase, count = self._due(limits)
        return phase, min(count, self._predictions_left())

    def account(self, phase: str, n: int, end: int) -> None:
        """`n` samples of a phase were taken, or the wait for one broken off, by the moment `end`."""
        self.predictions += n
        if phase == "steady":
            self._steady += n
            self.steady_ns += end - self._counted_to
        elif phase == "warmup":
            self.warmups_left -= n
        elif n:
            self.after_break = False
        self._counted_to = end

    def steady_until(self, limits: Limits) -> int:
        """The moment by which steady running time is used up."""
        return self._counted_to + self._steady_ns_left(limits)

    def reached(self, limits: Limits) -> bool:
        return (limits.runs is not None and self._steady >= limits.runs) or self._steady_ns_left(limits) <= 0

    def _due(self, limits: Limits) -> tuple[str, int]:
        if self.after_break:
            return "resume", 1
        if self.warmups_left:
            return "warmup", self.warmups_left
        return "steady", FOREVER if limits.runs is None else limits.runs - self._steady

    def _predictions_left(self) -> int:
        return FOREVER if self._recycle_after is None else max(1, self._recycle_after - self.predictions)

    def _steady_ns_left(self, limits: Limits) -> int:
        if limits.duration_ns is None:
            return FOREVER
        left = limits.duration_ns - self.steady_ns
        return max(left, 1) if self._steady < limits.least_runs else left
