"""The course of a co-execution: load, then blocks of each unit alone and of all together, until the time is over.

Knows workers by what they say, and no process; whatever waits does so through the crew and its clock.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

from hettop.coexec.blocks import REST_NS, Block, plan_rounds
from hettop.coexec.copies import unit_of
from hettop.coexec.crew import Began, Crew, Did, Died, GaveBack, Said
from hettop.coexec.messages import Job, Ready
from hettop.coexec.result import Fault, Result, Round, UnitResult
from hettop.coexec.stealing import Delivered, Stealing, ahead_of
from hettop.coexec.tally import Stretch, Tally, rate
from hettop.engine.backend import Clock
from hettop.engine.patience import PATIENT_FACTOR, Timeouts
from hettop.errors import HettopError

NS_PER_S, NS_PER_MS = 10**9, 1e6

LONGEST_WAIT_NS = NS_PER_S
"""So often at least it is looked whether a worker hangs."""

MOST_LATENCIES = 4_000_000
"""Kept for the percentiles, 32 MB of them: hours of a fast unit."""


class EndedError(Exception):
    """Somebody wants it to end, or there is nobody left to work."""


@dataclass(slots=True)
class _Unit:
    """What is known of a worker. heard: when it last said something, or was given something to do (ns)."""

    ready: Ready | None = None
    fault: Fault | None = None
    redone: int = 0
    heard: int = 0
    longest_ns: int = 0


@dataclass(slots=True)
class _Book:
    """What was measured."""

    stretches: list[Stretch] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    latencies: array[int] = field(default_factory=lambda: array("q"))
    delivered: int = 0
    in_order: bool = True

    def take(self, delivered: list[Delivered]) -> None:
        """Whoever consumes the stream counts along, whatever the buffer believes."""
        for each in delivered:
            self.in_order = self.in_order and each.number == self.delivered
            self.delivered += 1


class Course:
    """Runs `job` on `crew`; `tell` is called with what is going on, in words."""

    def __init__(
        self,
        job: Job,
        crew: Crew,
        clock: Clock,
        *,
        timeouts: Timeouts | None = None,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._job = job
        self._crew = crew
        self._clock = clock
        self._tell = tell
        self._timeouts = timeouts or Timeouts()
        self._units = {unit: _Unit(heard=clock.now()) for unit in job.units}
        self._stealing = Stealing(dict.fromkeys(job.units, 0), job.depth)
        self._book = _Book()
        self._block: Tally | None = None
        self._block_ns = 0

    def run(self) -> Result:
        """Raises HettopError if no unit could be measured: with the first one's reason."""
        interrupted = False
        try:
            self._await_all()
            usual = {unit: ready.usual_ns for unit, ready in self._ready()}
            self._stealing = Stealing({unit: ahead_of(usual_ns) for unit, usual_ns in usual.items()}, self._job.depth)
            rounds = plan_rounds(tuple(usual), usual, self._job.duration_ns, shortest_ns=self._job.block_ns)
            self._block_ns = rounds.length_ns
            for number, blocks in enumerate(rounds, start=1):
                self._round(number, rounds.count, blocks)
        except EndedError:
            interrupted = self._crew.end_asked
        if not self._book.stretches:
            raise self._nothing(interrupted)
        return self._result(interrupted)

    # -- the course --------------------------------------------------------------------------------------------------

    def _await_all(self) -> None:
        """Until every worker is ready, or dead."""
        self._tell("loading")
        while any(unit.ready is None and unit.fault is None for unit in self._units.values()):
            self._hear(self._clock.now() + LONGEST_WAIT_NS)
        if not self._alive():
            raise EndedError

    def _round(self, number: int, count: int, blocks: tuple[Block, ...]) -> None:
        alone: dict[str, float | None] = {}
        together = None
        for block in blocks:
            present = self._present(block.units)
            if not present:
                continue
            self._tell(f"round {number} of {count}: {' + '.join(present)}")
            stretch = self._run(block)
            if stretch is None:
                continue
            self._book.stretches.append(stretch)
            if len(block.units) == 1:
                alone[unit_of(block.units[0])] = rate([stretch])
            else:
                together = rate([stretch])
        self._book.rounds.append(Round(alone, together))

    def _run(self, block: Block) -> Stretch | None:
        """One block, the rest before it included."""
        self._rest()
        tally = self._block = Tally(block.units)
        self._stealing.active = block.units
        begin = self._clock.now()
        for unit in block.units:
            self._units[unit].heard = begin
        until = begin + block.length_ns
        try:
            while self._clock.now() < until and self._present(block.units):
                self._hand_out()
                self._hear(until)
            until = self._clock.now()
            self._finish()
        except EndedError:
            self._close(tally, min(until, self._clock.now()))
            raise
        return self._close(tally, until, keep=False)

    def _finish(self) -> None:
        """Until all that was handed out is done: nothing of it runs into the next block.

        Where all whose turn it was are dead, the others do what those had.
        """
        while not self._stealing.drained:
            if not self._present(self._stealing.active):
                self._stealing.active = self._alive()
            self._hand_out(new=False)
            self._hear(self._clock.now() + LONGEST_WAIT_NS)

    def _close(self, tally: Tally, until: int, *, keep: bool = True) -> Stretch | None:
        """What the block amounts to; with `keep` it goes into the book by itself, for its round will not."""
        self._block, self._stealing.active = None, ()
        stretch = tally.stretch(until, self._present(tally.units))
        if len(tally.units) > 1 and stretch is not None and len(self._book.latencies) < MOST_LATENCIES:
            self._book.latencies += tally.latencies(until)
        if keep and stretch is not None:
            self._book.stretches.append(stretch)
        return stretch

    def _rest(self) -> None:
        until = self._clock.now() + REST_NS
        while self._clock.now() < until:
            self._hear(until)

    def _hand_out(self, *, new: bool = True) -> None:
        now = self._clock.now()
        for order in self._stealing.orders(now, new=new):
            if not order.back and self._stealing.has(order.worker) == 1:
                self._units[order.worker].heard = now
            self._crew.tell(order)

    # -- what the workers say ------------------------------------------------------------------------------------

    def _hear(self, until: int) -> None:
        """Takes in what is said until then, or at once what has been. Raises EndedError."""
        until = min(until, self._clock.now() + LONGEST_WAIT_NS)
        for said in self._crew.listen(until):
            self._take(said)
        if self._crew.end_asked or not (self._alive() or self._loading()):
            raise EndedError
        self._look_for_hangs()

    def _take(self, said: Said) -> None:
        now = self._clock.now()
        unit = self._units[said.unit]
        unit.heard = now
        match said:
            case Began(ready=ready):
                unit.ready = ready
            case Did(number=number, start=start, end=end):
                unit.longest_ns = max(unit.longest_ns, end - start)
                left = self._stealing.finished(said.unit, number, now)
                self._book.take(left)
                if self._block is not None:
                    self._block.did(said.unit, (start, end))
                    self._block.delivered += left
            case GaveBack(number=number):
                self._stealing.given_back(said.unit, number)
            case Died(fault=fault):
                unit.fault = fault
                unit.redone = self._stealing.died(said.unit)

    def _look_for_hangs(self) -> None:
        now = self._clock.now()
        for name, unit in self._units.items():
            if unit.fault is not None or (unit.ready is not None and not self._stealing.has(name)):
                continue
            limit = self._timeouts.load_s if unit.ready is None else self._timeouts.predict_s
            if now - unit.heard > max(limit * NS_PER_S, PATIENT_FACTOR * unit.longest_ns):
                doing = "loading" if unit.ready is None else "running"
                self._crew.kill(name, f"worker process hung {doing}: nothing for {(now - unit.heard) / NS_PER_S:.1f} s")
                unit.heard = now

    def _present(self, units: Collection[str]) -> list[str]:
        """Those that have not died."""
        return [unit for unit in units if self._units[unit].fault is None]

    def _alive(self) -> list[str]:
        return [name for name, unit in self._units.items() if unit.fault is None and unit.ready is not None]

    def _loading(self) -> bool:
        return any(unit.fault is None and unit.ready is None for unit in self._units.values())

    def _ready(self) -> Iterator[tuple[str, Ready]]:
        for name, unit in self._units.items():
            if unit.ready is not None and unit.fault is None:
                yield name, unit.ready

    # -- what came of it ---------------------------------------------------------------------------------------------

    def _nothing(self, interrupted: bool) -> HettopError:
        faults = [(name, unit.fault) for name, unit in self._units.items() if unit.fault is not None]
        if interrupted or not faults:
            return HettopError("interrupted", "ended before anything was measured", "let it run longer: --duration 10s")
        name, fault = faults[0]
        return HettopError(fault.kind, f"{name}: {fault.message}", fault.hint)

    def _result(self, interrupted: bool) -> Result:
        together = [each for each in self._book.stretches if len(each.units) > 1]
        work = {unit: sum(each.work.get(unit, 0.0) for each in together) for unit in self._units}
        p50, p90 = _quantiles_ms(self._book.latencies)
        return Result(
            units=tuple(
                self._unit_result(name, unit, together, sum(work.values())) for name, unit in self._units.items()
            ),
            together_per_s=rate(together),
            rounds=tuple(self._book.rounds),
            delivered=self._book.delivered,
            in_order=self._book.in_order,
            p50_ms=p50,
            p90_ms=p90,
            latencies=len(self._book.latencies),
            max_reorder=self._stealing.buffer.most_held,
            depth=self._job.depth,
            steals=self._stealing.steals,
            redone=self._stealing.redone,
            block_ms=self._block_ns / NS_PER_MS,
            together_ns=tuple((each.since, each.until) for each in together),
            simulated=any(unit.ready is not None and unit.ready.simulated for unit in self._units.values()),
            interrupted=interrupted,
        )

    def _unit_result(self, name: str, unit: _Unit, together: list[Stretch], work: float) -> UnitResult:
        single = [each for each in self._book.stretches if len(each.units) == 1]
        alone = [each for each in single if unit_of(each.units[0]) == unit_of(name)]
        own = sum(each.work.get(name, 0.0) for each in together)
        seconds = sum(each.seconds for each in together)
        return UnitResult(
            unit=name,
            alone_per_s=rate(alone),
            together_per_s=own / seconds if seconds else None,
            share=own / work if work else None,
            alone_calls=sum(sum(each.calls.values()) for each in alone),
            together_calls=sum(each.calls.get(name, 0) for each in together),
            placed=unit.ready.placed if unit.ready is not None else None,
            note=unit.ready.note if unit.ready is not None else "",
            ahead=ahead_of(unit.ready.usual_ns) if unit.ready is not None else 0,
            redone=unit.redone,
            error=unit.fault,
        )


def _quantiles_ms(latencies: array[int]) -> tuple[float | None, float | None]:
    """P50 and P90, numpy's linear ones (type 7)."""
    if not latencies:
        return None, None
    import numpy as np

    p50, p90 = np.quantile(np.frombuffer(latencies, dtype=np.int64), (0.5, 0.9)) / NS_PER_MS
    return float(p50), float(p90)
