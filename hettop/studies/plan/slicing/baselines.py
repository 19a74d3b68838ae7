"""What a plan is compared with: simpler ways to choose, each priced by the same table.

Knows how each chooses; every one is a plan itself, so that the best plan is never dearer. Source: MOSAIC, section VI.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from hettop.errors import HettopError
from hettop.studies.plan.slicing.costs import CostTable
from hettop.studies.plan.slicing.devices import at_highest_frequency
from hettop.studies.plan.slicing.planner import Slice, plan, plan_cost, slice_cost

NO_COMMUNICATION = "without communication"
NO_DVFS = "without DVFS"


def baselines(table: CostTable) -> dict[str, float | None]:
    """Cost by name; None where that way of choosing finds no plan that can run.

    `DEVICE preferred` for each device; `without communication` plans as if it cost nothing (the paper's HCA version)
    and pays for it; `without DVFS`, only where devices have frequencies, knows each at its highest alone (HCCA).
    """
    names = {f"{name} preferred": preferred(table, device) for device, name in enumerate(table.devices)}
    names[NO_COMMUNICATION] = _cost(table, without_communication(table))
    fastest = at_highest_frequency(table.devices)
    if len(fastest) < len(table.devices):
        names[NO_DVFS] = _planned(table.only(fastest))
    return names


def preferred(table: CostTable, device: int) -> float | None:
    """The cost of slices as long as they can be on one device.

    A layer that this device cannot run is a slice of its own on the last device of the table that can: the paper falls
    back to the NPU, then to the GPU, then to the big cores, and its tables name them the other way round.
    """
    slices: list[Slice] = []
    for layer in range(table.layers):
        longer = Slice(slices[-1].first, layer, device) if slices and slices[-1].device == device else None
        alone = Slice(layer, layer, device)
        if longer is not None and _runs(table, longer):
            slices[-1] = longer
        elif _runs(table, alone):
            slices.append(alone)
        else:
            others = [Slice(layer, layer, other) for other in reversed(range(len(table.devices)))]
            able = next((other for other in others if _runs(table, other)), None)
            if able is None:
                return None
            slices.append(able)
    return _cost(table, tuple(slices))


def without_communication(table: CostTable) -> tuple[Slice, ...] | None:
    """Slices of the best plan if communication cost nothing; a communication that cannot be still cannot."""
    free = replace(
        table,
        entry=np.where(np.isinf(table.entry), math.inf, 0.0),
        exit=np.where(np.isinf(table.exit), math.inf, 0.0),
    )
    try:
        return plan(free).slices
    except HettopError:
        return None


def _planned(table: CostTable) -> float | None:
    try:
        return plan(table).cost
    except HettopError:
        return None


def _runs(table: CostTable, part: Slice) -> bool:
    return math.isfinite(slice_cost(table, part))


def _cost(table: CostTable, slices: tuple[Slice, ...] | None) -> float | None:
    cost = math.inf if slices is None else plan_cost(table, slices)
    return cost if math.isfinite(cost) else None
