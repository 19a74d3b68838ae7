"""Lines and knees of curves whose shape is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.studies.sweep.curves import find_knee, fit_line

POWERS = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]


def test_a_planted_line_is_recovered_exactly() -> None:
    line = fit_line(POWERS, [3.0 + 1.25 * batch for batch in POWERS])
    assert line is not None
    assert line.intercept == pytest.approx(3.0)
    assert line.slope == pytest.approx(1.25)
    assert line.r2 == pytest.approx(1.0)
    assert line.worst == pytest.approx(0.0, abs=1e-12)
    assert line.half_rate_x == pytest.approx(2.4), "half of 0.8/s is reached at 3 / 1.25"
    assert line.limit_rate == pytest.approx(0.8)


def test_a_worked_fit_by_hand() -> None:
    """x 1 2 3, y 2 3 7: slope 5/2, intercept 4 - 5 = -1, residuals -.5 1 -.5 of a variance of 14: R2 = 1 - 1.5/14."""
    line = fit_line([1, 2, 3], [2, 3, 7])
    assert line is not None
    assert (line.slope, line.intercept) == pytest.approx((2.5, -1.0))
    assert line.r2 == pytest.approx(1 - 1.5 / 14)
    assert line.worst == pytest.approx(1 / 3), "at x = 2 the line says 4 instead of 3"
    assert line.half_rate_x is None, "a start below zero has no half"


def test_two_points_have_a_line_and_no_r2_and_one_has_none() -> None:
    line = fit_line([1, 2], [5, 7])
    assert line is not None
    assert (line.intercept, line.slope) == pytest.approx((3, 2))
    assert line.r2 is None
    assert fit_line([4, 4], [1, 2]) is None


@given(
    intercept=st.floats(0.01, 100),
    slope=st.floats(0.001, 100),
    noise=st.lists(st.floats(-1, 1), min_size=6, max_size=6),
)
def test_noise_of_one_percent_moves_the_slope_little(intercept: float, slope: float, noise: list[float]) -> None:
    times = [(intercept + slope * x) * (1 + 0.01 * e) for x, e in zip(POWERS, noise, strict=True)]
    line = fit_line(POWERS, times)
    assert line is not None
    assert abs(line.slope - slope) <= 0.01 * max(times) * 1.02


def test_the_knee_of_a_saturating_rate_is_where_kneedle_has_it() -> None:
    """B / (8 + B) over 1..32: scaled, y - x is 0, .097, .226, .339, .322, 0, with its maximum at 8."""
    assert find_knee(POWERS, [batch / (8 + batch) for batch in POWERS]).index == 3


def test_the_knee_of_the_curve_that_kneedle_is_explained_by() -> None:
    """-1/(x + .1) + 5 on ten points of 0..1: it has the slope of its chord at sqrt(.11) - .1 = .232."""
    x = np.linspace(0, 1, 10)
    assert x[find_knee(x, -1 / (x + 0.1) + 5).index or 0] == pytest.approx(2 / 9)


def test_a_rate_that_saturates_at_once_has_its_knee_there() -> None:
    assert find_knee(POWERS, [100, 150, 151, 150, 151, 151.5]).index == 1


def test_what_falls_after_the_peak_does_not_count() -> None:
    assert find_knee([1, 2, 4, 8], [100, 150, 155, 90]).index == 1
    # Up to 8: y - x is 0, .457, .471, 0. With the last point it would be highest at 8.
    assert find_knee([1, 2, 4, 8, 64], [100, 160, 190, 200, 120]).index == 2
    knee = find_knee(POWERS, [100, 140, 90, 80, 70, 60])
    assert (knee.index, knee.why) == (1, "it falls after the second point")


@pytest.mark.parametrize(
    ("rates", "why"),
    [
        (POWERS, "it rises too evenly over these points"),
        ([100, 101, 102, 103, 104, 104.5], "flat: it rises by less than 5%"),
        ([9, 8, 7, 6, 5, 4], "flat: it rises by less than 5%"),
    ],
)
def test_lines_and_flat_curves_have_no_knee(rates: list[float], why: str) -> None:
    knee = find_knee(POWERS, rates)
    assert (knee.index, knee.why) == (None, why)


def test_two_points_are_too_few() -> None:
    assert find_knee([1, 2], [1, 5]).index is None


@given(half=st.floats(1, 16), scale=st.floats(0.001, 1000))
def test_the_knee_does_not_depend_on_the_unit_of_the_rate(half: float, scale: float) -> None:
    rates = [batch / (half + batch) for batch in POWERS]
    assert find_knee(POWERS, [scale * rate for rate in rates]).index == find_knee(POWERS, rates).index


def test_the_knee_of_a_fitted_curve_lies_near_the_geometric_mean_of_half_and_end() -> None:
    """For B/(h+B) from 1 to N the chord's slope is met at sqrt((h+1)(h+N)) - h; the nearest point is the knee."""
    batches = list(range(1, 65))
    for half in (2, 8, 24):
        exact = math.sqrt((half + 1) * (half + 64)) - half
        index = find_knee(batches, [batch / (half + batch) for batch in batches]).index
        assert index is not None
        assert abs(batches[index] - exact) <= 1
