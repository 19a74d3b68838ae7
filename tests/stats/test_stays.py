"""How long a series stays in each state."""

from __future__ import annotations

import numpy as np
import pytest

from hettop.session.states import mean_stays


def test_stays_worked_by_hand() -> None:
    # Below 5: runs of 2, 1 and 3; from 5 on: runs of 4 and 1.
    values = [1, 2, 7, 7, 7, 7, 3, 5, 4, 4, 4]
    assert mean_stays(values, [5]) == [2.0, 2.5]


def test_a_state_that_never_occurs_has_no_stay() -> None:
    assert mean_stays([1, 1], [5, 9]) == [2.0, None, None]
    assert mean_stays([], [5]) == [None, None]


def test_sticky_states_are_distinguished_from_alternating_ones() -> None:
    rng = np.random.default_rng(1)
    sticky = np.cumsum(rng.random(20_000) < 1 / 50) % 2
    mixed = rng.integers(0, 2, 20_000)
    assert mean_stays(sticky, [0.5]) == pytest.approx([50, 50], rel=0.15)
    assert mean_stays(mixed, [0.5]) == pytest.approx([2, 2], rel=0.05)
