"""Short commands of the system: what they print, and that none is waited for longer than it may take."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping, Sequence

import pytest

from hettop.processes.child_process import ChildExit, ChildProcess, ProcessGuard
from hettop.processes.command import command_output, run_command, start_command
from tests.processes.waiting import gone


@pytest.fixture
def ignored() -> Iterator[None]:
    """This process ignores SIGPIPE, as every Python does: it must not rest on how the tests were started."""
    before = signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGPIPE, before)


def test_what_it_prints_and_how_it_ends() -> None:
    done = run_command(("sh", "-c", "echo out; echo wrong >&2; exit 3"))
    assert (done.output, done.errors, done.exit) == (b"out\n", ("wrong",), ChildExit(3))


def test_one_that_does_not_end_is_killed() -> None:
    pids: list[int] = []

    def start(argv: Sequence[str], environment: Mapping[str, str] | None, guard: ProcessGuard | None) -> ChildProcess:
        process = start_command(argv, environment, guard)
        pids.append(process.pid)
        return process

    done = run_command(("sh", "-c", "echo out; exec sleep 3600"), patience_s=0.5, start=start)
    assert (done.output, done.exit) == (b"out\n", None)
    assert gone(pids)


def test_one_that_closed_its_output_and_does_not_end_is_no_answer() -> None:
    assert run_command(("sh", "-c", "exec sleep 3600 >&- 2>&-"), patience_s=0.3).exit is None


@pytest.mark.parametrize(
    ("argv", "output"),
    [
        (("sh", "-c", "echo 42; echo careful >&2"), "42\n"),
        (("sh", "-c", "echo 42; exit 1"), ""),
        (("sh", "-c", "printf '\\377'"), ""),
        (("/nowhere/sysctl", "-n", "hw.model"), ""),
    ],
)
def test_the_output_of_one_that_fails_is_none(argv: tuple[str, ...], output: str) -> None:
    assert command_output(argv) == output


def test_it_gets_the_environment_that_it_is_given() -> None:
    assert command_output(("/bin/sh", "-c", "echo $NAME"), {"NAME": "value"}) == "value\n"


@pytest.mark.usefixtures("ignored")
def test_a_program_of_others_is_started_with_sigpipe_at_its_default_action_and_not_blocked() -> None:
    # No Python: that would set it to be ignored by itself.
    done = run_command(("sh", "-c", "kill -s PIPE $$; echo survived"), os.environ)
    assert (done.output, done.exit) == (b"", ChildExit(-signal.SIGPIPE))
