"""Trying all plans finds what brute force finds; random plans differ, can run, and cost what they cost."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from hettop.studies.plan.slicing import search as module
from hettop.studies.plan.slicing.planner import Slice, notation, plan_cost, read_plan
from hettop.studies.plan.slicing.search import exhaustive, plan_of, plans_n, random_plans, search
from tests.studies.plan.slicing.tables import Fields, fields, least_cost, part_cost, random_fields, table_of


@given(random_fields(most_layers=5))
@settings(max_examples=150, deadline=None)
def test_trying_all_plans_finds_the_optimum(drawn: Fields) -> None:
    table = table_of(drawn)
    found, least = exhaustive(table), least_cost(drawn)
    if found is None:
        assert math.isinf(least)
    else:
        assert found.cost == plan_cost(table, found.slices) == least


def test_plans_are_continued_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The optimum is the same: B for the cheap second layer, of 3 + 1 + 3 and 2 ends each."""
    table = table_of(
        fields(3, "AB", e=[[3, 9], [9, 1], [3, 9]], cin=[[1, 1], [1, 1], [1, 1]], cout=[[0, 0], [0, 0], [0, 0]])
    )
    monkeypatch.setattr(module, "AT_ONCE", 1)
    found = exhaustive(table)
    assert found is not None
    assert (notation(table, found.slices), found.cost) == ("A_1, B_2, A_3", 10)


def test_more_plans_than_may_be_tried_are_counted_only() -> None:
    """2 devices, 3 layers: 2 x 3 x 3."""
    table = table_of(fields(3, "AB"))
    assert (search(table, most=18).tried, search(table, most=17).tried) == (True, False)
    assert search(table, most=17).optimum is None
    assert search(table, most=17).possible == plans_n(table) == 18


def every_plan(given: Fields) -> set[tuple[Slice, ...]]:
    """All that can run: by the choice of each layer, the first of which begins a slice."""
    table = table_of(given)
    layers, devices = table.execution.shape
    choices = product(range(1, devices + 1), *[range(devices + 1)] * (layers - 1))
    plans = {plan_of(table, np.array(each)).slices for each in choices}

    def runs(part: Slice) -> bool:
        return math.isfinite(part_cost(given, part.first, part.last + 1, part.device))

    return {slices for slices in plans if all(map(runs, slices))}


@given(random_fields(most_layers=3, most_devices=3))
@settings(max_examples=60, deadline=None)
def test_random_plans_of_few_possible_ones_are_all_that_can_run(drawn: Fields) -> None:
    table = table_of(drawn)
    found = random_plans(table, 200)
    assert {each.slices for each in found.plans(table)} == every_plan(drawn)
    assert found.costs.tolist() == [each.cost for each in found.plans(table)]


def test_random_plans_differ_and_are_the_same_for_the_same_seed() -> None:
    table = table_of(fields(20, "BLGN"))
    first, again, other = random_plans(table), random_plans(table), random_plans(table, seed=1)
    assert len({each.slices for each in first.plans(table)}) == len(first) == 1000
    assert np.array_equal(first.choices, again.choices)
    assert not np.array_equal(first.choices, other.choices)


def test_all_plans_are_equally_likely() -> None:
    """Two layers on two devices: six plans, 1000 each of 6000 draws, with a standard deviation of 29."""
    table = table_of(fields(2, "AB"))
    choices, _ = module._drawn(table, 6000, np.random.default_rng(1))
    _, counts = np.unique(choices, axis=0, return_counts=True)
    assert len(counts) == 6
    assert abs(counts - 1000).max() < 120


def test_the_best_random_plan_is_that_of_least_cost() -> None:
    table = table_of(fields(2, "AB", e=[[7, 3], [1, 9]], cin=[[1, 1]] * 2, cout=[[1, 1]] * 2))
    assert random_plans(table).best(table) == read_plan(table, "B_1, A_2")


def test_where_nothing_can_run_there_is_no_plan() -> None:
    table = table_of(fields(2, "A", e=[[1], [None]]))
    found = search(table)
    assert (found.optimum, len(found.drawn), found.drawn.best(table)) == (None, 0, None)
