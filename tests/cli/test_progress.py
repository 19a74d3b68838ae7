"""The line of progress: how far, in one line, and only where somebody watches."""

from __future__ import annotations

import io
import os
import pty
from collections.abc import Iterator
from typing import TextIO

import pytest

from hettop import events
from hettop.cli.progress import Progress, completed, width_of
from hettop.measurement.options import MeasureOptions
from hettop.session.session import Session
from tests.streams import MS, S, header, window

BOTH = ("CPU_ONLY", "ALL")


def session_of(*stream: events.AnyEvent) -> Session:
    session = Session()
    for event in (header(), *stream):
        session.fold(event)
    return session


@pytest.fixture
def terminal() -> Iterator[TextIO]:
    far, near = pty.openpty()
    with os.fdopen(near, "w") as stream:
        yield stream
    os.close(far)


@pytest.mark.parametrize(
    ("measure", "share"),
    [
        (MeasureOptions(runs=200), 0.25),
        (MeasureOptions(runs=50), 0.5),
        (MeasureOptions(duration_ns=1_000_000_000), 0.05),
    ],
)
def test_it_is_the_share_of_what_was_asked_for(measure: MeasureOptions, share: float) -> None:
    session = session_of(window([MS] * 100, gap=0))
    assert completed(session, measure, BOTH) == pytest.approx(share)


def test_samples_that_do_not_count_do_not_count_here() -> None:
    assert completed(session_of(window([MS] * 100, phase="warmup")), MeasureOptions(runs=100), BOTH) == 0


def test_a_unit_that_failed_is_done_with() -> None:
    failed = events.Engine(t=S, unit="ALL", state="failed")
    assert completed(session_of(failed), MeasureOptions(runs=100), BOTH) == 0.5


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_the_line_never_fills_the_terminal(width: int) -> None:
    states = [events.Engine(t=0, unit=f"CPU_ONLY@{n}", state="running") for n in range(9)]
    stream = io.StringIO()
    Progress(stream, width=width).show(session_of(*states), MeasureOptions(runs=100), BOTH)
    start, _, shown = stream.getvalue().partition("\x1b[K")
    assert start == "\r"
    assert 0 < len(shown) < width


def test_clearing_leaves_an_empty_line() -> None:
    stream = io.StringIO()
    Progress(stream, width=80).clear()
    assert stream.getvalue() == "\r\x1b[K"


def test_where_nobody_watches_nothing_is_written(terminal: TextIO) -> None:
    stream = io.StringIO()
    assert width_of(stream, "xterm") == 0
    assert width_of(terminal, "dumb") == 0, "a dumb terminal cannot redraw a line"
    progress = Progress(stream, width=0)
    progress.show(session_of(), MeasureOptions(runs=1), BOTH)
    progress.clear()
    assert stream.getvalue() == ""


def test_a_terminal_is_as_wide_as_it_says(terminal: TextIO) -> None:
    import fcntl
    import struct
    import termios

    fcntl.ioctl(terminal.fileno(), termios.TIOCSWINSZ, struct.pack("HHHH", 24, 93, 0, 0))
    assert width_of(terminal, "xterm-256color") == 93


def test_what_takes_long_says_how_long_already() -> None:
    written = io.StringIO()
    compiling = events.Engine(t=S, unit="ALL", state="compiling")
    session = session_of(compiling, events.HostLoad(t=13 * S))
    Progress(written, width=80).show(session, MeasureOptions(runs=100), ("ALL",))
    assert written.getvalue().endswith("ALL compiling 12 s")
    session.fold(events.Engine(t=14 * S, unit="ALL", state="running"))
    session.fold(events.HostLoad(t=20 * S))
    Progress(written, width=80).show(session, MeasureOptions(runs=100), ("ALL",))
    assert written.getvalue().endswith("ALL running")
