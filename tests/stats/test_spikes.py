from __future__ import annotations

import numpy as np
import pytest

from hettop.stats.histogram import Histogram
from hettop.stats.spikes import MIN_SPIKE_SAMPLES, fence, fence_of_histogram, fence_of_samples


def histogram_of(values: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Histogram:
    hist = Histogram()
    hist.add(values)
    return hist


def test_threshold_of_a_wide_distribution_is_ten_mads_of_the_log_above_the_median() -> None:
    # 10 at 1.0 ms / 1.1, 10 at 1.0 ms * 1.1, 11 at 1.0 ms: median 1.0 ms; |log| is 0 eleven times and log 1.1
    # twenty times, so the MAD is log 1.1 and the threshold 1.0 ms * 1.1^10 = 2.5937 ms, above 1.5 ms.
    values = np.array([1e6 / 1.1] * 10 + [1e6] * 11 + [1.1e6] * 10)
    assert fence_of_samples(values) == pytest.approx(2.5937424601e6, rel=1e-9)


def test_threshold_of_a_steady_distribution_is_one_and_a_half_medians() -> None:
    # MAD log 1.01: 1.01^10 = 1.105, below 1.5.
    values = np.array([1e6 / 1.01] * 10 + [1e6] * 11 + [1.01e6] * 10)
    assert fence_of_samples(values) == pytest.approx(1.5e6, rel=1e-9)


def test_constant_latency_has_a_threshold_too() -> None:
    assert fence_of_samples(np.full(20, 1000)) == 1500


def test_threshold_needs_twenty_samples() -> None:
    values = np.full(MIN_SPIKE_SAMPLES - 1, 1000)
    assert fence(values) is None
    assert fence(histogram_of(values)) is None
    assert fence(np.append(values, 1000)) is not None


def test_large_spikes_do_not_move_the_threshold_that_finds_them() -> None:
    rng = np.random.default_rng(3)
    calm = rng.normal(1.8e6, 9e4, 960)
    stormy = np.concatenate((calm, np.full(40, 138e6)))
    without, with_spikes = fence_of_samples(calm), fence_of_samples(stormy)
    assert without is not None
    assert with_spikes is not None
    assert with_spikes == pytest.approx(without, rel=0.03)


def test_histogram_threshold_is_the_samples_threshold_within_its_resolution() -> None:
    rng = np.random.default_rng(5)
    for sigma in (0.005, 0.03, 0.1, 0.3):
        values = np.exp(rng.normal(np.log(1.8e6), sigma, 2000)).astype(np.int64)
        exact = fence(values)
        assert exact is not None
        assert fence(histogram_of(values)) == pytest.approx(exact, rel=0.03)


def test_histogram_threshold_worked_on_values_that_are_exact_in_it() -> None:
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


def test_a_slow_state_of_a_fifth_of_the_samples_is_no_spike() -> None:
    # 80% at 1.7 ms, 20% at 3.4 ms: the threshold stands at 1.5 x 3.4 ms, where one for all would stand at 1.5 x 1.7 ms.
    rng = np.random.default_rng(7)
    values = np.concatenate((rng.normal(1.7e6, 2e4, 800), rng.normal(3.4e6, 4e4, 200))).astype(np.int64)
    for limit in (fence(values), fence(histogram_of(values))):
        assert limit == pytest.approx(5.1e6, rel=0.02)


def test_stalls_beside_two_modes_are_not_hidden_by_their_distance() -> None:
    # Half at 1.7 and half at 3.4 ms: their MAD is half of log 2 and more, so one threshold for all would stand beyond
    # 30 ms; above the slower mode alone it stands at 5.1 ms, and a stall of 9 ms is seen.
    rng = np.random.default_rng(8)
    values = np.concatenate((rng.normal(1.7e6, 2e4, 500), rng.normal(3.4e6, 4e4, 500), [9e6] * 5)).astype(np.int64)
    limit = fence(values)
    assert limit == pytest.approx(5.1e6, rel=0.02)
    assert int((values > (limit or 0)).sum()) == 5


def test_less_than_a_twentieth_far_away_are_spikes_and_no_state() -> None:
    rng = np.random.default_rng(9)
    values = np.concatenate((rng.normal(1.7e6, 2e4, 960), rng.normal(3.4e6, 4e4, 40))).astype(np.int64)
    limit = fence(values)
    assert limit == pytest.approx(2.55e6, rel=0.02)


def test_a_slow_state_that_spreads_over_a_decade_has_a_threshold_all_the_same() -> None:
    # A busy machine: nine in ten at 8 ms, the others around 20 ms with a MAD of .2: ten of those are x 7.6.
    rng = np.random.default_rng(10)
    values = np.concatenate((rng.normal(8e6, 2e5, 900), 20e6 * np.exp(rng.normal(0, 0.3, 100)))).astype(np.int64)
    limit = fence(values)
    assert limit is not None
    assert limit < 75e6
