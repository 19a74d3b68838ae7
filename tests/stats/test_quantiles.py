from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.stats.quantiles import (
    confidence_of_look,
    early_stopping_rank,
    further_samples,
    interval_of,
    linear_quantiles,
    quantile,
    quantile_interval,
    samples_needed,
)


def exact_coverage(n: int, q: Fraction, low: int | None, high: int | None) -> float:
    """P(low <= Bin(n, q) <= high - 1), in exact fractions."""
    first = 0 if low is None else low
    last = n if high is None else high - 1
    return float(sum(comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(first, last + 1)))


def test_quantile_stands_at_n_minus_1_times_q() -> None:
    # Sorted 1, 2, 4, 8, 16: P90 at position 3.6, 8 + 0.6 * 8; P50 at position 2.
    samples = [16, 1, 8, 2, 4]
    assert quantile(samples, 0.9) == pytest.approx(12.8)
    assert quantile(samples, 0.5) == 4
    assert quantile(samples, 0.0) == 1
    assert quantile(samples, 1.0) == 16
    assert quantile([3], 0.99) == 3


@given(
    st.lists(st.integers(min_value=0, max_value=10**12), min_size=1, max_size=100),
    st.lists(st.floats(min_value=0, max_value=1), min_size=1, max_size=5),
)
def test_several_quantiles_at_once_are_those_of_numpy_to_the_bit(samples: list[int], levels: list[float]) -> None:
    assert linear_quantiles(np.array(samples), levels) == np.quantile(samples, levels, method="linear").tolist()


@given(
    st.lists(st.integers(min_value=1, max_value=10**12), min_size=1, max_size=100),
    st.integers(min_value=0, max_value=1000),
)
def test_quantile_is_the_linear_formula_in_exact_fractions(samples: list[int], permille: int) -> None:
    position = Fraction(permille, 1000) * (len(samples) - 1)
    below = int(position)
    ordered = sorted(samples)
    above = ordered[min(below + 1, len(samples) - 1)]
    expected = ordered[below] + (position - below) * (above - ordered[below])
    assert quantile(samples, permille / 1000) == pytest.approx(float(expected), rel=1e-9)


@pytest.mark.parametrize(("samples", "q"), [([], 0.5), ([1], -0.1), ([1], 1.1), ([1], float("nan"))])
def test_quantile_of_nothing_or_at_no_level_is_refused(samples: list[int], q: float) -> None:
    with pytest.raises(ValueError, match="quantile"):
        quantile(samples, q)


def test_p90_of_100_samples_lies_between_ranks_84_and_96() -> None:
    assert quantile_interval(100, 0.9) == (84, 96)
    assert exact_coverage(100, Fraction(9, 10), 84, 96) == pytest.approx(0.9557, abs=5e-5)


@pytest.mark.parametrize(
    ("n", "q", "ranks"),
    [
        (1, 0.5, (None, None)),
        (4, 0.5, (None, None)),  # 2^-4 = 6.2%: not even one side
        (5, 0.5, (None, 5)),  # 2^-5 = 3.1%: one side, not both
        (6, 0.5, (1, 6)),  # 2 x 2^-6 = 3.1%
        (100, 0.5, (40, 61)),
        (1, 0.9, (None, None)),
        (28, 0.9, (22, None)),  # 0.9^28 = 5.2%
        (29, 0.9, (21, 29)),  # 0.9^29 = 4.7%
        (298, 0.99, (292, None)),  # 0.99^298 = 5.004%
        (299, 0.99, (289, 299)),  # 0.99^299 = 4.954%
        (368, 0.99, (360, 368)),  # 0.99^368 = 2.48%
    ],
)
def test_ranks_exist_only_where_the_extreme_samples_are_bounds(
    n: int, q: float, ranks: tuple[int | None, int | None]
) -> None:
    assert quantile_interval(n, q) == ranks


@given(st.integers(min_value=1, max_value=400), st.sampled_from([1, 10, 50, 90, 99]))
def test_interval_covers_its_quantile_at_least_as_often_as_it_says(n: int, percent: int) -> None:
    low, high = quantile_interval(n, percent / 100)
    assert exact_coverage(n, Fraction(percent, 100), low, high) >= 0.95 - 1e-9


