"""The plan is the cheapest there is, runs within all limits, and its absence is explained by a layer."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings

from hettop.errors import HettopError
from hettop.studies.plan.slicing.costs import CostTable
from hettop.studies.plan.slicing.planner import Plan, Slice, notation, plan, plan_cost, slice_cost
from tests.studies.plan.slicing.tables import Fields, fields, least_cost, part_cost, random_fields, table_of


def planned(given_fields: Fields) -> tuple[CostTable, Plan]:
    table = table_of(given_fields)
    return table, plan(table)


@given(random_fields())
@settings(max_examples=300, deadline=None)
def test_the_plan_costs_what_the_best_of_all_plans_costs(drawn: Fields) -> None:
    expected = least_cost(drawn)
    table = table_of(drawn)
    if math.isinf(expected):
        with pytest.raises(HettopError, match="runs on no device"):
            plan(table)
        return
    best = plan(table)
    assert best.cost == expected
    assert [each.first for each in best.slices] == [0, *(each.last + 1 for each in best.slices[:-1])]
    assert best.slices[-1].last == drawn["L"] - 1
    assert sum(part_cost(drawn, each.first, each.last + 1, each.device) for each in best.slices) == expected


def test_one_layer_on_one_device_is_a_plan() -> None:
    table, best = planned(fields(1, "A", e=[[3]], cin=[[1]], cout=[[2]]))
    assert best == Plan((Slice(0, 0, 0),), 6.0)
    assert notation(table, best.slices) == "A_1"


def test_communication_is_paid_between_two_slices_on_the_same_device_too() -> None:
    """100 MB hold two of the three layers: 3 x 10, and twice 4 + 5 at the ends of two slices."""
    table, best = planned(fields(3, "N", cin=[[4]] * 3, cout=[[5]] * 3, size=[50] * 3, limit={"N": 100}))
    assert best.cost == 48
    assert len(best.slices) == 2
    assert {table.devices[each.device] for each in best.slices} == {"N"}


def test_of_plans_that_cost_the_same_the_one_with_fewer_slices_and_the_first_device_is_taken() -> None:
    assert planned(fields(4, "AB"))[1].slices == (Slice(0, 3, 0),)


def test_a_slice_that_fills_its_limit_in_decimal_numbers_runs() -> None:
    """.1 + .2 is .30000000000000004 in binary."""
    assert len(planned(fields(2, "N", size=[0.1, 0.2], limit={"N": 0.3}))[1].slices) == 1


def test_a_size_over_the_limit_by_a_millionth_splits_the_slice() -> None:
    assert len(planned(fields(2, "N", size=[0.1, 0.2], limit={"N": 0.2999997}))[1].slices) == 2


def test_small_costs_beside_a_huge_one_still_decide() -> None:
    """Differences of sums from the first layer on would lose the ones behind 1e15."""
    costs = [[1e15, 1e15], [0.25, 0.125], [0.125, 0.25]]
    _, best = planned(fields(3, "AB", e=costs))
    assert best.slices[-2:] == (Slice(0, 1, 1), Slice(2, 2, 0))


def test_notation_has_the_first_layer_and_the_frequency() -> None:
    assert notation(table_of(fields(18, "NG")), (Slice(0, 7, 0), Slice(8, 16, 1), Slice(17, 17, 0))) == "N_1, G_9, N_18"
    scaled = table_of(fields(2, "AB", D=["N^960", "L^509"]))
    assert notation(scaled, (Slice(0, 0, 0), Slice(1, 1, 1))) == "N_1^960, L_2^509"


def test_names_of_devices_reach_no_terminal_as_they_are() -> None:
    table = replace(table_of(fields(1, "A")), devices=("A\x1b[31m",))  # not of a file, which would be refused
    assert "\x1b" not in notation(table, plan(table).slices)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"e": [[1, 1], [None, None], [1, 1]]}, "layer 2 runs on no device: A cannot run it; B cannot run it"),
        (
            {"e": [[1, 1], [1, 1], [None, 1]], "size": [1, 1, 120.5], "limit": {"B": 100}},
            "layer 3 runs on no device: A cannot run it; its 120.5 MB are over the 100 MB of B",
        ),
        (
            {"e": [[1, None], [1, None], [1, None]], "cout": [[None, 0]] * 3},
            "layer 1 runs on no device: A has no communication cost for it; B cannot run it",
        ),
        (
            {"e": [[1, None], [1, 1], [None, None]], "cout": [[None, 0], [0, 0], [0, 0]]},
            "layer 3 runs on no device: A cannot run it; B cannot run it",
        ),
    ],
)
def test_without_a_finite_plan_the_layer_in_the_way_and_the_reasons_are_named(changed: Fields, words: str) -> None:
    with pytest.raises(HettopError) as refused:
        planned(fields(3, "AB", **({"cin": [[0, 0]] * 3} | changed)))
    assert refused.value.message == words


def test_a_slice_that_cannot_end_with_a_layer_may_hold_it() -> None:
    _, best = planned(fields(3, "A", cout=[[None], [0], [0]]))
    assert best.slices == (Slice(0, 2, 0),)


def test_reasons_of_many_devices_are_counted() -> None:
    names = [f"d{number}" for number in range(100)]
    with pytest.raises(HettopError, match=r"d5 cannot run it; and 94 devices more$"):
        planned(fields(1, "A", D=names, e=[[None] * 100], cin=[[0] * 100], cout=[[0] * 100]))


def test_slices_that_cannot_run_cost_infinity() -> None:
    table = table_of(fields(2, "N", size=[60, 60], limit={"N": 100}))
    assert math.isinf(slice_cost(table, Slice(0, 1, 0)))
    assert plan_cost(table, [Slice(0, 0, 0), Slice(1, 1, 0)]) == 20
