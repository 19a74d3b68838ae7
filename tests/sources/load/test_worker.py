"""A worker of competing load, as a process: how busy it is, and how it ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest

from hettop.compute_units import OWN_UNIT
from hettop.sources.load.worker import KINDS
from tests.processes.waiting import environment, wait_for

PLAIN = sorted(KINDS.keys() - OWN_UNIT.keys())  # those that need no model


@contextmanager
def worker(what: str, duty: float) -> Iterator[subprocess.Popen[bytes]]:
    """One that has said that it is at work."""
    argv = [sys.executable, "-m", "hettop.sources.load.worker", what, str(duty)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield process
        process.kill()


def cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


@pytest.mark.parametrize("what", PLAIN)
def test_it_ends_with_its_standard_input(what: str) -> None:
    with worker(what, 1.0) as process:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 0


def test_ctrl_c_is_for_hettop_to_act_upon() -> None:
    with worker("cpu", 0.1) as process:
        process.send_signal(signal.SIGINT)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 0


def at_work(what: str, duty: float, seconds: float = 0.5) -> tuple[float, int]:
    """Over its next `seconds` of CPU time: the share of a core that it took, and how often it slept."""
    with worker(what, duty) as process:
        watched = psutil.Process(process.pid)
        used, slept, began = cpu_seconds(watched), watched.num_ctx_switches().voluntary, time.monotonic()
        wait_for(lambda: cpu_seconds(watched) - used >= seconds, f"it has worked for {seconds} s")
        share = (cpu_seconds(watched) - used) / (time.monotonic() - began)
        return share, watched.num_ctx_switches().voluntary - slept


# A machine that is busy with other things lowers a worker's share, and nothing raises it. So shares are bounded from
# above alone; that a worker at full duty does work for all of its time shows in its never going to sleep.


@pytest.mark.parametrize("what", PLAIN)
def test_a_worker_at_half_duty_takes_about_half_a_core(what: str) -> None:
    share, slept = at_work(what, 0.5)
    assert share < 0.75
    assert slept >= 5, "half a second of work at half duty takes ten periods"


@pytest.mark.parametrize("what", PLAIN)
def test_a_worker_at_full_duty_never_rests(what: str) -> None:
    _, slept = at_work(what, 1.0)
    assert slept < 10  # a busy machine takes it off its core now and then


def test_a_worker_at_small_duty_takes_a_small_part() -> None:
    share, _ = at_work("cpu", 0.1, seconds=0.2)
    assert share < 0.25
