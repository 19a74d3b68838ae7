"""Which of several lines that contradict each other about time is dropped."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.record.reader import LONGEST_SILENCE_NS, in_order


class Moment(NamedTuple):
    t: int


def kept(times: list[int], last_t: int = 0) -> list[int]:
    return [item.t for item in in_order(map(Moment, times), last_t, lambda dropped: None)]


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([1, 2, 3, 3, 4], [1, 2, 3, 3, 4]),
        ([1, 2, 900, 3, 4, 5], [1, 2, 3, 4, 5]),  # one jumps ahead
        ([1, 2, 900, 901, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7]),  # two do
        ([1, 90, 91, 92, 93, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7]),  # four do
        ([5, 6, 1, 7, 8], [5, 6, 7, 8]),  # one falls back
        ([5, 6, 7, 1], [5, 6, 7]),  # the last falls back
        ([1, 2, 3, LONGEST_SILENCE_NS + 4], [1, 2, 3]),  # the last jumps a day ahead, and nothing confirms it
        ([1, 2, 10**15, 10**15 + 1], [1, 2, 10**15, 10**15 + 1]),  # a long silence that is confirmed
        ([], []),
    ],
)
def test_only_the_outlier_is_dropped(times: list[int], expected: list[int]) -> None:
    assert kept(times) == expected


@given(st.lists(st.integers(0, 50), max_size=60), st.integers(0, 20))
def test_what_is_kept_never_decreases(times: list[int], last_t: int) -> None:
    found = [last_t, *kept(times, last_t)]
    assert found == sorted(found)


@given(st.lists(st.integers(0, 10**6), min_size=8, max_size=60).map(sorted), st.data())
def test_a_single_damaged_time_costs_itself_and_at_most_one_more(times: list[int], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(times) - 1))
    # Far ahead, it is the only one dropped; a little ahead, it may be believed instead of one that was right.
    damaged = [*times]
    damaged[place] = data.draw(st.integers(0, 10**12))
    assert len(kept(damaged)) >= len(times) - 2


@given(st.lists(st.integers(0, 40), min_size=1, max_size=60), st.data())
def test_what_is_kept_does_not_depend_on_where_reading_began(times: list[int], data: st.DataObject) -> None:
    kept_places: list[int] = []

    class Placed(NamedTuple):
        t: int
        place: int

    items = [Placed(t, place) for place, t in enumerate(times)]
    whole = list(in_order(iter(items), 0, lambda dropped: None))
    if not whole:
        return
    begin = data.draw(st.sampled_from(whole))
    rest = list(in_order(iter(items[begin.place + 1 :]), begin.t, lambda dropped: kept_places.append(dropped.place)))
    assert [item.place for item in rest] == [item.place for item in whole if item.place > begin.place]
