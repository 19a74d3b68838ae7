from __future__ import annotations

import json

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from hettop.stats.histogram import (
    BUCKETS,
    MAX_VALUE_NS,
    Histogram,
    bucket_high,
    bucket_index,
    bucket_low,
    bucket_middle,
    weighted_quantile,
)

LATENCIES = st.lists(st.integers(min_value=1, max_value=3_600_000_000_000), min_size=1, max_size=200)
HALF_BUCKET = 1 / 256


def of(values: list[int]) -> Histogram:
    hist = Histogram()
    hist.add(np.array(values, dtype=np.int64))
    return hist


def test_bucket_of_a_value_is_its_exponent_and_top_seven_mantissa_bits() -> None:
    # 1,700,000 = 1.62124633789... x 2^20: bucket 20 * 128 + floor(0.62124633789 * 128) = 2560 + 79.
    values = np.array([-7, 0, 1, 2, 3, 128, 129, 255, 256, 257, 258, 1_700_000, MAX_VALUE_NS])
    expected = [0, 0, 0, 128, 192, 896, 897, 1023, 1024, 1024, 1025, 2639, BUCKETS - 1]
    assert bucket_index(values).tolist() == expected


def test_buckets_tile_the_range_and_are_never_wider_than_a_128th() -> None:
    index = np.arange(BUCKETS)
    low, high = bucket_low(index), bucket_high(index)
    assert low[0] == 1
    assert high[-1] == MAX_VALUE_NS + 1
    assert np.array_equal(low[1:], high[:-1])
    assert float(((high - low) / low).max()) == 1 / 128


@given(st.integers(min_value=1, max_value=MAX_VALUE_NS))
def test_every_value_lies_in_its_bucket_and_within_half_a_bucket_of_its_middle(value: int) -> None:
    index = bucket_index(np.array([value]))
    assert bucket_low(index)[0] <= value < bucket_high(index)[0]
    assert abs(bucket_middle(index)[0] - value) <= value * HALF_BUCKET


@pytest.mark.parametrize("value", [1, 2, 3, 77, 127, 128, 255])
def test_small_values_are_exact_because_they_are_alone_in_their_bucket(value: int) -> None:
    assert of([value] * 3).quantile(0.5) == value


@given(LATENCIES, st.floats(min_value=0, max_value=1))
def test_quantile_is_numpys_within_half_a_bucket(values: list[int], q: float) -> None:
    exact = float(np.quantile(np.array(values), q))
    got = of(values).quantile(q)
    assert got is not None
    assert abs(got - exact) <= exact * HALF_BUCKET * (1 + 1e-9)


def test_values_of_a_coarse_timer_stay_within_half_a_bucket() -> None:
    # All at the lower edge of bucket 2560 (2^20 ns): a ramp through the bucket would give P99 8,000 ns too much.
    got = of([1 << 20] * 1000).quantile(0.99)
    assert got == (1 << 20) + ((1 << 13) - 1) / 2


@pytest.mark.parametrize("shape", ["normal", "bimodal", "heavy tail", "one percent at 138 ms"])
def test_order_statistics_agree_with_hdrhistogram(shape: str) -> None:
    rng = np.random.default_rng(7)
    n = 5000
    values = {
        "normal": rng.normal(1.8e6, 9e4, n),
        "bimodal": np.where(rng.random(n) < 0.6, rng.normal(1.7e6, 2e4, n), rng.normal(1.9e6, 2e4, n)),
        "heavy tail": 5e5 * (1 + rng.pareto(1.5, n)),
        "one percent at 138 ms": np.where(np.arange(n) % 100 == 99, 138e6, rng.normal(1.8e6, 9e4, n)),
    }[shape].astype(np.int64)
    oracle = HdrHistogram(1, 3_600_000_000_000, 4)
    for value in values.tolist():
        oracle.record_value(value)
    hist = of(values.tolist())
    for percent in (1, 10, 50, 90, 98.9, 99, 99.9):
        expected = oracle.get_value_at_percentile(percent)
        got = hist.order_statistic(int(np.ceil(percent / 100 * n - 1e-9)))
        assert abs(got - expected) <= expected * 0.005, percent


@given(st.lists(LATENCIES, min_size=1, max_size=6))
def test_grouping_into_windows_and_merging_do_not_matter(windows: list[list[int]]) -> None:
    at_once = of([value for window in windows for value in window])
    added, merged = Histogram(), Histogram()
    for window in windows:
        added.add(np.array(window, dtype=np.int64))
        merged.merge(of(window))
    assert added == at_once == merged
    assert added.total == sum(map(len, windows))


