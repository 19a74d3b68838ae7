"""Round numbers for axes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.stats.axes import inside_labels, nice_ceiling, nice_step, resampled, row_labels, row_of, ticks


@pytest.mark.parametrize(
    ("span", "most", "step"), [(10, 5, 2.0), (10, 4, 5.0), (1.0, 10, 0.1), (30, 3, 10.0), (0.37, 7, 0.1)]
)
def test_steps_are_one_two_or_five_times_a_power_of_ten(span: float, most: int, step: float) -> None:
    assert nice_step(span, most) == pytest.approx(step)


def test_ticks_are_labelled_with_the_decimals_of_their_step() -> None:
    assert [label for _, label in ticks(1.83, 2.71, 5)] == ["2.0", "2.2", "2.4", "2.6"]
    assert [label for _, label in ticks(0, 20, 2)] == ["0", "10", "20"]
    assert ticks(5, 5, 3) == []


@given(st.floats(min_value=1e-6, max_value=1e9))
def test_a_ceiling_is_never_below_and_never_far_above(value: float) -> None:
    assert value * (1 - 1e-6) <= nice_ceiling(value) <= 1.7 * value


def test_labels_of_an_upright_axis_stand_on_the_line_of_their_value() -> None:
    # 8 lines to 8.0: a line a unit, so a bar of 5 ends in the fourth from above.
    assert row_labels(8.0, 8, 2) == {3: "5"}
    # 7 lines: 5 is 4.4 lines high, so it ends in the third from above.
    assert row_labels(8.0, 7, 2) == {2: "5"}
    assert row_of(8.0, 8.0, 4) == 0
    assert row_of(0.1, 8.0, 4) == 3
    assert row_labels(7.0, 2, 1) == {0: "7"}


def test_resampling_keeps_peaks() -> None:
    assert resampled((0.0, 1.0, 0.2, 0.1), 2) == (1.0, 0.2)
    assert resampled((0.5, 1.0), 4) == (0.5, 0.5, 1.0, 1.0)
    assert resampled((), 4) == ()


def test_labels_inside_their_lines_are_the_values_of_about_their_middles() -> None:
    # Two lines up to 4: their middles are 3 and 1. Three up to 12, of 4 each: 10 is the middle of the highest.
    assert inside_labels(4.0, 2, 1) == {0: "3"}
    assert inside_labels(4.0, 2, 2) == {0: "3", 1: "1"}
    assert inside_labels(12.0, 3, 1) == {0: "10"}
    # In eight lines, the edge of a line is as good.
    assert inside_labels(8.0, 8, 2) == row_labels(8.0, 8, 2)


@given(st.floats(min_value=1e-3, max_value=1e6), st.integers(min_value=2, max_value=7))
def test_a_label_inside_its_line_is_never_at_its_edge(top: float, rows: int) -> None:
    for row, label in inside_labels(top, rows, rows).items():
        low, high = (top * (rows - row - 1) / rows, top * (rows - row) / rows)
        assert low + 0.1 * (high - low) < float(label) < high - 0.1 * (high - low)
