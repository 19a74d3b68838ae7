"""Other ways to choose cost what they cost by hand, and never less than the plan."""

from __future__ import annotations

from hypothesis import given, settings

from hettop.errors import HettopError
from hettop.studies.plan.slicing.planner import baselines, plan
from tests.studies.plan.slicing.tables import Fields, fields, random_fields, table_of


@given(random_fields(most_layers=6))
@settings(max_examples=200, deadline=None)
def test_the_plan_is_never_dearer_than_a_baseline(drawn: Fields) -> None:
    table = table_of(drawn)
    found = baselines(table)
    try:
        best = plan(table).cost
    except HettopError:
        assert set(found.values()) == {None}
        return
    assert all(cost is None or cost >= best for cost in found.values())


def test_a_preferred_device_has_slices_as_long_as_its_limit_lets_them_be() -> None:
    """N: layers 1-2 and 3, 10 each, 3 at both ends of both slices."""
    table = table_of(fields(3, "BN", cin=[[0, 3]] * 3, cout=[[0, 3]] * 3, size=[50] * 3, limit={"N": 100}))
    assert baselines(table)["N preferred"] == 30 + 2 * 6
    assert baselines(table)["B preferred"] == 30


def test_what_the_preferred_device_cannot_run_goes_to_the_last_device_that_can() -> None:
    """B cannot run layer 2: it goes to N, though G were cheaper, and pays there."""
    table = table_of(
        fields(3, "BGN", e=[[1, 1, 1], [None, 2, 7], [1, 1, 1]], cin=[[0, 0, 5]] * 3, cout=[[0, 0, 5]] * 3)
    )
    assert baselines(table)["B preferred"] == 1 + (5 + 7 + 5) + 1


def test_a_preferred_device_without_a_way_out_has_no_cost() -> None:
    table = table_of(fields(2, "AB", size=[1, 200], limit={"A": 100, "B": 100}))
    assert set(baselines(table).values()) == {None}


def test_planning_without_communication_pays_for_it_afterwards() -> None:
    """Layers alternate between two devices by a gain of 1 each; moving costs 10 at each end."""
    costs = [[1, 2], [2, 1], [1, 2]]
    table = table_of(fields(3, "AB", e=costs, cin=[[10, 10]] * 3, cout=[[10, 10]] * 3))
    assert baselines(table)["without communication"] == 3 + 3 * 20
    assert plan(table).cost == 4 + 20


def test_without_dvfs_each_device_is_known_at_its_highest_frequency_only() -> None:
    """Compared as numbers: 1018 is above 960. The device without a frequency stays."""
    table = table_of(fields(2, "xyz", D=["L^960", "L^1018", "B"], e=[[1, 5, 9], [1, 5, 4]]))
    assert baselines(table)["without DVFS"] == 9
    assert plan(table).cost == 2


def test_devices_without_frequencies_have_no_such_baseline() -> None:
    assert set(baselines(table_of(fields(1, "AB", D=["A^high", "B"])))) == {
        "A^high preferred",
        "B preferred",
        "without communication",
    }
