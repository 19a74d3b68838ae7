"""Measures several candidates (models, or one model in several shapes) in turns, one unit after another.

Joins nothing itself: each candidate has a measurement of its own, and no two of them ever run at once.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from hettop.analysis.unit_samples import WALL, Measured, in_order_of, main_load, measured
from hettop.errors import HettopError
from hettop.events import NO_LOAD, Failure
from hettop.measurement.measurement import Measurement
from hettop.measurement.options import MeasureOptions
from hettop.measurement.setup import Setup
from hettop.processes.reaper import Reaper
from hettop.record.writer import Closed
from hettop.session.session import Session
from hettop.session.statistics import Reason, Statistics, statistics
from hettop.sources.engine.frames import OutputsFrame
from hettop.sources.engine.handover import memory_budget_mb
from hettop.sources.engine.watchdog import Timeouts
from hettop.stats.quantiles import samples_needed
from hettop.text import clean

ROUNDS = 5
"""So many turns of each candidate at least: what changes in the machine meanwhile is shared by all."""

LEAST_TURN_NS = 250_000_000
"""Of turns that go by time: shorter ones would be spent on the first samples after the others."""

BUSY = frozenset({"spawning", "loading", "compiling", "warming", "running"})

OUT_OF_MEMORY = re.compile(r"allocat|out of memory|bad_alloc|MemoryError", re.IGNORECASE)
"""How ONNX Runtime, numpy, C++ and Core ML say that memory is not to be had."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One of what is measured. `setup` None: it cannot be had, for the reason in `error`.

    work: of one call, of any scale; where memory ran out, what is more work is not tried.
    """

    name: str
    setup: Setup | None
    error: Failure | None = None
    work: float = 0.0


@dataclass(slots=True)
class Trial:
    """A candidate on a unit: what was measured, or why not."""

    candidate: Candidate
    unit: str
    measurement: Measurement | None = None
    error: Failure | None = None
    answers: OutputsFrame | None = None
    closed: Closed | None = None
    over: bool = False
    ended: bool = False
    _began: tuple[int, int] = field(default=(0, 0))

    @property
    def session(self) -> Session | None:
        return None if self.measurement is None else self.measurement.session

    @property
    def steady(self) -> tuple[int, int]:
        """Steady samples, and ns of steady running, so far."""
        there = [] if self.session is None else list(self.session.conditions.values())
        return sum(condition.wall.n for condition in there), sum(condition.active_ns for condition in there)

    def begin_turn(self) -> None:
        self._began = self.steady
        if self.measurement is not None:
            self.measurement.switch(self.unit)

    def had_turn(self, runs: int | None, duration_ns: int | None) -> bool:
        """Whether its turn has been long enough."""
        (n, ns), (began_n, began_ns) = self.steady, self._began
        if runs is not None:
            return n - began_n >= max(1, runs // ROUNDS)
        return ns - began_ns >= max(LEAST_TURN_NS, (duration_ns or 0) // ROUNDS)

    def share(self, runs: int | None, duration_ns: int | None) -> float:
        n, ns = self.steady
        done = n / runs if runs is not None else ns / (duration_ns or 1)
        return 1.0 if self.over else min(1.0, done)

    @property
    def busy(self) -> bool:
        """Whether its process may be working."""
        return self.measurement is not None and self.measurement.engine.states.get(self.unit) in BUSY


class Rounds:
    """Pump it until it is `finished`, then close it; `trials` has all that came of it, unit by unit.

    `measure` has the limits for each trial; its recording, if any, becomes one for each trial (`recorded_as`).
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        units: Sequence[str],
        measure: MeasureOptions,
        *,
        raw_limit: int,
        timeouts: Timeouts | None = None,
        memory_mb: float | None = None,
    ) -> None:
        """`memory_mb`: what engines that wait for their turn may take up together; None: a share of this machine's.

        Raises HettopError (`io`) for a recording that is there already, and is not to be replaced."""
        self._measure, self._raw_limit, self._timeouts = measure, raw_limit, timeouts
        self.trials = [
            Trial(candidate, unit, error=candidate.error, over=candidate.setup is None)
            for unit in units
            for candidate in candidates
        ]
        if not measure.force:
            _check_free(recorded_as(measure.record, trial.candidate.name, trial.unit) for trial in self.trials)
        self._memory_mb = memory_budget_mb() if memory_mb is None else memory_mb
        self._reaper = Reaper()
        self._units = deque(units)
        self._waiting: deque[Trial] = deque()
        self._running: Trial | None = None
        self._settling = False
        self._next_unit()

    @property
    def finished(self) -> bool:
        return self._running is None and not self._waiting and not self._units

    @property
    def doing(self) -> str:
        """What is measured now, in words."""
        return "" if self._running is None else f"{self._running.candidate.name} on {self._running.unit}"

    @property
    def between_turns(self) -> bool:
        """Whether nothing runs: the moment for what would disturb a measurement."""
        return self._running is None

    @property
    def share_done(self) -> float:
        shares = [trial.share(self._measure.runs, self._measure.duration_ns) for trial in self.trials]
        return sum(shares) / len(shares) if shares else 1.0

    def pump(self) -> None:
        for trial in self._here():
            if trial.measurement is not None:
                trial.measurement.pump()
        running = self._running
        if running is None:
            self._begin_turn()
        elif running.over or self._is_over(running):
            self._end_turn(running)
        elif self._settling:
            if not running.busy:
                self._end_turn(running)
        elif running.had_turn(self._measure.runs, self._measure.duration_ns) and running.measurement is not None:
            running.measurement.pause()
            self._settling = True

    def close(self, why: str) -> None:
        """End everything; may be called at any time, and twice."""
        for trial in self.trials:
            self._close(trial, why)
        self._units.clear()
        self._waiting.clear()
        self._running = None
        self._reaper.close()

    def _here(self) -> list[Trial]:
        waiting = list(self._waiting)
        return waiting if self._running is None else [self._running, *waiting]

    def _next_unit(self) -> None:
        while self._units and not self._waiting:
            unit = self._units.popleft()
            self._waiting.extend(trial for trial in self.trials if trial.unit == unit and not trial.over)

    def _begin_turn(self) -> None:
        if not self._waiting:
            self._next_unit()
        if not self._waiting:
            return
        trial = self._running = self._waiting.popleft()
        self._settling = False
        if trial.measurement is None:
            self._start(trial)
        if not trial.over:
            trial.begin_turn()

    def _start(self, trial: Trial) -> None:
        assert trial.candidate.setup is not None  # noqa: S101 (a trial without one is over from the start)
        setup = replace(trial.candidate.setup, units=(trial.unit,))
        measure = replace(self._measure, record=recorded_as(self._measure.record, trial.candidate.name, trial.unit))
        try:
            trial.measurement = Measurement(
                setup,
                measure,
                rows=setup.units,
                raw_limit=self._raw_limit,
                timeouts=self._timeouts,
                reaper=self._reaper,
            )
        except HettopError as error:
            if error.kind in ("io", "usage"):  # a recording that cannot be written is asked for wrongly
                raise
            self._fail(trial, Failure(kind=error.kind, message=clean(error.message), hint=clean(error.hint)))

    def _is_over(self, trial: Trial) -> bool:
        assert trial.measurement is not None  # noqa: S101 (it has its turn)
        failure = trial.measurement.engine.failures.get(trial.unit)
        if failure is not None:
            self._fail(trial, failure)
        return trial.over or trial.unit in trial.measurement.engine.done

    def _end_turn(self, trial: Trial) -> None:
        self._running = None
        if trial.measurement is not None:
            trial.answers = trial.measurement.engine.answers.get(trial.unit)
        if trial.over or self._is_over(trial):
            self._close(trial, "done")
        else:
            self._waiting.append(trial)
            self._keep_within_memory(trial)

    def _keep_within_memory(self, trial: Trial) -> None:
        """End the engine of the trial that waits longest from now on, if all engines together take up too much."""
        loaded = [each.measurement.engine for each in self.trials if each.measurement is not None and not each.ended]
        if trial.measurement is not None and sum(engine.resident_mb for engine in loaded) > self._memory_mb:
            trial.measurement.engine.release(trial.unit)

    def _fail(self, trial: Trial, failure: Failure) -> None:
        trial.error, trial.over = failure, True
        if not ran_out_of_memory(failure):
            return
        for other in [each for each in self._waiting if each.candidate.work > trial.candidate.work]:
            if other.measurement is None:
                message = f"not tried: {trial.candidate.name} ran out of memory"
                other.error, other.over = Failure(kind="memory", message=message), True
                self._waiting.remove(other)

    def _close(self, trial: Trial, why: str) -> None:
        trial.over = True
        if trial.measurement is None or trial.ended:
            return
        trial.ended = True
        trial.answers = trial.measurement.engine.answers.get(trial.unit)
        trial.closed = trial.measurement.close(why)


