"""Has plans read in processes of their own: those of an engine's units without ever waiting, another with waiting.

Time is passed in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hettop import events
from hettop.compute_units import wanted_device
from hettop.errors import HettopError
from hettop.processes.call import Call, ChildLostError, call
from hettop.processes.child_process import ProcessGuard, module_command
from hettop.sources.engine.backends import PlanReader, plan_reader
from hettop.sources.engine.placement import OpFacts
from hettop.sources.engine.plan_child import PlanJob
from hettop.text import clean
from hettop.units import NS_PER_S

PLANNER = module_command("hettop.sources.engine.plan_child")
NAME = "plan reader"

HOLD_NS = 5 * NS_PER_S
"""Nothing is measured beside a plan that is being read, but not for longer than this: reading takes 2 to 3 s."""

COLLECT_S = 1.0


def separate_reader(backend: str) -> PlanReader:
    """Return a plan reader of `backend` that reads each plan in a process of its own, and waits for it.

    It raises HettopError as the framework's reader does; ChildLostError, if the process ends without an answer.
    Raises HettopError: `usage`, if the backend has no plans.
    """
    plan_reader(backend)

    def read(compiled: str, unit: str, function: str | None) -> Sequence[OpFacts]:
        job = PlanJob(backend=backend, compiled=compiled, unit=unit, function=function, facts=True)
        return call(PLANNER, job, tuple[OpFacts, ...], name=NAME).answer

    return read


PlanCall = Call[events.Plan]


def start_planner(
    job: PlanJob, environment: Mapping[str, str], guard: ProcessGuard, argv: Sequence[str] = PLANNER
) -> PlanCall:
    """A process that reads the plan. Raises HettopError: `crashed`, when it cannot be started."""
    return Call(argv, job, events.Plan, environment, guard, name=NAME)


def no_plan(unit: str, error: HettopError, log: Sequence[str] = ()) -> events.Plan:
    """The event that says why there is no plan; `t` is 0."""
    failure = events.Failure(kind=error.kind, message=clean(error.message), hint=clean(error.hint), log=list(log))
    return events.Plan(t=0, unit=unit, accelerator=wanted_device(unit.partition("@")[0]), error=failure)


@dataclass(slots=True)
class _Reading:
    unit: str
    call: PlanCall
    elapsed_ns: int = 0


class Planning:
    """At most one plan is read at a time, each unit's once. `start` starts the process; `timeout_s` is for one plan."""

    def __init__(self, start: Callable[[PlanJob], PlanCall], timeout_s: float) -> None:
        self._start = start
        self._timeout_ns = timeout_s * NS_PER_S
        self._wanted: dict[str, PlanJob] = {}
        self._known: set[str] = set()
        self._reading: _Reading | None = None
        self._dying: list[PlanCall] = []
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
        self._dying = [each for each in self._dying if not each.collect(0)]
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
            self._give_up(self._reading)
        for each in self._dying:
            each.collect(COLLECT_S)
        self._dying.clear()

    def _begin(self, job: PlanJob) -> None:
        try:
            self._reading = _Reading(job.unit, self._start(job))
        except HettopError as error:
            self._told.append(no_plan(job.unit, error))

    def _look(self, reading: _Reading) -> None:
        if reading.call.poll():
            if reading.call.collect(0):
                self._reading = None
                self._told.append(_plan(reading))
        elif reading.elapsed_ns > self._timeout_ns:
            self._give_up(reading)
            hung = f"reading the plan hung for {reading.elapsed_ns / NS_PER_S:.1f} s, killed"
            self._told.append(no_plan(reading.unit, HettopError("timeout", hung)))

    def _give_up(self, reading: _Reading) -> None:
        reading.call.give_up()
        self._dying.append(reading.call)
        self._reading = None


def _plan(reading: _Reading) -> events.Plan:
    """What came of it."""
    try:
        return reading.call.answer()
    except ChildLostError as error:
        return no_plan(reading.unit, error, reading.call.process.log.lines())
    except HettopError as error:
        return no_plan(reading.unit, error)
