"""A condition's statistics follow from its samples alone, not from the windows they came in."""

from __future__ import annotations

import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop import events
from hettop.session.condition import Condition, ConditionKey, next_fence_at
from hettop.session.session import Session
from tests.streams import MS, S, cut, window

KEY = ConditionKey("CPU_ONLY", "none", None)


def only(session: Session) -> Condition:
    (condition,) = session.conditions.values()
    return condition


@pytest.mark.parametrize(
    ("n", "at"),
    [
        (0, 64),
        (63, 64),
        (64, 128),
        (500, 512),
        (512, 1024),
        (1023, 1024),
        (1024, 2048),
        (2047, 2048),
        (5000, 5120),
        (32_767, 32_768),
        (32_768, 34_816),
        (65_536, 69_632),
        (10**6, 1_015_808),
    ],
)
def test_the_fence_is_renewed_at_fixed_counts(n: int, at: int) -> None:
    assert next_fence_at(n) == at


@given(
    st.lists(st.integers(400_000, 9 * MS), min_size=1, max_size=400),
    st.lists(st.integers(1, 399), max_size=12),
    st.booleans(),
)
def test_however_the_stream_is_cut_the_fold_is_the_same(latencies: list[int], points: list[int], paced: bool) -> None:
    late = [value % 1000 for value in latencies] if paced else None
    whole = window(latencies, late=late)
    one, many = Session(), Session()
    for session in (one, many):
        session.fold(events.Control(t=0, action="start", units=["CPU_ONLY"], rate_hz=500.0 if paced else None))
    one.fold(whole)
    for part in cut(whole, points):
        many.fold(part)
    assert events.encode(one.keyframe(0, 0)) == events.encode(many.keyframe(0, 0))


def test_spikes_are_found_once_there_is_a_fence() -> None:
    # 64 samples of 1 ms make the fence: no spread, so 1.5 x median = 1.5 ms (within half a bucket, 0.4%).
    session = Session()
    session.fold(window([MS] * 64))
    session.fold(window([MS, 1_400_000, 1_600_000, MS], t0=100 * MS, gap=0))
    condition = only(session)
    assert condition.fence_ns == pytest.approx(1_500_000, rel=0.004)
    assert condition.spikes == 1
    assert list(condition.recent_spikes) == [(100 * MS + MS + 1_400_000 + 1_600_000, 1_600_000)]


def test_before_there_is_a_fence_nothing_is_called_a_spike() -> None:
    session = Session()
    session.fold(window([MS] * 30 + [90 * MS]))
    assert only(session).spikes == 0


def test_throughput_of_a_closed_loop_leaves_the_gaps_out() -> None:
    session = Session()
    session.fold(window([2 * MS] * 10, gap=8 * MS))
    assert only(session).throughput_per_s == pytest.approx(500.0)


def test_throughput_of_paced_arrivals_counts_the_time_elapsed() -> None:
    # 10 arrivals, 10 ms apart, 2 ms each: 9 periods and one service time are 92 ms.
    session = Session()
    session.fold(window([2 * MS] * 10, gap=8 * MS, late=[0] * 10))
    assert only(session).throughput_per_s == pytest.approx(10 / 0.092)


def test_a_pause_does_not_count_as_time_elapsed() -> None:
    session = Session()
    session.fold(window([2 * MS] * 10, gap=8 * MS, late=[0] * 10))
    session.fold(window([2 * MS], t0=20 * S, phase="resume", late=[0]))
    session.fold(window([2 * MS] * 10, t0=20 * S + 10 * MS, gap=8 * MS, late=[0] * 10))
    # Ten periods from the end of the resume on: the wait for the first arrival counts, the pause does not.
    assert only(session).throughput_per_s == pytest.approx(20 / (0.092 + 0.1))


@pytest.mark.parametrize("phase", ["warmup", "resume", "transition"])
def test_paced_calls_span_as_many_periods_as_they_are(phase: str) -> None:
    # A call at 0 ms, then 12 at 200, 400, ... 2,400 ms, 5 ms each: 5 Hz from the end of the one to the end of the last.
    session = Session()
    session.fold(window([5 * MS], phase=phase, late=None if phase == "warmup" else [0]))
    session.fold(window([5 * MS] * 12, t0=200 * MS, gap=195 * MS, late=[0] * 12))
    assert only(session).throughput_per_s == pytest.approx(5.0)


def test_what_a_process_does_after_its_first_call_is_no_wait_for_an_arrival() -> None:
    session = Session()
    session.fold(window([5 * MS], phase="first"))
    session.fold(window([5 * MS] * 10, t0=9 * S, gap=5 * MS, late=[0] * 10))
    assert only(session).throughput_per_s == pytest.approx(10 / 0.095)


def test_nor_is_what_passed_while_samples_were_lost() -> None:
    session = Session()
    session.fold(window([5 * MS], phase="warmup"))
    session.fold(events.Dropped(t=6 * MS, n=3, why="a test", unit="CPU_ONLY"))
    session.fold(window([5 * MS] * 10, t0=9 * S, gap=5 * MS, late=[0] * 10))
    assert only(session).throughput_per_s == pytest.approx(10 / 0.095)


def test_a_response_over_the_period_is_a_miss() -> None:
    # At 100 Hz the limit is 10 ms: 4 + 5 = 9 keeps it, 4 + 6 = 10 just does, 4 + 7 misses it.
    session = Session()
    session.fold(events.Control(t=0, action="start", units=["CPU_ONLY"], rate_hz=100.0))
    session.fold(window([4 * MS] * 3, late=[5 * MS, 6 * MS, 7 * MS]))
    condition = only(session)
    assert condition.misses == 1
    assert condition.limit_ns == 10 * MS
    assert condition.response is not None
    assert condition.response.quantile_ms(0.5) == pytest.approx(10.0)
    assert condition.wall.quantile_ms(0.5) == pytest.approx(4.0)


def test_a_restored_condition_goes_on_as_if_never_interrupted() -> None:
    rng = random.Random(3)
    latencies = [int(MS * rng.lognormvariate(0, 0.1)) for _ in range(3000)]
    latencies[2500] = 9 * MS
    whole, first = Session(), Session()
    before, after = cut(window(latencies), [1777])
    for part in (before, after):
        whole.fold(part)
    first.fold(before)
    again = Condition.restored(only(first).state())
    ends = after.starts_ns() + after.lat_ns
    again.add(after, ends, after.t0 - before.t, None)
    assert msgspec.json.encode(again.state()) == msgspec.json.encode(only(whole).state())
    assert again.spikes == 1


def test_a_keyframe_that_contradicts_itself_is_refused() -> None:
    session = Session()
    session.fold(window([MS] * 5))
    state = only(session).state()
    lying = msgspec.structs.replace(state, wall=msgspec.structs.replace(state.wall, n=6))
    with pytest.raises(ValueError, match="contradicts"):
        Condition.restored(lying)
