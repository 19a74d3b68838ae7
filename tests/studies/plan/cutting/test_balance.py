"""Stages of a pipeline: the longest is as short as can be."""

from __future__ import annotations

from itertools import combinations, pairwise

import hypothesis.strategies as st
import pytest
from hypothesis import given

from hettop.studies.granularities.ways import balanced


@pytest.mark.parametrize(
    ("times", "stages", "groups"),
    [
        ([1, 1, 1, 1], 2, [(0, 1), (2, 3)]),
        ([5, 1, 1, 1], 2, [(0, 0), (1, 3)]),
        ([1, 1, 1, 5], 2, [(0, 2), (3, 3)]),
        ([3, 3, 3], 1, [(0, 2)]),
        ([2, 2], 5, [(0, 0), (1, 1)]),
    ],
)
def test_groups_are_as_even_as_can_be(times: list[float], stages: int, groups: list[tuple[int, int]]) -> None:
    assert balanced(times, stages) == groups


@given(st.lists(st.integers(0, 20), min_size=1, max_size=8), st.integers(1, 4))
def test_no_other_way_to_group_has_a_shorter_longest(times: list[int], stages: int) -> None:
    groups = balanced([float(time) for time in times], stages)
    assert [first for first, _ in groups] == [0, *(last + 1 for _, last in groups[:-1])]
    assert groups[-1][1] == len(times) - 1
    count = min(stages, len(times))
    assert len(groups) == count
    every = (
        max(sum(times[a:b]) for a, b in pairwise((0, *cuts, len(times))))
        for cuts in combinations(range(1, len(times)), count - 1)
    )
    assert max(sum(times[first : last + 1]) for first, last in groups) == min(every)
