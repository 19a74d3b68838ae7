"""The dispatch process of a co-execution: loads the workers, runs blocks of each unit alone and of all together.

It starts the workers, hands out sequence numbers and restores their order; it runs no model itself. It ends with its
standard input, after an answer with what was measured until then.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

import msgspec

from hettop.errors import HettopError
from hettop.processes.interruptions import ContinueListener, Interruption, Interruptions, slept_ns
from hettop.processes.qos import frozen_collector
from hettop.processes.reaper import Reaper
from hettop.processes.serve import Replies, Request, begin_child
from hettop.sources.engine.backend import Clock, RealClock
from hettop.sources.engine.watchdog import PATIENT_FACTOR, Timeouts
from hettop.studies.coexec.blocks import REST_NS, Block, Rounds, plan_rounds, unit_of
from hettop.studies.coexec.crew import Began, Crew, Did, Died, GaveBack, ProcessCrew, Said
from hettop.studies.coexec.messages import CoexecJob, CoexecProgress, Ready
from hettop.studies.coexec.rates import NOTHING_YET, Fault, Result, Round, UnitResult
from hettop.studies.coexec.run_totals import Book, Stretch, Tally, rate
from hettop.studies.coexec.stealing import Stealing, ahead_of
from hettop.units import NS_PER_MS, NS_PER_S

STDIN = 0


def main() -> None:
    replies = Replies(begin_child(signal.SIGTERM, signal.SIGHUP))  # `timeout` sends them to the whole group
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        os._exit(1)
    job = msgspec.json.decode(msgspec.json.decode(line, type=Request).job, type=CoexecJob)
    try:
        replies.answer(_run(job, replies))
    except HettopError as error:
        replies.failed(error)
    os._exit(0)


def _run(job: CoexecJob, replies: Replies) -> Result:
    reaper = Reaper()  # of its own: workers end with the dispatch, as the dispatch ends with hettop
    clock = RealClock()
    try:
        crew = ProcessCrew(job.units, job.work, clock=clock, guard=reaper, environment=dict(os.environ), ending=STDIN)
        try:
            with frozen_collector():
                interruption = Interruptions(ContinueListener(), slept_ns).poll
                return CoexecRun(job, crew, clock, tell=replies.progress, interruption=interruption).run()
        finally:
            crew.close()
    finally:
        reaper.close()


LONGEST_WAIT_NS = NS_PER_S
"""So often at least it is looked whether a worker hangs."""


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


class CoexecRun:
    """Runs `job` on `crew`; `tell` is called with what is going on, and after each round with all that is known.

    A block during which there is an `interruption` runs again.
    """

    def __init__(
        self,
        job: CoexecJob,
        crew: Crew,
        clock: Clock,
        *,
        timeouts: Timeouts | None = None,
        tell: Callable[[CoexecProgress], None] = lambda _: None,
        interruption: Callable[[], Interruption | None] = lambda: None,
    ) -> None:
        self._job = job
        self._crew = crew
        self._clock = clock
        self._tell = tell
        self._interruption = interruption
        self._interrupted = False
        self._timeouts = timeouts or Timeouts()
        self._units = {unit: _Unit(heard=clock.now()) for unit in job.units}
        self._stealing = Stealing(dict.fromkeys(job.units, 0), job.depth)
        self._book = Book()
        self._block: Tally | None = None
        self._rounds = Rounds((), None, 0)
        self._blocks_begun = 0

    def run(self) -> Result:
        """Raises HettopError if no unit could be measured: with the first one's reason."""
        interrupted = False
        try:
            self._await_all()
            usual = {unit: ready.usual_ns for unit, ready in self._ready()}
            self._stealing = Stealing({unit: ahead_of(usual_ns) for unit, usual_ns in usual.items()}, self._job.depth)
            self._rounds = plan_rounds(tuple(usual), usual, self._job.duration_ns, shortest_ns=self._job.block_ns)
            for blocks in self._rounds:
                self._round(blocks)
        except EndedError:
            interrupted = self._crew.end_asked
        if self._book.empty:
            raise self._nothing(interrupted)
        return self._result(interrupted=interrupted and self._job.duration_ns is not None)

    # -- how it runs --------------------------------------------------------------------------------------------------

    def _await_all(self) -> None:
        """Until every worker is ready, or dead."""
        self._tell(CoexecProgress(text="loading"))
        while any(unit.ready is None and unit.fault is None for unit in self._units.values()):
            self._receive(self._clock.now() + LONGEST_WAIT_NS)
        if not self._alive():
            raise EndedError

    def _round(self, blocks: tuple[Block, ...]) -> None:
        alone: dict[str, float | None] = {}
        together = None
        for block in blocks:
            self._blocks_begun += 1
            present = self._present(block.units)
            if not present:
                continue
            self._tell(CoexecProgress(text=self._doing(present), share=self._share))
            stretch = self._run(block)
            while self._interrupted:
                stretch = self._run(block)
            if stretch is None:
                continue
            if len(block.units) == 1:
                alone[unit_of(block.units[0])] = rate([stretch])
            else:
                together = rate([stretch])
            if not self._book.rounds_done and block is not blocks[-1]:  # whoever watches wants to see something soon
                self._tell(CoexecProgress(result=self._result()))
        self._book.round(Round(alone, together))
        if not self._book.empty:
            self._tell(CoexecProgress(result=self._result()))

    def _doing(self, present: list[str]) -> str:
        of = "" if self._rounds.count is None else f" of {self._rounds.count}"
        return f"round {self._book.rounds_done + 1}{of}: {' + '.join(present)}"

    @property
    def _share(self) -> float | None:
        """How much is done when the present block begins: all blocks are of one length."""
        return None if not self._rounds.blocks else (self._blocks_begun - 1) / self._rounds.blocks

    def _run(self, block: Block) -> Stretch | None:
        """One block, the rest before it included."""
        self._rest()
        self._interrupted = False
        tally = self._block = Tally(block.units)
        self._stealing.active = block.units
        begin, crew = self._clock.now(), self._present(block.units)
        for unit in block.units:
            self._units[unit].heard = begin
        until = begin + block.length_ns
        try:
            while self._clock.now() < until and self._present(block.units):
                self._hand_out()
                self._receive(until)
            until = self._clock.now()
            self._finish()
        except EndedError:
            self._close(tally, crew, min(until, self._clock.now()))
            raise
        return self._close(tally, crew, until)

    def _finish(self) -> None:
        """Until all that was handed out is done: nothing of it runs into the next block.

        Where all whose turn it was are dead, the others do what those had.
        """
        while not self._stealing.drained:
            if not self._present(self._stealing.active):
                self._stealing.active = self._alive()
            self._hand_out(new=False)
            self._receive(self._clock.now() + LONGEST_WAIT_NS)

    def _close(self, tally: Tally, crew: list[str], until: int) -> Stretch | None:
        """What the block amounts to, which goes into the book.

        One of all in which somebody died amounts to nothing, and so does one that was interrupted.
        """
        self._block, self._stealing.active = None, ()
        present = self._present(tally.units)
        stretch = tally.stretch(until, present)
        if stretch is None or self._interrupted or (len(tally.units) > 1 and present != crew):
            return None
        if len(tally.units) > 1:
            self._book.all(stretch, crew, tally.latencies(until))
        else:
            self._book.one(stretch)
        return stretch

    def _rest(self) -> None:
        until = self._clock.now() + REST_NS
        while self._clock.now() < until:
            self._receive(until)

    def _hand_out(self, *, new: bool = True) -> None:
        now = self._clock.now()
        for order in self._stealing.orders(now, new=new):
            if not order.back and self._stealing.has(order.worker) == 1:
                self._units[order.worker].heard = now
            self._crew.tell(order)

    # -- what the workers say ------------------------------------------------------------------------------------

    def _receive(self, until: int) -> None:
        """Takes in what is said until then, or at once what has been. Raises EndedError."""
        until = min(until, self._clock.now() + LONGEST_WAIT_NS)
        for said in self._crew.listen(until):
            self._take(said)
        if self._interruption() is not None:
            self._interrupted = True
            for unit in self._units.values():
                unit.heard = self._clock.now()  # the workers were stopped, too: their silence is no hang
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
            return HettopError("interrupted", NOTHING_YET, "it ended before any unit finished a call; run it longer")
        name, fault = faults[0]
        return HettopError(fault.kind, f"{name}: {fault.message}", fault.hint)

    def _result(self, *, interrupted: bool = False) -> Result:
        book, stealing = self._book, self._stealing
        p50, p90 = book.quantiles_ms()
        return Result(
            units=tuple(self._unit_result(name, unit) for name, unit in self._units.items()),
            together_per_s=book.together.per_s,
            rounds=tuple(book.rounds),
            rounds_done=book.rounds_done,
            together_blocks=book.together.blocks,
            delivered=book.delivered,
            in_order=book.in_order,
            p50_ms=p50,
            p90_ms=p90,
            latencies=len(book.latencies),
            max_reorder=stealing.buffer.most_held,
            depth=self._job.depth,
            steals=stealing.steals,
            redone=stealing.redone,
            block_ms=self._rounds.length_ns / NS_PER_MS,
            shortest_ns=self._rounds.shortest_ns,
            together_ns=tuple(book.together_ns),
            simulated=any(unit.ready is not None and unit.ready.simulated for unit in self._units.values()),
            interrupted=interrupted,
        )

    def _unit_result(self, name: str, unit: _Unit) -> UnitResult:
        alone, together = self._book.alone_total(name), self._book.together
        work = sum(together.work.values())
        return UnitResult(
            unit=name,
            alone_per_s=alone.per_s,
            together_per_s=together.part_of(name),
            share=together.work.get(name, 0.0) / work if work else None,
            alone_calls=sum(alone.calls.values()),
            together_calls=together.calls.get(name, 0),
            placed=unit.ready.placed if unit.ready is not None else None,
            note=unit.ready.note if unit.ready is not None else "",
            ahead=ahead_of(unit.ready.usual_ns) if unit.ready is not None else 0,
            redone=unit.redone,
            error=unit.fault,
            alone_blocks=alone.blocks,
        )


if __name__ == "__main__":
    main()
