"""The dependence time from sums over batches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.stats.batches import FEWEST_BATCHES, MOST_BATCHES, Batches, ratio_interval
from hettop.stats.resampling import student
from tests.analysis.material import correlated


def of(samples: np.ndarray[tuple[int], np.dtype[np.int64]], threshold: int = 0) -> Batches:
    batches = Batches(threshold)
    batches.add(samples)
    return batches


def test_values_that_come_ten_times_in_a_row_count_once() -> None:
    """1 + 2 (.9 + .8 + ... + .1) = 10."""
    times = [of(np.repeat(np.random.default_rng(seed).integers(-9, 9, 4000), 10)).time() for seed in range(20)]
    assert np.median([time or 0 for time in times]) == pytest.approx(10, rel=0.25)


def test_an_autoregressive_series_has_its_known_time() -> None:
    """Above or below the median of AR .8: correlation at lag k is (2 / pi) asin(.8^k); 1 + 2 times their sum is 6.4."""
    known = 1 + 2 * sum(2 / np.pi * np.arcsin(0.8**k) for k in range(1, 100))
    series = [(correlated(np.random.default_rng(seed), 20_000, 0.8) * 1e6).astype(np.int64) for seed in range(20)]
    assert np.median([of(each).time() or 0 for each in series]) == pytest.approx(known, rel=0.3)


def test_too_few_batches_say_nothing_and_samples_all_alike_count_each() -> None:
    assert of(np.zeros(4 * FEWEST_BATCHES - 1, dtype=np.int64)).time() is None
    assert of(np.zeros(4 * FEWEST_BATCHES, dtype=np.int64)).time() == 1.0


@given(st.lists(st.integers(1, 90), min_size=1, max_size=20), st.integers(0, 2**32))
def test_it_is_bounded_and_does_not_depend_on_how_samples_came(sizes: list[int], seed: int) -> None:
    samples = np.random.default_rng(seed).integers(-5, 5, sum(sizes))
    parts = Batches(0)
    for part in np.split(samples, np.cumsum(sizes)[:-1]):
        parts.add(part)
    assert parts == of(samples)
    assert len(parts.counts) < MOST_BATCHES
    covered = len(parts.counts) * parts.size
    assert covered + parts.filled == samples.size
    assert sum(parts.counts) + parts.last == int((samples > 0).sum())


def test_a_ratio_of_independent_batches_has_students_interval() -> None:
    """Mean 10, standard deviation sqrt(4 / 5), t of 5 degrees of freedom 2.5706: 10 +- .9387."""
    assert ratio_interval([9, 11, 10, 11, 9, 10], [1] * 6) == pytest.approx((9.0613, 10.9387), abs=2e-4)
    assert ratio_interval([9, 11, 10, 11, 9], [1] * 5) is None


def test_batches_that_rise_all_the_time_are_worth_too_few() -> None:
    """Correlation of neighbours .75, corrected to (12 x .75 + 1) / 9 and thus .95 at most: 39 batches count as one."""
    assert ratio_interval(np.arange(10.0, 22.0), np.ones(12)) is None


def test_students_t_of_few_degrees_of_freedom() -> None:
    """From tables: 12.706, 4.303 and 3.182 at .975."""
    assert [student(0.975, freedom) for freedom in (1, 2, 3)] == pytest.approx([12.706, 4.303, 3.182], rel=2e-3)
    assert student(0.9875, 2) == pytest.approx(6.205, rel=1e-3)


def test_a_ratio_weighs_by_length() -> None:
    lengths = [1.0, 2.0, 5.0, 1.0, 3.0, 2.0]
    assert ratio_interval([4 * length for length in lengths], lengths) == pytest.approx((4.0, 4.0))
    # Ratio 61 / 14; residuals about it, over the mean length 14 / 6, squared and averaged over 5: Cochran's variance.
    amounts = [4.0, 9.0, 23.0, 3.0, 14.0, 8.0]
    ratio = sum(amounts) / 14
    error = (sum((a - ratio * n) ** 2 for a, n in zip(amounts, lengths, strict=True)) / 6 / 5) ** 0.5 * 6 / 14
    found = ratio_interval(amounts, lengths)
    assert found == pytest.approx((ratio - 2.5706 * error, ratio + 2.5706 * error), rel=1e-4)


@pytest.mark.parametrize(("rho", "n", "most"), [(0.0, 6, 0.05), (0.0, 30, 0.05), (0.7, 12, 0.1), (0.7, 60, 0.07)])
def test_the_interval_of_a_ratio_seldom_misses(rho: float, n: int, most: float) -> None:
    """In 300 sessions of windows with 5% standard deviation; without an interval there is no miss."""
    drawn = [correlated(np.random.default_rng(seed), n, rho) for seed in range(300)]
    found = [ratio_interval(1 + 0.05 * each, np.ones(n)) for each in drawn]
    assert np.mean([each is not None and not each[0] <= 1 <= each[1] for each in found]) <= most
