"""A level that moves for good is found, where and when; modes that come and go are no drift."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from hettop.stats.drift import (
    BLOCK,
    HELD,
    LASTING,
    REFERENCE,
    Alarm,
    Level,
    Stay,
    Stays,
    follow,
    level_of,
    may_be_learned_again,
    medians,
    residuals,
)
from hettop.stats.histogram import Histogram

Samples = npt.NDArray[np.int64]


def steady(rng: np.random.Generator, n: int) -> Samples:
    return (1.8e6 * np.exp(rng.normal(0, 0.05, n))).astype(np.int64)


def bimodal(rng: np.random.Generator, n: int) -> Samples:
    center = np.where(rng.random(n) < 0.6, 1.70e6, 1.89e6)
    return (center * np.exp(rng.normal(0, 0.012, n))).astype(np.int64)


def sticky(rng: np.random.Generator, n: int) -> Samples:
    state = np.cumsum(rng.random(n) < 1 / 50) % 2
    return (np.where(state == 0, 1.70e6, 1.89e6) * np.exp(rng.normal(0, 0.012, n))).astype(np.int64)


def correlated(rng: np.random.Generator, n: int) -> Samples:
    from scipy.signal import lfilter

    noise = rng.normal(0, np.sqrt(1 - 0.6**2), n)
    return np.asarray(1.8e6 * np.exp(0.05 * lfilter([1.0], [1.0, -0.6], noise))).astype(np.int64)


def first_level(samples: Samples) -> Level:
    hist = Histogram()
    hist.add(samples[:REFERENCE])
    return level_of(hist, medians(samples[: REFERENCE // BLOCK * BLOCK].reshape(-1, BLOCK)).tolist())


def alarm_in(samples: Samples) -> Alarm | None:
    level, rest = first_level(samples), samples[REFERENCE:]
    blocks = rest[: len(rest) // BLOCK * BLOCK].reshape(-1, BLOCK)
    return follow(residuals(blocks, level), REFERENCE // BLOCK, Stays(), level.slack)[1]


SHAPES: list[Callable[[np.random.Generator, int], Samples]] = [steady, bimodal, sticky, correlated]


@pytest.mark.parametrize("shape", SHAPES)
def test_false_alarms_are_rare_in_twenty_thousand_samples(shape: Callable[[np.random.Generator, int], Samples]) -> None:
    assert sum(alarm_in(shape(np.random.default_rng(seed), 20_000)) is not None for seed in range(50)) == 0


@pytest.mark.parametrize("shape", SHAPES)
def test_a_step_of_a_fifth_is_found_after_5000_samples(shape: Callable[[np.random.Generator, int], Samples]) -> None:
    for seed in range(20):
        samples = shape(np.random.default_rng(seed), 10_000)
        samples[REFERENCE + 3_000 :] = samples[REFERENCE + 3_000 :] * 1196 // 1000
        found = alarm_in(samples)
        assert found is not None
        assert abs((found.began - REFERENCE // BLOCK) * BLOCK - 3_000) <= 2 * BLOCK
        assert LASTING - 1 <= found.at - found.began <= LASTING + 1


def test_a_fall_is_found_like_a_rise() -> None:
    distances = np.array([0.0] * 60 + [-0.2] * 100)
    assert follow(distances, 0, Stays(), 0.03)[1] == Alarm(began=60, at=159)
    assert follow(-distances, 0, Stays(), 0.03)[1] == Alarm(began=60, at=159)


def test_a_level_that_lasts_less_than_100_blocks_is_no_drift() -> None:
    stays, alarm = follow(np.array([0.0] * 60 + [0.2] * 99 + [0.0] * 3), 0, Stays(), 0.03)
    assert alarm is None
    assert stays == Stays(longest=99)


def test_a_level_left_before_50_blocks_says_nothing() -> None:
    assert follow(np.array([0.0] * (HELD - 1) + [0.2] * 500), 0, Stays(), 0.03)[1] is None
    assert follow(np.array([0.0] * HELD + [0.2] * 500), 0, Stays(), 0.03)[1] == Alarm(HELD, HELD + 99)


def test_after_a_stay_of_40_blocks_the_next_one_needs_240() -> None:
    before = np.array([0.0] * 60 + [-0.2] * 40 + [0.0] * 10)
    assert follow(np.concatenate((before, [0.2] * 300)), 0, Stays(), 0.03)[1] == Alarm(began=110, at=349)


def test_two_blocks_of_noise_do_not_end_a_stay_and_three_do() -> None:
    two, _ = follow(np.array([0.2, 0.0, -0.2, 0.2]), 7, Stays(), 0.03)
    assert (two.above, two.below) == (Stay(7, 10), Stay(9, 9))
    three, _ = follow(np.array([0.2, 0.0, 0.0, 0.0, 0.2]), 7, Stays(), 0.03)
    assert three == Stays(Stay(11, 11), None, longest=1)


def test_one_block_after_another_gives_what_all_at_once_gives() -> None:
    distances = np.random.default_rng(5).normal(0, 0.04, 3_000)
    whole, alarm = follow(distances, 0, Stays(), 0.03)
    assert alarm is None
    stays = Stays()
    for block, distance in enumerate(distances):
        stays, _ = follow(np.array([distance]), block, stays, 0.03)
    assert stays == whole
    assert whole.longest > 1


def test_the_level_is_not_learned_from_what_may_be_a_drift() -> None:
    assert may_be_learned_again(Stays(), 100)
    assert may_be_learned_again(Stays(above=Stay(97, 99)), 100)
    assert not may_be_learned_again(Stays(below=Stay(90, 99)), 100)
    assert may_be_learned_again(Stays(below=Stay(HELD - 1, 99)), 100)  # it would never be called a drift


def test_a_level_knows_its_states_and_the_distance_to_the_nearest() -> None:
    level = first_level(bimodal(np.random.default_rng(2), 600))
    assert level.centers_ns == pytest.approx((1.70e6, 1.89e6), rel=0.01)
    blocks = np.array([[1_785_000] * 20 + [1_984_500] * 30])  # 5% above each state
    assert residuals(blocks, level)[0] == pytest.approx(0.0488, abs=0.01)


def test_samples_that_spread_widely_need_a_larger_change() -> None:
    narrow, wide = (
        first_level((1e6 * np.exp(np.random.default_rng(3).normal(0, sigma, 600))).astype(np.int64))
        for sigma in (0.02, 0.4)
    )
    assert narrow.slack == 0.03
    assert wide.slack > 0.1
