"""Numbers as words: worked examples, and what holds for all numbers."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop import format as fmt


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "n/a"),
        (math.nan, "n/a"),
        (math.inf, "n/a"),
        (0, "0"),
        (0.00123, "0.00123"),
        (0.0999, "0.0999"),
        (0.33, "0.330"),
        (2.134, "2.13"),
        (9.994, "9.99"),
        (9.996, "10.0"),
        (45.64, "45.6"),
        (99.96, "100"),
        (455.2, "455"),
        (12345.6, "12,346"),
        (-2.5, "-2.50"),
    ],
)
def test_milliseconds_have_three_significant_digits(value: float | None, text: str) -> None:
    assert fmt.milliseconds(value) == text


@given(st.floats(min_value=1e-3, max_value=1e6))
def test_a_shown_latency_is_within_half_a_percent_of_the_measured_one(value: float) -> None:
    assert float(fmt.milliseconds(value).replace(",", "")) == pytest.approx(value, rel=0.0051)


@pytest.mark.parametrize(
    ("number", "text"),
    [(None, "n/a"), (0, "0"), (999, "999"), (39_914, "39,914"), (1_234_567, "1,234,567")],
)
def test_counts_have_commas_between_thousands(number: int | None, text: str) -> None:
    assert fmt.count(number) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (None, "n/a"),
        (9_999, "9,999"),
        (12_345, "12.3k"),
        (456_000, "456k"),
        (999_600, "1.0M"),
        (1_230_000, "1.2M"),
    ],
)
def test_short_counts_use_letters_from_ten_thousand_on(number: int | None, text: str) -> None:
    assert fmt.short_count(number) == text


@given(st.integers(min_value=0, max_value=10**12))
def test_short_counts_fit_five_cells(number: int) -> None:
    assert len(fmt.short_count(number)) <= 5


def test_rates_carry_their_unit_and_unknown_ones_do_not() -> None:
    assert fmt.per_second(482.1) == "482/s"
    assert fmt.per_second(59.94) == "59.9/s"
    assert fmt.per_second(None) == "n/a"


@pytest.mark.parametrize(
    ("share", "signed", "text"),
    [
        (0.44, True, "+44%"),
        (0.44, False, "44%"),
        (-0.031, True, "-3.1%"),
        (1.264, True, "+126%"),
        (0.0, True, "+0%"),
        (None, True, "n/a"),
    ],
)
def test_percent(share: float | None, signed: bool, text: str) -> None:
    assert fmt.percent(share, signed=signed) == text


@pytest.mark.parametrize(
    ("nanoseconds", "decimals", "text"),
    [
        (None, 0, "n/a"),
        (83_900_000_000, 0, "01:23"),
        (27_590_000_000, 1, "00:27.5"),
        (31_129_999_999, 2, "00:31.12"),
        (3_723_000_000_000, 0, "1:02:03"),
        (-1_500_000_000, 1, "-00:01.5"),
    ],
)
def test_moments_are_cut_off_not_rounded_up(nanoseconds: int | None, decimals: int, text: str) -> None:
    assert fmt.clock(nanoseconds, decimals) == text


@pytest.mark.parametrize(
    ("value_w", "text"),
    [
        (None, "n/a"),
        (math.nan, "n/a"),
        (math.inf, "n/a"),
        (0.0, "0.00"),
        (0.004, "0.00"),
        (0.03, "0.03"),
        (9.994, "9.99"),
        (9.996, "10.0"),
        (42.46, "42.5"),
    ],
)
def test_watts_are_a_column_of_hundredths_and_from_ten_on_of_tenths(value_w: float | None, text: str) -> None:
    assert fmt.watts(value_w) == text


@pytest.mark.parametrize(
    ("nanoseconds", "text"), [(30 * 10**9, "30 s"), (434_782_608, "0.43 s"), (10**9, "1 s"), (None, "n/a")]
)
def test_lengths_of_time(nanoseconds: int | None, text: str) -> None:
    assert fmt.seconds(nanoseconds) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (None, "n/a"),
        (0, "0 B"),
        (512, "512 B"),
        (1_234_567, "1.2 MB"),
        (999_600, "1.0 MB"),
        (123_456, "123 kB"),
        (2_000_000_000, "2.0 GB"),
    ],
)
def test_sizes_are_decimal(number: int | None, text: str) -> None:
    assert fmt.size(number) == text


@pytest.mark.parametrize(
    ("unit", "text"),
    [
        ("CPU_ONLY", "CPU"),
        ("CPU_AND_NE", "NE"),
        ("CPU_AND_GPU", "GPU"),
        ("ALL", "ALL"),
        ("CPU_ONLY@4", "CPU@4"),
        ("CPU_ONLY@4~b", "CPU@4~b"),
        ("CPU_AND_GPU~closed", "GPU~closed"),
        ("OTHER", "OTHER"),
        ("COREAI:prefers_ne~b", "AI:ne~b"),
    ],
)
def test_short_unit_names(unit: str, text: str) -> None:
    assert fmt.unit_name(unit, short=True) == text
    assert fmt.unit_name(unit) == unit


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["2.13", "45.6", "1,234"], ["2.13", "45.6 ", "1,234   "]),
        (["-0.5", "n/a", ""], ["-0.5", "n/a", ""]),
        (["2.13", "two"], ["2.13", "two"]),
        (["1", "2,000"], ["1", "2,000"]),
        (["1.5", "2"], ["1.5", "2  "]),
        ([], []),
    ],
)
def test_decimal_points_of_a_column_are_aligned(cells: list[str], expected: list[str]) -> None:
    assert fmt.aligned(cells) == expected


def test_names_with_equal_values_are_grouped() -> None:
    pairs = [("A", "slow"), ("B", "fast"), ("C", "slow"), ("A", "slow"), ("A", "loud")]
    assert fmt.group_names(pairs) == [("A, C", "slow"), ("B", "fast"), ("A", "loud")]
