"""Competing load as a source of events: starts and stops workers, and says when the load is really there.

Two implementations of one protocol: real child processes, and the simulated machine's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec

from hettop import events
from hettop.errors import HettopError
from hettop.processes.child_process import ChildProcess, ProcessGuard, module_command
from hettop.processes.pipe_reader import LineReader
from hettop.processes.serve import Failed
from hettop.sources.load.parts import UNITS, LoadPart, condition_of
from hettop.sources.load.worker import ALIVE, READY
from hettop.text import clean

WORKER = module_command("hettop.sources.load.worker")
_START_AGAIN = "press l and start it again"


# A worker gives a sign of life every 0.1 s; on a machine with many times more workers than cores, less often.
PATIENCE_NS = 10 * 10**9
# The framework may compile the competing model for minutes, and nothing else of its process runs meanwhile.
LOADING_PATIENCE_NS = 900 * 10**9
# A hettop that was stopped itself heard nothing because it did not listen.
LONGEST_STEP_NS = 10**9

CONFIRM_S = 10.0
"""How long workers of a load may take to be there; a hundredth of a second is usual."""

LOOK_S = 0.05


class Changed(Protocol):
    """Called whenever the active load changes: samples are labelled by it."""

    def __call__(self, condition: str, *, confirmed: bool) -> None: ...


class CompetingLoad(Protocol):
    """What a measurement asks of a load."""

    @property
    def parts(self) -> tuple[LoadPart, ...]: ...

    def set(self, parts: tuple[LoadPart, ...]) -> None: ...

    def drain(self, t: int) -> list[events.Load]: ...

    def close(self) -> None: ...


def core_ml_here() -> Mapping[str, str | None]:
    """Core ML's units on this machine, with None if one may run here, else why not; imports no framework."""
    from hettop.sources.engine.coreml.availability import core_ml_units, find_native, this_host

    return core_ml_units(this_host(), find_native)


def why_no_model(what: str, units: Mapping[str, str | None]) -> str | None:
    """What this kind of load is, that cannot run where Core ML has these units; None if it can, or needs no model."""
    unit = UNITS.get(what)
    reason = units.get(unit, "Core ML does not have the unit") if unit is not None else None
    return None if reason is None else f"{reason} (a second Core ML model)"


def unavailable(parts: tuple[LoadPart, ...], units: Mapping[str, str | None] | None = None) -> str | None:
    """Why these loads cannot run on this machine, or None. `units`: Core ML's, None to look for them."""
    if not any(part.what in UNITS for part in parts):
        return None
    here = core_ml_here() if units is None else units
    found = ((part.what, why_no_model(part.what, here)) for part in parts)
    return next((f"{what} load: {why}" for what, why in found if why is not None), None)


class ProcessLoad:
    """Real competing load: one child process per worker."""

    def __init__(
        self,
        guard: ProcessGuard,
        changed: Changed,
        environment: Mapping[str, str],
        units: Mapping[str, str | None] | None = None,
    ) -> None:
        """`units`: Core ML's on this machine; None to look for them when a load needs them."""
        self._guard = guard
        self._units = units
        self._changed = changed
        self._environment = environment
        self._parts: tuple[LoadPart, ...] = ()
        self._workers: list[_Worker] = []
        self._events: list[Callable[[int], events.Load]] = []
        self._awaited = False
        self._drained_at = 0

    @property
    def parts(self) -> tuple[LoadPart, ...]:
        return self._parts

    def set(self, parts: tuple[LoadPart, ...]) -> None:
        """Replace the load.

        Raises HettopError: `load-unavailable` for a kind this machine cannot run, `crashed` when no process can be
        started; there is no load then.
        """
        why = unavailable(parts, self._units)
        if why is not None:
            raise HettopError("load-unavailable", why, "cpu and memory loads work everywhere")
        condition = condition_of(parts)
        self._changed(condition, confirmed=False)  # before the old load ends: from here on it is neither
        self._stop_workers()
        self._parts = parts
        for part in parts:
            self._start_workers(part)
            self._say("started", condition, part)
        self._awaited = True
        if not parts:
            self._say("stopped", condition, None)

    def drain(self, t: int) -> list[events.Load]:
        """What happened since the last call; never waits."""
        elapsed, self._drained_at = min(t - self._drained_at, LONGEST_STEP_NS), t
        for worker in self._workers:
            worker.listen(elapsed)
        if self._awaited and all(worker.ready for worker in self._workers):
            self._awaited = False
            condition = condition_of(self._parts)
            self._changed(condition, confirmed=True)
            self._say("confirmed", condition, None)
        self._fail_on_death()
        self._fail_on_silence()
        found, self._events = [make(t) for make in self._events], []
        return found

    def close(self) -> None:
        self._stop_workers()

    def _fail_on_death(self) -> None:
        dead = [worker for worker in self._workers if worker.has_died()]
        if not dead:
            return
        workers = "1 load worker" if len(dead) == 1 else f"{len(dead)} load workers"
        reason = next((f": {clean(worker.failure.message)}" for worker in dead if worker.failure is not None), "")
        self._fail(f"{workers} ended unexpectedly{reason}")

    def _fail_on_silence(self) -> None:
        silent = next((worker for worker in self._workers if worker.silent_ns > worker.patience_ns), None)
        if silent is not None:
            self._fail(f"load stalled: no response for {silent.patience_ns // 10**9} s")

    def _fail(self, message: str) -> None:
        """Without all of its workers the load is not what it is called: end it, and say so."""
        failure = events.Failure(kind="crashed", message=message, hint=_START_AGAIN)
        self._stop_workers()
        self._parts = ()
        self._awaited = False
        self._changed(events.NO_LOAD, confirmed=True)
        self._events.append(
            lambda t: events.Load(t=t, what="all", state="failed", condition=events.NO_LOAD, error=failure)
        )

    def _start_workers(self, part: LoadPart) -> None:
        try:
            for _ in range(part.level):
                self._workers.append(_Worker(part, self._guard, self._environment))
        except OSError as error:
            message = f"cannot start load {part}: {error.strerror}"
            self._fail(message)
            raise HettopError("crashed", message, "use fewer workers") from error

    def _stop_workers(self) -> None:
        for worker in self._workers:
            worker.stop()
        self._workers = []

    def _say(self, state: str, condition: str, part: LoadPart | None) -> None:
        self._events.append(lambda t: _event(t, state, condition, part, simulated=False))


