"""Real processes: a co-execution of quick simulated units, the death of one, an interrupt, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import msgspec
import psutil
import pytest

from hettop.errors import HettopError
from hettop.processes.serve import Request
from hettop.studies.coexec.messages import CoexecJob, CoexecProgress, Work
from hettop.studies.coexec.setup import coexecute
from tests.processes.waiting import environment, gone, wait_for
from tests.sources.engine import faulty

SECOND = 10**9

HETTOP = f"""
import sys
from hettop.studies.coexec.setup import coexecute
from hettop.studies.coexec.messages import CoexecJob, Work
job = CoexecJob(
    units=("CPU_ONLY", "ALL"),
    work=Work(backend={faulty.NAME!r}, model=sys.argv[1]),
    duration_ns=int(sys.argv[2]) * 10**9,
)
result = coexecute(job, lambda word: word.text and print(word.text, flush=True))
print("result", result.interrupted, result.in_order, flush=True)
"""


def job(model: str = "", *, seconds: float | None = 1.0) -> CoexecJob:
    """Units whose calls sleep for a millisecond, and go wrong as `model` says. seconds: None: until it is ended."""
    work = Work(backend=faulty.NAME, model=model, warmup=2)
    return CoexecJob(
        units=("CPU_ONLY", "ALL"), work=work, duration_ns=None if seconds is None else round(seconds * SECOND)
    )


def test_two_units_serve_one_stream_in_order() -> None:
    told: list[CoexecProgress] = []
    result = coexecute(job(), told.append, environment=environment())
    assert result.in_order
    assert result.delivered > 100
    assert [unit.unit for unit in result.units] == ["CPU_ONLY", "ALL"]
    assert result.of_ideal is not None
    assert result.of_ideal > 0.5  # that they do help each other; how much is for the benchmark
    words = [word.text for word in told if word.text]
    assert words[0] == "loading"
    assert words[-1] == "round 1 of 1: CPU_ONLY + ALL"
    assert [word.share for word in told if word.text][1:] == pytest.approx([0, 1 / 3, 2 / 3]), (
        "a third after each block"
    )
    assert told[-1].result is not None
    assert told[-1].result.units == result.units


def test_a_worker_that_is_killed_has_its_work_done_by_the_other() -> None:
    result = coexecute(job("ALL vanish 60"), environment=environment())
    living, dead = result.units
    assert living.error is None
    assert dead.error is not None
    assert "killed by SIGKILL" in dead.error.message
    assert result.redone >= 1
    assert result.in_order


def test_a_worker_that_fails_says_why_itself() -> None:
    result = coexecute(job("ALL misbehave 60"), environment=environment())
    error = result.units[1].error
    assert error is not None
    assert (error.kind, error.message) == ("predict", "ValueError: odd")


def test_where_no_worker_can_load_the_first_ones_reason_is_the_users_error() -> None:
    with pytest.raises(HettopError, match="CPU_ONLY: not a model") as refused:
        coexecute(job("CPU_ONLY refuse 0;ALL refuse 0"), environment=environment())
    assert (refused.value.kind, refused.value.hint) == ("format", "use another")


def test_chatter_of_a_framework_is_not_taken_for_words() -> None:
    """It writes to descriptor 1 in the midst of the work."""
    result = coexecute(job("ALL babble 30"), environment=environment())
    assert result.units[1].error is None
    assert result.in_order


@pytest.mark.parametrize(
    ("code", "words"),
    [("import os; os._exit(3)", "exited with status 3"), ("print('hello')", "answered what makes no sense")],
)
def test_a_dispatch_that_dies_or_talks_nonsense_is_reported(code: str, words: str) -> None:
    with pytest.raises(HettopError, match=words):
        coexecute(job(), argv=[sys.executable, "-c", code])


@pytest.fixture
def running() -> Iterator[subprocess.Popen[str]]:
    """A program that co-executes units of which one hangs in a native call, a minute long."""
    command = [sys.executable, "-c", HETTOP, "ALL hang 100", "60"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment(), start_new_session=True)
    yield process
    process.kill()
    process.wait()


def descendants(process: subprocess.Popen[str]) -> list[int]:
    return [child.pid for child in psutil.Process(process.pid).children(recursive=True)]


def test_nothing_is_left_when_hettop_is_killed_while_a_worker_hangs(running: subprocess.Popen[str]) -> None:
    assert running.stdout is not None
    while not running.stdout.readline().startswith("round 1"):
        pass
    wait_for(lambda: len(descendants(running)) == 5, "reaper, dispatch, its reaper, and two workers")
    children = descendants(running)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    wait_for(lambda: gone(children), "all of them gone")


def test_an_interrupt_prints_what_was_measured(running: subprocess.Popen[str]) -> None:
    running.kill()
    command = [sys.executable, "-c", HETTOP, "", "60"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment(), start_new_session=True
    ) as process:
        assert process.stdout is not None
        while not process.stdout.readline().startswith("round 2"):
            pass
        os.killpg(process.pid, signal.SIGINT)  # as a terminal sends it: to all of them
        assert process.stdout.read().splitlines()[-1] == "result True True"
        assert process.wait() == 0


def test_a_dispatch_ends_with_its_standard_input() -> None:
    from hettop.studies.coexec.messages import encode
    from hettop.studies.coexec.setup import DISPATCH

    with subprocess.Popen(DISPATCH, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()) as process:
        assert process.stdin is not None
        process.stdin.write(encode(Request(msgspec.Raw(encode(job(seconds=60))))) + b"\n")
        process.stdin.flush()
        time.sleep(0.05)
        process.stdin.close()
        assert process.wait(60) == 0


def test_one_without_a_duration_is_ended_by_a_descriptor_and_gives_all_that_was_measured() -> None:
    reading, writing = os.pipe()
    told: list[CoexecProgress] = []

    def tell(word: CoexecProgress) -> None:
        told.append(word)
        if word.result is not None and word.result.round_count == 2:
            os.close(writing)

    result = coexecute(job(seconds=None), tell, environment=environment(), ending=[reading])
    os.close(reading)
    assert result.round_count >= 2
    assert not result.interrupted
    assert result.in_order
    assert result.delivered >= max(word.result.delivered for word in told if word.result is not None)


def test_a_worker_that_is_killed_from_outside_leaves_the_stream_going_on() -> None:
    reading, writing = os.pipe()
    rounds_alone: list[int] = []

    def tell(word: CoexecProgress) -> None:
        if word.result is None or not word.result.round_count:
            return
        dead = [unit for unit in word.result.units if unit.error is not None]
        if not dead and word.result.round_count == 1:
            os.kill(_worker_pid(), signal.SIGKILL)
        if dead:
            rounds_alone.append(word.result.round_count)
        if len(rounds_alone) == 3:
            os.close(writing)

    result = coexecute(job(seconds=None), tell, environment=environment(), ending=[reading])
    os.close(reading)
    (dead,) = [unit for unit in result.units if unit.error is not None]
    assert dead.error is not None
    assert "killed by SIGKILL" in dead.error.message
    assert result.round_count >= rounds_alone[-1] > rounds_alone[0]
    assert result.rounds[-1].together_per_s is not None, "the other one goes on"
    assert result.in_order


def _worker_pid() -> int:
    """Of one of the workers that this process has below it."""
    below = psutil.Process().children(recursive=True)
    return next(int(each.pid) for each in below if "hettop.studies.coexec.worker" in each.cmdline())


def test_a_signal_to_the_whole_group_is_for_hettop_to_decide() -> None:
    """Dispatch and workers end with their standard input: `timeout` sends SIGTERM to all of them."""
    command = [sys.executable, "-c", HETTOP, "", "60"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment(), start_new_session=True
    ) as process:
        assert process.stdout is not None
        while not process.stdout.readline().startswith("round 1"):
            pass
        children = descendants(process)
        for child in psutil.Process(process.pid).children(recursive=True):
            if "hettop.studies.coexec" in " ".join(child.cmdline()):
                os.kill(child.pid, signal.SIGTERM)
        while not process.stdout.readline().startswith("round 2"):
            pass
        os.kill(process.pid, signal.SIGINT)
        assert process.stdout.read().splitlines()[-1] == "result True True"
    wait_for(lambda: gone(children), "all of them gone")
