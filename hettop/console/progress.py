"""Progress of a command: one line on a terminal's stderr, or JSON lines on stdout for a program that follows."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TextIO

import msgspec

from hettop.console.messages import is_quiet
from hettop.errors import HettopError
from hettop.events import TEXT_LIMIT, Failure
from hettop.format import clock
from hettop.measurement.options import MeasureOptions
from hettop.report.document import to_json_line
from hettop.session.session import Session
from hettop.session.unit import Unit
from hettop.text import clean

BAR_WIDTH = 24
SLOW_STATES = ("spawning", "compiling", "loading", "warming")
USUAL_WIDTH = 80  # of a terminal without a size

SHOW_EVERY_NS = 500_000_000
PARTIAL_EVERY_NS = 900_000_000
"""Slightly less than the second after which a program that follows reads again."""

Document = Callable[[], Mapping[str, Any]]
"""Makes the document that `--json` would print; called only where it is printed."""


class ProgressSink(Protocol):
    """Where progress goes."""

    def show(self, doing: str, share: float | None = None) -> None:
        """Show the current step, and the share that is done, 0..1."""
        ...

    def partial(self, document: Document) -> None:
        """Show the results so far."""
        ...

    def failed(self, error: HettopError) -> None:
        """Show the error that ends it."""
        ...

    def clear(self) -> None:
        """Remove the line, before something else is printed."""
        ...


class ProgressLine:
    """A line of `width` cells, redrawn in place; does nothing where it has none."""

    def __init__(self, stream: TextIO, *, width: int, now: Callable[[], int] = time.monotonic_ns) -> None:
        self._stream, self._width, self._now = stream, width, now
        self._began_ns: int | None = None

    def show(self, doing: str, share: float | None = None) -> None:
        if self._began_ns is None and share is not None:
            self._began_ns = self._now()  # preparation is not part of the estimate
        if self._width:
            text = doing if share is None else f"{bar(share, self._now() - (self._began_ns or 0))}  {doing}"
            self._stream.write(f"\r\x1b[K{text[: self._width - 1]}")  # a full line would wrap, and stay
            self._stream.flush()

    def partial(self, document: Document) -> None:
        """Nothing: a document does not fit a line."""

    def failed(self, error: HettopError) -> None:
        """Nothing: the error is printed on stderr."""

    def clear(self) -> None:
        if self._width:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


class ProgressJson:
    """A JSON object per line, as `StreamLine` has it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def show(self, doing: str, share: float | None = None) -> None:
        self._write(StreamLine(doing=doing, share=share))

    def partial(self, document: Document) -> None:
        self._write(StreamLine(document=dict(document())))

    def failed(self, error: HettopError) -> None:
        hint = clean(error.hint, TEXT_LIMIT)
        self._write(StreamLine(failed=Failure(kind=error.kind, message=clean(error.message, TEXT_LIMIT), hint=hint)))

    def clear(self) -> None:
        """Nothing to clear: a line that is written stays."""

    def _write(self, line: StreamLine) -> None:
        plain = msgspec.to_builtins(line)
        if line.failed is None:
            del plain["failed"]
        self._stream.write(to_json_line(plain) + "\n")
        self._stream.flush()


class ProgressStream:
    """Progress of a measurement that is polled: what is measured twice a second, and while it is idle what is known.

    A partial document is made only while nothing is measured: it would take a core from what is.
    """

    def __init__(
        self,
        sink: ProgressSink,
        known: Document,
        now: Callable[[], int] = time.monotonic_ns,
        *,
        partial_every_ns: int = PARTIAL_EVERY_NS,
    ) -> None:
        self._sink, self._known, self._now = sink, known, now
        self._partial_every_ns = partial_every_ns
        self._shown_at: int | None = None
        self._partial_at = now()
        self._was_idle = False
        self._doing = "beginning"

    def poll(self, doing: str, share: float, *, idle: bool) -> None:
        """Call after every pump. `doing`: empty while it is between two things."""
        now = self._now()
        partial = idle and not self._was_idle and now - self._partial_at >= self._partial_every_ns
        self._was_idle = idle and (partial or self._was_idle)
        if partial:
            self._partial_at = now
            self._sink.partial(self._known)
        if partial or self._shown_at is None or now - self._shown_at >= SHOW_EVERY_NS:
            self._shown_at = now
            self._doing = doing or self._doing
            self._sink.show(self._doing, share)


def progress_line() -> ProgressLine:
    """The line on stderr; without cells where that is not a terminal."""
    return ProgressLine(sys.stderr, width=width_of(sys.stderr, os.environ.get("TERM", "")))


def width_of(stream: TextIO, term: str) -> int:
    """Cells of a line on `stream`; 0 when quiet, without a terminal, or where a line cannot be redrawn."""
    if is_quiet() or not stream.isatty() or term == "dumb":
        return 0
    return os.get_terminal_size(stream.fileno()).columns or USUAL_WIDTH


def bar(share: float, elapsed_ns: int) -> str:
    """A bar, the share done, and the time left once it can be estimated."""
    filled = round(share * BAR_WIDTH)
    left = time_left_ns(elapsed_ns, share)
    remaining = "" if left is None else f"  {clock(left)} left"
    return f"{'█' * filled}{'·' * (BAR_WIDTH - filled)} {share:4.0%}{remaining}"


def time_left_ns(elapsed_ns: int, share: float) -> int | None:
    """Time left at the same speed; None before anything is done."""
    return None if share <= 0 else round(elapsed_ns * (1 - share) / share)


def unit_states(session: Session) -> str:
    """Every unit that runs or is to run, with its state."""
    return ", ".join(_state(unit, session.t) for unit in session.units.values() if unit.state != "stopped")


def _state(unit: Unit, now_ns: int) -> str:
    """The unit's state, and how long already if it is one to wait for."""
    seconds = max(0, now_ns - unit.since_ns) // 10**9
    waited = f" {seconds} s" if unit.state in SLOW_STATES and seconds else ""
    return f"{unit.name} {unit.state}{waited}"


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


class StreamLine(msgspec.Struct, frozen=True):
    """One line: the current step with the share that is done (0..1), the results so far, or the error."""

    doing: str | None = None
    share: float | None = None
    document: dict[str, Any] | None = None
    failed: Failure | None = None