def nobody_to_tell(condition: str, *, confirmed: bool) -> None:
    """For a load whose samples are labelled by whoever starts it."""


def await_load(competing: CompetingLoad) -> str:
    """Empty once the load is there, else why it is not."""
    if not competing.parts:
        return ""
    deadline = time.monotonic() + CONFIRM_S
    while time.monotonic() < deadline:
        for event in competing.drain(time.monotonic_ns()):
            if event.state == "confirmed":
                return ""
            if event.error is not None:
                return event.error.message
        time.sleep(LOOK_S)
    return "the load did not start"


def failure_of(competing: CompetingLoad) -> str:
    """Why what was measured was not under the load all the time; empty if it was."""
    errors = [event.error for event in competing.drain(time.monotonic_ns()) if event.error is not None]
    return errors[0].message if errors else ""


class SimulatedLoad:
    """The simulated machine's load: nothing runs, the simulation gets the load."""

    def __init__(self, changed: Changed) -> None:
        self._changed = changed
        self._parts: tuple[LoadPart, ...] = ()
        self._events: list[Callable[[int], events.Load]] = []

    @property
    def parts(self) -> tuple[LoadPart, ...]:
        return self._parts

    def set(self, parts: tuple[LoadPart, ...]) -> None:
        self._parts = parts
        condition = condition_of(parts)
        self._changed(condition, confirmed=True)
        self._events.append(lambda t: _event(t, "confirmed", condition, None, simulated=True))

    def drain(self, t: int) -> list[events.Load]:
        found, self._events = [make(t) for make in self._events], []
        return found

    def close(self) -> None:
        """Nothing runs, so nothing has to stop."""


def _event(t: int, state: str, condition: str, part: LoadPart | None, *, simulated: bool) -> events.Load:
    return events.Load(
        t=t,
        what=part.what if part else "all",
        state=state,
        condition=condition,
        level=part.level if part else None,
        duty=part.duty if part else None,
        simulated=simulated,
    )


class _Worker:
    """One load process; it ends with its standard input, by the guard, or by `stop`."""

    def __init__(self, part: LoadPart, guard: ProcessGuard, environment: Mapping[str, str]) -> None:
        argv = (*WORKER, part.what, str(part.duty))
        self._process = ChildProcess(argv, environment, guard, stderr=False)
        self._loads_model = part.what in UNITS
        self._lines = LineReader()
        self.failure: Failed | None = None
        self.ready = False
        self.silent_ns = 0

    @property
    def patience_ns(self) -> int:
        """How long it may be silent."""
        return LOADING_PATIENCE_NS if self._loads_model and not self.ready else PATIENCE_NS

    def listen(self, elapsed_ns: int) -> None:
        """Receive its signs of life; `elapsed_ns` is the time since the last call."""
        received = self._process.read()
        self.silent_ns = 0 if received else self.silent_ns + elapsed_ns
        for line in self._lines.feed(received):
            if line + b"\n" in (READY, ALIVE):
                self.ready = True
            else:
                self.failure = msgspec.json.decode(line, type=Failed)

    def has_died(self) -> bool:
        return self._process.ended()

    def stop(self) -> None:
        self._process.end()
        self._process.close()
