"""MOSAIC's estimators and its number of plans, recomputed from worked values."""

from __future__ import annotations

import string
from itertools import product

import numpy as np
import pytest

from hettop.stats.quantiles import quantile_interval
from hettop.studies.plan.slicing.baselines import baselines
from hettop.studies.plan.slicing.estimators import energy_mj, fit_communication, fit_time
from hettop.studies.plan.slicing.planner import plan
from hettop.studies.plan.slicing.search import exhaustive, plans_n
from tests.papers.data import tables
from tests.studies.plan.slicing.tables import fields, table_of

WORKED = tables()["mosaic_worked"]


def plans(layers: int, devices: int) -> int:
    return plans_n(table_of(fields(layers, string.ascii_uppercase[:devices])))


def test_times_between_two_frequencies() -> None:
    gpu = WORKED["gpu"]
    time = fit_time((104, gpu["t104"]), (767, gpu["t767"]))
    assert (time.scaling, time.fixed) == pytest.approx((gpu["gamma"], gpu["eps"]))
    for mhz, ms in gpu["t"].items():
        assert time.at(float(mhz)) == pytest.approx(ms)


def test_the_least_energy_is_at_neither_end() -> None:
    """2 W dynamic at the top, .3 W static: 332 MHz takes 14.68 mJ, 104 MHz 23.86, 767 MHz 23."""
    gpu = WORKED["gpu"]
    found = {mhz: energy_mj(gpu["t"][mhz], 2.0 * ratio, 0.3) for mhz, ratio in gpu["pdyn_ratio"].items()}
    assert found == pytest.approx(gpu["energy_Pdyn2W_static0p3W"])
    assert min(found, key=found.__getitem__) == "332"


def test_communication_is_a_line_by_bytes() -> None:
    line = fit_communication(WORKED["comm"]["T"], WORKED["comm"]["c"])
    assert (line.slope, line.offset) == pytest.approx((WORKED["comm"]["alpha"], WORKED["comm"]["beta"]))


def test_the_number_of_plans_of_20_layers_on_4_devices() -> None:
    assert plans(20, 4) == WORKED["plans_L20_D4"] == 76_293_945_312_500


@pytest.mark.parametrize(("layers", "devices"), [(1, 3), (2, 2), (3, 2), (4, 3)])
def test_the_formula_counts_all_plans(layers: int, devices: int) -> None:
    counted = sum(
        devices ** (1 + sum(cuts)) for cuts in product((0, 1), repeat=layers - 1)
    )  # each slice has any device
    assert plans(layers, devices) == counted


@pytest.mark.parametrize("seed", range(10))
def test_plans_equal_the_optimum_of_exhaustive_search_and_no_baseline_is_cheaper(seed: int) -> None:
    """Four devices, seven layers, 100 MB for a slice on the NPU: each of 62,500 plans is tried."""
    rng = np.random.default_rng(seed)
    costs = {name: rng.integers(1, most, (7, 4)).tolist() for name, most in (("e", 60), ("cin", 15), ("cout", 15))}
    sizes = rng.integers(5, 60, 7).tolist()
    table = table_of(fields(7, "BLGN", **costs, size=sizes, limit={"N": 100}))
    best, tried = plan(table).cost, exhaustive(table)
    assert tried is not None
    assert best == tried.cost
    assert all(cost is None or cost >= best for cost in baselines(table).values())


def test_ranks_of_intervals_are_those_of_order_statistics() -> None:
    """Order statistics, 95%; a rank beyond the last sample is no bound, which hettop says instead."""
    for key, (low, high) in tables()["ci_ranks"].items():
        n, _, q = key[1:].partition("_p")
        assert quantile_interval(int(n), float(q)) == (low, high if high <= int(n) else None)
