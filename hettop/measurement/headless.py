"""A measurement without a screen: runs the units one after another, or interleaved, until each has enough.

Joins nothing itself; it controls a measurement.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from hettop.events import Failure, Study
from hettop.measurement.measurement import Measurement
from hettop.measurement.options import MeasureOptions
from hettop.measurement.power import PowerHere
from hettop.measurement.setup import Setup
from hettop.record.writer import Closed
from hettop.session.session import Session
from hettop.sources.engine.schedule import BLOCK_NS, block_ns

LONGEST_WAIT_NS = 5 * 10**9
"""For the first power sample; a source that is slower joins in the middle."""


@dataclass(frozen=True, slots=True)
class Turns:
    """How often a unit had its turn, and how long one is at most; by_power: because power is measured."""

    unit: str
    n: int
    block_ns: int
    by_power: bool


class Headless:
    """Pump it until it is `finished`, then close it."""

    def __init__(self, setup: Setup, options: MeasureOptions, *, raw_limit: int, here: PowerHere | None = None) -> None:
        """`here`: the machine whose power is measured; None is this one."""
        self._measurement = Measurement(setup, options, rows=setup.units, raw_limit=raw_limit, here=here)
        self._waiting: deque[str] = deque()
        self._running: tuple[str, ...] = setup.units
        self._interleave = options.interleave
        self._begun = False
        self._power_block_ns = 0

    @property
    def session(self) -> Session:
        return self._measurement.session

    @property
    def finished(self) -> bool:
        return self.load_failure is not None or (self._begun and not self._waiting and self._have_enough())

    @property
    def load_failure(self) -> Failure | None:
        """Why the load that was asked for is not there: what is measured without it answers another question."""
        return self._measurement.load_failure

    @property
    def fewest_turns(self) -> Turns | None:
        """Of the interleaved unit that had the fewest; None where units ran one after another, or nothing ran."""
        if not self._interleave or len(self._running) < 2:
            return None
        found = [turns for unit in self._running if (turns := self._turns_of(unit)) is not None]
        return min(found, key=lambda turns: turns.n, default=None)

    def _turns_of(self, unit: str) -> Turns | None:
        mine = [condition for key, condition in self.session.conditions.items() if key.unit == unit]
        n, active = sum(each.wall.n for each in mine), sum(each.active_ns for each in mine)
        if not n:
            return None
        shortest = max(BLOCK_NS, self._power_block_ns)
        length = block_ns(active // n, shortest)
        by_power = length == self._power_block_ns > BLOCK_NS
        return Turns(unit, self.session.units[unit].turns, length, by_power)

    def pump(self) -> None:
        self._measurement.pump()
        self._power_block_ns = max(self._power_block_ns, self._measurement.power.shortest_block_ns or 0)
        if not self._begun:
            self._begin_in_time()
        elif self._waiting and self._have_enough():
            self._next()

    def add_study(self, study: Callable[[int], Study]) -> None:
        """Record the result of a study that was run before; `study` gets the time of the event."""
        self._measurement.commit(study(self._measurement.now_ns))

    def discard_recording(self) -> None:
        self._measurement.discard_recording()

    def close(self, why: str) -> Closed | None:
        return self._measurement.close(why)

    def _begin_in_time(self) -> None:
        """Begin once it is known whether there is power: it gives the thermal state that samples are labelled with."""
        if not self._measurement.power.settled and self._measurement.now_ns < LONGEST_WAIT_NS:
            return
        self._begun = True
        if self._interleave:
            self._measurement.interleave(self._running)
        else:
            self._waiting.extend(self._running)
            self._next()

    def _have_enough(self) -> bool:
        engine = self._measurement.engine
        return all(unit in engine.done or unit in engine.failures for unit in self._running)

    def _next(self) -> None:
        self._running = (self._waiting.popleft(),)
        self._measurement.switch(*self._running)
