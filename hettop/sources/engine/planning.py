"""Has plans read in processes of their own: those of an engine's units without ever waiting, another with waiting.

Knows neither frameworks nor engine processes; time is what it is told has passed.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from hettop import events
from hettop.errors import HettopError
from hettop.processes.call import ask_process
from hettop.processes.child_process import Log, Process, environment_for_child
from hettop.processes.reaper import Reaper
from hettop.processes.time_limit import SIGNAL
from hettop.sources.engine.backends import PlanReader, plan_reader
from hettop.sources.engine.placement import OpFacts
from hettop.sources.engine.plan_child import PlanFacts, PlanJob, encode_job, no_plan

NS_PER_S = 10**9
READ_BYTES = 1 << 16

PLANNER = ("-X", "faulthandler", "-P", "-m", "hettop.sources.engine.plan_child")
"""`-P`: the current folder is not searched for modules."""

HOLD_NS = 5 * NS_PER_S
"""Nothing is measured beside a plan that is being read, but not for longer than this: reading takes 2 to 3 s."""

COLLECT_S = 1.0


LOST = frozenset({"crashed", "timeout"})
"""Kinds of errors that say that the process which read a plan was lost, and nothing of the model or the machine."""


def separate_reader(backend: str) -> PlanReader:
    """Return a plan reader of `backend` that reads each plan in a process of its own, and waits for it.

    It raises HettopError as the framework's reader does; of a kind in `LOST`, if the process ends without an answer.
    Raises HettopError: `usage`, if the backend has no plans.
    """
    plan_reader(backend)

    def read(compiled: str, unit: str, function: str | None) -> Sequence[OpFacts]:
        job = PlanJob(backend=backend, compiled=compiled, unit=unit, function=function, facts=True)
        argv, environment, reaper = (sys.executable, *PLANNER), environment_for_child(os.environ), Reaper()
        try:
            answer, log, status = ask_process(encode_job(job), argv, environment, reaper)
        finally:
            reaper.close()
        try:
            facts = msgspec.json.decode(answer, type=PlanFacts)
        except msgspec.MsgspecError as error:
            kind = "timeout" if SIGNAL.name in status else "crashed"
            hint = " · ".join(log.lines()[-2:])
            raise HettopError(kind, f"the process that read the plan {status}", hint) from error
        if facts.failed is not None:
            raise HettopError(facts.failed.kind, facts.failed.message, facts.failed.hint)
        return facts.ops

    return read


class PlanProcess:
    """A process that reads one plan."""

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str], job: PlanJob, reaper: Reaper) -> None:
        """Raises OSError when the process cannot be started."""
        self.unit = job.unit
        self._process = Process(argv, environment, reaper)
        self.pid = self._process.pid
        self._log = Log()
        self._result = b""
        self._open = {self._process.stdout, self._process.stderr}
        for descriptor in self._open:
            os.set_blocking(descriptor, False)
        with contextlib.suppress(OSError):  # it is dying: its end will be noticed
            self._process.write(encode_job(job))
        self._process.hang_up()

    def poll(self) -> bool:
        """Takes in what it has written; whether it has written all it ever will."""
        for descriptor in tuple(self._open):
            self._read(descriptor)
        return self._process.stdout not in self._open

    def result(self, status: str) -> events.Plan:
        """What it made of its job, once it is collected and its end is known in words."""
        if self._result:
            with contextlib.suppress(ValueError):
                plan = events.decode(self._result)
                if isinstance(plan, events.Plan) and plan.unit == self.unit:
                    return plan
        return no_plan(self.unit, "crashed", f"the process that read the plan {status}", log=self._log.lines())

    def kill(self) -> None:
        self._process.kill()

    def collect(self, patience_s: float) -> str | None:
        """How it ended, in words, or None if it has not yet; for one that is killed or has written all."""
        status = self._process.collect(patience_s)
        if status is not None:
            self.poll()
            for descriptor in self._open:
                os.close(descriptor)
            self._open = set()
        return status

    def _read(self, descriptor: int) -> None:
        with contextlib.suppress(BlockingIOError):
            while data := os.read(descriptor, READ_BYTES):
                if descriptor == self._process.stdout:
                    self._result += data
                else:
                    self._log.receive(data)
            os.close(descriptor)
            self._open.discard(descriptor)


@dataclass(slots=True)
class _Reading:
    process: PlanProcess
    elapsed_ns: int = 0


class Planning:
    """At most one plan is read at a time, each unit's once. `start` starts the process; `timeout_s` is for one plan."""

    def __init__(self, start: Callable[[PlanJob], PlanProcess], timeout_s: float) -> None:
        self._start = start
        self._timeout_ns = timeout_s * NS_PER_S
        self._wanted: dict[str, PlanJob] = {}
        self._known: set[str] = set()
        self._reading: _Reading | None = None
        self._dying: list[PlanProcess] = []
        self._told: list[events.Plan] = []

    def want(self, job: PlanJob) -> None:
        """The plan of a unit can be read from now on; one that was wanted before is not read again."""
        if job.unit not in self._known:
            self._known.add(job.unit)
            self._wanted[job.unit] = job

    def knows(self, unit: str) -> bool:
        """Whether the unit's plan was read, or will be."""
        return unit in self._known

    def holds(self, unit: str) -> bool:
        """Whether the unit had better not run yet: its plan is waited for, or any is being read."""
        reading = self._reading is not None and self._reading.elapsed_ns < HOLD_NS
        return reading or unit in self._wanted

    def step(self, elapsed_ns: int, *, quiet: bool) -> None:
        """Looks at what has happened, `elapsed_ns` after the last call. A plan is begun only while it is `quiet`."""
        self._dying = [process for process in self._dying if process.collect(0) is None]
        if self._reading is not None:
            self._reading.elapsed_ns += elapsed_ns
            self._look(self._reading)
        if self._reading is None and self._wanted and quiet:
            self._begin(self._wanted.pop(next(iter(self._wanted))))

    def drain(self) -> list[events.Plan]:
        """The plans, or why there are none, that became known since the last call; `t` is 0."""
        told, self._told = self._told, []
        return told

    def close(self) -> None:
        """Kills what still runs; wants nothing any more."""
        self._wanted.clear()
        if self._reading is not None:
            self._give_up(self._reading.process)
        for process in self._dying:
            process.collect(COLLECT_S)
        self._dying.clear()

    def _begin(self, job: PlanJob) -> None:
        try:
            self._reading = _Reading(self._start(job))
        except OSError as error:
            self._told.append(no_plan(job.unit, "crashed", f"no process could be started to read the plan: {error}"))

    def _look(self, reading: _Reading) -> None:
        process = reading.process
        if process.poll():
            status = process.collect(0)
            if status is not None:
                self._reading = None
                self._told.append(process.result(status))
        elif reading.elapsed_ns > self._timeout_ns:
            self._give_up(process)
            seconds = reading.elapsed_ns / NS_PER_S
            self._told.append(no_plan(process.unit, "timeout", f"reading the plan hung for {seconds:.1f} s, killed"))

    def _give_up(self, process: PlanProcess) -> None:
        process.kill()
        self._dying.append(process)
        self._reading = None
