from __future__ import annotations

from fractions import Fraction
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.stats.moments import Moments

HOUR_NS = 3_600_000_000_000
WINDOWS = st.lists(
    st.lists(st.integers(min_value=1, max_value=HOUR_NS), min_size=1, max_size=50), min_size=1, max_size=8
)


def of(values: list[int]) -> Moments:
    moments = Moments()
    moments.add(np.array(values, dtype=np.int64))
    return moments


def test_worked_example() -> None:
    moments = of([2, 4, 4, 4, 5, 5, 7, 9])
    assert (moments.n, moments.sum_ns, moments.sum_sq) == (8, 40, 232)
    assert (moments.min_ns, moments.max_ns) == (2, 9)
    assert moments.mean_ns == 5.0
    assert moments.std_ns == 2.0


@given(WINDOWS)
def test_sums_are_pythons_integers_however_samples_are_grouped(windows: list[list[int]]) -> None:
    values = list(chain.from_iterable(windows))
    added, merged = Moments(), Moments()
    for window in windows:
        added.add(np.array(window, dtype=np.int64))
        merged.merge(of(window))
    expected = Moments(len(values), sum(values), sum(value * value for value in values), min(values), max(values))
    assert added == expected
    assert merged == expected
    assert of(values) == expected


def test_hours_of_nanoseconds_do_not_overflow() -> None:
    values = np.full(20_000, HOUR_NS, dtype=np.int64)
    moments = Moments()
    moments.add(values)
    assert moments.sum_sq == 20_000 * HOUR_NS**2
    assert moments.std_ns == 0.0
    assert moments.mean_ns == float(HOUR_NS)


def test_sum_beyond_64_bits_is_exact() -> None:
    largest = (1 << 63) - 1
    assert of([largest, largest, largest]).sum_ns == 3 * largest


def test_few_large_values_among_many_small_ones_are_summed_exactly() -> None:
    values = [1_800_000] * 1023 + [138_100_000]
    assert of(values).sum_sq == 1023 * 1_800_000**2 + 138_100_000**2


def test_std_does_not_cancel_where_floats_do() -> None:
    # Deviations of 1 ns on one hour: the squares agree in their first 24 digits.
    assert of([HOUR_NS - 1, HOUR_NS + 1]).std_ns == 1.0


@given(st.lists(st.integers(min_value=1, max_value=HOUR_NS), min_size=1, max_size=50))
def test_std_is_the_population_standard_deviation(values: list[int]) -> None:
    mean = Fraction(sum(values), len(values))
    variance = sum((value - mean) ** 2 for value in values) / len(values)
    std = of(values).std_ns
    assert std is not None
    assert std**2 == pytest.approx(float(variance), rel=1e-12, abs=1e-12)


def test_nothing_is_known_without_values() -> None:
    moments = of([])
    moments.merge(Moments())
    assert moments == Moments(0, 0, 0, None, None)
    assert moments.mean_ns is None
    assert moments.std_ns is None


def test_floats_are_refused() -> None:
    with pytest.raises(ValueError, match="integers"):
        Moments().add(np.array([0.5]))
