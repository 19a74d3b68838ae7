"""A guarded child process: when its pid leaves the guard, and that no pid is touched that is not its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from hettop.processes.child_process import GuardedProcess
from tests.processes.waiting import gone, wait_for
from tests.sources.load.fakes import ListedGuard

SLEEPS = (sys.executable, "-S", "-c", "import time; time.sleep(3600)")
ENDS = (sys.executable, "-S", "-c", "raise SystemExit(3)")


class Seen:
    """What was done to a child, in order: `kill` stands in for os.kill."""

    def __init__(self, refuses: type[OSError] | None = None) -> None:
        self.calls: list[str] = []
        self.guard = ListedGuard()
        self._refuses = refuses
        self._started: list[subprocess.Popen[bytes]] = []

    def start(self, argv: tuple[str, ...]) -> GuardedProcess:
        seen = self

        class Watched(subprocess.Popen[bytes]):
            def wait(self, timeout: float | None = None) -> int:
                code = super().wait(timeout)
                seen.calls.append("collected")
                return code

        class WatchedGuard:
            def add(self, pid: int) -> None:
                seen.calls.append("added")
                seen.guard.add(pid)

            def remove(self, pid: int) -> None:
                seen.calls.append("removed")
                seen.guard.remove(pid)

        process = Watched(argv)
        self._started.append(process)
        return GuardedProcess(process, WatchedGuard(), self._kill)

    def close(self) -> None:
        for process in self._started:
            subprocess.Popen.kill(process)
            subprocess.Popen.wait(process)

    def _kill(self, pid: int, number: int) -> None:
        self.calls.append(signal.Signals(number).name)
        if self._refuses is not None:
            raise self._refuses
        os.kill(pid, number)


@pytest.fixture
def seen() -> Iterator[Seen]:
    made = Seen()
    yield made
    made.close()


def test_one_that_runs_is_guarded_and_has_no_exit_code(seen: Seen) -> None:
    process = seen.start(SLEEPS)
    assert not process.ended()
    assert not process.ended(0.01)
    assert process.exit_code is None
    assert seen.guard.pids == [process.pid]


def test_one_that_ended_is_noticed_and_its_pid_leaves_the_guard_with_the_very_next_call(seen: Seen) -> None:
    process = seen.start(ENDS)
    wait_for(process.ended, "it ends")
    assert seen.calls == ["added", "collected", "removed"]
    assert process.exit_code == 3


def test_an_end_can_be_waited_for(seen: Seen) -> None:
    process = seen.start(ENDS)
    assert process.ended(60)
    assert process.exit_code == 3


def test_the_pid_of_one_that_is_killed_leaves_the_guard_while_it_is_still_its_own(seen: Seen) -> None:
    process = seen.start(SLEEPS)
    assert process.end() == -signal.SIGKILL
    assert seen.calls == ["added", "SIGKILL", "removed", "collected"]
    assert gone([process.pid])


def test_one_that_died_unnoticed_leaves_the_guard_before_it_is_collected(seen: Seen) -> None:
    process = seen.start(ENDS)
    wait_for(lambda: gone([process.pid]), "it is a zombie")
    assert process.end() == 3
    assert seen.calls == ["added", "SIGKILL", "removed", "collected"]


def test_one_that_is_asked_to_end_stays_guarded_until_it_has(seen: Seen) -> None:
    process = seen.start(SLEEPS)
    process.signal(signal.SIGTERM)
    assert seen.guard.pids == [process.pid]
    assert process.ended(60)
    assert process.exit_code == -signal.SIGTERM
    assert seen.guard.pids == []


def test_after_its_end_neither_a_stranger_with_its_pid_nor_the_strangers_guard_is_touched(seen: Seen) -> None:
    process = seen.start(ENDS)
    assert process.ended(60)
    seen.guard.add(process.pid)  # as if the system had given the pid to the next child
    seen.calls.clear()
    process.signal(signal.SIGTERM)
    process.signal(signal.SIGKILL)
    assert process.end() == 3
    assert process.ended()
    assert not {"SIGTERM", "SIGKILL", "removed"} & set(seen.calls)
    assert seen.guard.pids == [process.pid]


def test_one_of_another_user_stays_guarded_when_it_cannot_be_killed() -> None:
    seen = Seen(refuses=PermissionError)
    process = seen.start(SLEEPS)
    with pytest.raises(PermissionError):
        process.signal(signal.SIGKILL)
    assert seen.guard.pids == [process.pid]
    seen.close()


def test_one_that_the_system_does_not_find_any_more_counts_as_killed() -> None:
    seen = Seen(refuses=ProcessLookupError)
    process = seen.start(ENDS)
    wait_for(lambda: gone([process.pid]), "it is a zombie")
    assert process.end() == 3
    assert seen.guard.pids == []


def test_without_a_guard_it_ends_all_the_same() -> None:
    process = GuardedProcess(subprocess.Popen(SLEEPS), None)
    assert process.end() == -signal.SIGKILL


def test_one_that_cannot_be_guarded_does_not_run_on() -> None:
    class Broken:
        def add(self, pid: int) -> None:
            raise ValueError("closed")

        def remove(self, pid: int) -> None:
            raise AssertionError

    process = subprocess.Popen(["sleep", "100"])
    with pytest.raises(ValueError, match="closed"):
        GuardedProcess(process, Broken())
    assert process.returncode == -signal.SIGKILL
