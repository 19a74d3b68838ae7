"""What a co-execution has measured so far, in a size that does not grow however long it goes on.

Pure; knows neither workers nor clocks.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from hettop.studies.coexec.rates import Round
from hettop.studies.coexec.stealing import Delivered
from hettop.studies.coexec.tally import Stretch, Total
from hettop.studies.coexec.worker_names import unit_of
from hettop.units import NS_PER_MS

MOST_ROUNDS = 240
"""Of which each rate is kept: minutes of the usual blocks, and more than any screen has columns for."""

MOST_BLOCKS = 64
"""Of which begin and end are kept: whoever measures power learns of them many times before they are forgotten."""

MOST_LATENCIES = 200_000
"""The newest of them are kept for the percentiles: 1.6 MB, of which they are taken in milliseconds."""


@dataclass(slots=True)
class Book:
    """Blocks of each unit alone and of all together, added up; the newest of what cannot be.

    crew: who worked in the first block of all. What is added up of all together is of blocks of just these: where one
    of them dies, later rounds tell what the others do, and the sums what all did. together_ns: when they worked, from
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
