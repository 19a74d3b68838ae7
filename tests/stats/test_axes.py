"""Where an axis begins and ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.stats.axes import Span, log_ticks, span_of


def test_values_close_together_have_a_linear_axis_with_room_on_both_sides() -> None:
    assert span_of([10.0, 20.0], 0.1) == Span(9.0, 21.0, False)
    assert span_of([10.0, 20.0], 0.1, from_zero=True) == pytest.approx((0.0, 22.0, False))


def test_values_that_span_eight_times_have_a_logarithmic_one_unless_specified() -> None:
    assert span_of([1.0, 100.0], 0.5) == pytest.approx((0.1, 1000.0, True))
    assert span_of([1.0, 7.9], 0.5).log is False
    assert span_of([1.0, 100.0], 0.5, log=False).log is False
    assert span_of([0.0, 100.0], 0.5).log is False  # 0 has no logarithm


def test_one_value_or_none_still_make_an_axis() -> None:
    assert span_of([4.0], 0.1) == Span(2.0, 6.0, False)
    assert span_of([4.0], 0.1, log=True) == Span(2.0, 8.0, True)
    assert span_of([], 0.1) == Span(0.0, 1.0, False)
    assert span_of([0.0], 0.1, log=True) == Span(1.0, 10.0, True)


@given(st.lists(st.floats(), max_size=8), st.sampled_from([None, True, False]), st.booleans())
def test_it_is_an_axis_whatever_it_is_given(values: list[float], log: bool | None, from_zero: bool) -> None:
    low, high, is_log = span_of(values, 0.05, log=log, from_zero=from_zero)
    assert low < high
    assert low > 0 or not is_log


def test_logarithmic_ticks_are_at_1_2_and_5() -> None:
    assert log_ticks(0.4, 12.0, 8) == [(0.5, "0.5"), (1.0, "1"), (2.0, "2"), (5.0, "5"), (10.0, "10")]
    assert [label for _, label in log_ticks(0.01, 100.0, 5)] == ["0.01", "0.1", "1", "10", "100"]
    assert [label for _, label in log_ticks(0.01, 100.0, 3)] == ["0.01", "0.1", "1", "10", "100"]


def test_a_short_logarithmic_axis_has_the_ticks_of_a_linear_one() -> None:
    assert [label for _, label in log_ticks(7.0, 11.0, 5)] == ["7", "8", "9", "10", "11"]
    assert log_ticks(0.0, 1.0, 5) == log_ticks(2.0, 1.0, 5) == []
