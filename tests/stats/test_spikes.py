from __future__ import annotations

import numpy as np
import pytest

from hettop.stats.histogram import Histogram
from hettop.stats.spikes import MIN_SPIKE_SAMPLES, fence, fence_of_histogram, fence_of_samples


def histogram_of(values: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Histogram:
    hist = Histogram()
    hist.add(values)
    return hist


def test_fence_of_a_wide_distribution_is_ten_mads_of_the_log_above_the_median() -> None:
    # 10 at 1.0 ms / 1.1, 10 at 1.0 ms * 1.1, 11 at 1.0 ms: median 1.0 ms; |log| is 0 eleven times and log 1.1
    # twenty times, so the MAD is log 1.1 and the fence 1.0 ms * 1.1^10 = 2.5937 ms, above 1.5 ms.
    values = np.array([1e6 / 1.1] * 10 + [1e6] * 11 + [1.1e6] * 10)
    assert fence_of_samples(values) == pytest.approx(2.5937424601e6, rel=1e-9)


def test_fence_of_a_steady_distribution_is_one_and_a_half_medians() -> None:
    # MAD log 1.01: 1.01^10 = 1.105, below 1.5.
    values = np.array([1e6 / 1.01] * 10 + [1e6] * 11 + [1.01e6] * 10)
    assert fence_of_samples(values) == pytest.approx(1.5e6, rel=1e-9)


def test_constant_latency_has_a_fence_too() -> None:
    assert fence_of_samples(np.full(20, 1000)) == 1500


def test_fence_needs_twenty_samples() -> None:
    values = np.full(MIN_SPIKE_SAMPLES - 1, 1000)
    assert fence(values) is None
    assert fence(histogram_of(values)) is None
    assert fence(np.append(values, 1000)) is not None


def test_large_spikes_do_not_move_the_fence_that_finds_them() -> None:
    rng = np.random.default_rng(3)
    calm = rng.normal(1.8e6, 9e4, 900)
    stormy = np.concatenate((calm, np.full(100, 138e6)))
    without, with_spikes = fence_of_samples(calm), fence_of_samples(stormy)
    assert without is not None
    assert with_spikes is not None
    assert with_spikes == pytest.approx(without, rel=0.03)


def test_histogram_fence_is_the_samples_fence_within_its_resolution() -> None:
    rng = np.random.default_rng(5)
    for sigma in (0.005, 0.03, 0.1, 0.3):
        values = np.exp(rng.normal(np.log(1.8e6), sigma, 2000)).astype(np.int64)
        exact = fence(values)
        assert exact is not None
        assert fence(histogram_of(values)) == pytest.approx(exact, rel=0.03)


def test_histogram_fence_worked_on_values_that_are_exact_in_it() -> None:
    # 100 (x 10), 120 (x 11), 144 (x 10): the same shape as above with MAD log 1.2; 120 * 1.2^10 = 743.0084.
    values = np.array([100] * 10 + [120] * 11 + [144] * 10)
    assert fence_of_histogram(histogram_of(values)) == pytest.approx(120 * 1.2**10, rel=1e-9)


def test_values_of_zero_have_no_logarithm_and_count_as_one() -> None:
    assert fence_of_samples([0] * 20) == 1.0


@pytest.mark.parametrize(("typical_ms", "spread_ms", "maximum_ms"), [(0.615, 0.045, 25.95), (1.72, 0.15, 138.1)])
def test_one_stall_in_a_hundred_runs_is_a_spike_and_the_rest_is_not(
    typical_ms: float, spread_ms: float, maximum_ms: float
) -> None:
    rng = np.random.default_rng(11)
    values = (np.append(rng.normal(typical_ms, spread_ms, 99), maximum_ms) * 1e6).astype(np.int64)
    for limit in (fence(values), fence(histogram_of(values))):
        assert limit is not None
        assert int((values > limit).sum()) == 1
