"""Slots of time, and how they are written down."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.session.causes import MOST_SLOTS, SLOT_NS, occupied, runs_of, slots_of


@given(st.sets(st.integers(100, 400)))
def test_what_is_written_down_is_read_again(chosen: set[int]) -> None:
    slots = sorted(chosen)
    assert slots_of(runs_of(slots, 100), 100) == slots


def test_runs_worked_by_hand() -> None:
    # From slot 10 on: 2 left out, 12 to 14 taken, 5 left out, 20 taken.
    assert runs_of([12, 13, 14, 20], 10) == [2, 3, 5, 1]
    assert runs_of([10], 10) == [0, 1]
    assert runs_of([], 10) == []


def test_a_line_that_names_a_million_slots_is_refused() -> None:
    with pytest.raises(ValueError, match="too many"):
        slots_of([0, MOST_SLOTS + 1], 0)


@given(st.lists(st.integers(0, 4 * SLOT_NS), min_size=1, max_size=60), st.integers(-1, 30))
def test_occupied_slots_are_those_with_a_moment_in_them(steps: list[int], after: int) -> None:
    ends = np.cumsum(steps)
    expected = sorted({end // SLOT_NS for end in ends.tolist()} - set(range(after + 1)))
    assert list(occupied(ends, after, max(steps[1:], default=0))) == expected
