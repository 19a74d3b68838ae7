from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.stats.bandwidth import silverman, smooth
from hettop.stats.histogram import Histogram, bucket_middle
from hettop.stats.modes import Modes, find_modes, find_modes_weighted

Samples = npt.NDArray[np.int64]


def mixture(seed: int, n: int, *parts: tuple[float, float, float]) -> Samples:
    """n latencies in ns from parts (share, median ms, sigma of the log)."""
    rng = np.random.default_rng(seed)
    shares, medians, sigmas = (np.array(column) for column in zip(*parts, strict=True))
    part = rng.choice(len(parts), n, p=shares)
    latencies: Samples = (medians[part] * 1e6 * np.exp(rng.normal(0, 1, n) * sigmas[part])).astype(np.int64)
    return latencies


def centers_ms(modes: Modes) -> list[float]:
    return [mode.center_ns / 1e6 for mode in modes.modes]


TWO = ((0.6, 1.70, 0.012), (0.4, 1.89, 0.012))
THREE = ((0.4, 1.5, 0.015), (0.35, 1.75, 0.015), (0.25, 2.1, 0.015))


def test_two_clock_states_are_two_modes_tentative_at_100_samples_and_firm_at_1000() -> None:
    few, many = find_modes(mixture(1, 100, *TWO)), find_modes(mixture(1, 1000, *TWO))
    for modes in (few, many):
        assert centers_ms(modes) == pytest.approx([1.70, 1.89], rel=0.01)
        assert [mode.share for mode in modes.modes] == pytest.approx([0.6, 0.4], abs=0.1)
    assert few.tentative
    assert not many.tentative


def test_three_modes_are_found_in_order_and_their_shares_sum_to_one() -> None:
    modes = find_modes(mixture(2, 1000, *THREE))
    assert centers_ms(modes) == pytest.approx([1.5, 1.75, 2.1], rel=0.01)
    assert sum(mode.share for mode in modes.modes) == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(5))
