"""Differences between groups of runs: worked values, Student's t, and how often chance is taken for a difference."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from hettop.stats.resampling import student
from hettop.stats.runs import mean_difference, runs_needed

T_975 = {2: 4.30265, 4: 2.77645, 10: 2.22814, 60: 2.00030, 1000: 1.96234}
"""From a printed table."""


@pytest.mark.parametrize(("freedom", "expected"), T_975.items())
def test_students_quantile_is_that_of_the_table(freedom: int, expected: float) -> None:
    assert student(0.975, freedom) == pytest.approx(expected, rel=1e-5)
    assert student(0.5, freedom) == pytest.approx(0.0, abs=1e-9)


def test_students_quantile_far_out_with_two_degrees_of_freedom() -> None:
    """With two, F(t) = 1/2 + t / (2 sqrt(2 + t^2)): t at p is (2p - 1) sqrt(2 / (1 - (2p - 1)^2))."""
    p = 0.9999
    share = 2 * p - 1
    assert student(p, 2) == pytest.approx(share * math.sqrt(2 / (1 - share**2)), rel=1e-4)


def test_equal_spreads_give_students_interval() -> None:
    """Variance 1 on both sides: 1 +- 2.776 sqrt(1/3 + 1/3)."""
    low, high = mean_difference([1, 2, 3], [2, 3, 4], 0.95)
    assert (low, high) == pytest.approx((1 - 2.77645 * math.sqrt(2 / 3), 1 + 2.77645 * math.sqrt(2 / 3)), rel=1e-5)


def test_a_side_without_spread_has_that_of_the_other_side() -> None:
    """Welch's degrees of freedom are the 2 of A; the variance of A, 1, counts for both."""
    low, high = mean_difference([1, 2, 3], [3, 3, 3], 0.95)
    assert (high - low) / 2 == pytest.approx(4.30265 * math.sqrt(2 / 3), rel=1e-5)


def test_more_runs_on_one_side_only_add_no_degrees_of_freedom() -> None:
    """Variance 1 of three and 6.75 of nine: Welch's 9.3 degrees of freedom are cut to 2 (3 - 1) = 4."""
    low, high = mean_difference([-1, 0, 1], [-3, 0, 3] * 3, 0.95)
    assert (high - low) / 2 == pytest.approx(2.77645 * math.sqrt(6.75 * (1 / 3 + 1 / 9)), rel=1e-5)


def test_rounded_values_have_the_spread_of_rounding() -> None:
    low, high = mean_difference([10, 10, 10], [11, 11, 11], 0.95, resolution=1)
    assert (high - low) / 2 == pytest.approx(2.77645 * math.sqrt(2 / 3 / 12), rel=1e-5)
    assert mean_difference([10, 10, 10], [10, 10, 10], 0.95) == (0, 0)


@pytest.mark.parametrize(("conditions", "runs"), [(1, 3), (2, 4), (6, 4), (7, 5), (25, 5), (26, 6)])
def test_runs_needed_by_the_share_of_sessions_that_chance_separates(conditions: int, runs: int) -> None:
    assert runs_needed(conditions) == runs
    assert conditions * separated(runs) <= 0.05
    assert runs == 3 or conditions * separated(runs - 1) > 0.05


def separated(runs: int) -> float:
    """Share of all ways in which runs are in one of two states, with A in one and B in the other throughout."""
    ways = list(product((0, 1), repeat=2 * runs))
    return sum(len({*way[:runs]}) == len({*way[runs:]}) == 1 and way[0] != way[-1] for way in ways) / len(ways)


@pytest.mark.parametrize(("sizes", "spread"), [((3, 3), 1.0), ((3, 10), 1.0), ((3, 5), 3.0)])
def test_chance_is_seldom_taken_for_a_difference(sizes: tuple[int, int], spread: float) -> None:
    """Welch's own interval excludes 0 in 9% of these sets with 3 and 10 runs, and with 3 and 5 of unequal spread."""
    rng = np.random.default_rng(1)
    confidence, excluded = 1 - 0.05 / 3, 0
    for _ in range(1500):
        a, b = (spread * rng.normal(size=sizes[0])).tolist(), rng.normal(size=sizes[1]).tolist()
        low, high = mean_difference(a, b, confidence)
        excluded += low > 0 or high < 0
    assert excluded <= 40, "1.67% would be 25"
