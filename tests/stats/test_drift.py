"""A level that moves for good is found, where and when; modes that come and go are no drift."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from hettop.stats.drift import BLOCK, REFERENCE, Alarm, Level, Sums, cusum, level_of, medians, residuals
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
    return cusum(residuals(blocks, level), 0, Sums(), level)[1]


SHAPES: list[Callable[[np.random.Generator, int], Samples]] = [steady, bimodal, sticky, correlated]


@pytest.mark.parametrize("shape", SHAPES)
def test_false_alarms_are_rare_in_five_thousand_samples(shape: Callable[[np.random.Generator, int], Samples]) -> None:
    assert sum(alarm_in(shape(np.random.default_rng(seed), 5_000)) is not None for seed in range(200)) <= 4


@pytest.mark.parametrize("shape", SHAPES)
def test_a_step_of_a_fifth_is_found_within_a_few_blocks(shape: Callable[[np.random.Generator, int], Samples]) -> None:
    late = []
    for seed in range(50):
        samples = shape(np.random.default_rng(seed), 5_000)
        samples[REFERENCE + 1_000 :] = samples[REFERENCE + 1_000 :] * 1196 // 1000
        found = alarm_in(samples)
        assert found is not None
        assert abs(found.began * BLOCK - 1_000) <= 2 * BLOCK
        late.append((found.at + 1) * BLOCK - 1_000)
    assert np.median(late) <= 150
    assert max(late) <= 250


def test_a_fall_is_found_like_a_rise() -> None:
    samples = steady(np.random.default_rng(1), 3_000)
    samples[REFERENCE + 500 :] = samples[REFERENCE + 500 :] * 8 // 10
    assert alarm_in(samples) == Alarm(began=10, at=10)


def test_the_sum_worked_by_hand() -> None:
    # Slack .03, threshold .15: .07 + .07 = .14 is not over it, a third block is; the rise began with block 8.
    level = Level(1e6, (1e6,), (), 0.03, 0.15)
    sums, alarm = cusum(np.array([0.0, 0.10, 0.10]), 7, Sums(), level)
    assert alarm is None
    assert sums.up == pytest.approx(0.14)
    assert sums.up_from == 8
    _, alarm = cusum(np.array([0.0, 0.10]), 10, sums, level)  # .11 after the calm one, .18 after the next
    assert alarm == Alarm(began=8, at=11)


def test_calm_blocks_between_two_rises_end_the_first() -> None:
    level = Level(1e6, (1e6,), (), 0.03, 0.15)
    sums, alarm = cusum(np.array([0.10, -0.05, 0.0, 0.12]), 0, Sums(), level)
    assert alarm is None
    assert sums.up == pytest.approx(0.09)
    assert sums.up_from == 3


def test_one_block_after_another_gives_what_all_at_once_gives() -> None:
    rng = np.random.default_rng(5)
    level = Level(1e6, (1e6,), (), 0.03, 5.0)
    distances = rng.normal(0, 0.04, 300)
    whole, _ = cusum(distances, 0, Sums(), level)
    sums = Sums()
    for block, distance in enumerate(distances):
        sums, _ = cusum(np.array([distance]), block, sums, level)
    assert (sums.up, sums.down) == (whole.up, whole.down)
    assert sums.up_from == whole.up_from or not sums.up
    assert sums.down_from == whole.down_from or not sums.down


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
    assert (narrow.slack, narrow.threshold) == (0.03, 0.15)
    assert wide.slack > 0.1
    assert wide.threshold == pytest.approx(5 * wide.slack, rel=1e-3)
