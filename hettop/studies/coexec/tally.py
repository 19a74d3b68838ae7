"""What a block amounts to: the work done in it by each unit, and the time that it took.

Pure; times are nanoseconds of one monotonic clock.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from hettop.studies.coexec.stealing import Delivered
from hettop.units import NS_PER_S

Span = tuple[int, int]
"""Start and end of a sample."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Inferences of each unit in [since, until), worked without a break, and how many calls they stand for.

    A call that begins or ends outside counts by its part inside, which makes the rate unbiased however long calls are:
    a call of length L that is going on at a moment adds 1/L a second, and the mean of that over all moments is
    the rate.
    """

    units: tuple[str, ...]
    work: dict[str, float]
    calls: dict[str, int]
    since: int
    until: int

    @property
    def seconds(self) -> float:
        return (self.until - self.since) / NS_PER_S


@dataclass(slots=True)
class Total:
    """Stretches of one kind added up: work and calls by worker."""

    work: dict[str, float] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    blocks: int = 0

    def add(self, stretch: Stretch) -> None:
        for worker, work in stretch.work.items():
            self.work[worker] = self.work.get(worker, 0.0) + work
            self.calls[worker] = self.calls.get(worker, 0) + stretch.calls[worker]
        self.seconds += stretch.seconds
        self.blocks += 1

    @property
    def per_s(self) -> float | None:
        """Inferences a second of all workers, None before there is anything."""
        return sum(self.work.values()) / self.seconds if self.seconds else None

    def part_of(self, worker: str) -> float | None:
        """Of this worker alone."""
        return self.work.get(worker, 0.0) / self.seconds if self.seconds else None


@dataclass(slots=True)
class Tally:
    """Gathers the spans of one block's samples and what left the buffer meanwhile."""

    units: tuple[str, ...]
    spans: dict[str, list[Span]] = field(default_factory=dict)
    delivered: list[Delivered] = field(default_factory=list)

    def did(self, unit: str, span: Span) -> None:
        self.spans.setdefault(unit, []).append(span)

    def heard_of_all(self, among: Collection[str]) -> bool:
        """Whether every one of these units has done something in this block."""
        return all(self.spans.get(unit) for unit in among)

    def stretch(self, until: int, alive: Collection[str]) -> Stretch | None:
        """What was done from when every unit that is `alive` had done one call until `until`; None without a moment.

        The first calls are left out: until then some unit had not begun.
        """
        if not self.heard_of_all(alive) or not self.spans:
            return None
        since = max(spans[0][1] for spans in self.spans.values())
        if since >= until:
            return None
        work = {unit: work_within(self.spans.get(unit, ()), since, until) for unit in self.units}
        calls = {unit: sum(end > since and start < until for start, end in self.spans.get(unit, ())) for unit in work}
        return Stretch(self.units, work, calls, since, until)

    def latencies(self, until: int) -> array[int]:
        """From the moment a number was handed out until it left in order, of those handed out before `until`."""
        return array("q", (each.left - each.issued for each in self.delivered if each.issued < until))


def work_within(spans: Iterable[Span], since: int, until: int) -> float:
    """Calls inside of [since, until), those across a border by their part."""
    total = 0.0
    for start, end in spans:
        inside = min(end, until) - max(start, since)
        if inside > 0:
            total += inside / (end - start)
    return total


def rate(stretches: Iterable[Stretch]) -> float | None:
    """Inferences a second over all of them together, None without any."""
    found: Sequence[Stretch] = list(stretches)
    seconds = sum(each.seconds for each in found)
    return sum(sum(each.work.values()) for each in found) / seconds if seconds > 0 else None
