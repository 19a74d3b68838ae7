"""Block resamples: whole blocks, all levels of the same resample, means from sums."""

from __future__ import annotations

import numpy as np
import pytest

from hettop.stats.resampling import block_length, resampled_levels, resampled_means, resampled_quantiles, resamples_for
from tests.analysis.material import correlated


def test_one_level_is_what_the_single_level_resampling_gives() -> None:
    samples = np.random.default_rng(1).normal(size=200)
    several = resampled_levels(samples, [0.9], 20, 50, np.random.default_rng(2))
    assert several[:, 0] == pytest.approx(resampled_quantiles(samples, 0.9, 20, 50, np.random.default_rng(2)))


def test_levels_of_a_resample_are_in_order() -> None:
    samples = np.random.default_rng(3).normal(size=333)
    found = resampled_levels(samples, [0.5, 0.9, 0.99], 20, 100, np.random.default_rng(4))
    assert found.shape == (100, 3)
    assert np.all(np.diff(found, axis=1) >= 0)


def test_means_spread_as_independent_samples_do() -> None:
    # The standard error of 400 standard normal samples is 1/20.
    samples = np.random.default_rng(5).normal(size=400)
    means = resampled_means(samples, 20, 2000, np.random.default_rng(6))
    assert means.std() == pytest.approx(samples.std() / 20, rel=0.25)
    assert means.mean() == pytest.approx(samples.mean(), abs=0.01)


def test_means_of_correlated_samples_spread_more() -> None:
    # The variance of the mean is (1 + rho) / (1 - rho) = 4 times that of independent samples.
    samples = correlated(np.random.default_rng(7), 20_000, 0.6)
    means = resampled_means(samples, block_length(samples), 500, np.random.default_rng(8))
    assert means.std() == pytest.approx(2 * samples.std() / np.sqrt(20_000), rel=0.2)


def test_blocks_are_twenty_long_or_longer_where_memory_is() -> None:
    rng = np.random.default_rng(9)
    assert block_length(rng.normal(size=1000)) == 20
    assert block_length(correlated(rng, 5000, 0.9)) > 50
    assert block_length(rng.normal(size=50)) == 5, "ten blocks at least"


def test_long_runs_get_fewer_resamples_but_enough() -> None:
    assert resamples_for(2000, 500) == 1000
    assert resamples_for(40_000, 100) == 500
    assert resamples_for(10**7) == 300
