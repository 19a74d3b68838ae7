"""A guarded child process: when its pid leaves the guard, and that no pid is touched that is not its own."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hettop.processes.child_process import MOST_BYTES, READ_BYTES, ChildExit, ChildProcess
from tests.processes.waiting import gone, wait_for
from tests.sources.load.fakes import ListedGuard

SLEEPS = (sys.executable, "-S", "-c", "import time; time.sleep(3600)")
ENDS = (sys.executable, "-S", "-c", "raise SystemExit(3)")


class Seen:
    """What was done to a child, in order: `kill` stands in for os.kill."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, refuses: type[OSError] | None = None) -> None:
        self.calls: list[str] = []
        self.guard = ListedGuard()
        self._refuses = refuses
        self._started: list[subprocess.Popen[bytes]] = []
        seen = self

        class Watched(subprocess.Popen[bytes]):
            def __init__(self, *args: Any, **options: Any) -> None:
                super().__init__(*args, **options)
                seen._started.append(self)

            def wait(self, timeout: float | None = None) -> int:
                code = super().wait(timeout)
                seen.calls.append("collected")
                return code

        monkeypatch.setattr(subprocess, "Popen", Watched)

    def start(self, argv: tuple[str, ...]) -> ChildProcess:
        return ChildProcess(argv, None, self, kill=self._kill)

    def add(self, pid: int) -> None:
        self.calls.append("added")
        self.guard.add(pid)

    def remove(self, pid: int) -> None:
        self.calls.append("removed")
        self.guard.remove(pid)

    def close(self) -> None:
        for process in self._started:
            process.kill()
            process.wait()

    def _kill(self, pid: int, number: int) -> None:
        self.calls.append(signal.Signals(number).name)
        if self._refuses is not None:
            raise self._refuses
        os.kill(pid, number)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Seen]:
    made = Seen(monkeypatch)
    yield made
    made.close()


def test_one_that_runs_is_guarded_and_has_no_exit_code(seen: Seen) -> None:
    process = seen.start(SLEEPS)
    assert not process.ended()
    assert not process.ended(0.01)
    assert process.exit is None
    assert seen.guard.pids == [process.pid]


def test_one_that_ended_is_noticed_and_its_pid_leaves_the_guard_with_the_very_next_call(seen: Seen) -> None:
    process = seen.start(ENDS)
    wait_for(process.ended, "it ends")
    assert seen.calls == ["added", "collected", "removed"]
    assert process.exit == ChildExit(3)


def test_an_end_can_be_waited_for(seen: Seen) -> None:
    process = seen.start(ENDS)
    assert process.ended(60)
    assert process.exit == ChildExit(3)


def test_the_pid_of_one_that_is_killed_leaves_the_guard_while_it_is_still_its_own(seen: Seen) -> None:
    process = seen.start(SLEEPS)
    assert process.end() == ChildExit(-signal.SIGKILL)
    assert seen.calls == ["added", "SIGKILL", "removed", "collected"]
    assert gone([process.pid])


def test_one_that_died_unnoticed_leaves_the_guard_before_it_is_collected(seen: Seen) -> None:
    process = seen.start(ENDS)
    wait_for(lambda: gone([process.pid]), "it is a zombie")
    assert process.end() == ChildExit(3)
    assert seen.calls == ["added", "SIGKILL", "removed", "collected"]


def test_one_that_is_asked_to_end_stays_guarded_until_it_has(seen: Seen) -> None:
    process = seen.start(SLEEPS)
    process.signal(signal.SIGTERM)
    assert seen.guard.pids == [process.pid]
    assert process.ended(60)
    assert process.exit == ChildExit(-signal.SIGTERM)
    assert seen.guard.pids == []


def test_after_its_end_neither_a_stranger_with_its_pid_nor_the_strangers_guard_is_touched(seen: Seen) -> None:
    process = seen.start(ENDS)
    assert process.ended(60)
    seen.guard.add(process.pid)  # as if the system had given the pid to the next child
    seen.calls.clear()
    process.signal(signal.SIGTERM)
    process.signal(signal.SIGKILL)
    assert process.end() == ChildExit(3)
    assert process.ended()
    assert not {"SIGTERM", "SIGKILL", "removed"} & set(seen.calls)
    assert seen.guard.pids == [process.pid]


def test_one_of_another_user_stays_guarded_when_it_cannot_be_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Seen(monkeypatch, refuses=PermissionError)
    process = seen.start(SLEEPS)
    with pytest.raises(PermissionError):
        process.signal(signal.SIGKILL)
    assert seen.guard.pids == [process.pid]
    seen.close()


def test_one_that_the_system_does_not_find_any_more_counts_as_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Seen(monkeypatch, refuses=ProcessLookupError)
    process = seen.start(ENDS)
    wait_for(lambda: gone([process.pid]), "it is a zombie")
    assert process.end() == ChildExit(3)
    assert seen.guard.pids == []


