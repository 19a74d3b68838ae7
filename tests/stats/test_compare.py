from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from hettop.stats.resampling import block_bootstrap_difference, resampled_quantiles

Samples = npt.NDArray[np.float64]


def correlated(rng: np.random.Generator, n: int, rho: float) -> Samples:
    """Standard normal AR(1) series."""
    values = np.empty(n)
    values[0] = rng.normal()
    noise = rng.normal(0, np.sqrt(1 - rho * rho), n)
    for i in range(1, n):
        values[i] = rho * values[i - 1] + noise[i]
    return values


def test_shift_by_a_constant_is_the_difference_and_lies_in_its_interval() -> None:
    rng = np.random.default_rng(1)
    a = rng.normal(1.9, 0.05, 300)
    diff, low, high = block_bootstrap_difference(a, a - 0.8, 0.5, rng=rng)
    assert diff == pytest.approx(-0.8)
    assert low < -0.8 < high < 0


def test_same_distribution_is_not_told_apart() -> None:
    rng = np.random.default_rng(2)
    diff, low, high = block_bootstrap_difference(rng.normal(2, 0.1, 500), rng.normal(2, 0.1, 500), 0.9, rng=rng)
    assert low < 0 < high
    assert low <= diff <= high


def test_autocorrelation_widens_the_interval_that_single_samples_make_too_narrow() -> None:
    rng = np.random.default_rng(3)
    a, b = correlated(rng, 1000, 0.6), correlated(rng, 1000, 0.6)

    def width(block: int) -> float:
        _, low, high = block_bootstrap_difference(a, b, 0.5, block=block, rng=np.random.default_rng(4))
        return high - low

    assert width(20) > 1.3 * width(1)


def test_result_depends_on_the_seed_alone() -> None:
    a, b = np.random.default_rng(5).normal(size=(2, 200))
    first = block_bootstrap_difference(a, b, 0.9, rng=np.random.default_rng(6))
    assert first == block_bootstrap_difference(a, b, 0.9, rng=np.random.default_rng(6))
    assert first != block_bootstrap_difference(a, b, 0.9, rng=np.random.default_rng(7))


def test_resamples_are_made_of_whole_blocks_and_wrap_around() -> None:
    # 100 samples in 5 blocks of 20 consecutive ones: the minimum of a resample is the start of one of its blocks,
    # or 0 where a block wraps around the end.
    samples = np.arange(100.0)
    minima = resampled_quantiles(samples, 0.0, 20, 4000, np.random.default_rng(8))
    assert set(minima.tolist()) <= set(range(81))
    # All five of five starts in 20..80 avoids the blocks that hold 0..19 entirely: (61 / 100)^5 = 8.4%.
    assert float((minima >= 20).mean()) == pytest.approx(0.61**5, abs=0.02)


def test_short_run_is_cut_into_five_blocks_so_that_it_has_spread() -> None:
    rng = np.random.default_rng(9)
    a, b = rng.normal(2, 0.1, 20), rng.normal(2, 0.1, 20)
    _, low, high = block_bootstrap_difference(a, b, 0.5, block=20, rng=rng)
    assert high - low > 0.03


def test_resampling_in_batches_takes_all_resamples() -> None:
    samples = np.random.default_rng(10).normal(size=60_000)
    found = resampled_quantiles(samples, 0.5, 20, 21, np.random.default_rng(11))
    assert found.shape == (21,)
    assert len(set(found.tolist())) == 21


@pytest.mark.parametrize(("n", "block", "resamples"), [(9, 20, 100), (50, 0, 100), (50, 20, 0)])
def test_too_little_to_compare_is_refused(n: int, block: int, resamples: int) -> None:
    values = np.ones(n)
    with pytest.raises(ValueError, match=r"block|comparison"):
        block_bootstrap_difference(values, values, 0.5, block=block, resamples=resamples, rng=np.random.default_rng(0))
