"""What the commands share that measure without a screen: the loop, its end, and what is said of the recording.

A signal ends the loop, and what was measured stays.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

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
    from hettop.record.writer import Closed


PUMP_EVERY_S = 0.05
MORE_RUNS, LONGER = "more --runs", "--duration 10s"
"""How a measurement is made longer, by what the command takes."""


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
    """Pump until it is finished, `each_time` says that it is enough, or a signal comes; close it in good order.

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
    """Print each warning on stderr, also where that is no terminal."""
    sys.stderr.write("".join(f"warning: {clean(text, 400)}\n" for text in warnings))


def print_header_warnings(session: Session) -> None:
    """Print the warnings in the session's header on stderr."""
    print_warnings(session.header.host.warnings if session.header else [])


def print_power_problem(session: Session, options: MeasureOptions, longer: str = MORE_RUNS) -> None:
    """That a source of power which was named gave none of this run, or too little, on stderr; the result says so, too.

    longer: the option that gives it time enough.
    """
    if options.power in (None, "none"):
        return
    line = power_summary(session).line or _too_little(session, longer)
    if line is not None:
        sys.stderr.write(f"hettop: --power {clean(options.power or '', 80)}: {clean(line, 400)}\n")


def _too_little(session: Session, longer: str) -> str | None:
    """Units that ran so shortly that power samples tell nothing of them."""
    short = [
        row.unit
        for row in statistics(session)
        if row.n and row.energy_reason and (row.energy_coverage or 0.0) < LEAST_COVERAGE
    ]
    if not short:
        return None
    return f"too few power samples while {', '.join(dict.fromkeys(short))} ran: {longer} measures longer"


def print_turns_problem(turns: Turns | None, longer: str | None = None) -> None:
    """That units which were to be interleaved hardly were, on stderr. `longer`: the option that mends it."""
    if turns is None or turns.n >= SEVERAL_TURNS:
        return
    seconds = math.ceil((SEVERAL_TURNS + 1) * turns.block_ns / NS_PER_S)
    had = f"{turns.n} turn{'' if turns.n == 1 else 's'} of at most {turns.block_ns / NS_PER_S:g} s"
    why = "while power is measured none is shorter" if turns.by_power else "it had enough before the next"
    mends = longer or f"--duration {seconds}s gives more"
    shorter = ", --power none shorter ones" if turns.by_power else ""
    sys.stderr.write(f"hettop: hardly interleaved: {turns.unit} had {had}, {why}; {mends}{shorter}\n")


def after_recording(code: int, closed: Closed | None, session: Session) -> int:
    """The exit code, worse where the recording that was asked for failed, which is said."""
    if closed is None or not is_incomplete(closed, session):
        return code
    sys.stderr.write("hettop: the recording failed, at least in part; what was measured is printed\n")
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
    sys.stderr.write(f"recorded {closed.samples} samples to {closed.path}\n")
    missing = closed.dropped + closed.undeclared
    if missing:
        silent = f", and no line in it tells of {closed.undeclared:,} of them" if closed.undeclared else ""
        sys.stderr.write(f"hettop: {missing:,} samples are missing from it{silent}\n")
    if closed.fault:
        sys.stderr.write(f"hettop: {closed.fault}\n")
