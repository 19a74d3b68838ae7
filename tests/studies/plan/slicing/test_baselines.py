"""Other ways to choose cost what they cost by hand, and never less than the plan."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from hettop.errors import HettopError
from hettop.studies.plan.slicing.baselines import (
    NO_TIMES,
    SAME_GOVERNORS,
    SIMULATED,
    baseline_notes,
    baselines,
    fallbacks,
)
from hettop.studies.plan.slicing.costs import for_objective
from hettop.studies.plan.slicing.planner import plan
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


def test_what_the_preferred_device_cannot_run_goes_to_the_npu() -> None:
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


def test_the_fallback_is_the_npu_then_the_gpu_then_the_big_cores() -> None:
    """L cannot run the only layer: in whatever order a table has the others, and at their highest frequency."""
    table = table_of(fields(1, "123456", D=["L", "X", "big^5", "big^9", "GPU", "N@1"]))
    assert [table.devices[each] for each in fallbacks(table)] == ["N@1", "GPU", "big^9", "L", "X"]
    mac = table_of(fields(1, "123", D=["CPU_ONLY@2", "CPU_AND_GPU", "CPU_AND_NE"]))
    assert [mac.devices[each] for each in fallbacks(mac)] == ["CPU_AND_NE", "CPU_AND_GPU", "CPU_ONLY@2"]


def test_a_table_names_its_own_fallback() -> None:
    """L^5 is named itself, B by its kind, at its highest; nothing else is fallen back to."""
    table = table_of(fields(1, "12345", D=["B^1", "B^2", "L^5", "L^6", "N"], fallback=["L^5", "B"]))
    assert [table.devices[each] for each in fallbacks(table)] == ["L^5", "B^2"]
    alone = table_of(fields(1, "NAB", e=[[None, 1, None]], fallback=["B"]))
    assert baselines(alone)["N preferred"] is None


def test_without_kinds_the_first_device_of_the_table_is_the_fallback() -> None:
    table = table_of(fields(1, "XYZ", e=[[None, 2, 3]]))
    assert baselines(table)["X preferred"] == 2


FREQUENCIES = fields(
    2, "", D=["L^100", "L^200", "N"], e=[[20, 10, None], [20, 10, 30]], cin=[[0] * 3] * 2, cout=[[0] * 3] * 2
)


def test_each_kind_is_preferred_under_both_governors_where_there_are_frequencies() -> None:
    """L: always busy, at 200 MHz. N: 30 ms, then L for the layer that N cannot run. L is idle for 30 of 40 ms, that is
    for whole periods, so that it begins at 100 MHz and is at 200 only after the period's end."""
    table = table_of(FREQUENCIES)
    found = baselines(table, table)
    assert found["L preferred, performance governor"] == found["L^200 preferred"] == 20
    assert found["L preferred, on-demand governor"] == 20
    assert found["N preferred, performance governor"] == 40
    on_demand = found["N preferred, on-demand governor"]
    assert on_demand is not None
    assert 40 < on_demand <= 50


def test_energy_under_the_governor_is_of_times_and_watts() -> None:
    """Always at 200 MHz, 5 W: 20 ms x 5 W. Of mJ alone there are no times."""
    times = table_of({**FREQUENCIES, "P": [1, 5, 3], "unit": "ms"})
    energy = for_objective(times, "energy")
    assert baselines(energy, times)["L preferred, on-demand governor"] == pytest.approx(100)
    assert "L preferred, on-demand governor" not in baselines(energy)
    assert list(baseline_notes(energy, None)) == [NO_TIMES]
    assert list(baseline_notes(energy, times)) == [SIMULATED]


def test_without_frequencies_the_governors_are_one() -> None:
    table = table_of(fields(1, "AB"))
    assert list(baseline_notes(table, table)) == [SAME_GOVERNORS]
