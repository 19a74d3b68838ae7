"""A process ends itself when a call takes longer than its limit, even one that holds the GIL."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from hettop.processes.child_process import ChildExit
from hettop.processes.time_limit import end_after, time_limit
from tests.processes.waiting import environment

IGNORING = """
import ctypes, signal, subprocess, sys
signal.signal(signal.SIGALRM, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
sys.exit(subprocess.run([sys.executable, "-c", sys.argv[1]], stderr=subprocess.DEVNULL).returncode + 100)
"""

HANG = """
import ctypes, threading
from hettop.processes.time_limit import time_limit
def work():
    with time_limit("loading ALL", 0.1):
        ctypes.PyDLL(None).sleep(3600)
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


def test_a_call_that_holds_the_gil_ends_with_its_process_which_leaves_the_reason_in_its_log() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HANG], env=environment(), capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (-signal.SIGALRM, "hettop: loading ALL: limited to 0.1 s\n")
    assert ChildExit(done.returncode).timed_out


def test_it_holds_in_a_child_of_a_process_that_ignores_and_blocks_the_signal() -> None:
    child = f"from hettop.processes.serve import begin_child\nbegin_child()\n{HANG}"
    done = subprocess.run([sys.executable, "-c", IGNORING, child], env=environment(), check=False, timeout=60)
    assert done.returncode == 100 - signal.SIGALRM


@pytest.mark.timeout(0)  # pytest's own time limit is a timer of the same kind
def test_the_limit_is_over_when_the_call_is_however_it_ends() -> None:
    def fail_under_limit() -> None:
        with time_limit("a call"):
            assert signal.getitimer(signal.ITIMER_REAL)[0] > 100
            raise ValueError("odd")

    with pytest.raises(ValueError, match="odd"):
        fail_under_limit()
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


@pytest.mark.timeout(0)
def test_a_limit_within_a_limit_is_the_shorter_of_both_and_the_outer_one_goes_on() -> None:
    end_after(500)
    with time_limit("a call", 100):
        assert 90 < signal.getitimer(signal.ITIMER_REAL)[0] <= 100
        with time_limit("a call in it", 1000):
            assert 90 < signal.getitimer(signal.ITIMER_REAL)[0] <= 100
    assert 490 < signal.getitimer(signal.ITIMER_REAL)[0] <= 500
    end_after(0)
