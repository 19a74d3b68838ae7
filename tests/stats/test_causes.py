"""What goes with spikes is distinguished from what is merely there."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.stats.causes import (
    LEAST_SPIKES,
    Presence,
    Verdict,
    are_regular,
    binomial_tail,
    chance_of,
    holm,
    judge,
    width_class,
)


@pytest.mark.parametrize(("slots", "place"), [(0, 0), (1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (64, 6), (900, 6)])
def test_a_spike_counts_as_the_next_longer_width(slots: int, place: int) -> None:
    assert width_class(slots) == place


def test_the_binomial_tail_worked_by_hand() -> None:
    # Of 4 throws of a coin at least 3 heads: (4 + 1) / 16.
    assert binomial_tail(3, 4, 0.5) == pytest.approx(5 / 16)
    assert binomial_tail(0, 4, 0.5) == 1.0
    assert binomial_tail(1, 3, 0.2) == pytest.approx(1 - 0.8**3)
    assert binomial_tail(5, 4, 0.5) == 0.0
    assert binomial_tail(2, 4, 0.0) == 0.0
    assert binomial_tail(2, 4, 1.0) == 1.0


@given(st.integers(1, 300), st.integers(0, 300), st.floats(0.001, 0.999))
def test_the_binomial_tail_is_scipys(n: int, hits: int, chance: float) -> None:
    from scipy.stats import binom

    hits = min(hits, n)
    assert binomial_tail(hits, n, chance) == pytest.approx(float(binom.sf(hits - 1, n, chance)), rel=1e-6, abs=1e-11)


def test_holm_stops_at_the_first_that_is_not_small_enough() -> None:
    # .01 / 3 = .0033, .01 / 2 = .005, .01.
    assert holm([0.004, 0.003, 0.5], 0.01) == [True, True, False]
    assert holm([0.006, 0.003, 0.009], 0.01) == [False, True, False]
    assert holm([], 0.01) == []


def test_the_chance_of_a_longer_spike_is_that_of_any_of_its_slots() -> None:
    # 10 moments: the cause is present in 2, was present one slot before in 2 more, two or three before in 1 more.
    distances = [2, 2, 1, 0, 0, 0, 0]
    assert chance_of(distances, 10, [1, 0, 0, 0, 0, 0, 0]) == pytest.approx(0.2)
    assert chance_of(distances, 10, [0, 1, 0, 0, 0, 0, 0]) == pytest.approx(0.4)
    assert chance_of(distances, 10, [0, 0, 0, 5, 0, 0, 0]) == pytest.approx(0.5)
    assert chance_of(distances, 10, [3, 1, 0, 0, 0, 0, 0]) == pytest.approx((3 * 0.2 + 0.4) / 4)
    assert chance_of(distances, 0, [1, 0, 0, 0, 0, 0, 0]) == 0.0


def test_a_cause_at_every_spike_and_seldom_else_is_named() -> None:
    named, there = judge([Presence(12, 0.1), Presence(3, 0.25)], 12)
    assert (named.verdict, named.inside, named.outside) == (Verdict.MORE, 1.0, 0.1)
    assert named.p == pytest.approx(1e-12)
    assert (there.verdict, there.inside) == (Verdict.NO_MORE, 0.25)


def test_what_is_always_there_is_no_cause() -> None:
    (found,) = judge([Presence(40, 1.0)], 40)
    assert found.verdict is Verdict.NO_MORE


def test_too_few_spikes_report_nothing_even_if_all_agree() -> None:
    (few,) = judge([Presence(4, 0.01)], LEAST_SPIKES - 1)
    assert few.verdict is Verdict.TOO_FEW
    # Half of the moments have it: five of five are 1 in 32, which is not below .01.
    (common,) = judge([Presence(5, 0.5)], 5)
    assert common.verdict is Verdict.TOO_FEW
    (none,) = judge([Presence(0, 0.5)], 0)
    assert (none.verdict, none.inside, none.p) == (Verdict.TOO_FEW, None, None)


def test_spikes_at_a_fixed_interval_prove_nothing() -> None:
    (found,) = judge([Presence(12, 0.1)], 12, regular=True)
    assert found.verdict is Verdict.TOO_FEW
    assert found.p == pytest.approx(1e-12)


@pytest.mark.parametrize(
    ("intervals", "regular"),
    [
        ([], False),
        ([40], True),
        ([40, 41, 39, 80], True),  # three of four within 5% of 40
        ([40, 43, 60, 80], False),
        ([100, 105, 95, 240, 300], True),
        ([100, 106, 94, 240, 300], False),
        ([20, 25, 30, 35, 40, 45, 25, 30], False),  # at redraws every 250 ms, some of them
    ],
)
def test_intervals_are_regular_where_more_than_half_are_alike(intervals: list[int], regular: bool) -> None:
    assert are_regular(intervals) is regular


def test_random_spikes_name_a_cause_in_one_of_a_hundred_conditions_at_most() -> None:
    rng = np.random.default_rng(4)
    chances = (0.02, 0.1, 0.25, 0.5, 0.9)
    alarms = 0
    for _ in range(2000):
        spikes = int(rng.integers(5, 200))
        causes = [Presence(int(rng.binomial(spikes, chance)), chance) for chance in chances]
        alarms += any(found.verdict is Verdict.MORE for found in judge(causes, spikes))
    assert alarms <= 20
