"""What correlated samples are worth, and bounds of a quantile that do not claim more."""

from __future__ import annotations

import numpy as np
import pytest

from hettop.stats.resampling import autocorrelation_time, dependence_time, quantile_bounds
from tests.analysis.material import correlated


def test_independent_samples_get_the_ranks_of_order_statistics() -> None:
    # 1..100 in an order without memory: ranks 84 and 96 for P90, or a little wider where chance looks like memory.
    samples = np.random.default_rng(3).permutation(np.arange(1.0, 101.0))
    bounds = quantile_bounds(samples, 0.9)
    assert 70 <= bounds.effective <= 100
    assert bounds.low is not None
    assert bounds.high is not None
    assert 80 <= bounds.low <= 84
    assert 96 <= bounds.high <= 99


@pytest.mark.parametrize(("rho", "time"), [(0.0, 1.0), (0.6, 4.0), (0.9, 19.0)])
def test_the_autocorrelation_time_of_a_first_order_process_is_known(rho: float, time: float) -> None:
    # (1 + rho) / (1 - rho)
    series = correlated(np.random.default_rng(5), 50_000, rho)
    assert autocorrelation_time(series) == pytest.approx(time, rel=0.1)


def test_equal_samples_and_a_single_one_count_as_independent() -> None:
    assert autocorrelation_time(np.full(50, 2.5)) == 1.0
    assert dependence_time(np.array([2.5]), 0.9) == 1.0


def test_bursts_in_the_tail_count_even_if_the_rest_has_no_memory() -> None:
    rng = np.random.default_rng(7)
    samples = rng.normal(2, 0.1, 5000)
    samples[1000:1100] += 5  # all slow samples at once: they are worth one event
    assert dependence_time(samples, 0.985) > 30


def test_modes_that_stick_are_worth_little() -> None:
    rng = np.random.default_rng(8)
    samples = np.repeat(rng.choice([1.7, 1.9], 40), 50) + rng.normal(0, 0.01, 2000)
    assert quantile_bounds(samples, 0.5).effective < 100


def test_a_side_without_a_bound_is_none() -> None:
    bounds = quantile_bounds(np.random.default_rng(9).normal(size=100), 0.99)
    assert bounds.high is None, "no 100 samples bound a P99 from above"
    assert bounds.low is not None


def test_more_confidence_means_wider_bounds() -> None:
    samples = np.random.default_rng(10).normal(size=2000)
    usual, sure = quantile_bounds(samples, 0.9), quantile_bounds(samples, 0.9, 0.9995)
    assert usual.low is not None
    assert usual.high is not None
    assert sure.low is not None
    assert sure.high is not None
    assert sure.low < usual.low < usual.high < sure.high


def test_bounds_of_correlated_samples_hold_the_truth() -> None:
    rng = np.random.default_rng(11)
    truth = 1.2815515655446004  # P90 of the standard normal
    held = 0
    for _ in range(200):
        bounds = quantile_bounds(correlated(rng, 600, 0.6), 0.9)
        held += bounds.low is not None and bounds.high is not None and bounds.low <= truth <= bounds.high
    assert held >= 190, "95% of 200; intervals for independent samples hold it in about 80%"


def test_no_samples_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        quantile_bounds([], 0.9)


def test_the_bounds_of_few_independent_samples_never_exclude_the_quantile_itself() -> None:
    """A slow wave of 200 samples, worth about three: the lower bound of P99 must not be their maximum."""
    samples = np.repeat([1.0, 3.0, 2.0], [70, 60, 70]) + np.linspace(0, 0.1, 200)
    bounds = quantile_bounds(samples, 0.99)
    assert bounds.effective < 15
    assert bounds.low is not None
    assert bounds.low <= np.quantile(samples, 0.99)
