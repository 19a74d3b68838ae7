"""When a warm-up is over: error rates over 200 seeds, by what is left of a decay that is known."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from hettop.stats.steady import LEAST, SEEN_WITHIN, STEP, TOLERANCE, change_ahead, steady_at

SEEDS = 200
MOST = 1000
Excess = npt.NDArray[np.float64]


def decay(share: float, calls: float) -> Excess:
    """So many times too slow at first, and e times less of it after each so many calls."""
    return share * np.exp(-np.arange(MOST) / calls)


def ends(excess: Excess, spread: float, seeds: int = SEEDS) -> list[int]:
    """After how many calls the warm-up is over, for each seed; `MOST` where it never is."""
    found = []
    for seed in range(seeds):
        noise = spread * np.random.default_rng(seed).standard_normal(MOST)
        values = (2e6 * np.exp(noise) * (1 + excess)).astype(int).tolist()
        found.append(steady_at(values) or MOST)
    return found


def test_what_is_steady_from_the_start_is_so_at_the_first_look() -> None:
    assert steady_at([2_000_000] * 60) == LEAST == 50
    assert steady_at([2_000_000] * (LEAST - 1)) is None


def test_the_change_ahead_of_a_straight_line_is_its_slope() -> None:
    # A thousandth more at each call, 200 calls: as many again add 20%.
    line = [round(1e9 * np.exp(i / 1000)) for i in range(200)]
    assert change_ahead(line) == pytest.approx(0.2, abs=0.001)


def test_looking_on_where_one_looked_before_finds_the_same() -> None:
    values = (2e6 * (1 + decay(0.5, 20)) * np.exp(0.02 * np.random.default_rng(1).standard_normal(MOST))).astype(int)
    whole = steady_at(values.tolist())
    assert whole is not None
    looked = 0
    for n in range(1, MOST):
        found = steady_at(values[:n].tolist(), looked)
        looked = n - n % STEP
        if found is not None:
            assert found == whole == n
            return
    pytest.fail("never steady")


@pytest.mark.parametrize(("share", "calls"), [(0.2, 20), (0.5, 20), (2.0, 20), (0.5, 60)])
@pytest.mark.parametrize("spread", [0.02, 0.05])
def test_over_200_seeds_no_warm_up_ends_while_more_than_the_tolerance_is_left(
    share: float, calls: float, spread: float
) -> None:
    excess = decay(share, calls)
    left = [excess[min(end, MOST - 1)] for end in ends(excess, spread)]
    early = sum(rest > TOLERANCE for rest in left) / SEEDS
    assert early <= 0.01


@pytest.mark.parametrize(("spread", "at_most"), [(0.02, 50), (0.05, 110), (0.1, 270)])
def test_how_late_a_warm_up_ends_that_was_not_needed(spread: float, at_most: int) -> None:
    found = ends(np.zeros(MOST), spread)
    assert np.median(found) <= at_most
    assert max(found) < MOST


def test_a_change_over_a_thousand_calls_is_not_seen() -> None:
    assert np.median(ends(decay(0.2, 1_000), 0.02)) == LEAST


def test_a_change_over_forty_calls_is_seen() -> None:
    excess = decay(0.2, SEEN_WITHIN)
    assert sum(excess[min(end, MOST - 1)] > TOLERANCE for end in ends(excess, 0.05)) <= 0.05 * SEEDS


def test_a_short_cold_start_delays_no_end() -> None:
    cold = np.where(np.arange(MOST) < 10, 1.0, 0.0)
    assert np.median(ends(cold, 0.02)) == LEAST


def test_spikes_do_not_keep_a_unit_from_being_steady() -> None:
    rng = np.random.default_rng(3)
    values = 2e6 * np.exp(0.02 * rng.standard_normal(200)) * np.where(rng.random(200) < 0.05, 20.0, 1.0)
    assert steady_at(values.astype(int).tolist()) is not None
