"""Real processes: a co-execution of quick made-up units, the death of one, an interrupt, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from hettop.coexec.child import coexecute
from hettop.coexec.messages import Job, Work
from hettop.errors import HettopError
from tests.engine import faulty
from tests.engine.processes import environment, gone, wait_for

SECOND = 10**9

HETTOP = f"""
import sys
from hettop.coexec.child import coexecute
from hettop.coexec.messages import Job, Work
job = Job(
    units=("CPU_ONLY", "ALL"),
    work=Work(backend={faulty.NAME!r}, model=sys.argv[1]),
    duration_ns=int(sys.argv[2]) * 10**9,
)
result = coexecute(job, lambda text: print(text, flush=True))
print("result", result.interrupted, result.in_order, flush=True)
"""


def job(model: str = "", *, seconds: float = 1.0) -> Job:
    """Units whose calls sleep for a millisecond, and go wrong as `model` says."""
    work = Work(backend=faulty.NAME, model=model, warmup=2)
    return Job(units=("CPU_ONLY", "ALL"), work=work, duration_ns=round(seconds * SECOND))


def test_two_units_serve_one_stream_in_order() -> None:
    told: list[str] = []
    result = coexecute(job(), told.append, environment=environment())
    assert result.in_order
    assert result.delivered > 100
    assert [unit.unit for unit in result.units] == ["CPU_ONLY", "ALL"]
    assert result.of_ideal is not None
    assert result.of_ideal > 0.5  # that they do help each other; how much is for the benchmark
    assert told[0] == "loading"
    assert told[-1].startswith("round 1 of 1: ")


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
def test_a_dispatch_that_dies_or_talks_nonsense_is_told(code: str, words: str) -> None:
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
    from hettop.coexec.child import DISPATCH
    from hettop.coexec.messages import encode

    with subprocess.Popen(DISPATCH, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()) as process:
        assert process.stdin is not None
        process.stdin.write(encode(job(seconds=60)) + b"\n")
        process.stdin.flush()
        time.sleep(0.05)
        process.stdin.close()
        assert process.wait(60) == 0
