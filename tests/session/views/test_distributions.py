"""The distributions of panel 1: densities, axes, percentiles and budgets, worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop import events
from hettop.session.session import Session
from hettop.session.views.latency import Spread, axis_of, relative, smoothed
from hettop.session.views.session_view import view
from hettop.session.views.structs import Axis, LatencyView, RidgeView, Scale, ViewRequest
from tests import streams
from tests.streams import MS, S, header


def window(latencies: list[int], *, unit: str = "A", **more: Any) -> events.Samples:
    return streams.window(latencies, unit=unit, **more)


def request(now_ns: int, window_ns: int = 10 * S, **more: Any) -> ViewRequest:
    return ViewRequest(now_ns=now_ns, window_ns=window_ns, **more)


def session_of(*windows: events.Samples, mode: str = "single", units: tuple[str, ...] = ("A",)) -> Session:
    session = Session(raw_limit=0)
    session.fold(header())
    session.fold(events.Control(t=0, action="start", units=list(units), mode=mode))
    for unit in units:
        session.fold(events.Engine(t=0, unit=unit, state="running", load_ns=MS))
    for each in windows:
        session.fold(each)
    return session


def ridge_of(session: Session, asked: ViewRequest) -> RidgeView:
    found = view(session, asked).ridge
    assert found is not None
    return found


def spread(smallest: float, p50: float, largest: float, **others: float) -> Spread:
    """In ms; quantiles that are not given are halfway, but P99 the largest."""
    low, high = (smallest + p50) / 2, (p50 + largest) / 2
    known = {"p01": smallest, "p25": low, "p75": high, "p90": high, "p99": largest, **others}
    return Spread(
        **{name: ms * MS for name, ms in {"smallest": smallest, "p50": p50, "largest": largest, **known}.items()}
    )


# --- densities ----------------------------------------------------------------------------------------------------


def test_a_density_spreads_each_sample_over_a_triangle() -> None:
    counts = np.zeros(80, dtype=np.int64)
    counts[36:44] = 1
    # Of 8 samples the 2nd and the 6th are 4 columns apart: 2 x 4 / 8^(1/3) = 4, but at most 80 / 40 = 2 columns to each
    # side: a quarter, a half and a quarter.
    assert smoothed(counts)[34:46].tolist() == [0, 0.25, 0.75, 1, 1, 1, 1, 1, 1, 0.75, 0.25, 0]


def test_samples_in_one_column_stay_there() -> None:
    counts = np.zeros(80, dtype=np.int64)
    counts[7] = 9
    assert smoothed(counts).tolist() == counts.tolist()
    assert not smoothed(np.zeros(5, dtype=np.int64)).any()


def test_a_density_is_relative_to_its_own_highest_column() -> None:
    assert relative(np.array([0.0, 1.0, 4.0])).tolist() == [0, 0.25, 1]
    # By logarithms from half a sample up: 1 is 2 halves, 4 are 8, which is 2^3.
    assert relative(np.array([0.0, 1.0, 4.0]), log=True).tolist() == pytest.approx([0, 1 / 3, 1])


def test_few_samples_have_wide_bars_and_many_have_all_the_columns_there_are() -> None:
    # 1.00, 1.01, ... 1.99 ms: P25 to P75 are about half of the axis, so 2 x 0.5 / 100^(1/3) = 0.2 of it, which is cut
    # to a fortieth.
    even = view(session_of(window([MS + k * MS // 100 for k in range(100)])), request(S, histogram_columns=138)).latency
    assert len(even.counts) == 40
    lone = view(session_of(window([MS] * 99 + [2 * MS], gap=0)), request(S, histogram_columns=138)).latency
    assert len(lone.counts) == 138, "P25 and P75 are the same"


# --- axes ---------------------------------------------------------------------------------------------------------


def test_an_axis_places_latencies_evenly_or_by_their_logarithms() -> None:
    assert Axis(1.0, 5.0).place(2.0) == pytest.approx(0.25)
    assert Axis(1.0, 100.0, log=True).place(10.0) == pytest.approx(0.5)
    assert Axis(1.0, 100.0, log=True).place(0.0) == -np.inf


def test_the_axis_of_a_compact_distribution_is_linear() -> None:
    assert not axis_of([spread(1.0, 1.2, 1.6)], request(S)).log


def test_half_of_the_samples_in_little_of_a_linear_axis_make_it_logarithmic() -> None:
    # From 1 to 11 ms: P25 to P75 are 1.2 to 1.5 ms, 3% of the width; by logarithms ln(1.25) / ln(11) = 9%.
    tailed = spread(1.0, 1.3, 11.0, p25=1.2, p75=1.5, p90=3.0)
    assert axis_of([tailed], request(S)).log
    # 4 ms of 10 are more than an eighth.
    assert not axis_of([spread(1.0, 3.0, 11.0, p25=2.0, p75=6.0)], request(S)).log


def test_a_narrow_distribution_that_logarithms_would_not_widen_stays_linear() -> None:
    # At the slow end of the axis logarithms take width away.
    assert not axis_of([spread(1.0, 10.0, 11.0, p25=9.8, p75=10.2)], request(S)).log


def test_units_three_times_apart_share_a_logarithmic_axis() -> None:
    fast = spread(0.4, 1.0, 1.6)
    assert axis_of([fast, spread(2.1, 3.0, 3.9)], request(S)).log
    assert not axis_of([fast, spread(2.0, 2.9, 3.8)], request(S)).log


def test_a_scale_that_was_chosen_holds() -> None:
    compact, tailed = spread(1.0, 1.2, 1.6), spread(1.0, 1.3, 11.0, p25=1.2, p75=1.5)
    assert axis_of([compact], request(S, scale=Scale.LOG_X)).log
    assert not axis_of([tailed], request(S, scale=Scale.LINEAR)).log


def test_a_near_budget_is_on_the_axis_and_a_far_one_is_not() -> None:
    each = spread(1.0, 1.2, 1.6)
    for scale in (Scale.LINEAR, Scale.LOG_X):
        assert 0 < axis_of([each], request(S, scale=scale, budget_ms=2.5)).place(2.5) < 1
        assert 0 < axis_of([each], request(S, scale=scale, budget_ms=0.8)).place(0.8) < 1
        assert axis_of([each], request(S, scale=scale, budget_ms=16.7)).place(16.7) > 1


SCALES = st.sampled_from(list(Scale))


@given(st.lists(st.integers(0, 50 * MS), min_size=1, max_size=200), st.integers(1, 90), SCALES)
def test_each_sample_is_in_a_column_or_counted_beyond_the_ends(
    latencies: list[int], columns: int, scale: Scale
) -> None:
    asked = request(60 * S, window_ns=60 * S, histogram_columns=columns, scale=scale)
    found = view(session_of(window(latencies, t0=S, gap=0)), asked).latency
    assert sum(found.counts) + found.below + found.above == found.n == len(latencies)
    assert found.low_ms < found.high_ms
    assert found.low_ms > 0 or not found.log


# --- percentiles and shares ---------------------------------------------------------------------------------------


def mixed(n: int = 700) -> list[int]:
    return [int(each * MS) for each in np.random.default_rng(3).lognormal(0.0, 0.4, n)]


def test_the_marks_are_of_the_samples_that_are_drawn() -> None:
    latencies = mixed()
    before, after = window([9 * MS]), window(latencies, t0=40 * S, gap=0)
    session = session_of(before, after, window([MS] * 10, t0=45 * S, unit="B"), units=("A", "B"))
    asked = request(46 * S, window_ns=10 * S, unit="A")
    row, _ = ridge_of(session, asked).rows
    expected = np.quantile(latencies, (0.5, 0.9, 0.99)) / MS
    assert (row.p50_ms, row.p90_ms, row.p99_ms) == pytest.approx(tuple(expected))
    alone = view(session, asked).latency
    assert (alone.p50_ms, alone.p90_ms, alone.p99_ms) == (row.p50_ms, row.p90_ms, row.p99_ms)


def test_the_marks_of_all_samples_are_those_of_the_table() -> None:
    latencies = mixed()
    shown = view(session_of(window(latencies, gap=0)), request(6 * S))
    row, alone, lane = shown.units.rows[0], shown.latency, shown.timeline.lanes[0]
    assert (alone.p50_ms, alone.p90_ms, alone.p99_ms) == (row.p50_ms, row.p90_ms, row.p99_ms)
    assert lane.p90_ms == row.p90_ms
    # The table is read from buckets that are at most 1/128 of their value wide.
    assert alone.p50_ms == pytest.approx(np.median(latencies) / MS, rel=1 / 128)
    assert alone.p50_ms != np.median(latencies) / MS


def test_nine_samples_are_no_distribution_yet() -> None:
    few = view(session_of(window([MS] * 9)), request(S)).latency
    assert (few.n, few.needs, few.p50_ms, few.p90_ms) == (9, 1, None, None)
    enough = view(session_of(window([MS] * 10)), request(S)).latency
    assert (enough.needs, enough.p50_ms) == (None, 1.0)


def test_the_curve_of_a_cdf_ends_at_the_share_up_to_the_axis_end() -> None:
    # 1, 2, ... 10 ms, and one of 900 ms: beyond the linear axis, which ends at P99 and a spread more.
    session = session_of(
        window([k * MS for k in range(1, 11)] * 20 + [900 * MS], gap=0), window([MS], t0=8 * S, unit="B")
    )
    row = ridge_of(session, request(9 * S, scale=Scale.CDF, ridge_columns=50)).rows[0]
    assert (row.n, row.above, row.below) == (201, 1, 0)
    assert row.curve[-1] == pytest.approx(200 / 201)
    assert list(row.curve) == sorted(row.curve)


def test_a_budget_counts_the_samples_above_it() -> None:
    session = session_of(window([MS] * 30 + [2 * MS] * 8 + [3 * MS] * 2, gap=0))
    budget = view(session, request(S, budget_ms=2.0, budget_quantile=0.9)).latency.budget
    assert budget is not None
    assert (budget.limit_ms, budget.quantile, budget.n, budget.above) == (2.0, 0.9, 40, 2)
    assert not budget.responses
    assert view(session, request(S)).latency.budget is None


def test_where_arrivals_are_planned_a_budget_counts_responses() -> None:
    # Calls of 1 ms that start up to 3 ms late: responses of 1, 2, 3 and 4 ms.
    late = [0, MS, 2 * MS, 3 * MS] * 5
    budget = view(session_of(window([MS] * 20, late=late)), request(S, budget_ms=2.5)).latency.budget
    assert budget is not None
    assert (budget.responses, budget.n, budget.above) == (True, 20, 10)


# --- which units --------------------------------------------------------------------------------------------------


def test_all_units_are_shown_where_several_have_samples_in_the_window() -> None:
    session = session_of(window([MS] * 20), window([2 * MS] * 20, unit="B", t0=2 * S), units=("A", "B", "C"))
    found = ridge_of(session, request(3 * S))
    assert [(row.unit, row.n, row.measured) for row in found.rows] == [
        ("A", 20, False),
        ("B", 20, True),
        ("C", 0, False),
    ]
    assert view(session, request(3 * S, all_units=False)).ridge is None
    assert view(session, request(13 * S, window_ns=11 * S)).ridge is None, "A has no samples in the window any more"
    assert view(session_of(window([MS] * 20), units=("A", "B")), request(S)).ridge is None


def test_while_interleaving_units_without_samples_keep_their_rows() -> None:
    session = session_of(mode="interleave", units=("A", "B"))
    found = ridge_of(session, request(S))
    assert (found.axis, [row.last_ns for row in found.rows]) == (None, [None, None])
    session.fold(window([MS] * 4, t0=S))
    assert ridge_of(session, request(2 * S)).rows[0].needs == 6
    session.fold(window([MS] * 20, t0=2 * S, gap=0))
    row, other = ridge_of(session, request(20 * S)).rows
    assert (row.n, row.curve, row.last_ns) == (0, (), 2 * S + 20 * MS)
    assert other.last_ns is None


def test_a_row_is_of_the_active_load_and_knows_of_samples_of_another() -> None:
    session = session_of(window([MS] * 20, gap=0), window([2 * MS] * 20, unit="B", t0=S), units=("A", "B"))
    session.fold(events.Load(t=2 * S, what="cpu", state="confirmed", condition="cpu:2"))
    row = ridge_of(session, request(3 * S)).rows[0]
    assert (row.n, row.last_ns) == (0, 20 * MS)


def test_a_paused_session_measures_no_unit() -> None:
    session = session_of(window([MS] * 20), window([2 * MS] * 20, unit="B", t0=S), units=("A", "B"))
    session.fold(events.Control(t=2 * S, action="pause", units=["B"], paused=True))
    assert not any(row.measured for row in ridge_of(session, request(2 * S)).rows)


# --- since when ---------------------------------------------------------------------------------------------------


def test_a_session_knows_when_its_statistics_were_reset() -> None:
    session = session_of(window([MS] * 20))
    assert view(session, request(S)).header.reset_ns is None
    session.fold(events.Control(t=S, action="reset", units=["A"]))
    session.fold(events.Control(t=2 * S, action="pause", units=["A"], paused=True))
    assert view(session, request(3 * S)).header.reset_ns == S
    assert session.header is not None
    assert Session.restored(session.header, session.keyframe(3 * S, 0)).reset_ns == S


def empty() -> LatencyView:
    return view(Session(), request(0)).latency


def test_an_empty_session_has_an_axis_of_no_meaning_and_needs_samples() -> None:
    assert (empty().n, empty().needs, empty().last_ns) == (0, 10, None)
