"""The engine as the rest of hettop sees it: units that load, run alone or in turns, pause, fail, and tell it in events.

Lives in hettop's own process and runs no inference there; knows nothing of what becomes of its events.
"""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from functools import partial

import msgspec

from hettop.engine import job as jobs
from hettop.engine.backend import Clock, InputOptions
from hettop.engine.child import WORKER, Channel, Child, environment_for_child
from hettop.engine.clock import RealClock
from hettop.engine.collector import UNREAD_BYTES, Collector
from hettop.engine.conditions import LoadHistory
from hettop.engine.job import Limits, Pause, Run, SetLoad, Slots
from hettop.engine.member import EngineEvent, Member, Timeouts
from hettop.engine.reaper import Reaper
from hettop.engine.schedule import BLOCK_NS, Rotation
from hettop.errors import HettopError
from hettop.events import Failure

NS_PER_S = 10**9

SETTLE_S = 0.05
"""How long a switch waits for the other unit's running sample, so that the two seldom overlap."""

LONGEST_STEP_NS = NS_PER_S
"""Silence is counted between checks, at most this much a time: a hettop that was stopped itself saw no silence."""

GOODBYE_S = 1.0
COLLECT_S = 1.0


class Engine:
    """One engine process per unit. All methods are for one thread and, but for `switch` and `close`, never wait.

    Sample times are `clock`'s (the monotonic clock of the machine) less `origin_ns`, the start of the session.
    `runs` steady samples, or `duration_ns` of steady running, are the limit of each unit; with both None there is none.
    `rate_hz` paces the samples. Events come from `drain`.
    """

    def __init__(
        self,
        model: str,
        backend: str,
        units: Sequence[str],
        *,
        reaper: Reaper,
        origin_ns: int,
        clock: Clock | None = None,
        inputs: InputOptions = InputOptions(),  # noqa: B008 (immutable)
        function: str | None = None,
        warmup: int = 10,
        runs: int | None = None,
        duration_ns: int | None = None,
        rate_hz: float | None = None,
        timeouts: Timeouts = Timeouts(),  # noqa: B008 (immutable)
        shortest_block_ns: int = BLOCK_NS,
        backlog_bytes: int = 4 * jobs.MIB,
        unread_bytes: int = UNREAD_BYTES,
        argv: Sequence[str] = (sys.executable, *WORKER),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._clock = clock or RealClock()
        self._job = jobs.Job(
            backend=backend,
            model=model,
            unit="",
            function=function,
            seed=inputs.seed,
            shapes=dict(inputs.shapes),
            values=dict(inputs.values),
            warmup=warmup,
            rate_hz=rate_hz,
            backlog_bytes=backlog_bytes,
        )
        self._argv = argv
        self._environment = environment_for_child(os.environ if environment is None else environment)
        self._reaper = reaper
        self._collector = Collector(unread_bytes)
        self._loads = LoadHistory()
        limits = Limits(runs=runs, duration_ns=duration_ns)
        self._members = {
            unit: Member(unit, origin_ns=origin_ns, limits=limits, timeouts=timeouts, loads=self._loads)
            for unit in units
        }
        self._to_load: deque[str] = deque()
        self._turns: tuple[str, ...] = ()  # the units that are to run: one, or several in turns
        self._paused = False
        self._rotation = Rotation(shortest_block_ns)
        self._checked_at = self._clock.now()
        self._closed = False

    # -- what is so ---------------------------------------------------------------------------------------------

    @property
    def states(self) -> dict[str, str]:
        """The state of every unit that was ever started."""
        return {unit: member.state for unit, member in self._members.items() if member.state is not None}

    @property
    def failures(self) -> dict[str, Failure]:
        """Why units that failed did, until they are restarted."""
        return {unit: member.failure for unit, member in self._members.items() if member.failure is not None}

    @property
    def done(self) -> frozenset[str]:
        """The units that have reached their limit."""
        return frozenset(unit for unit, member in self._members.items() if member.done)

    @property
    def finished(self) -> bool:
        """Whether every unit has reached its limit or failed."""
        return all(member.settled for member in self._members.values())

    @property
    def inputs(self) -> tuple[str, ...]:
        """The model's inputs as `name dtype[shape]`; empty until a unit is ready."""
        ready = next((member.ready for member in self._members.values() if member.ready is not None), None)
        return () if ready is None else tuple(ready.inputs)

    @property
    def simulated(self) -> bool | None:
        """Whether what runs is a simulation; None until a unit is ready."""
        return next((member.ready.simulated for member in self._members.values() if member.ready is not None), None)

    # -- what to do ---------------------------------------------------------------------------------------------

    def switch(self, unit: str) -> None:
        """Runs `unit` alone; loads it first if need be. A unit that failed stays so until `restart`."""
        member = self._member(unit)
        self._run_only((unit,))
        if unit in self._to_load:
            self._to_load.remove(unit)
        self._await_rest(unit)
        if member.child is None and member.failure is None:
            self._spawn(member)
        else:
            member.tell(Run())

    def interleave(self, units: Sequence[str]) -> None:
        """Runs `units` in turns, once all of them are loaded (one after another) or have failed."""
        for unit in units:
            self._member(unit)
        if len(units) == 1:
            self.switch(units[0])
            return
        self._run_only(tuple(units))
        self.preload(units)

    def preload(self, units: Sequence[str]) -> None:
        """Loads and warms up `units` one after another, and keeps them paused."""
        for unit in units:
            member = self._member(unit)
            if member.child is None and member.failure is None and unit not in self._to_load:
                self._to_load.append(unit)
        self._advance()

    def pause(self) -> None:
        """Pauses inference; loads go on."""
        self._paused = True
        self._hold_all()

    def resume(self) -> None:
        """Goes on with what `pause` interrupted."""
        self._paused = False
        if len(self._turns) == 1:
            self._members[self._turns[0]].tell(Run())
        self._advance()

    def restart(self, unit: str) -> None:
        """A new process for `unit`, whatever became of the old one; it takes up the place the unit had."""
        member = self._member(unit)
        member.abandon()
        member.failure = None
        if self._turns == (unit,):
            self._spawn(member)
        else:
            self.preload([unit])

    def set_load(self, condition: str, *, confirmed: bool) -> None:
        """The competing load is `condition` from now on; samples are `transition` until that is confirmed."""
        self._loads.change(self._clock.now(), condition, confirmed)
        for member in self._members.values():
            member.tell(SetLoad(condition=condition))

    def drain(self, t: int) -> list[EngineEvent]:
        """What has happened since the last call, stamped with `t` (ns of the session). Never waits."""
        self._take_in()
        if not self._closed:
            self._check()
            self._advance()
        drained = []
        for member in self._members.values():
            drained += [msgspec.structs.replace(event, t=t) for event in member.outbox]
            member.outbox.clear()
        return drained

    def close(self) -> None:
        """Stops all units politely, then not; `drain` has their last samples. Takes `GOODBYE_S` if one hangs."""
        if self._closed:
            return
        self._closed = True
        for member in self._members.values():
            member.stop()
        deadline = time.monotonic() + GOODBYE_S
        while (left := deadline - time.monotonic()) > 0 and not all(member.gone for member in self._members.values()):
            self._collector.wait(left)
            self._take_in()
        for member in self._members.values():
            member.end(COLLECT_S)
        self._take_in()
        self._collector.close()

    # -- how ----------------------------------------------------------------------------------------------------

    def _member(self, unit: str) -> Member:
        try:
            return self._members[unit]
        except KeyError:
            raise HettopError("usage", f"unit {unit} is not among {', '.join(self._members)}") from None

    def _spawn(self, member: Member) -> None:
        member.start(partial(self._start_child, member.unit))

    def _start_child(self, unit: str, limits: Limits) -> Child:
        job = msgspec.structs.replace(
            self._job,
            unit=unit,
            limits=limits,
            condition=self._loads.condition,
            run=self._turns == (unit,) and not self._paused,
        )
        return Child(self._argv, self._environment, job, self._collector, self._reaper)

    def _run_only(self, units: tuple[str, ...]) -> None:
        self._paused = False
        self._hold_all(but=units if len(units) == 1 else ())
        self._turns = units

    def _hold_all(self, but: Sequence[str] = ()) -> None:
        self._rotation.stop()
        for unit, member in self._members.items():
            if unit not in but:
                member.tell(Pause())

    def _await_rest(self, unit: str) -> None:
        """Gives other units a moment to finish the sample they are running."""
        others = [member for member in self._members.values() if member.unit != unit and member.child is not None]
        deadline = time.monotonic() + SETTLE_S
        while any(other.active for other in others) and (left := deadline - time.monotonic()) > 0:
            self._collector.wait(left)
            self._take_in()

    def _take_in(self) -> None:
        for piece in self._collector.take():
            channel: Channel = piece.source
            if channel.is_log:
                channel.child.receive_log(piece.data)
            else:
                self._members[channel.child.unit].receive(channel.child, piece.data)

    def _check(self) -> None:
        now = self._clock.now()
        elapsed = min(now - self._checked_at, LONGEST_STEP_NS)
        self._checked_at = now
        period_ns = int(NS_PER_S / self._job.rate_hz) if self._job.rate_hz else 0
        for member in self._members.values():
            member.check(elapsed, self._rotation.round_ns + period_ns)

    def _advance(self) -> None:
        """Does what has become possible: the next load, or further turns."""
        while self._to_load and not self._loading():
            self._spawn(self._members[self._to_load.popleft()])
        if len(self._turns) < 2 or self._paused or (self._loading() and not self._rotation.units):
            return
        told = self._rotation.update(self._clock.now(), self._runnable())
        for unit, slots in told.items():
            self._members[unit].tell(Slots(slots=slots) if slots else Run())

    def _loading(self) -> bool:
        return any(member.loading for member in self._members.values())

    def _runnable(self) -> dict[str, int | None]:
        """The units that can take a turn now, with how long a sample of theirs takes up."""
        period_ns = int(NS_PER_S / self._job.rate_hz) if self._job.rate_hz else 0
        turns = [self._members[unit] for unit in self._turns]
        return {
            member.unit: None if (usual := member.usual_ns()) is None else max(usual, period_ns)
            for member in turns
            if member.may_run
        }
