"""The engine: loads units, runs them alone or interleaved, pauses them, and reports their events.

Lives in hettop's own process and runs no inference there.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from hettop.errors import HettopError
from hettop.events import FIRST_TOKENS, Failure, row_name, split_row
from hettop.processes.child_process import ProcessGuard
from hettop.processes.pipe_reader import UNREAD_BYTES, PipeReader
from hettop.sources.engine.backend import Clock, RealClock
from hettop.sources.engine.backends import has_plans
from hettop.sources.engine.child import ENGINE, Changes, Channel, Child, Starter
from hettop.sources.engine.frames import OutputsFrame, ReadyReport
from hettop.sources.engine.handover import memory_budget_mb
from hettop.sources.engine.job import EndWarmup, EngineJob, Limits, Pause, Run, SetLoad, Slots
from hettop.sources.engine.outputs import Comparisons
from hettop.sources.engine.planning import Planning
from hettop.sources.engine.schedule import BLOCK_NS, Rotation
from hettop.sources.engine.unit_events import LoadHistory
from hettop.sources.engine.unit_process import EngineEvent, UnitProcess
from hettop.sources.engine.watchdog import Timeouts
from hettop.units import NS_PER_S

SETTLE_S = 0.05
"""How long a switch waits for the other unit's running sample, so that the two seldom overlap."""

LONGEST_STEP_NS = NS_PER_S
"""Silence is counted between checks, at most this much a time: a hettop that was stopped itself saw no silence."""


