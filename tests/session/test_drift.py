"""Drift in the fold: found once, reported with where it began, whatever windows the samples came in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hettop import events
from hettop.events import DriftState
from hettop.session.drift import Drift
from hettop.session.session import Session
from hettop.session.statistics import statistics
from hettop.session.views.session_view import view
from hettop.session.views.structs import ViewRequest
from hettop.stats.drift import BLOCK, REFERENCE, Stays, follow, residuals
from hettop.stats.histogram import Histogram
from tests.streams import MS, S, cut, header, window

REQUEST = ViewRequest(now_ns=20 * S, window_ns=10 * S, timeline_slots=10)


def drifting(n: int = 8_200, at: int = 3_000, factor: float = 1.25, seed: int = 1) -> list[int]:
    latencies = 2 * MS * np.exp(np.random.default_rng(seed).normal(0, 0.02, n))
    latencies[at:] *= factor
    return [int(value) for value in latencies]


def session_of(latencies: list[int], points: list[int] | None = None) -> Session:
    session = Session()
    session.fold(events.Control(t=0, action="start", units=["CPU_ONLY"]))
    for part in pieces(latencies, points or []):
        session.fold(part)
    return session


def pieces(latencies: list[int], points: list[int]) -> list[events.Samples]:
    """Windows of at most a second, as in life, cut at these points too."""
    return cut(window(latencies, gap=0), [*range(0, len(latencies), 300), *points])


def test_a_drift_has_a_before_an_after_and_a_beginning() -> None:
    latencies = drifting()
    session = session_of(latencies)
    (row,) = statistics(session)
    assert row.drift is not None
    assert row.drift["before_ms"] == pytest.approx(2.0, rel=0.01)
    assert row.drift["after_ms"] == pytest.approx(2.5, rel=0.01)
    assert row.drift["now_ms"] == pytest.approx(2.5, rel=0.01)
    assert row.drift["from_sample"] == 3_000
    assert row.drift["from_s"] == pytest.approx(sum(latencies[:3_000]) / S)


def test_it_is_reported_once_in_the_log_and_marked_on_the_timeline() -> None:
    session = session_of(drifting())
    seen = view(session, REQUEST)
    (line,) = [entry for entry in seen.log if entry.kind == "drift"]
    assert line.text == "CPU_ONLY drifts: median 2.00 → 2.50 ms (+25%) since 00:06"
    assert line.level == "warning"
    marked = [mark.slot for mark in seen.timeline.marks if mark.kind == "drift"]
    assert marked == [7]  # 18.5 s, where the first slot is 11 s
    assert any(text.startswith("drifted: median 2.00 → 2.5") for text in seen.units.rows[0].details)


def test_what_comes_back_says_so() -> None:
    latencies = drifting(n=9_500)
    latencies[8_200:] = drifting(n=1_300, seed=2)
    (row,) = statistics(session_of(latencies))
    assert row.drift is not None
    assert row.drift["after_ms"] == pytest.approx(2.5, rel=0.01)
    assert row.drift["now_ms"] == pytest.approx(2.0, rel=0.01)


def test_without_drift_there_is_none() -> None:
    (row,) = statistics(session_of(drifting(factor=1.0)))
    assert row.drift is None


@settings(max_examples=30)
@given(st.lists(st.integers(1, 8_100), max_size=12, unique=True), st.integers(0, 3))
def test_however_the_stream_is_cut_the_drift_is_the_same(points: list[int], seed: int) -> None:
    latencies = drifting(seed=seed)
    one, many = session_of(latencies), session_of(latencies, points)
    assert events.encode(one.keyframe(0, 0)) == events.encode(many.keyframe(0, 0))


@given(
    st.integers(0, 10_000),
    st.sampled_from([1.0, 1.5, 3.0]),
    st.sampled_from([1.0, 0.9, 1.04, 1.2]),
)
def test_what_is_passed_over_as_quiet_would_have_moved_nothing(seed: int, apart: float, factor: float) -> None:
    rng = np.random.default_rng(seed)
    latencies = 2 * MS * np.exp(rng.normal(0, 0.02, 8_200)) * np.where(rng.random(8_200) < 0.4, apart, 1.0)
    latencies[3_000:] *= factor
    values = latencies.astype(np.int64)
    drift, hist = Drift(), Histogram()
    hist.add(values[:REFERENCE])
    drift.add(values[:REFERENCE], np.cumsum(values[:REFERENCE]))
    drift.learn(hist)
    assert drift.level is not None
    drift.add(values[REFERENCE:], np.cumsum(values)[REFERENCE:])
    # Block by block, without passing any over; what waits for its block to fill is kept in 11 bits.
    shift = max(0, round(drift.level.median_ns).bit_length() - 11)
    blocks = (values[REFERENCE // BLOCK * BLOCK :] >> shift).reshape(-1, BLOCK)
    distances = np.round(residuals(blocks, drift.level, float(1 << shift)), 4)
    _, alarm = follow(distances, REFERENCE // BLOCK, Stays(), drift.level.slack)
    found = drift.found()
    assert (None if found is None else found.from_sample) == (None if alarm is None else alarm.began * BLOCK)


def test_states_that_the_first_512_samples_did_not_show_are_learned() -> None:
    state = np.arange(60_000) // 800 % 2
    noise = np.exp(np.random.default_rng(4).normal(0, 0.02, 60_000))
    latencies = (2.0 * MS * np.where(state == 0, 1.0, 1.5) * noise).astype(np.int64).tolist()
    session = session_of(latencies)
    (condition,) = session.conditions.values()
    assert condition.drift.level is not None
    assert condition.drift.level.centers_ns == pytest.approx((2.0 * MS, 3.0 * MS), rel=0.01)
    assert condition.drift.found() is None


@pytest.mark.parametrize("at", [300, 512, 513, 1_024, 3_060, 3_090, 5_777, 8_100])
def test_going_on_from_a_keyframe_finds_the_same(at: int) -> None:
    latencies = drifting()
    whole = session_of(latencies)
    parts = pieces(latencies, [at])
    done = next(i for i in range(len(parts)) if sum(part.n for part in parts[:i]) == at)
    first = Session()
    first.fold(header())
    first.fold(events.Control(t=0, action="start", units=["CPU_ONLY"]))
    for part in parts[:done]:
        first.fold(part)
    keyframe = events.decode(events.encode(first.keyframe(first.t, 0)))
    assert isinstance(keyframe, events.Keyframe)
    again = Session.restored(header(), keyframe)
    for part in parts[done:]:
        again.fold(part)
    assert events.encode(again.keyframe(0, 0)) == events.encode(whole.keyframe(0, 0))


def test_a_keyframe_that_contradicts_itself_is_refused() -> None:
    with pytest.raises(ValueError, match="over-full"):
        Drift.restored(DriftState(rest=[1] * 50))
    with pytest.raises(ValueError, match="no centres"):
        Drift.restored(DriftState(level=(1.0, 1.0, 1.0)))


def test_the_details_say_how_long_a_unit_stays_in_each_mode() -> None:
    state = np.arange(2_000) // 25 % 2
    noise = np.exp(np.random.default_rng(4).normal(0, 0.01, 2_000))
    latencies = [int(value) for value in np.where(state == 0, 2.0 * MS, 3.0 * MS) * noise]
    session = session_of(latencies)
    assert (
        "stays on average at 2.00 ms for 25.0 calls, at 3.00 ms for 25.0 calls"
        in view(session, REQUEST).units.rows[0].details
    )
    (row,) = statistics(session)
    assert row.modes is not None
    assert [mode.stay_calls for mode in row.modes] == [25.0, 25.0]
