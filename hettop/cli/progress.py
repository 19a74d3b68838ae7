"""One line of progress on stderr, on a terminal only, wiped before anything else is printed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TextIO

from hettop.format import clock
from hettop.measurement.options import MeasureOptions
from hettop.session.session import Session
from hettop.session.unit import Unit
from hettop.studies.sweep.loads import time_left_ns

BAR_WIDTH = 24
SLOW_STATES = ("spawning", "compiling", "loading", "warming")
USUAL_WIDTH = 80  # of a terminal that does not know its own


class Progress:
    """Redraws its line in place, in `width` cells; does nothing where there are none."""

    def __init__(self, stream: TextIO, *, width: int) -> None:
        self._stream = stream
        self._width = width

    def show(self, session: Session, measure: MeasureOptions, units: Sequence[str]) -> None:
        if not self._width:
            return
        share = completed(session, measure, units)
        filled = round(share * BAR_WIDTH)
        states = ", ".join(_doing(unit, session.t) for unit in session.units.values() if unit.state != "stopped")
        shown = f"{'█' * filled}{'·' * (BAR_WIDTH - filled)} {share:4.0%}  {states}"
        self._stream.write(f"\r\x1b[K{shown[: self._width - 1]}")  # a full line would wrap, and stay
        self._stream.flush()

    def clear(self) -> None:
        if self._width:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def _doing(unit: Unit, now_ns: int) -> str:
    """The unit's state, and how long already if it is one to wait for."""
    seconds = max(0, now_ns - unit.since_ns) // 10**9
    waited = f" {seconds} s" if unit.state in SLOW_STATES and seconds else ""
    return f"{unit.name} {unit.state}{waited}"


def width_of(stream: TextIO, term: str) -> int:
    """How many cells a line on `stream` has; 0 where nobody watches, or where a line cannot be redrawn."""
    if not stream.isatty() or term == "dumb":
        return 0
    return os.get_terminal_size(stream.fileno()).columns or USUAL_WIDTH


def one_line() -> Callable[[str], None]:
    """Shows what is going on in one line on stderr, wiped by the next; nothing where nobody watches."""
    width = width_of(sys.stderr, os.environ.get("TERM", ""))

    def say(text: str) -> None:
        if width:
            sys.stderr.write(f"\r\x1b[K{text[: width - 1]}")
            sys.stderr.flush()

    return say


def completed(session: Session, measure: MeasureOptions, units: Sequence[str]) -> float:
    """Share of the samples, or of the steady time, that was asked for, 0..1; a failed unit counts as done."""
    done = 0.0
    for unit in units:
        known = session.units.get(unit)
        if known is not None and known.state == "failed":
            done += 1
            continue
        conditions = [condition for key, condition in session.conditions.items() if key.unit == unit]
        if measure.runs:
            done += min(1.0, sum(condition.wall.n for condition in conditions) / measure.runs)
        elif measure.duration_ns:
            done += min(1.0, sum(condition.active_ns for condition in conditions) / measure.duration_ns)
    return done / len(units) if units else 1.0


def progress_line(share_done: float, load: str, elapsed_ns: int, *, what: str = "load ") -> str:
    """A bar, the share done, the time left if one can tell, and the load (or whatever it is) in turn."""
    filled = round(share_done * BAR_WIDTH)
    left = time_left_ns(elapsed_ns, share_done)
    remaining = "" if left is None else f"  {clock(left)} left"
    return f"{'█' * filled}{'·' * (BAR_WIDTH - filled)} {share_done:4.0%}{remaining}  {what}{load}"