def test_one_skewed_peak_is_one_mode_and_never_tentative(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = ((1.5 + rng.gamma(2.0, 0.05, 400)) * 1e6).astype(np.int64)
    modes = find_modes(values)
    assert len(modes.modes) == 1
    assert modes.modes[0].share == 1.0
    assert not modes.tentative


def test_second_peak_that_the_dip_test_does_not_confirm_is_not_reported() -> None:
    # The density of these 100 + 20 samples has two clear peaks; the dip test says p = 0.39.
    values = mixture(0, 120, (0.85, 0.60, 0.02), (0.15, 0.68, 0.02))
    grid, density = smooth(np.log(values))
    between = (grid > np.log(0.62e6)) & (grid < np.log(0.66e6))
    assert density[between].min() < 0.3 * density[grid > np.log(0.66e6)].max()
    assert centers_ms(find_modes(values)) == pytest.approx([0.60], rel=0.02)


@pytest.mark.parametrize("seed", range(5))
def test_two_peaks_with_a_shallow_valley_are_one_mode(seed: int) -> None:
    # Two equal normals 2.8 sd apart: exp(-1.4^2 / 2) / (0.5 + 0.5 exp(-2.8^2 / 2)) = 0.74 of the peaks, above 0.6.
    values = mixture(seed, 3000, (0.5, 1.7, 0.02), (0.5, 1.7 * float(np.exp(0.056)), 0.02))
    assert len(find_modes(values).modes) == 1


def test_spikes_are_no_mode_however_alike_they_are() -> None:
    values = np.concatenate((mixture(4, 400, (1.0, 1.8, 0.03)), np.full(15, 25_950_000)))
    assert centers_ms(find_modes(values)) == pytest.approx([1.8], rel=0.01)


def test_bump_of_less_than_five_percent_is_no_mode() -> None:
    modes = find_modes(mixture(5, 2000, (0.97, 1.7, 0.01), (0.03, 2.1, 0.01)))
    assert len(modes.modes) == 1


def test_bump_of_seven_samples_is_no_mode_although_it_is_seven_percent() -> None:
    values = np.concatenate((mixture(6, 93, (1.0, 1.7, 0.01)), mixture(6, 7, (1.0, 2.1, 0.01))))
    assert len(find_modes(values).modes) == 1


@pytest.mark.parametrize("seed", range(10))
def test_ticks_of_the_clock_are_no_modes(seed: int) -> None:
    ticks = np.round(np.random.default_rng(seed).normal(40, 1.5, 2000))
    values = (ticks * 125 / 3).astype(np.int64)  # a 24 MHz timer: 41.67 ns
    assert centers_ms(find_modes(values)) == pytest.approx([40 * 41.67e-6], rel=0.03)


@pytest.mark.parametrize("seed", range(5))
def test_buckets_that_double_their_width_are_no_modes(seed: int) -> None:
    # Buckets are 8 us wide below 2^21 ns and 16 us above; each holds many of these samples.
    hist = Histogram()
    hist.add(mixture(seed, 2000, (1.0, 2**21 / 1e6, 0.012)))
    index, counts = hist.nonzero()
    modes = find_modes_weighted(bucket_middle(index), counts)
    assert centers_ms(modes) == pytest.approx([2**21 / 1e6], rel=0.02)


def test_no_samples_have_no_modes_and_equal_ones_have_one() -> None:
    assert find_modes([]) == Modes((), tentative=False)
    assert find_modes_weighted([], []) == Modes((), tentative=False)
    for values in ([5000], [5000] * 50):
        (mode,) = find_modes(values).modes
        assert mode.center_ns == 5000
        assert mode.share == 1.0


def test_two_distinct_values_are_one_mode() -> None:
    # No bandwidth solves the equation for two values: the rule of thumb takes over.
    assert len(find_modes([5000, 6000]).modes) == 1


@given(
    st.one_of(
        st.lists(st.integers(min_value=0, max_value=10**12), min_size=1, max_size=60),
        st.lists(st.integers(min_value=1_000_000, max_value=1_000_050), min_size=1, max_size=200),
        st.lists(st.sampled_from([1_000_000, 1_400_000]), min_size=1, max_size=200),
    )
)
def test_whatever_the_samples_shares_sum_to_one_and_centres_ascend_within_the_samples(values: list[int]) -> None:
    modes = find_modes(values)
    centers = [mode.center_ns for mode in modes.modes]
    assert sum(mode.share for mode in modes.modes) == pytest.approx(1.0)
    assert centers == sorted(centers)
    assert len(modes.modes) <= max(1, len(values) // 8)
    assert min(values) * 0.8 <= centers[0]
    assert centers[-1] <= max(1, *values) * 1.2


def test_the_order_of_samples_says_only_whether_modes_are_tentative() -> None:
    values = mixture(9, 500, *TWO)
    assert find_modes(values) == find_modes(values[::-1])
    assert not find_modes(values).tentative
    one_after_the_other = find_modes(np.sort(values))  # the level moved once: nothing says that it comes back
    assert one_after_the_other.modes == find_modes(values).modes
    assert one_after_the_other.tentative


def test_a_level_that_wanders_slowly_has_no_firm_modes() -> None:
    from benchmarks.nulls import autoregressive, states

    for seed in range(30):
        found = find_modes(autoregressive(0.998)(np.random.default_rng(seed), 1_000) * 1e6)
        assert found.tentative or len(found.modes) == 1
    assert not find_modes(states(50)(np.random.default_rng(0), 3_000) * 1e6).tentative


def test_histogram_and_samples_report_of_the_same_modes() -> None:
    for parts in (TWO, THREE, ((1.0, 1.8, 0.04),)):
        values = mixture(10, 1000, *parts)
        hist = Histogram()
        hist.add(values)
        index, counts = hist.nonzero()
        from_histogram, exact = find_modes_weighted(bucket_middle(index), counts), find_modes(values)
        assert centers_ms(from_histogram) == pytest.approx(centers_ms(exact), rel=0.01)
        assert from_histogram.tentative == (len(exact.modes) > 1)  # it has no order
        assert [mode.share for mode in from_histogram.modes] == pytest.approx(
            [mode.share for mode in exact.modes], abs=0.05
        )


def test_a_hundred_million_samples_are_thinned_in_proportion() -> None:
    values = mixture(11, 5000, *TWO)
    hist = Histogram()
    hist.add(values)
    index, counts = hist.nonzero()
    modes = find_modes_weighted(bucket_middle(index), counts * 20_000)
    assert centers_ms(modes) == pytest.approx([1.70, 1.89], rel=0.01)
    assert not modes.tentative


def test_density_integrates_to_one_and_its_bandwidth_suits_a_normal_sample() -> None:
    values = np.random.default_rng(12).normal(0, 1, 2000)
    grid, density = smooth(values)
    cell = grid[1] - grid[0]
    assert float(density.sum() * cell) == pytest.approx(1.0, abs=1e-6)
    # A normal density smoothed by bandwidth h peaks at 1 / sqrt(2 pi (1 + h^2)); the best h here is 0.23.
    assert float(density.max()) == pytest.approx(1 / np.sqrt(2 * np.pi * (1 + 0.23**2)), rel=0.08)


def test_density_is_that_of_scipys_cosine_transforms() -> None:
    from scipy.fft import dct, idct

    values = np.random.default_rng(14).gamma(3, 1, 1000)
    grid, density = smooth(values)
    waves = dct(density, type=2)
    assert idct(waves, type=2) == pytest.approx(density, abs=1e-12)
    # Smoothing multiplied wave k of the binned masses by exp(-k^2 c): the same c is found at each of the first waves.
    edges = np.append(grid, 2 * grid[-1] - grid[-2]) - (grid[1] - grid[0]) / 2
    mass = dct(np.histogram(values, edges)[0] / values.size / (grid[1] - grid[0]), type=2)
    exponents = -np.log(waves[1:9] / mass[1:9]) / np.arange(1, 9) ** 2
    assert exponents == pytest.approx(np.full(8, exponents[0]), rel=1e-9)
    assert exponents[0] > 0


def test_bandwidth_follows_narrow_peaks_where_silvermans_rule_blurs_them() -> None:
    rng = np.random.default_rng(13)
    values = np.concatenate((rng.normal(0, 1, 500), rng.normal(100, 1, 500)))
    _grid, density = smooth(values)
    # Two peaks of sd 1 and half the mass each: 0.5 / sqrt(2 pi) = 0.199 high. Silverman's h is 11 here.
    assert silverman(values) > 8
    assert float(density.max()) == pytest.approx(0.5 / np.sqrt(2 * np.pi), rel=0.12)


def test_density_of_equal_values_is_refused() -> None:
    with pytest.raises(ValueError, match="differ"):
        smooth(np.ones(5))


def test_a_slow_state_above_the_threshold_is_a_mode_once_it_holds_as_much_as_one() -> None:
    # One sample in five takes twice as long: each lies above 1.5 x median, together they are no spikes.
    rng = np.random.default_rng(11)
    latencies = np.concatenate([rng.normal(1e6, 2e4, 800), rng.normal(2e6, 4e4, 200)])
    found = find_modes(latencies)
    assert [mode.center_ns for mode in found.modes] == pytest.approx([1e6, 2e6], rel=0.02)
    assert [mode.share for mode in found.modes] == pytest.approx([0.8, 0.2], abs=0.01)


def test_rare_spikes_far_out_are_no_mode() -> None:
    rng = np.random.default_rng(12)
    latencies = np.concatenate([rng.normal(1e6, 2e4, 970), rng.normal(2e6, 4e4, 30)])
    assert len(find_modes(latencies).modes) == 1
