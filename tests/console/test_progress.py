"""Progress: how far, in one line where somebody watches, or in JSON lines for a program."""

from __future__ import annotations

import io
import json
import os
import pty
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TextIO

import pytest

from hettop import events
from hettop.console.progress import (
    PARTIAL_EVERY_NS,
    SHOW_EVERY_NS,
    Document,
    ProgressJson,
    ProgressLine,
    ProgressStream,
    bar,
    completed,
    time_left_ns,
    unit_states,
    width_of,
)
from hettop.errors import HettopError
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
    ProgressLine(stream, width=width).show(unit_states(session_of(*states)), 0.5)
    start, _, shown = stream.getvalue().partition("\x1b[K")
    assert start == "\r"
    assert 0 < len(shown) < width


def test_clearing_leaves_an_empty_line() -> None:
    stream = io.StringIO()
    ProgressLine(stream, width=80).clear()
    assert stream.getvalue() == "\r\x1b[K"


def test_where_nobody_watches_nothing_is_written(terminal: TextIO) -> None:
    stream = io.StringIO()
    assert width_of(stream, "xterm") == 0
    assert width_of(terminal, "dumb") == 0, "a dumb terminal cannot redraw a line"
    progress = ProgressLine(stream, width=0)
    progress.show("", 0.5)
    progress.clear()
    assert stream.getvalue() == ""


def test_a_terminal_is_as_wide_as_it_says(terminal: TextIO) -> None:
    import fcntl
    import struct
    import termios

    fcntl.ioctl(terminal.fileno(), termios.TIOCSWINSZ, struct.pack("HHHH", 24, 93, 0, 0))
    assert width_of(terminal, "xterm-256color") == 93


def test_what_takes_long_says_how_long_already() -> None:
    compiling = events.Engine(t=S, unit="ALL", state="compiling")
    session = session_of(compiling, events.HostLoad(t=13 * S))
    assert unit_states(session) == "ALL compiling 12 s"
    session.fold(events.Engine(t=14 * S, unit="ALL", state="running"))
    session.fold(events.HostLoad(t=20 * S))
    assert unit_states(session) == "ALL running"


def test_the_bar_has_the_time_left_as_soon_as_it_is_known() -> None:
    assert bar(0.0, 5 * S) == f"{'·' * 24}   0%"
    assert bar(0.25, 10 * S) == f"{'█' * 6}{'·' * 18}  25%  00:30 left"


def test_the_time_left_counts_from_the_first_share_that_is_known() -> None:
    stream, clock = io.StringIO(), [100 * S]
    progress = ProgressLine(stream, width=80, now=lambda: clock[0])
    progress.show("preparing …")
    for clock[0], share in ((130 * S, 0.0), (140 * S, 0.5)):
        progress.show("b1 on ALL", share)
    assert stream.getvalue().endswith("50%  00:10 left  b1 on ALL")


def test_the_time_left_is_that_of_what_was_done_so_far() -> None:
    assert time_left_ns(10, 0.0) is None
    assert time_left_ns(10, 0.25) == 30
    assert time_left_ns(10, 1.0) == 0


def test_a_program_gets_a_json_object_per_line() -> None:
    stream = io.StringIO()
    progress = ProgressJson(stream)
    progress.show("b1 on ALL", 0.5)
    progress.clear()
    progress.partial(lambda: {"points": []})
    progress.failed(HettopError("usage", "no such unit", "name another"))
    assert [json.loads(line) for line in stream.getvalue().splitlines()] == [
        {"doing": "b1 on ALL", "share": 0.5, "document": None},
        {"doing": None, "share": None, "document": {"points": []}},
        {
            "doing": None,
            "share": None,
            "document": None,
            "failed": {"kind": "usage", "message": "no such unit", "hint": "name another"},
        },
    ]


@dataclass
class Sink:
    """Keeps what is shown."""

    lines: list[tuple[str, float | None]] = field(default_factory=list)
    documents: list[Mapping[str, Any]] = field(default_factory=list)

    def show(self, doing: str, share: float | None = None) -> None:
        self.lines.append((doing, share))

    def partial(self, document: Document) -> None:
        self.documents.append(document())

    def failed(self, error: HettopError) -> None:
        raise AssertionError(f"nothing failed: {error}")

    def clear(self) -> None:
        raise AssertionError("nothing else is printed")


@dataclass
class Polled:
    """A stream of progress with a clock that is set by each poll."""

    now: int = 0
    sink: Sink = field(default_factory=Sink)

    def __post_init__(self) -> None:
        self.stream = ProgressStream(self.sink, dict, lambda: self.now)

    def poll(self, now: int, doing: str, share: float, *, idle: bool = False) -> None:
        self.now = now
        self.stream.poll(doing, share, idle=idle)


def test_what_is_going_on_is_shown_at_once_and_then_twice_a_second() -> None:
    polled = Polled()
    for now, share in ((0, 0.0), (10, 0.1), (SHOW_EVERY_NS, 0.2)):
        polled.poll(now, "b1 on ALL", share)
    assert polled.sink.lines == [("b1 on ALL", 0.0), ("b1 on ALL", 0.2)]
    assert polled.sink.documents == []


def test_what_is_known_is_shown_once_while_idle_and_at_most_about_once_a_second() -> None:
    polled = Polled()
    counts = []
    for now, idle in (
        (0, True),
        (PARTIAL_EVERY_NS, False),
        (PARTIAL_EVERY_NS + 10, True),
        (3 * PARTIAL_EVERY_NS, True),
        (3 * PARTIAL_EVERY_NS + 10, False),
        (3 * PARTIAL_EVERY_NS + 20, True),
    ):
        polled.poll(now, "b1 on ALL", 0.0, idle=idle)
        counts.append(len(polled.sink.documents))
    assert counts == [0, 0, 1, 1, 1, 2], "no document is made while something is measured"


def test_a_document_is_followed_by_how_far_it_is() -> None:
    """The last line is what a screen shows until the next."""
    polled = Polled()
    polled.poll(0, "b1 on ALL", 0.0)
    polled.poll(SHOW_EVERY_NS, "b1 on ALL", 0.0)
    polled.poll(PARTIAL_EVERY_NS, "", 0.5, idle=True)
    assert polled.sink.lines[-1] == ("b1 on ALL", 0.5), "between turns the last one's name stays"
    assert len(polled.sink.documents) == 1
