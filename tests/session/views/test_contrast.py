"""The comparison of loads: what is compared with what, and figures with their intervals."""

from __future__ import annotations

import numpy as np
import pytest

from hettop import events
from hettop.session.views.contrast import Estimate, contrast
from tests.session.views.test_conditions import session_of
from tests.streams import MS, S, window


def test_each_unit_is_shown_without_load_and_under_the_load_measured_last() -> None:
    session = session_of(
        window([2 * MS] * 100),
        window([4 * MS] * 100, t0=10 * S, load="cpu:1"),
        window([5 * MS] * 100, t0=20 * S, load="cpu:2"),
        window([3 * MS] * 10, t0=30 * S, unit="ALL"),
    )
    view = contrast(session, "CPU_ONLY", 20)
    assert view.load == "cpu:2"
    cpu, other = view.rows
    assert cpu.without is not None
    assert cpu.under is not None
    assert [each.value for each in cpu.without.quantiles] == [2.0, 2.0, None]  # a P99 takes 662 samples
    assert [each.value for each in cpu.under.quantiles] == [5.0, 5.0, None]
    assert cpu.without.throughput_per_s == pytest.approx(500.0)
    assert other.without is not None
    assert [each.value for each in other.without.quantiles] == [None] * 3  # 10 samples
    assert other.under is None


def test_a_unit_without_samples_has_a_row_and_a_variant_has_none() -> None:
    session = session_of(window([2 * MS] * 100))
    session.fold(events.Engine(t=0, unit="ALL", state="loading"))
    session.fold(events.Engine(t=0, unit="ALL~b", state="loading"))
    assert [(row.unit, row.without is None) for row in contrast(session, None, 20).rows] == [
        ("CPU_ONLY", False),
        ("ALL", True),
    ]


def test_the_active_load_goes_before_the_last_one() -> None:
    session = session_of(window([2 * MS] * 100, load="cpu:2"))
    session.fold(events.Load(t=11 * S, what="all", state="confirmed", condition="cpu:1"))
    view = contrast(session, "CPU_ONLY", 20)
    assert (view.load, view.rows) == ("cpu:1", ())


def test_without_any_load_there_is_none_to_compare() -> None:
    view = contrast(session_of(window([2 * MS] * 100)), "CPU_ONLY", 20)
    assert view.load is None
    assert [row.under for row in view.rows] == [None]


def test_a_hot_unit_is_compared_with_itself_as_hot() -> None:
    session = session_of(
        window([3 * MS] * 100, thermal="Heavy"),
        window([2 * MS] * 100, t0=10 * S),
        window([6 * MS] * 100, t0=20 * S, load="cpu:2", thermal="Heavy"),
    )
    (row,) = contrast(session, None, 20).rows
    assert row.without is not None
    assert row.without.quantiles[0].value == 3.0


def test_both_distributions_are_on_one_axis() -> None:
    """2 ms and 4 ms: the axis has 5% of 2 ms free at each end, so of 11 columns of 0.2 ms 2 ms is in the first (0.5)
    and 4 ms in the last (10.5)."""
    view = contrast(session_of(window([2 * MS] * 100), window([4 * MS] * 100, t0=10 * S, load="cpu:2")), "CPU_ONLY", 11)
    assert view.low_ms == pytest.approx(1.9, abs=0.02)
    assert view.high_ms == pytest.approx(4.1, abs=0.02)
    assert view.without.index(max(view.without)) == 0
    assert view.under.index(max(view.under)) == 10
    assert max(view.without) == max(view.under) == 1.0


def test_an_interval_is_as_wide_as_so_many_samples_make_it() -> None:
    """1.001 to 2.000 ms in random order: the P50 of 1,000 independent samples has an interval of 62 ranks (binomial,
    2 x 1.96 x sqrt(1,000) / 2), 0.062 ms; dependence by chance and buckets add to it."""
    rng = np.random.default_rng(1)
    values = [int(each) for each in rng.permutation(np.arange(1_001, 2_001)) * 1_000]
    (row,) = contrast(session_of(window(values)), None, 20).rows
    assert row.without is not None
    middle = row.without.quantiles[0]
    assert middle.value == pytest.approx(1.5, abs=0.02)
    assert middle.low is not None
    assert middle.high is not None
    assert 0.05 < middle.high - middle.low < 0.12


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        (Estimate(2.0, 1.9, 2.1), Estimate(3.0, 2.8, 3.2), True),
        (Estimate(3.0, 2.8, 3.2), Estimate(2.0, 1.9, 2.1), True),
        (Estimate(2.0, 1.9, 2.9), Estimate(3.0, 2.8, 3.2), False),
        (Estimate(2.0, 1.9, None), Estimate(3.0, 2.8, 3.2), None),
        (Estimate(2.0, None, 2.1), Estimate(3.0, 2.8, None), True),  # the open ends are not in between
        (Estimate(None), Estimate(3.0, 2.8, 3.2), None),
    ],
)
def test_intervals_that_do_not_overlap_are_apart(one: Estimate, other: Estimate, apart: bool | None) -> None:
    assert one.is_apart_from(other) is apart


def test_samples_above_the_axis_are_counted() -> None:
    """Two of 400 are 50 ms: above the P99 of 2 ms, where the axis ends."""
    view = contrast(session_of(window([2 * MS] * 398 + [50 * MS] * 2)), "CPU_ONLY", 20)
    assert (view.high_ms < 3.0, view.beyond) == (True, 2)
