"""The reorder buffer gives out in order whatever comes in, and has room for so many numbers and no more."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from hettop.studies.coexec.stealing import ReorderBuffer


def test_a_result_waits_for_the_earlier_ones() -> None:
    buffer = ReorderBuffer(4)
    assert list(buffer.put(2)) == []
    assert list(buffer.put(1)) == []
    assert buffer.held == 2
    assert list(buffer.put(0)) == [0, 1, 2]
    assert (buffer.held, buffer.next, buffer.most_held) == (0, 3, 2)


def test_it_admits_as_many_numbers_as_it_is_deep() -> None:
    buffer = ReorderBuffer(3)
    assert [buffer.admits(number) for number in range(5)] == [True, True, True, False, False]
    buffer.put(0)
    assert [buffer.admits(number) for number in range(5)] == [True, True, True, True, False]
    with pytest.raises(ValueError, match="no room for 4"):
        buffer.put(4)


def test_a_result_that_comes_twice_leaves_once() -> None:
    buffer = ReorderBuffer(8)
    assert [list(buffer.put(number)) for number in (0, 0, 2, 2, 1)] == [[0], [], [], [], [1, 2]]


def test_without_depth_there_is_no_buffer() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        ReorderBuffer(0)


@given(st.permutations(range(12)))
def test_all_leave_in_order_in_whatever_order_they_come(arriving: list[int]) -> None:
    buffer = ReorderBuffer(12)
    assert [number for each in arriving for number in buffer.put(each)] == list(range(12))
    assert buffer.most_held <= 11
