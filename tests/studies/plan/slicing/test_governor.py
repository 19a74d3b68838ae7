"""The on-demand governor, by hand for steady utilizations, and against a simulation in small steps."""

from __future__ import annotations

from typing import Any

import pytest

from hettop.studies.plan.slicing.costs import CostTable
from hettop.studies.plan.slicing.governor import on_demand_cost
from hettop.studies.plan.slicing.planner import Slice
from tests.studies.plan.slicing.tables import fields, table_of

LEVELS = ["L^100", "L^170", "L^200", "N"]
WATTS = [1.0, 2.0, 5.0, 3.0]


def two(on_n: float, on_l: float) -> tuple[CostTable, list[Slice]]:
    """A layer on N, then one on L that no frequency makes faster."""
    table = table_of(
        fields(
            2,
            "",
            D=LEVELS,
            e=[[99] * 3 + [on_n], [on_l] * 3 + [99]],
            cin=[[0] * 4] * 2,
            cout=[[0] * 4] * 2,
            P=WATTS,
            unit="ms",
        )
    )
    return table, [Slice(0, 0, 3), Slice(1, 1, 2)]


@pytest.mark.parametrize(
    ("on_n", "on_l", "watts"),
    [
        (1, 9, 5),  # 90% is above the threshold: the highest
        (2, 8, 2),  # 80% is not: 100 + 0.8 x 100 = 180 MHz, of which 170 is the closest
        (5, 5, 2),  # 150
        (7, 3, 1),  # 130
    ],
)
def test_the_frequency_is_the_highest_above_the_threshold_and_else_in_proportion(
    on_n: float, on_l: float, watts: float
) -> None:
    """An inference of 10 ms, which is the governor's period."""
    table, slices = two(on_n, on_l)
    assert on_demand_cost(table, slices, energy=False) == pytest.approx(10)
    assert on_demand_cost(table, slices, energy=True) == pytest.approx(on_n * 3 + on_l * watts)


@pytest.mark.parametrize("ms", [4.0, 1e9])
def test_a_device_that_is_always_busy_is_at_its_highest_frequency(ms: float) -> None:
    """Communication included, a tenth at either end; however long a layer is."""
    ends = [[ms / 5, ms / 10]]
    table = table_of(fields(1, "", D=["L^100", "L^200"], e=[[ms * 2, ms]], cin=ends, cout=ends, unit="ms"))
    assert on_demand_cost(table, [Slice(0, 0, 1)], energy=False) == pytest.approx(1.2 * ms)


def test_a_device_that_cannot_run_at_every_frequency_has_no_cost() -> None:
    table = table_of(fields(1, "", D=["L^100", "L^200"], e=[[None, 1]], cin=[[0, 0]], cout=[[0, 0]]))
    assert on_demand_cost(table, [Slice(0, 0, 1)], energy=False) is None


def test_of_a_long_plan_fewer_inferences_are_simulated() -> None:
    """12,000 layers and communications: 16 inferences. The second device is idle for half of each 20 ms."""
    table = table_of(
        fields(4000, "", D=["A", "L^100", "L^200"], e=[[10, 8, 4]] * 4000, cin=[[0] * 3] * 4000, cout=[[0] * 3] * 4000)
    )
    slices = [Slice(layer, layer, layer % 2) for layer in range(4000)]
    cost = on_demand_cost(table, slices, energy=False)
    assert cost is not None
    assert 2000 * (10 + 4) < cost < 2000 * (10 + 8)


def test_it_is_what_a_simulation_in_small_steps_finds() -> None:
    """Both devices change their frequencies within layers that are longer and shorter than the period."""
    names, mhz = ["L^100", "L^150", "L^200", "G^50", "G^400"], {"L": [100, 150, 200], "G": [50, 400]}
    ms = [[22.0, 15.0, 11.0, 9, 9], [9, 9, 9, 18.0, 4.0], [3.0, 2.0, 1.5, 9, 9]]
    watts = [[1.0, 1.6, 3.0, 0, 0], [0, 0, 0, 0.5, 4.0], [1.0, 1.6, 3.0, 0, 0]]
    zero = [[0] * 5] * 3
    table = table_of(fields(3, "", D=names, e=ms, cin=zero, cout=zero, P=watts, unit="ms"))
    slices = [Slice(0, 0, 2), Slice(1, 1, 4), Slice(2, 2, 2)]
    work = [("L", ms[0][:3], watts[0][:3]), ("G", ms[1][3:], watts[1][3:]), ("L", ms[2][:3], watts[2][:3])]
    time, energy = stepped(work, mhz)
    assert on_demand_cost(table, slices, energy=False) == pytest.approx(time, rel=5e-3)
    assert on_demand_cost(table, slices, energy=True) == pytest.approx(energy, rel=5e-3)


def stepped(work: list[tuple[str, list[float], list[float]]], mhz: dict[str, list[int]]) -> tuple[float, float]:
    """Steps of a hundredth of a ms; 10 inferences to settle, 50 that count."""
    step, steps, n, spent, began = 0.01, 0, 0, 0.0, 0
    level: dict[str, int] = dict.fromkeys(mhz, 0)
    busy: dict[str, Any] = dict.fromkeys(mhz, 0)
    while n < 60:
        if n == 10 and not began:
            began, spent = steps, 0.0
        for device, ms, watts in work:
            done = 0.0
            while done < 1:
                done += step / ms[level[device]]
                spent += step * watts[level[device]]
                busy[device] += 1
                steps += 1
                if steps % 1000 == 0:
                    for each, levels in mhz.items():
                        load, busy[each] = busy[each] / 1000, 0
                        wanted = levels[-1] if load > 0.8 else levels[0] + load * (levels[-1] - levels[0])
                        level[each] = min(range(len(levels)), key=lambda at: abs(levels[at] - wanted))
        n += 1
    return (steps - began) * step / 50, spent / 50
