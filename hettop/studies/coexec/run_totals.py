"""What a co-execution has measured so far: the work of each block, and sums of a size that does not grow.

Pure; knows neither workers nor clocks.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from hettop.studies.coexec.blocks import unit_of
from hettop.studies.coexec.rates import Round
from hettop.studies.coexec.stealing import Delivered
from hettop.units import NS_PER_MS, NS_PER_S

MOST_ROUNDS = 240
"""Of which each rate is kept: minutes of the usual blocks, and more than any screen has columns for."""

MOST_BLOCKS = 64
"""Of which begin and end are kept: whoever measures power learns of them many times before they are forgotten."""

MOST_LATENCIES = 200_000
"""The newest of them are kept for the percentiles: 1.6 MB, of which they are taken in milliseconds."""


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
        """Inferences per second of all workers, None before there is anything."""
        return sum(self.work.values()) / self.seconds if self.seconds else None

    def part_of(self, worker: str) -> float | None:
        """Of this worker alone."""
        return self.work.get(worker, 0.0) / self.seconds if self.seconds else None


@dataclass(slots=True)
class Book:
    """Blocks of each unit alone and of all together, added up; the newest of what cannot be.

    crew: who worked in the first block of all. What is added up of all together is of blocks of just these: where one
    of them dies, later rounds report what the others do, and the sums what all did. together_ns: when they worked, from
    and until. rounds: whole ones, `rounds_done` of them in all.
    latencies: ns from handing out to leaving. in_order: whether whoever consumes the stream saw 0, 1, 2, ….
    """

    alone: dict[str, Total] = field(default_factory=dict)
    crew: tuple[str, ...] = ()
    together: Total = field(default_factory=Total)
    together_ns: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=MOST_BLOCKS))
    rounds: deque[Round] = field(default_factory=lambda: deque(maxlen=MOST_ROUNDS))
    rounds_done: int = 0
    latencies: array[int] = field(default_factory=lambda: array("q"))
    delivered: int = 0
    in_order: bool = True

    @property
    def empty(self) -> bool:
        """Whether no rate is known yet."""
        return not self.alone and not self.together.seconds

    def take(self, delivered: Iterable[Delivered]) -> None:
        """Whoever consumes the stream counts along, whatever the buffer believes."""
        for each in delivered:
            self.in_order = self.in_order and each.number == self.delivered
            self.delivered += 1

    def one(self, stretch: Stretch) -> None:
        """A block of one unit."""
        self.alone.setdefault(unit_of(stretch.units[0]), Total()).add(stretch)

    def all(self, stretch: Stretch, crew: Sequence[str], latencies: array[int]) -> None:
        """A block in which all of this crew worked from its begin to its end."""
        self.crew = self.crew or tuple(crew)
        if self.crew == tuple(crew):
            self.together.add(stretch)
            self.together_ns.append((stretch.since, stretch.until))
            self.latencies = (self.latencies + latencies)[-MOST_LATENCIES:]

    def round(self, each: Round) -> None:
        self.rounds.append(each)
        self.rounds_done += 1

    def alone_total(self, worker: str) -> Total:
        """Of the worker's unit, whichever of its workers was measured."""
        return self.alone.get(unit_of(worker), Total())

    def quantiles_ms(self) -> tuple[float | None, float | None]:
        """P50 and P90 of the latencies, numpy's linear ones (type 7)."""
        if not self.latencies:
            return None, None
        import numpy as np

        p50, p90 = np.quantile(np.frombuffer(self.latencies, dtype=np.int64), (0.5, 0.9)) / NS_PER_MS
        return float(p50), float(p90)


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
    """Inferences per second over all of them together, None without any."""
    found: Sequence[Stretch] = list(stretches)
    seconds = sum(each.seconds for each in found)
    return sum(sum(each.work.values()) for each in found) / seconds if seconds > 0 else None
