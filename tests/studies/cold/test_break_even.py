"""From how many calls on a unit that starts slower has the lower total time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.studies.cold.break_even import FURTHEST, Starts, break_evens, least_calls
from hettop.studies.cold.result import BreakEven

MOST = 3_000
"""Calls that the brute force counts up to."""


def constant(unit: str, ready_ms: float, call_ms: float, n: int = 6) -> Starts:
    return Starts(unit, [ready_ms] * n, [call_ms] * n)


def told(*units: Starts) -> list[BreakEven]:
    return break_evens(units, np.random.default_rng(1))


def test_a_start_of_12_s_against_4_s_pays_off_after_802_calls_if_calls_take_10_ms_instead_of_20() -> None:
    """After 801 calls both have taken 20 s: 4 + 800 x .02 and 12 + 800 x .01. The next one decides."""
    assert least_calls(4_000, 20, 12_000, 10) == 802
    (pair,) = told(constant("NE", 12_000, 10), constant("CPU", 4_000, 20))
    assert (pair.faster_start, pair.slower_start) == ("CPU", "NE")
    assert (pair.calls, pair.low, pair.high, pair.agree) == (802, 802, 802, 1.0)
    assert (pair.faster_in_both, pair.why) == (None, None)


def test_between_two_calls_the_next_one_counts() -> None:
    """The lines cross after 2.5 further calls: the third further one is the fourth call."""
    assert least_calls(10, 4, 15, 2) == 4


def test_where_one_starts_and_calls_faster_there_is_none() -> None:
    assert least_calls(10, 2, 15, 4) is None
    assert least_calls(10, 2, 15, 2) is None
    (pair,) = told(constant("slow", 15, 4), constant("fast", 10, 2))
    assert (pair.calls, pair.low, pair.high, pair.why) == (None, None, None, None)
    assert pair.faster_in_both == "fast"


def test_one_that_is_ahead_from_the_start_wins_from_the_first_call_on() -> None:
    assert least_calls(10, 2, 5, 1) == 1
    assert least_calls(10, 2, 10, 1) == 2, "the first answers come at the same time"


@given(*[st.integers(1, 500)] * 4)
def test_it_is_the_least_number_of_calls_for_which_the_total_time_is_lower(
    ready: int, call: int, other_ready: int, other_call: int
) -> None:
    won = (n for n in range(1, MOST) if other_ready + (n - 1) * other_call < ready + (n - 1) * call)
    assert least_calls(ready, call, other_ready, other_call) == next(won, None)


def test_calls_that_differ_by_next_to_nothing_are_no_reason_to_wait_for() -> None:
    assert least_calls(0, 1 + 1e-9, 10_000, 1) is None
    assert least_calls(0, 2, FURTHEST - 2, 1) == FURTHEST


def test_the_interval_holds_what_resampled_starts_give() -> None:
    """Of two starts each of 1,000, 2,000 and 3,000, over 2.5% of resamples have a median of 1,000, as many 3,000."""
    (pair,) = told(Starts("A", [0] * 6, [2] * 6), Starts("B", [1_000, 2_000, 3_000] * 2, [1] * 6))
    assert (pair.calls, pair.low, pair.high) == (2_002, 1_002, 3_002)


def test_one_slow_start_of_seven_moves_nothing() -> None:
    """A median of 9,000 takes four draws of the slow one in seven: 1% of the resamples, of which 2.5% are cut off."""
    slow = Starts("B", [1_000] * 6 + [9_000], [1] * 6 + [9])
    (pair,) = told(constant("A", 0, 2, 7), slow)
    assert (pair.calls, pair.low, pair.high) == (1_002, 1_002, 1_002)


def test_starts_that_do_not_agree_which_is_ahead_prove_nothing() -> None:
    (pair,) = told(
        Starts("A", [90, 100, 110, 90, 100, 110], [2] * 6), Starts("B", [91, 101, 111, 91, 101, 111], [1] * 6)
    )
    assert pair.calls is None
    assert pair.agree is not None
    assert pair.agree < 0.95
    assert pair.why == f"not proven: {pair.agree:.0%} of resamples agree"
    assert (pair.low, pair.high, pair.faster_in_both) == (None, None, None)


def test_units_that_are_alike_to_the_last_digit_prove_nothing() -> None:
    (pair,) = told(constant("A", 10, 2), constant("B", 10, 2))
    assert (pair.calls, pair.faster_in_both, pair.agree) == (None, None, 0.0)


@pytest.mark.parametrize("n", [1, 5])
def test_fewer_than_six_starts_of_each_prove_nothing(n: int) -> None:
    (pair,) = told(constant("A", 1, 2), constant("B", 2, 1, n))
    assert (pair.calls, pair.agree, pair.why) == (None, None, "needs 6 starts of each")


def test_each_pair_is_reported_once_those_that_are_ready_first_before_the_others() -> None:
    pairs = told(constant("A", 3, 1), constant("C", 1, 3), Starts("failed", [], []), constant("B", 2, 2))
    assert [(pair.faster_start, pair.slower_start) for pair in pairs] == [("C", "B"), ("C", "A"), ("B", "A")]


def test_the_same_starts_give_the_same_interval() -> None:
    noisy = Starts("A", [1, 2, 3, 4, 5], [5, 6, 7, 8, 9]), Starts("B", [11, 12, 13, 14, 15], [1, 2, 3, 1, 2])
    assert told(*noisy) == told(*noisy)
