"""Simulated work takes exactly as long as it says, and real time is never lost."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.sources.engine.backend import RealClock
from hettop.sources.engine.backends.simulated import MAX_LEAD_NS, VirtualClock
from tests.clocks import FakeClock

MS = 1_000_000


def test_work_is_measured_exactly_however_late_the_sleep_wakes() -> None:
    clock = VirtualClock(FakeClock(overshoot=70_000))
    start = clock.now()
    clock.advance(2_543_211)
    assert clock.now() - start == 2_543_211


def test_the_sleeps_overshoot_becomes_a_gap_between_samples() -> None:
    clock = VirtualClock(FakeClock(overshoot=70_000))
    clock.advance(2 * MS)
    end = clock.now()
    assert clock.now() - end == 70_000


def test_short_work_is_saved_up_until_it_is_worth_a_sleep() -> None:
    real = FakeClock(moment=0)
    clock = VirtualClock(real)
    clock.advance(MAX_LEAD_NS - 1)
    assert real.slept_until == []
    clock.advance(1)
    assert real.slept_until == [MAX_LEAD_NS]


def test_real_time_that_passed_outside_of_work_counts() -> None:
    real = FakeClock(moment=0)
    clock = VirtualClock(real)
    clock.advance(2 * MS)
    end = clock.now()
    real.pass_time(5 * MS)
    assert clock.now() - end == 5 * MS


def test_real_time_that_passes_while_work_is_handed_over_does_not_lengthen_it() -> None:
    real = FakeClock(moment=0)
    clock = VirtualClock(real)
    start = clock.now()
    clock.advance(2 * MS)
    real.pass_time(MS)
    assert clock.now() - start == 2 * MS


def test_sleeping_reaches_the_moment_on_both_clocks() -> None:
    real = FakeClock(moment=0)
    clock = VirtualClock(real)
    clock.sleep_until(7 * MS)
    assert (real.moment, clock.now()) == (7 * MS, 7 * MS)


def test_sleeping_until_a_moment_that_has_passed_does_not_turn_back() -> None:
    clock = VirtualClock(FakeClock(moment=9 * MS))
    clock.sleep_until(7 * MS)
    assert clock.now() == 9 * MS


steps = st.lists(st.tuples(st.sampled_from(["work", "wait", "sleep", "look"]), st.integers(0, 5 * MS)), max_size=50)


@given(steps, st.integers(0, 100_000))
def test_virtual_time_never_runs_backwards_and_never_leads_by_a_sleep(
    steps: list[tuple[str, int]], overshoot: int
) -> None:
    real = FakeClock(moment=0, overshoot=overshoot)
    clock = VirtualClock(real)
    last = clock.now()
    for what, duration in steps:
        if what == "work":
            clock.advance(duration)
        elif what == "wait":
            real.pass_time(duration)
        elif what == "sleep":
            clock.sleep_until(real.now() + duration)
        now = clock.now()
        assert now >= last
        assert now - real.now() < MAX_LEAD_NS
        last = now


def test_the_real_clock_is_the_monotonic_one_and_sleeps_no_shorter_than_asked() -> None:
    clock = RealClock()
    before, here, after = time.monotonic_ns(), clock.now(), time.monotonic_ns()
    assert before <= here <= after
    clock.sleep_until(here + 2 * MS)
    assert clock.now() >= here + 2 * MS


def test_the_real_clock_does_not_sleep_for_a_moment_that_has_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    RealClock().sleep_until(0)
    assert not slept