def recorded_as(record: str | None, candidate: str, unit: str) -> str | None:
    """The recording of one trial: `sweep.jsonl` becomes `sweep-b4-CPU_ONLY@2.jsonl`."""
    if record is None:
        return None
    path = Path(record)
    stem, dot, suffixes = path.name.partition(".")
    return str(path.with_name(f"{stem}-{candidate.replace(' ', '-')}-{unit}{dot}{suffixes}"))


def _check_free(names: Iterable[str | None]) -> None:
    """All of them, before anything runs: a sweep may take an hour."""
    for name in names:
        if name is not None and Path(name).exists():
            raise HettopError("io", f"{clean(name)} exists", "--force replaces it, or give another name")


def ran_out_of_memory(failure: Failure) -> bool:
    """Whether it failed for want of memory, as far as is known: by what it says, or by how the system ended it."""
    return failure.kind == "killed" or OUT_OF_MEMORY.search(failure.message) is not None


NOTHING = Failure(kind="none-measured", message="no steady sample was taken")


def statistics_of(trial: Trial, backend: str, *, modes: bool = True) -> Statistics:
    """The statistics object of a trial; n is 0 and `error` says why where nothing was measured.

    modes: whether to look for them, which is what takes longest.
    """
    rows = [] if trial.session is None else statistics(trial.session, modes=modes)
    if rows and trial.error is None:
        return max(rows, key=lambda row: row.n)  # one load; thermal states apart, the one with most samples counts
    failure = trial.error or NOTHING
    error = Reason(kind=failure.kind, message=failure.message, hint=failure.hint)
    if rows:
        best = max(rows, key=lambda row: row.n)
        return best if best.error is not None else _with_error(best, error)
    return Statistics(
        unit=trial.unit,
        load=NO_LOAD,
        backend=backend,
        p90_needs=samples_needed(0.9),
        p99_needs=samples_needed(0.99),
        error=error,
    )


def samples_of(trial: Trial) -> Measured | None:
    """Its samples in order of arrival; None where there are none."""
    session = trial.session
    if session is None:
        return None
    found = measured(session, main_load(session), in_order_of(session), WALL)
    return found[0] if found else None


def _with_error(row: Statistics, error: Reason) -> Statistics:
    return msgspec.structs.replace(row, error=error)
