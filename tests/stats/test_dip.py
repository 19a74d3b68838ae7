"""Hartigan's dip against values known from the paper, and against the package diptest where it is installed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.stats.dip import LEVELS, SIZES, critical_dip, dip

Float64Array = npt.NDArray[np.float64]


@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_evenly_spaced_samples_have_the_least_dip_there_is(n: int) -> None:
    assert dip(np.arange(float(n))) == pytest.approx(1 / (2 * n))


@pytest.mark.parametrize("n", [2, 10, 300])
def test_two_equal_masses_have_the_greatest_dip_there_is(n: int) -> None:
    assert dip(np.repeat([0.0, 1.0], n)) == pytest.approx(0.25)


def test_dips_of_samples_with_two_peaks_are_those_that_diptest_gives() -> None:
    # diptest 0.12: dipstat([0, 1, 9, 10]) and dipstat([0, 1, 2, 10, 11, 12])
    assert dip(np.array([0.0, 1.0, 9.0, 10.0])) == pytest.approx(2 / 9)
    assert dip(np.array([0.0, 1.0, 2.0, 10.0, 11.0, 12.0])) == pytest.approx(0.2)


def test_the_dip_is_the_same_in_another_unit_and_mirrored() -> None:
    rng = np.random.default_rng(3)
    x = np.sort(np.concatenate([rng.normal(0, 1, 300), rng.normal(4, 1, 200)]))
    assert dip(1e6 * x + 5) == pytest.approx(dip(x))
    assert dip(-x[::-1]) == pytest.approx(dip(x))


def samples(seed: int, n: int, kind: str) -> Float64Array:
    rng = np.random.default_rng(seed)
    made: Float64Array
    match kind:
        case "uniform":
            made = rng.random(n)
        case "two peaks":
            made = np.concatenate([rng.normal(0, 1, n), rng.normal(8 * rng.random(), 1, n // 2 + 1)])
        case "ties":
            made = rng.integers(0, 9, n).astype(np.float64)
        case "long tail":
            made = rng.standard_cauchy(n)
        case _:
            made = rng.lognormal(0, 1, n)
    return np.sort(made)


KINDS = st.sampled_from(("uniform", "two peaks", "ties", "long tail", "lognormal"))


@given(st.integers(0, 10**6), st.integers(4, 3_000), KINDS)
def test_it_agrees_with_diptest(seed: int, n: int, kind: str) -> None:
    diptest = pytest.importorskip("diptest", reason="diptest (GPL) is an oracle of this test alone")
    x = samples(seed, n, kind)
    assert dip(x) == pytest.approx(diptest.dipstat(x, allow_zero=False), abs=1e-12)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n", [16, 40, 200, 1_000, 10_000, 20_000])
def test_critical_values_have_the_significance_that_they_claim(n: int, level: float) -> None:
    diptest = pytest.importorskip("diptest", reason="diptest (GPL) is an oracle of this test alone")
    _, p = diptest.diptest(with_dip(critical_dip(n, level), n))
    assert p == pytest.approx(level, rel=0.15)


def with_dip(wanted: float, n: int) -> Float64Array:
    """n samples whose dip is nearly `wanted`: two uniform halves that are moved apart until it is reached."""
    halves = np.arange(n) / n
    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        moved = halves + middle * (halves >= 0.5)
        low, high = (middle, high) if dip(moved) < wanted else (low, middle)
    return halves + high * (halves >= 0.5)


def test_the_critical_dip_falls_as_samples_grow_and_is_larger_for_a_stricter_level() -> None:
    fives, ones = ([critical_dip(n, level) for n in SIZES] for level in LEVELS)
    assert fives == sorted(fives, reverse=True)
    assert all(one > five for one, five in zip(ones, fives, strict=True))