@given(st.integers(min_value=30, max_value=400), st.sampled_from([50, 90]))
def test_interval_could_not_be_a_rank_narrower_on_either_side_within_its_tail(n: int, percent: int) -> None:
    low, high = quantile_interval(n, percent / 100)
    assert low is not None
    assert high is not None
    q = Fraction(percent, 100)
    missed_below = 1 - exact_coverage(n, q, low + 1, None)
    missed_above = 1 - exact_coverage(n, q, None, high - 1)
    assert missed_below + missed_above > 0.05 - 1e-9


@pytest.mark.parametrize("n", [30, 1_000, 54_321, 3_000_000])
@pytest.mark.parametrize("q", [0.01, 0.5, 0.9, 0.999])
def test_ranks_are_those_of_scipys_binomial(n: int, q: float) -> None:
    """Its `ppf` is the least k with P(B <= k) >= tail: up to k - 1 the samples below are few enough, from rank k on."""
    from scipy.stats import binom

    low, high = quantile_interval(n, q)
    if low is not None and high is not None and max((1 - q) ** n, q**n) < 0.025:
        assert (low, high) == (int(binom.ppf(0.025, n, q)), n + 1 - int(binom.ppf(0.025, n, 1 - q)))
    if (rank := early_stopping_rank(n, q)) is not None:
        assert rank == n + 2 - int(binom.ppf(0.01, n, 1 - q))


def test_interval_of_takes_the_samples_at_those_ranks() -> None:
    samples = np.arange(1, 101) * 10
    assert interval_of(samples, 0.9) == (840.0, 960.0)
    assert interval_of(samples, 0.99) == (970.0, None)
    assert interval_of([7], 0.5) == (None, None)


@pytest.mark.parametrize(("n", "q"), [(0, 0.5), (10, 0.0), (10, 1.0)])
def test_interval_of_nothing_is_refused(n: int, q: float) -> None:
    with pytest.raises(ValueError, match="interval"):
        quantile_interval(n, q)


@pytest.mark.parametrize(("q", "needed"), [(0.9, 64), (0.99, 662), (0.999, 6636)])
def test_samples_needed_are_mlperfs_early_stopping_minimum(q: float, needed: int) -> None:
    assert samples_needed(q) == needed


@pytest.mark.parametrize("permille", [500, 900, 950, 990])
def test_one_sample_fewer_than_needed_would_leave_more_than_one_percent(permille: int) -> None:
    q = Fraction(permille, 1000)
    needed = samples_needed(permille / 1000)

    def at_most_one_over(n: int) -> float:
        return float(q**n + n * (1 - q) * q ** (n - 1))

    assert at_most_one_over(needed) <= 0.01 < at_most_one_over(needed - 1)


def test_further_samples_count_down_to_none() -> None:
    assert [further_samples(n, 0.99) for n in (0, 100, 661, 662, 10_000)] == [662, 562, 1, 0, 0]


@pytest.mark.parametrize("q", [0.0, 1.0, 90])
def test_samples_needed_for_no_level_are_refused(q: float) -> None:
    with pytest.raises(ValueError, match="level"):
        samples_needed(q)


@pytest.mark.parametrize(("n", "left_out"), [(64, 0), (2048, 172), (2116, 178), (2145, 181), (7469, 685)])
def test_early_stopping_leaves_out_as_many_as_loadgen_says_in_published_results(n: int, left_out: int) -> None:
    rank = early_stopping_rank(n, 0.9)
    assert rank is not None
    assert n - rank == left_out


def test_early_stopping_knows_no_estimate_below_its_minimum() -> None:
    assert early_stopping_rank(63, 0.9) is None
    assert early_stopping_rank(661, 0.99) is None
    assert early_stopping_rank(662, 0.99) == 662


def test_errors_of_all_looks_together_stay_below_five_per_cent() -> None:
    errors = [1 - confidence_of_look(number) for number in range(1, 2000)]
    assert errors[0] == pytest.approx(0.025)
    assert sum(errors) <= 0.05 + 1e-12
