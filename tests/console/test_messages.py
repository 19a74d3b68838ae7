"""What is shown on a terminal while something takes long, and nowhere else."""

from __future__ import annotations

import io
import sys
import threading

import pytest

from hettop.console.messages import QUIET, shown_while_slow, verbosity


class Stream(io.StringIO):
    """A terminal, or not, that signals when something is written."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self.terminal, self.written = terminal, threading.Event()

    def isatty(self) -> bool:
        return self.terminal

    def write(self, text: str) -> int:
        count = super().write(text)
        self.written.set()
        return count


def on(monkeypatch: pytest.MonkeyPatch, *, terminal: bool = True, term: str = "xterm") -> Stream:
    stream = Stream(terminal=terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", term)
    return stream


def test_what_is_slow_is_named_on_the_terminal_and_removed_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = on(monkeypatch)
    with shown_while_slow("loading", after_s=0.001):
        assert stream.written.wait(60)
        assert stream.getvalue() == "loading …"
    assert stream.getvalue() == "loading …\r\x1b[K"


def test_it_is_removed_when_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = on(monkeypatch)

    @shown_while_slow("loading", after_s=0.001)
    def fail() -> None:
        assert stream.written.wait(60)
        raise ValueError("x")

    with pytest.raises(ValueError, match="x"):
        fail()
    assert stream.getvalue().endswith("\r\x1b[K")


def test_nothing_is_shown_of_what_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = on(monkeypatch)
    with shown_while_slow("loading", after_s=3600):
        pass
    assert stream.getvalue() == ""


@pytest.mark.parametrize(
    ("terminal", "term", "level"), [(False, "xterm", 0), (True, "dumb", 0), (True, "xterm", QUIET)]
)
def test_nothing_is_shown_in_a_pipe_on_a_dumb_terminal_or_when_quiet(
    terminal: bool, term: str, level: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = on(monkeypatch, terminal=terminal, term=term)
    with verbosity(level), shown_while_slow("loading", after_s=0.0):
        assert not stream.written.wait(0.2)
    assert stream.getvalue() == ""
