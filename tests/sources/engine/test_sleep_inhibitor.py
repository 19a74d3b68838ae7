"""A Mac is kept awake by a process that lives no longer than the measurement."""

from __future__ import annotations

import os
import sys

from hettop.sources.macos import SleepInhibitor, caffeinate
from tests.processes.waiting import gone

SLEEPER = (sys.executable, "-c", "import time; time.sleep(3600)")
STUBBORN = (
    sys.executable,
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(3600)",
)


def test_the_command_ends_with_hettop_even_if_nobody_ends_it() -> None:
    assert caffeinate(123) == ("/usr/bin/caffeinate", "-i", "-w", "123")


def test_it_is_in_force_until_it_is_closed() -> None:
    awake = SleepInhibitor(SLEEPER, "darwin")
    pid = awake.pid
    assert pid is not None
    assert not gone([pid])
    assert os.getpgid(pid) != os.getpgid(0)
    awake.close()
    assert gone([pid])
    assert awake.pid is None
    awake.close()  # once more does nothing


def test_one_that_does_not_end_is_killed() -> None:
    awake = SleepInhibitor(STUBBORN, "darwin")
    pid = awake.pid
    assert pid is not None
    awake.close()
    assert gone([pid])


def test_a_machine_without_the_command_sleeps_as_ever() -> None:
    awake = SleepInhibitor(("/nowhere/caffeinate",), "darwin")
    assert awake.pid is None
    awake.close()


def test_elsewhere_nothing_is_started() -> None:
    assert SleepInhibitor(SLEEPER, "linux").pid is None