def test_without_a_guard_it_ends_all_the_same() -> None:
    assert ChildProcess(SLEEPS, None, None).end() == ChildExit(-signal.SIGKILL)


def test_one_that_cannot_be_guarded_does_not_run_on(seen: Seen, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_pid: int) -> None:
        raise ValueError("closed")

    monkeypatch.setattr(seen, "add", refuse)
    with pytest.raises(ValueError, match="closed"):
        seen.start(SLEEPS)
    assert seen.calls == ["collected"]


@pytest.mark.parametrize(
    ("status", "code", "number", "timed_out", "words"),
    [
        (0, 0, None, False, "exited with status 0"),
        (3, 3, None, False, "exited with status 3"),
        (-signal.SIGSEGV, None, signal.SIGSEGV, False, "killed by SIGSEGV"),
        (-signal.SIGALRM, None, signal.SIGALRM, True, "killed by SIGALRM: its time limit was over"),
        (-99, None, 99, False, "killed by signal 99"),
        (None, None, None, False, "cannot be ended"),
    ],
)
def test_how_it_ended_is_known_in_numbers_and_in_words(
    status: int | None, code: int | None, number: int | None, timed_out: bool, words: str
) -> None:
    ended = ChildExit(status)
    assert (ended.code, ended.signal, ended.timed_out, ended.words) == (code, number, timed_out, words)


# -- what it receives and sends --------------------------------------------------------------------------------------

ECHOES = "import sys; [print(line, end='', flush=True) for line in sys.stdin]"


def child(code: str, **options: Any) -> ChildProcess:
    return ChildProcess((sys.executable, "-S", "-c", code), None, None, **options)


def read_all(process: ChildProcess) -> bytes:
    data = b""
    while not process.output_ended:
        process.wait(60)
        data += process.read()
    return data


def test_what_it_is_sent_comes_back_and_it_ends_when_it_is_hung_up() -> None:
    process = child(ECHOES)
    process.send(b"one\n")
    process.send(b"two\n")
    process.hang_up()
    assert read_all(process) == b"one\ntwo\n"
    assert process.collect(60) == ChildExit(0)
    process.close()


def test_one_that_does_not_read_is_sent_the_rest_as_soon_as_it_does() -> None:
    """More than a pipe holds, to one that begins to read when its first line comes, and says how much there was."""
    process = child("import sys; input(); print('reads', flush=True); print(len(sys.stdin.read()))")
    process.send(b"a line\n" + bytes(300_000))
    assert process.unsent
    while process.unsent:
        assert process.wait(60)
        process.send()
    process.hang_up()
    assert read_all(process) == b"reads\n300000\n"
    process.end()
    process.close()


def test_one_that_is_gone_is_sent_nothing_and_harms_nobody() -> None:
    process = child("")
    assert process.ended(60)
    process.send(b"nobody reads this")
    process.hang_up()
    process.send(b"nor this")
    process.close()
    process.close()


def test_the_last_lines_of_its_log_are_kept_whoever_holds_the_pipe_open() -> None:
    process = child("import os, subprocess, sys; print('out of memory', file=sys.stderr); os.abort()")
    read_all(process)
    ended = process.collect(60)
    process.read_log()
    assert ended is not None
    assert (ended.signal, process.log.lines(), process.log.hint) == (signal.SIGABRT, ["out of memory"], "out of memory")
    process.close()


def test_nothing_is_waited_for_longer_than_is_asked() -> None:
    process = child("input()")
    assert not process.wait(0.01)
    assert (process.read(), process.read_log(), process.output_ended) == (b"", False, False)
    process.end()
    process.close()


def test_one_that_writes_without_end_is_not_read_without_end() -> None:
    process = ChildProcess(("sh", "-c", "yes"), None, None, blocked=())
    assert process.wait(60)
    assert 0 < len(process.read()) <= MOST_BYTES + READ_BYTES
    process.end()
    process.close()


def test_no_pipe_is_left_open() -> None:
    descriptors = Path("/dev/fd")
    gc.collect()  # what earlier tests left would be closed in between
    before = len(list(descriptors.iterdir()))
    for options in ({}, {"stdin": False}, {"stdout": False}, {"stderr": False}):
        process = child("", **options)
        process.end()
        process.close()
    assert len(list(descriptors.iterdir())) == before


def test_one_that_closed_its_output_and_runs_on_is_killed_when_it_is_collected() -> None:
    process = child("import os, time; os.close(1); time.sleep(3600)")
    assert read_all(process) == b""
    assert process.collect(60) == ChildExit(-signal.SIGKILL)
    process.close()


BLOCKED = "import signal; print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))"


@pytest.mark.parametrize("blocked", [True, False])
def test_a_ctrl_c_waits_until_a_child_of_ours_has_set_its_signals_and_not_for_a_program_of_others(
    blocked: bool,
) -> None:
    process = child(BLOCKED, blocked=(signal.SIGINT,) if blocked else ())
    assert read_all(process) == f"{blocked}\n".encode()
    process.end()
    process.close()
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
