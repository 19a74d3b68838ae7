"""The loop of the commands that measure without a screen, and the messages at its end.

A signal ends the loop, and what was measured is kept.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from hettop.console.messages import print_detail, print_error, print_note, print_warning
from hettop.console.signals import stop_signals_ignored
from hettop.errors import HettopError
from hettop.exits import EXIT_FAILED, WRONG_USE_KINDS
from hettop.session.energy import LEAST_COVERAGE
from hettop.session.power_summary import power_summary
from hettop.session.session import Session
from hettop.session.statistics import statistics
from hettop.session.unit import SEVERAL_TURNS
from hettop.text import clean
from hettop.units import NS_PER_S

if TYPE_CHECKING:  # a replay without a screen prints a session, and measures nothing
    from hettop.measurement.headless import Turns
    from hettop.measurement.options import MeasureOptions
    from hettop.measurement.setup import Setup
    from hettop.record.writer import Closed


PUMP_EVERY_S = 0.05
MORE_RUNS, LONGER = "more --runs", "--duration 10s"
"""Options that make a measurement longer."""


class Pumpable(Protocol):
    """What can be pumped until it has enough, and then closed."""

    @property
    def session(self) -> Session: ...

    @property
    def finished(self) -> bool: ...

    def pump(self) -> None: ...

    def discard_recording(self) -> None: ...

    def close(self, why: str) -> Closed | None: ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a measurement ended."""

    interrupted: bool
    closed: Closed | None


def measure(measurement: Pumpable, each_time: Callable[[], bool], clear: Callable[[], None]) -> Outcome:
    """Pump until it is finished, `each_time` returns true, or a signal comes; then close it.

    Raises HettopError when nothing was measured because what was asked for is wrong; no recording is left then.
    """
    interrupted = False
    wrong: HettopError | None = None
    try:
        while not measurement.finished:
            measurement.pump()
            if each_time():
                break
            time.sleep(PUMP_EVERY_S)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        wrong = wrong_use(measurement.session)
        with stop_signals_ignored():
            if wrong is not None:
                measurement.discard_recording()
            closed = measurement.close("interrupted" if interrupted else "done")
        clear()
    if wrong is not None:
        raise wrong
    return Outcome(interrupted, closed)


def print_warnings(warnings: Sequence[str]) -> None:
    """Print each warning on stderr."""
    for text in warnings:
        print_warning(text)


def print_header_warnings(session: Session) -> None:
    """Print the warnings in the session's header on stderr."""
    print_warnings(session.header.host.warnings if session.header else [])


def print_setup(setup: Setup) -> None:
    """Print with `-v` what is measured: model, backend and units, and why other units are not."""
    print_detail(f"model: {setup.model.name}, sha256 {setup.model.sha256 or 'unknown'}")
    print_detail(f"backend: {setup.backend}; units: {', '.join(setup.units)}")
    for unit, why in setup.absent.items():
        print_detail(f"not available: {unit}: {why}")


def print_power_problem(session: Session, options: MeasureOptions, longer: str = MORE_RUNS) -> None:
    """Warn if the power source that was named gave no samples of this run, or too few.

    longer: the option that makes the run long enough.
    """
    if options.power in (None, "none"):
        return
    line = power_summary(session).line or _too_little(session, longer)
    if line is not None:
        print_warning(f"--power {clean(options.power or '', 80)}: {line}")


def _too_little(session: Session, longer: str) -> str | None:
    """A warning about units that ran too briefly for the power samples."""
    short = [
        row.unit
        for row in statistics(session)
        if row.n and row.energy_reason and (row.energy_coverage or 0.0) < LEAST_COVERAGE
    ]
    if not short:
        return None
    return f"insufficient power samples of {', '.join(dict.fromkeys(short))}: measure longer with {longer}"


def print_turns_problem(turns: Turns | None, longer: str | None = None) -> None:
    """Warn if units that were to be interleaved had few turns. `longer`: the option that gives more."""
    if turns is None or turns.n >= SEVERAL_TURNS:
        return
    seconds = math.ceil((SEVERAL_TURNS + 1) * turns.block_ns / NS_PER_S)
    had = f"{turns.n} turn{'' if turns.n == 1 else 's'} of at most {turns.block_ns / NS_PER_S:g} s"
    shorter = ", or --power none for shorter turns" if turns.by_power else ""
    more = longer or f"--duration {seconds}s"
    print_warning(f"few turns, so drift may confound the comparison: {turns.unit} had {had}", f"use {more}{shorter}")


def after_recording(code: int, closed: Closed | None, session: Session) -> int:
    """The exit code; that of a failure where the recording is incomplete, which is reported."""
    if closed is None or not is_incomplete(closed, session):
        return code
    print_error("the recording is incomplete; what was measured is printed")
    return code or EXIT_FAILED


def is_incomplete(closed: Closed, session: Session) -> bool:
    """Whether the recording lacks something that the session has; what the engines dropped, both lack."""
    return closed.fault is not None or closed.undeclared > 0 or closed.dropped > session.dropped


def wrong_use(session: Session) -> HettopError | None:
    """The first unit's error if nothing was measured because what was asked for is wrong."""
    failures = [unit.error for unit in session.units.values() if unit.error is not None]
    if session.samples or len(failures) < len(session.units) or not failures:
        return None
    if all(failure.kind in WRONG_USE_KINDS for failure in failures):
        return HettopError(failures[0].kind, failures[0].message, failures[0].hint)
    return None


def print_recorded(closed: Closed) -> None:
    """Print where the recording is, and what is missing from it."""
    print_note(f"recorded {closed.samples:,} samples to {closed.path}")
    missing = closed.dropped + closed.undeclared
    if missing:
        silent = f", {closed.undeclared:,} of them undeclared" if closed.undeclared else ""
        print_warning(f"samples missing from the recording: {missing:,}{silent}")
    if closed.fault:
        print_error(closed.fault)
