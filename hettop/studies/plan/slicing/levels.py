"""Devices at frequencies between the lowest and the highest, from costs at these two.

Times by equation 3, power by equations 4 and 5 of MOSAIC, for each layer (docs/method/slicing.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hettop.errors import HettopError
from hettop.studies.plan.slicing.costs import FREQUENCY, CostTable, mhz_of
from hettop.studies.plan.slicing.estimators import Level, dynamic_power
from hettop.text import clean


@dataclass(frozen=True, slots=True)
class Levels:
    """The frequencies of a device, the lowest first, and its static power in W.

    Without volts (0) power is known only where it was measured.
    """

    steps: tuple[Level, ...]
    static_w: float = 0.0


def with_levels(table: CostTable, levels: Mapping[str, Levels]) -> CostTable:
    """The table, in ms, with each device at each of its frequencies; those it has already stay as they are.

    t = gamma / f + epsilon through the times at both ends goes as far from the one to the other as 1 / f does.

    levels: by name without frequency. The table must have each at its lowest and highest. Raises HettopError: `input`.
    """
    for name, each in levels.items():
        table = _with(table, name, each)
    return table


def _with(table: CostTable, name: str, levels: Levels) -> CostTable:
    low, high = levels.steps[0], levels.steps[-1]
    slow, fast = (_column(table, name, level) for level in (low, high))
    watts = table.watts
    if watts is not None and (watts[:, fast] < levels.static_w).any():
        raise _wrong(f"levels: the static power of {clean(name, 30)} is more than its power at the highest frequency")
    known = {mhz_of(device) for device in table.devices if device.partition(FREQUENCY)[0] == name}
    for level in levels.steps:
        if level.mhz in known:
            continue
        if watts is not None and not all(each.volts for each in (level, high)):
            raise _wrong(f"levels: the power of {clean(name, 30)} at {level.mhz:g} MHz is unknown without its voltage")
        way = (1 / level.mhz - 1 / high.mhz) / (1 / low.mhz - 1 / high.mhz)
        execution, entry, leaving = (
            costs[:, fast] * (1 - way) + costs[:, slow] * way for costs in (table.execution, table.entry, table.exit)
        )
        if watts is not None:
            dynamic = watts[:, fast] - levels.static_w
            watts = np.column_stack([watts, dynamic_power(level, high, 1.0) * dynamic + levels.static_w])
        table = replace(
            table,
            devices=(*table.devices, f"{name}{FREQUENCY}{level.mhz:g}"),
            execution=np.column_stack([table.execution, execution]),
            entry=np.column_stack([table.entry, entry]),
            exit=np.column_stack([table.exit, leaving]),
            limits=np.append(table.limits, table.limits[fast]),
            watts=watts,
        )
    return table


def _column(table: CostTable, name: str, level: Level) -> int:
    found = [index for index, device in enumerate(table.devices) if device.partition(FREQUENCY)[0] == name]
    at = next((index for index in found if mhz_of(table.devices[index]) == level.mhz), None)
    if at is None:
        raise _wrong(f"levels: D has no {clean(name, 30)}{FREQUENCY}{level.mhz:g}, its lowest or highest frequency")
    return at


def levels_of(name: str, steps: Sequence[tuple[float, float]], static_w: float = 0.0) -> Levels:
    """From (volts, MHz), the lowest first. Raises HettopError: `input`."""
    mhz = [each for _, each in steps]
    if len(mhz) < 2 or mhz != sorted(set(mhz)) or not mhz[0] > 0:
        raise _wrong(f"levels of {clean(name, 30)}: two or more frequencies above 0 are needed, the lowest first")
    return Levels(tuple(Level(*each) for each in steps), static_w)


def _wrong(why: str) -> HettopError:
    return HettopError("input", why, "see docs/method/slicing.md")
