"""A plan that somebody wrote down, `N_1, G_9, N_18`, read back as slices of a table.

Knows text and tables; whether the plan is any good is not its concern.
"""

from __future__ import annotations

import math
import re

from hettop.errors import HettopError
from hettop.studies.plan.slicing.costs import CostTable
from hettop.studies.plan.slicing.planner import Plan, Slice, plan_cost, slice_cost
from hettop.text import clean

_PART = re.compile(r"(?P<name>.+)_(?P<first>[1-9][0-9]{0,8})(?P<frequency>\^.+)?")


def read_plan(table: CostTable, text: str) -> Plan:
    """The plan, with what it costs. Raises HettopError: `usage`, naming what is wrong with it."""
    starts: list[int] = []
    devices: list[int] = []
    for part in text.split(","):
        found = _PART.fullmatch(part.strip())
        device = f"{found['name']}{found['frequency'] or ''}" if found else ""
        if found is None or device not in table.devices:
            names = ", ".join(clean(name, 30) for name in table.devices[:8])
            raise _wrong(f"{clean(part.strip(), 60)!r} is no slice on a device of {names}")
        starts.append(int(found["first"]) - 1)
        devices.append(table.devices.index(device))
    if starts[0] != 0 or starts != sorted(set(starts)) or starts[-1] >= table.layers:
        raise _wrong(f"slices must begin with layer 1 and go up, to layer {table.layers} at most")
    ends = [start - 1 for start in starts[1:]] + [table.layers - 1]
    slices = tuple(Slice(*each) for each in zip(starts, ends, devices, strict=True))
    for each in slices:
        if math.isinf(slice_cost(table, each)):
            raise _wrong(
                f"{clean(table.devices[each.device], 30)} cannot run layers {each.first + 1} to {each.last + 1}"
            )
    return Plan(slices, plan_cost(table, slices))


def _wrong(why: str) -> HettopError:
    return HettopError("usage", why, "write a plan as device and first layer: CPU_ONLY@1_1, CPU_ONLY@2_9")
