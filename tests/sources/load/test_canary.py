"""The canary as a real process: what it reports, what a known stall does to it, and how it ends."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from hettop import events
from hettop.sources.load.canary import PERIOD_NS, kernel_ns
from hettop.sources.load.canary_source import CanarySource
from tests.processes.waiting import environment, gone, wait_for
from tests.sources.load.fakes import ListedGuard


@pytest.fixture
def guard() -> ListedGuard:
    return ListedGuard()


@pytest.fixture
def canary(guard: ListedGuard) -> Iterator[CanarySource]:
    canary = CanarySource(guard, environment())
    yield canary
    canary.close()


def reports(canary: CanarySource, n: int) -> list[events.Canary]:
    found: list[events.Canary] = []

    def enough() -> bool:
        found.extend(canary.drain(9))
        return len(found) >= n

    wait_for(enough, f"{n} reports of the canary")
    return found


def test_it_reports_sixty_frames_a_second(canary: CanarySource) -> None:
    first = reports(canary, 1)[0]
    assert first.t == 9
    assert first.due >= 60
    assert first.kernel_ns is not None
    assert first.kernel_ns > 0


def test_a_canary_that_is_stopped_for_half_a_second_misses_at_least_29_frames(
    canary: CanarySource, guard: ListedGuard
) -> None:
    reports(canary, 1)
    process = psutil.Process(guard.pids[0])
    process.suspend()
    wait_for(lambda: process.status() == psutil.STATUS_STOPPED, "it is stopped")
    stopped = time.monotonic()
    wait_for(lambda: time.monotonic() - stopped > 0.5, "half a second has passed")
    process.resume()
    missed = worst = 0
    for report in reports(canary, 2):
        missed, worst = missed + report.missed, max(worst, report.worst_ns)
    assert missed >= 29
    assert worst >= 29 * PERIOD_NS


def test_it_is_guarded_and_gone_after_closing(canary: CanarySource, guard: ListedGuard) -> None:
    (pid,) = guard.pids
    canary.close()
    canary.close()
    assert gone([pid])
    assert not guard.pids


def test_one_that_dies_is_replaced_twice_and_then_leaves_silence(canary: CanarySource, guard: ListedGuard) -> None:
    for killed in range(3):
        before = guard.pids[0]
        os.kill(before, signal.SIGKILL)

        def noticed(before: int = before) -> bool:
            canary.drain(0)
            return before not in guard.pids

        wait_for(noticed, "its end is noticed")
        assert canary.alive == (killed < 2)
    assert canary.drain(1) == []
    assert not guard.pids


def test_one_that_cannot_start_harms_nothing(guard: ListedGuard) -> None:
    canary = CanarySource(guard, environment(), argv=["/nowhere/canary"])
    assert not canary.alive
    assert canary.drain(0) == []
    canary.close()


@pytest.mark.parametrize(
    "printed",
    ["not json", '{"due": 1}', '{"due": 1, "missed": 2, "worst_ns": 0, "kernel_ns": 0}', "x" * 9_000],
)
def test_what_makes_no_sense_is_no_report(guard: ListedGuard, printed: str) -> None:
    said = f"print({printed!r}, flush=True)"
    canary = CanarySource(guard, environment(), argv=[sys.executable, "-c", said])
    found: list[events.Canary] = []

    def ended() -> bool:
        found.extend(canary.drain(0))
        return not canary.alive

    wait_for(ended, "it has said that")
    assert not found


def test_the_kernel_takes_cpu_time() -> None:
    assert kernel_ns() > 10_000
