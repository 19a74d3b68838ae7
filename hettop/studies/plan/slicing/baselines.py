"""Simpler ways to choose a plan, for comparison: the versions of the paper's evaluation (section VI)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from hettop.errors import HettopError
from hettop.studies.plan.slicing.costs import CostTable, at_highest_frequency, kind_of
from hettop.studies.plan.slicing.governor import on_demand_cost
from hettop.studies.plan.slicing.planner import Slice, plan, plan_cost, slice_cost

NO_COMMUNICATION = "without communication"
NO_DVFS = "without DVFS"
PERFORMANCE, ON_DEMAND = "performance governor", "on-demand governor"
"""The paper's suffixes -P and -O."""

KINDS = (("N", "NPU", "CPU_AND_NE"), ("G", "GPU", "CPU_AND_GPU"), ("B", "BIG", "CPU_ONLY"))
"""What runs that which a preferred device cannot: the NPU, else the GPU, else the big cores."""

SAME_GOVERNORS = (
    "performance and on-demand governors: n/a, no device has several frequencies (N^480, N^960); X preferred is both"
)
NO_TIMES = "the on-demand governor is simulated from times; costs in mJ have none"
SIMULATED = (
    "on-demand governor: simulated; frequencies change every 10 ms, to the highest above 80% utilization, else in "
    "proportion to it"
)

Slices = tuple[Slice, ...]


def baselines(table: CostTable, times: CostTable | None = None) -> dict[str, float | None]:
    """Cost by name; None where that way of choosing finds no plan that can run.

    Those of `baseline_plans`; and where devices have several frequencies, each preferred device under both governors.
    The on-demand governor needs `times`, the table in ms, with watts if `table` is in mJ.
    """
    names = {name: _cost(table, slices) for name, slices in baseline_plans(table).items()}
    fastest = at_highest_frequency(table.devices)
    if len(fastest) == len(table.devices):
        return names
    for device in fastest:
        kind, slices = kind_of(table.devices[device]), preferred(table, device)
        names[f"{kind} preferred, {PERFORMANCE}"] = _cost(table, slices)
        if times is not None:
            energy = table.unit != times.unit and times.watts is not None
            cost = None if slices is None else on_demand_cost(times, slices, energy=energy)
            names[f"{kind} preferred, {ON_DEMAND}"] = cost
    return names


def baseline_notes(table: CostTable, times: CostTable | None) -> Iterator[str]:
    """What is assumed of the governors, or why one is missing."""
    if len(at_highest_frequency(table.devices)) == len(table.devices):
        yield SAME_GOVERNORS
    else:
        yield NO_TIMES if times is None else SIMULATED


def baseline_plans(table: CostTable) -> Mapping[str, Slices | None]:
    """Slices by name, None where there are none that can run.

    `DEVICE preferred` for each device; `without communication` plans as if it cost nothing (the paper's HCA version)
    and pays for it; `without DVFS`, only where devices have frequencies, knows each at its highest alone (HCCA).
    """
    plans = {f"{name} preferred": preferred(table, device) for device, name in enumerate(table.devices)}
    plans[NO_COMMUNICATION] = without_communication(table)
    fastest = at_highest_frequency(table.devices)
    if len(fastest) < len(table.devices):
        found = _planned(table.only(fastest))
        plans[NO_DVFS] = found and tuple(replace(each, device=fastest[each.device]) for each in found)
    return plans


def preferred(table: CostTable, device: int) -> Slices | None:
    """Slices on one device, as long as they can be; None if a layer runs nowhere.

    A layer that this device cannot run is a slice of its own on the first that can of `fallbacks`.
    """
    slices: list[Slice] = []
    others = fallbacks(table)
    for layer in range(table.layers):
        longer = Slice(slices[-1].first, layer, device) if slices and slices[-1].device == device else None
        alone = Slice(layer, layer, device)
        if longer is not None and _runs(table, longer):
            slices[-1] = longer
        elif _runs(table, alone):
            slices.append(alone)
        else:
            able = next(
                (Slice(layer, layer, other) for other in others if _runs(table, Slice(layer, layer, other))), None
            )
            if able is None:
                return None
            slices.append(able)
    return tuple(slices)


def fallbacks(table: CostTable) -> Sequence[int]:
    """Devices that run what a preferred one cannot, in this order, each at its highest frequency.

    As the table says; else by kind, NPU, GPU, big cores as in the paper, and then the others as the table has them.
    """
    fastest = at_highest_frequency(table.devices)
    if table.fallback:
        named = [_named(table, fastest, name) for name in table.fallback]
        return [device for devices in named for device in devices]
    ranks = {name: rank for rank, names in enumerate(KINDS) for name in names}
    return sorted(fastest, key=lambda device: ranks.get(_kind(table.devices[device]), len(KINDS)))


def _named(table: CostTable, fastest: Sequence[int], name: str) -> list[int]:
    if name in table.devices:
        return [table.devices.index(name)]
    return [device for device in fastest if kind_of(table.devices[device]) == name]


def _kind(device: str) -> str:
    """Without frequency and number of threads."""
    return kind_of(device).partition("@")[0].upper()


def without_communication(table: CostTable) -> Slices | None:
    """Slices of the best plan if communication cost nothing; a communication that cannot be still cannot."""
    free = replace(
        table,
        entry=np.where(np.isinf(table.entry), math.inf, 0.0),
        exit=np.where(np.isinf(table.exit), math.inf, 0.0),
    )
    return _planned(free)


def _planned(table: CostTable) -> Slices | None:
    try:
        return plan(table).slices
    except HettopError:
        return None


def _runs(table: CostTable, part: Slice) -> bool:
    return math.isfinite(slice_cost(table, part))


def _cost(table: CostTable, slices: Slices | None) -> float | None:
    cost = math.inf if slices is None else plan_cost(table, slices)
    return cost if math.isfinite(cost) else None