@given(st.lists(st.integers(min_value=0, max_value=MAX_VALUE_NS), max_size=100))
def test_encoding_survives_json(values: list[int]) -> None:
    hist = of(values)
    assert Histogram.decode(json.loads(json.dumps(hist.encode()))) == hist


def test_encoding_skips_empty_buckets_and_counts_the_rest() -> None:
    # 1 -> bucket 0; 2 and 2 -> bucket 128; 2^53 - 1 -> the last of 6,784.
    assert of([1, 2, 2, MAX_VALUE_NS]).encode() == [1, -127, 2, -6654, 1]
    assert Histogram().encode() == []


@pytest.mark.parametrize(
    "runs",
    [
        [0],
        [1, 0, 1],
        [True],
        [1.0],
        ["1"],
        [None],
        [-3],
        [1, -2],
        [-1, -1, 4],
        [-BUCKETS, 1],
        [-(BUCKETS + 1)],
        [-(1 << 70), 1],
        [1] * (BUCKETS + 1),
        [1 << 53],
        [(1 << 53) - 1, 1],
        [1 << 70],
    ],
    ids=lambda runs: str(runs)[:24],
)
def test_inconsistent_encodings_are_refused(runs: list[int]) -> None:
    with pytest.raises(ValueError, match="histogram"):
        Histogram.decode(runs)


def test_last_bucket_and_largest_total_are_accepted() -> None:
    hist = Histogram.decode([-(BUCKETS - 1), (1 << 53) - 1])
    assert hist.total == (1 << 53) - 1
    assert hist.nonzero()[0].tolist() == [BUCKETS - 1]


def test_value_beyond_the_last_bucket_is_refused_and_nothing_is_counted() -> None:
    hist = of([5])
    with pytest.raises(ValueError, match="9007199254740992"):
        hist.add(np.array([7, MAX_VALUE_NS + 1]))
    assert hist == of([5])


def test_floats_are_refused_because_they_would_be_rounded_silently() -> None:
    with pytest.raises(ValueError, match="integers"):
        Histogram().add(np.array([1.5]))


def test_empty_histogram_has_no_quantile() -> None:
    hist = Histogram()
    hist.add(np.array([], dtype=np.int64))
    assert hist.total == 0
    assert hist.quantile(0.5) is None
    assert hist.quantiles((0.5, 0.9)) == (None, None)
    assert hist.count_above(0) == 0


def test_quantile_levels_outside_0_to_1_are_refused() -> None:
    with pytest.raises(ValueError, match=r"0\.\.1"):
        of([1]).quantile(90)


def test_order_statistic_needs_an_existing_rank() -> None:
    hist = of([10, 20, 20, 30])
    assert [hist.order_statistic(rank) for rank in (1, 2, 3, 4)] == [10, 20, 20, 30]
    for rank in (0, 5):
        with pytest.raises(ValueError, match="rank"):
            hist.order_statistic(rank)


def test_count_above_counts_the_buckets_wholly_above() -> None:
    hist = of([0, 1, 100, 101, 101, 1_000_000, 1_000_001, 2_000_000])
    assert hist.count_above(0) == 6
    assert hist.count_above(100) == 5
    assert hist.count_above(100.7) == 5
    assert hist.count_above(101) == 3
    assert hist.count_above(1_000_000) == 1
    assert hist.count_above(2_000_000) == 0
    assert hist.count_above(1e30) == 0


def test_copy_is_independent() -> None:
    hist = of([1, 2])
    twin = hist.copy()
    twin.add(np.array([3]))
    assert hist == of([1, 2])
    assert twin == of([1, 2, 3])
    assert hist != "a histogram"


@given(st.lists(st.tuples(st.integers(1, 1000), st.integers(1, 5)), min_size=1, max_size=30), st.floats(0, 1))
def test_weighted_quantile_is_numpys_of_the_repeated_values(pairs: list[tuple[int, int]], q: float) -> None:
    pairs.sort()
    values = np.array([value for value, _ in pairs], dtype=np.float64)
    counts = np.array([count for _, count in pairs], dtype=np.int64)
    assert weighted_quantile(values, counts, q) == pytest.approx(
        float(np.quantile(np.repeat(values, counts), q)), rel=1e-9
    )
