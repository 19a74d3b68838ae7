"""The slowest state begins at the valley below the last peak that holds enough samples."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from hettop.stats.histogram import bucket_index
from hettop.stats.spikes import slow_state_from


def occupied(values: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    indices, counts = np.unique(bucket_index(values.astype(np.int64)), return_counts=True)
    return indices, counts


def test_it_begins_between_the_peaks() -> None:
    # Buckets 100 to 103 and 300 to 303 hold 25 each: bins of four, nothing between them.
    indices = np.array([100, 101, 102, 103, 300, 301, 302, 303])
    begin = slow_state_from(indices, np.full(8, 25))
    assert begin is not None
    assert 104 <= begin < 300


def test_of_three_states_it_is_the_slowest() -> None:
    rng = np.random.default_rng(1)
    values = np.concatenate([rng.normal(center, center / 60, 300) for center in (1.0e6, 1.3e6, 1.7e6)])
    begin = slow_state_from(*occupied(values))
    assert begin is not None
    assert bucket_index(np.array([1_400_000]))[0] < begin < bucket_index(np.array([1_650_000]))[0]


@pytest.mark.parametrize("share", [0.04, 0.0])
def test_what_holds_less_than_a_twentieth_is_no_state(share: float) -> None:
    rng = np.random.default_rng(2)
    slow = int(share * 2000)
    values = np.concatenate((rng.normal(1e6, 1e4, 2000 - slow), rng.normal(3e6, 3e4, slow)))
    assert slow_state_from(*occupied(values)) is None


def test_the_ticks_of_a_coarse_timer_are_no_states() -> None:
    """A 24 MHz timer puts latencies of some 4 us on points 1% apart."""
    rng = np.random.default_rng(3)
    ticks = np.round(rng.normal(100, 3, 5000))
    assert slow_state_from(*occupied(ticks * 1e9 / 24e6)) is None


def test_few_samples_have_gaps_by_accident() -> None:
    false = sum(
        slow_state_from(*occupied(1e6 * np.exp(np.random.default_rng(seed).normal(0, 0.3, 40)))) is not None
        for seed in range(300)
    )
    assert false == 0


def test_without_two_peaks_worth_of_samples_there_is_none() -> None:
    assert slow_state_from(np.array([100, 300]), np.array([15, 16])) is None
    assert slow_state_from(np.array([100, 300]), np.array([16, 16])) is not None
    assert slow_state_from(np.array([100]), np.array([500])) is None
