"""Block resamples: whole blocks, all levels of the same resample, means from sums."""

from __future__ import annotations

import numpy as np
import pytest

from hettop.stats.resampling import block_length, resampled_levels, resampled_means, resampled_medians, resamples_for
from tests.analysis.material import correlated


def test_resamples_consist_of_complete_blocks_and_wrap_around() -> None:
    # 100 samples in 5 blocks of 20 consecutive ones: the minimum of a resample is the start of one of its blocks,
    # or 0 where a block wraps around the end.
    minima = resampled_levels(np.arange(100.0), [0.0], 20, 4000, np.random.default_rng(8))[:, 0]
    assert set(minima.tolist()) <= set(range(81))
    # All five of five starts in 20..80 avoids the blocks that hold 0..19 entirely: (61 / 100)^5 = 8.4%.
    assert float((minima >= 20).mean()) == pytest.approx(0.61**5, abs=0.02)


def test_resampling_in_batches_returns_all_resamples() -> None:
    samples = np.random.default_rng(10).normal(size=60_000)
    found = resampled_levels(samples, [0.5], 20, 21, np.random.default_rng(11))
    assert found.shape == (21, 1)
    assert len(set(found[:, 0].tolist())) == 21


def test_all_values_of_a_measurement_are_drawn_together() -> None:
    # The median of three draws from (0, 0, 1) is 1 where at least two of them are the 1: 3 (1/3)^2 (2/3) + (1/3)^3.
    first, second = resampled_medians([(0, 0, 1), (0, 0, 10)], np.random.default_rng(12))
    assert second.tolist() == (10 * first).tolist()
    assert first.mean() == pytest.approx(7 / 27, abs=0.05)


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