class Engine:
    """One engine process per unit. All methods are for one thread and, but for `switch` and `close`, never wait.

    Sample times are `clock`'s (the monotonic clock of the machine) less `origin_ns`, the start of the session.
    `job` is what all units have in common. `units` are rows: a unit, or a variant of it, whose jobs differ as
    `variants` says (`Starter`). Events come from `drain`. After `close` nothing that it is asked to do has any effect.
    memory_mb: what loaded units may take up together; beyond it, processes of units that do not run are ended.
    """

    def __init__(
        self,
        job: EngineJob,
        units: Sequence[str],
        *,
        guard: ProcessGuard,
        origin_ns: int,
        variants: Mapping[str, Changes] | None = None,
        clock: Clock | None = None,
        timeouts: Timeouts = Timeouts(),  # noqa: B008 (immutable)
        shortest_block_ns: int = BLOCK_NS,
        unread_bytes: int = UNREAD_BYTES,
        memory_mb: float | None = None,
        argv: Sequence[str] = ENGINE,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._clock = clock or RealClock()
        reader = PipeReader(unread_bytes)
        self._starter = Starter(job, argv=argv, environment=environment, reader=reader, guard=guard, variants=variants)
        self._loads = LoadHistory()
        self._comparisons = Comparisons()
        self._group = UnitGroup(
            {
                unit: UnitProcess(
                    unit,
                    origin_ns=origin_ns,
                    limits=job.limits,
                    timeouts=timeouts,
                    loads=self._loads,
                    comparisons=self._comparisons,
                    now=self._clock.now,
                    first_tokens=None if job.answers is None else row_name(unit, FIRST_TOKENS),
                )
                for unit in units
            },
            reader,
        )
        self._has_plans = has_plans(job.backend)
        self._planning = Planning(self._starter.plan, timeouts.plan_s)
        self._held: str | None = None  # the unit that is to run alone once nothing is planned any more
        self._period_ns = int(NS_PER_S / job.rate_hz) if job.rate_hz else job.rest_ns
        self._to_load: deque[str] = deque()
        self._turns: tuple[str, ...] = ()  # the units that are to run: one, or several in turns
        self._memory_mb = memory_budget_mb() if memory_mb is None else memory_mb
        self._last_to_run: list[str] = []  # units, the one that ran longest ago first
        self._paused = False
        self._shortest_block_ns = shortest_block_ns
        self._rotation = Rotation(shortest_block_ns)
        self._checked_at = self._clock.now()
        self._closed = False

    # -- what is so ---------------------------------------------------------------------------------------------

    @property
    def states(self) -> dict[str, str]:
        """The state of every unit that was ever started."""
        return {unit: member.state for unit, member in self._group.members.items() if member.state is not None}

    @property
    def failures(self) -> dict[str, Failure]:
        """Why units that failed did, until they are restarted."""
        return {unit: member.failure for unit, member in self._group.members.items() if member.failure is not None}

    @property
    def done(self) -> frozenset[str]:
        """The units that have reached their limit."""
        return frozenset(unit for unit, member in self._group.members.items() if member.done)

    @property
    def finished(self) -> bool:
        """Whether every unit has reached its limit or failed."""
        return all(member.settled for member in self._group)

    @property
    def answers(self) -> Mapping[str, OutputsFrame]:
        """What units answered to the seeded inputs, for comparisons beyond this engine's own."""
        return self._comparisons.answers

    @property
    def resident_mb(self) -> float:
        """The memory of all its processes together, in MB (10^6 bytes), as they last reported it."""
        return sum(member.resident_mb for member in self._group)

    @property
    def pids(self) -> tuple[int, ...]:
        """Its processes."""
        return tuple(member.child.pid for member in self._group if member.child is not None)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The model's inputs as `name dtype[shape]`; empty until a unit is ready."""
        ready = self._group.ready
        return () if ready is None else tuple(ready.inputs)

    @property
    def simulated(self) -> bool | None:
        """Whether what runs is a simulation; None until a unit is ready."""
        ready = self._group.ready
        return None if ready is None else ready.simulated

    # -- what to do ---------------------------------------------------------------------------------------------

    def switch(self, unit: str) -> None:
        """Runs `unit` alone; loads it first if need be. A unit that failed stays so until `restart`."""
        if self._closed:
            return
        member = self._group[unit]
        self._run_only((unit,))
        if unit in self._to_load:
            self._to_load.remove(unit)
        self._group.await_rest(unit, SETTLE_S)
        if member.child is None and member.failure is None:
            member.start(self._start_child)
        else:
            self._let_run(unit)

    def interleave(self, units: Sequence[str]) -> None:
        """Runs `units` in turns, once all of them are loaded (one after another) or have failed."""
        if self._closed:
            return
        for unit in units:
            self._group[unit]  # refused before anything happens
        if len(units) == 1:
            self.switch(units[0])
            return
        self._run_only(tuple(units))
        self.preload(units)

    def preload(self, units: Sequence[str]) -> None:
        """Loads and warms up `units` one after another, and keeps them paused."""
        if self._closed:
            return
        for unit in units:
            member = self._group[unit]
            if member.child is None and member.failure is None and unit not in self._to_load:
                self._to_load.append(unit)
        self._advance()

    def pause(self) -> None:
        """Pauses inference; loads go on."""
        if self._closed:
            return
        self._paused = True
        self._hold_all()

    def resume(self) -> None:
        """Goes on with what `pause` interrupted."""
        if self._closed:
            return
        self._paused = False
        if len(self._turns) == 1:
            self._let_run(self._turns[0])
        self._advance()

    def restart(self, unit: str) -> None:
        """A new process for `unit`, whatever became of the old one; it takes up the place the unit had."""
        if self._closed:
            return
        member = self._group[unit]
        member.discard()
        if self._turns == (unit,):
            member.start(self._start_child)
        else:
            self.preload([unit])

    def release(self, unit: str) -> None:
        """End the process of a unit that need not run now, to free its memory; it is loaded anew when it next runs."""
        self._group[unit].release()

    def end_warmup(self, unit: str) -> None:
        """The unit has warmed up; where nothing runs yet, or any more, that changes nothing."""
        self._group[unit].send(EndWarmup())

    def set_load(self, condition: str, *, confirmed: bool) -> None:
        """The competing load is `condition` from now on; samples are `transition` until that is confirmed."""
        self._loads.change(self._clock.now(), condition, confirmed)
        for member in self._group:
            member.send(SetLoad(condition=condition))

    def set_shortest_block(self, nanoseconds: int | None) -> None:
        """Interleaved blocks planned from now on are at least this long; None: as long as is usual."""
        self._rotation.shortest_ns = self._shortest_block_ns if nanoseconds is None else nanoseconds

    def drain(self, t: int) -> list[EngineEvent]:
        """What has happened since the last call, stamped with `t` (ns of the session). Never waits."""
        self._group.receive()
        if not self._closed:
            self._check()
            self._advance()
        return self._group.drain(t) + [msgspec.structs.replace(plan, t=t) for plan in self._planning.drain()]

    def close(self) -> None:
        """Stops all units politely, then not; `drain` has their last samples. Takes a second if one hangs."""
        if not self._closed:
            self._closed = True
            self._planning.close()
            self._group.close()

    # -- how ----------------------------------------------------------------------------------------------------

    def _start_child(self, unit: str, limits: Limits, recycled: bool) -> Child:
        run = self._turns == (unit,) and not self._paused
        if run and self._has_plans and not self._planning.knows(unit):
            run, self._held = False, unit  # its plan can be read once it is ready, and is read first
        return self._starter.inference(unit, limits, condition=self._loads.condition, run=run, recycled=recycled)

    def _let_run(self, unit: str) -> None:
        """The unit runs alone: now, or once no plan is being read beside it."""
        if self._planning.holds(unit):
            self._held = unit
        else:
            self._group[unit].send(Run())

    def _run_only(self, units: tuple[str, ...]) -> None:
        self._paused = False
        self._held = None
        self._hold_all(but=units if len(units) == 1 else ())
        self._turns = units
        self._last_to_run = [unit for unit in self._last_to_run if unit not in units] + list(units)

    def _hold_all(self, but: Sequence[str] = ()) -> None:
        self._rotation.stop()
        for unit, member in self._group.members.items():
            if unit not in but:
                member.send(Pause())

    def _check(self) -> None:
        now = self._clock.now()
        elapsed = min(now - self._checked_at, LONGEST_STEP_NS)
        self._checked_at = now
        for member in self._group:
            member.check(elapsed, self._rotation.round_ns + self._period_ns)
            if member.ready is not None and member.ready.compiled is not None and split_row(member.unit)[1] is None:
                self._planning.want(self._starter.plan_job(member.unit, member.ready.compiled))
        self._planning.step(elapsed, quiet=self._group.quiet)
        self._keep_within_memory()

    def _keep_within_memory(self) -> None:
        """Release the unit that ran longest ago while all together take up too much; those that take turns stay."""
        if self.resident_mb > self._memory_mb:
            idle = [unit for unit in self._last_to_run if unit not in self._turns and self._group[unit].may_run]
            if idle:
                self._group[idle[0]].release()

    def _advance(self) -> None:
        """Does what has become possible: the next load, a plan's end to wait for, further turns."""
        self._replace_retired()
        while self._to_load and not self._group.loading:
            self._group[self._to_load.popleft()].start(self._start_child)
        if self._paused:
            return
        if len(self._turns) > 1:
            self._take_turns()
        elif self._held is not None and self._group[self._held].may_run and not self._planning.holds(self._held):
            self._group[self._held].send(Run())
            self._held = None

    def _replace_retired(self) -> None:
        """A new process where one retired: at once if the unit is to run now, else when it next is."""
        for member in self._group:
            if not member.vacant or member.unit in self._to_load:
                continue
            if member.unit in self._turns and not self._paused:
                self._to_load.appendleft(member.unit)
            else:
                member.rest()

    def _take_turns(self) -> None:
        turns = [self._group[unit] for unit in self._turns]
        # Neither a new process that takes over from an old one nor a plan is to disturb the others' samples.
        if any(member.being_replaced or self._planning.holds(member.unit) for member in turns):
            if self._rotation.units:
                self._hold_all(but=[member.unit for member in turns if member.loading])
            return
        if self._group.loading and not self._rotation.units:
            return
        for unit, slots in self._rotation.update(
            self._clock.now(), self._group.runnable(self._turns, self._starter.period_ns)
        ).items():
            self._group[unit].send(Slots(slots=slots) if slots else Run())


GOODBYE_S = 1.0
COLLECT_S = 1.0


class UnitGroup:
    """`members` by unit; what their processes say comes by way of `reader`."""

    def __init__(self, members: dict[str, UnitProcess], reader: PipeReader) -> None:
        self.members = members
        self._reader = reader

    def __iter__(self) -> Iterator[UnitProcess]:
        return iter(self.members.values())

    def __getitem__(self, unit: str) -> UnitProcess:
        """Raises HettopError: `usage`, for a unit that is not among them."""
        try:
            return self.members[unit]
        except KeyError:
            raise HettopError("usage", f"unit {unit} is not among {', '.join(self.members)}") from None

    @property
    def ready(self) -> ReadyReport | None:
        """What the first unit that is ready said of itself."""
        return next((member.ready for member in self if member.ready is not None), None)

    @property
    def loading(self) -> bool:
        return any(member.loading for member in self)

    @property
    def quiet(self) -> bool:
        """Whether none is being measured."""
        return not any(member.state == "running" for member in self)

    def runnable(self, units: Sequence[str], period_ns: Callable[[str], int]) -> dict[str, int | None]:
        """Those of `units` that can take a turn now, with how long a sample of theirs takes up (None: unknown).

        `period_ns` reports how long one takes up at least.
        """
        members = [self.members[unit] for unit in units if self.members[unit].may_run]
        return {
            member.unit: None if (usual := member.usual_ns()) is None else max(usual, period_ns(member.unit))
            for member in members
        }

    def receive(self) -> None:
        """Hands out what has arrived."""
        for chunk in self._reader.take():
            channel: Channel = chunk.source
            member = self.members[channel.child.unit]
            if channel.is_log:
                member.receive_log(channel.child, chunk.data)
            else:
                member.receive(channel.child, chunk.data)

    def await_rest(self, unit: str, patience_s: float) -> None:
        """Gives the others a moment to finish the sample they are running."""
        others = [member for member in self if member.unit != unit and member.child is not None]
        deadline = time.monotonic() + patience_s
        while any(other.active for other in others) and (left := deadline - time.monotonic()) > 0:
            self._reader.wait(left)
            self.receive()

    def drain(self, t: int) -> list[EngineEvent]:
        """Their pending events, stamped with `t`."""
        drained = []
        for member in self:
            drained += [msgspec.structs.replace(event, t=t) for event in member.outbox]
            member.outbox.clear()
        return drained

    def close(self) -> None:
        """Stops all politely, then not. Takes `GOODBYE_S` if one hangs."""
        for member in self:
            member.stop()
        deadline = time.monotonic() + GOODBYE_S
        while (left := deadline - time.monotonic()) > 0 and not all(member.gone for member in self):
            self._reader.wait(left)
            self.receive()
        for member in self:
            member.end(COLLECT_S)
        self.receive()
        self._reader.close()
