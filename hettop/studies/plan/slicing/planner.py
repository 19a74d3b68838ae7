"""The cheapest slicing of a chain of layers (a dynamic programme), and plans that are given."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from hettop.errors import HettopError
from hettop.studies.plan.slicing.costs import CostTable, written
from hettop.text import clean

ROUNDING = 1 + 1e-9
"""A slice of 33.3, 33.3 and 33.4 MB is not over a limit of 100 MB, whatever their sum in binary is."""

MOST_NAMED = 6
"""Devices whose reason is reported when a layer runs nowhere; the rest are counted."""


@dataclass(frozen=True, slots=True)
class Slice:
    """Layers `first` to `last`, counted from 0, both included, on the device of this index."""

    first: int
    last: int
    device: int


@dataclass(frozen=True, slots=True)
class Plan:
    """Slices that cover all layers in order, and what they cost together."""

    slices: tuple[Slice, ...]
    cost: float


def plan(table: CostTable) -> Plan:
    """The cheapest plan; of equals the one with the longest last slices, on the device named first.

    O(layers² x devices) time, O(layers x devices) memory. Raises HettopError: `input` if no plan is finite, naming the
    layer that is in the way.
    """
    slices = _slices(table)
    if slices is None:
        raise HettopError("input", _in_the_way(table), "no valid plan: allow a device to run that layer")
    return Plan(slices, plan_cost(table, slices))


def plan_cost(table: CostTable, slices: Sequence[Slice]) -> float:
    """What these slices cost together: infinite if one cannot run."""
    return math.fsum(slice_cost(table, each) for each in slices)


def slice_cost(table: CostTable, part: Slice) -> float:
    """C(first..last, device) of equation 8: execution, and communication at both ends; infinite if it cannot run."""
    layers = slice(part.first, part.last + 1)
    # One after another, as the planner adds them: both must agree on what is over a limit.
    if np.add.accumulate(table.sizes[layers])[-1] > table.limits[part.device] * ROUNDING:
        return math.inf
    ends = table.entry[part.first, part.device] + table.exit[part.last, part.device]
    return float(table.execution[layers, part.device].sum() + ends)


def notation(table: CostTable, slices: Sequence[Slice]) -> str:
    """`N_1, G_9, N_18`: device and first layer, counted from 1, of each slice; with a frequency `N_1^960`."""
    return ", ".join(written(table.devices[each.device], each.first + 1) for each in slices)


def _slices(table: CostTable) -> tuple[Slice, ...] | None:
    """Slices of the cheapest plan, None if there is none.

    At step l, `opened[k, d]` is the least cost of all layers before k, plus that of a slice k..l on d but for
    communication at its end. It grows by one row and by one layer's execution in each step. A slice that is over its
    limit stays so with every layer more, and one that cannot run stays infinite, so neither is looked at again.
    """
    layers, devices = table.execution.shape
    opened = np.full((layers, devices), math.inf)
    held = np.zeros(layers)  # MB of the slice k..l
    limits = table.limits * ROUNDING
    limited = bool(np.isfinite(limits).any())
    came_from = np.empty(layers, dtype=np.intp)
    least = 0.0
    for last in range(layers):
        now = opened[: last + 1]
        now[last] = table.entry[last] + least
        now += table.execution[last]
        if limited:
            held[: last + 1] += table.sizes[last]
            now[held[: last + 1, None] > limits] = math.inf
        ended = now + table.exit[last]
        best = int(ended.argmin())
        came_from[last] = best
        least = float(ended.flat[best])
    return None if math.isinf(least) else tuple(_traced(came_from.tolist(), devices))


def _traced(came_from: Sequence[int], devices: int) -> Iterator[Slice]:
    """From the last slice to the first, reported in order."""
    found, last = [], len(came_from) - 1
    while last >= 0:
        first, device = divmod(came_from[last], devices)
        found.append(Slice(first, last, device))
        last = first - 1
    return reversed(found)


def _in_the_way(table: CostTable) -> str:
    """Why no plan is finite. If each layer could be a slice of its own somewhere, slices of one layer were a plan."""
    for communicating in (False, True):  # what no slice can hold, before what only cannot be at a slice's end
        for layer in range(table.layers):
            reasons = [_reason(table, layer, device, communicating) for device in range(len(table.devices))]
            if all(reasons):
                more = f"; and {len(reasons) - MOST_NAMED} devices more" if len(reasons) > MOST_NAMED else ""
                return f"layer {layer + 1} runs on no device: {'; '.join(reasons[:MOST_NAMED])}{more}"
    raise AssertionError("a plan of single layers would be valid")


def _reason(table: CostTable, layer: int, device: int, communicating: bool) -> str:
    """Why this device cannot run the layer, or not as a slice of its own if `communicating`; empty if it can."""
    name = clean(table.devices[device], 30)
    if math.isinf(table.execution[layer, device]):
        return f"{name} cannot run it"
    if table.sizes[layer] > table.limits[device] * ROUNDING:
        return f"its {table.sizes[layer]:.6g} MB are over the {table.limits[device]:.6g} MB of {name}"
    if communicating and math.isinf(table.entry[layer, device] + table.exit[layer, device]):
        return f"{name} has no communication cost for it"
    return ""


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
            raise _wrong(f"invalid slice {clean(part.strip(), 60)!r} (devices: {names})")
        starts.append(int(found["first"]) - 1)
        devices.append(table.devices.index(device))
    if starts[0] != 0 or starts != sorted(set(starts)) or starts[-1] >= table.layers:
        raise _wrong(f"slices must start at layer 1 and increase, up to layer {table.layers}")
    ends = [start - 1 for start in starts[1:]] + [table.layers - 1]
    slices = tuple(Slice(*each) for each in zip(starts, ends, devices, strict=True))
    for each in slices:
        if math.isinf(slice_cost(table, each)):
            raise _wrong(
                f"{clean(table.devices[each.device], 30)} cannot run layers {each.first + 1} to {each.last + 1}"
            )
    return Plan(slices, plan_cost(table, slices))


def _wrong(why: str) -> HettopError:
    return HettopError("usage", why, "example of a plan (device and first layer): CPU_ONLY@1_1, CPU_ONLY@2_9")
