"""The best of all plans by trying each, where they are few enough, and the best of plans drawn at random.

Source: the exhaustive version in MOSAIC's evaluation (section VI), which is 1,000 random plans and those of the other
versions; here a search is called exhaustive only if it tries all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hettop.studies.plan.slicing.costs import CostTable, Floats
from hettop.studies.plan.slicing.planner import ROUNDING, Plan, Slice, plan_cost

MOST_TRIED = 2_000_000
"""Plans tried exhaustively: about a second."""

AT_ONCE = 20_000
"""Begun plans that are continued together, for the memory that they need."""

RANDOM_PLANS, SEED = 1_000, 0
"""As many as the paper's."""

MOST_DRAWS = 20
"""Times that as many plans are drawn as are wanted, to find so many different ones that can run."""

MOST_WORK = 10_000_000
"""Layers of all random plans together; of longer models fewer plans are drawn."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Drawn:
    """Different random plans that can run, and their costs.

    choices: by plan and layer, as `_Begun.grown` takes them.
    """

    choices: Ints
    costs: Floats
    seed: int = SEED

    def __len__(self) -> int:
        return len(self.costs)

    def plans(self, table: CostTable) -> Iterator[Plan]:
        return (plan_of(table, row) for row in self.choices)

    def best(self, table: CostTable) -> Plan | None:
        return plan_of(table, self.choices[int(self.costs.argmin())]) if len(self.costs) else None


@dataclass(frozen=True, slots=True)
class Search:
    """possible: how many plans there are, whether or not they can run. tried: whether all were; optimum: the best of
    them, None if none can run."""

    possible: int
    tried: bool
    optimum: Plan | None
    drawn: Drawn


def search(table: CostTable, *, most: int = MOST_TRIED) -> Search:
    """Tries all plans if there are no more than `most`, and draws random ones."""
    possible = plans_n(table)
    tried = possible <= most
    return Search(possible, tried, exhaustive(table) if tried else None, random_plans(table))


def plans_n(table: CostTable) -> int:
    """D (D + 1)^(L - 1): a device for the first layer; each further one goes on, or begins a slice on any device."""
    devices = len(table.devices)
    return devices * int((devices + 1) ** (table.layers - 1))


@dataclass(frozen=True, slots=True)
class _Begun:
    """Plans of the first layers, an entry each. held: MB of the slice that is open, on `device`."""

    cost: Floats
    device: Ints
    held: Floats

    def grown(self, table: CostTable, layer: int, chosen: Ints) -> _Begun:
        """With the next layer: 0 goes on with the slice, d + 1 begins one on device d."""
        begins = chosen > 0
        device = np.where(begins, chosen - 1, self.device)
        ended = table.exit[layer - 1, self.device] if layer else 0.0
        held = np.where(begins, 0.0, self.held) + table.sizes[layer]
        cost = self.cost + np.where(begins, ended + table.entry[layer, device], 0.0) + table.execution[layer, device]
        cost[held > table.limits[device] * ROUNDING] = math.inf
        return _Begun(cost, device, held)

    def repeated(self, part: slice, times: int) -> _Begun:
        """Some of the plans, each so many times in a row."""
        cost, device, held = self.cost[part], self.device[part], self.held[part]
        return _Begun(np.repeat(cost, times), np.repeat(device, times), np.repeat(held, times))


def _none(n: int) -> _Begun:
    return _Begun(np.zeros(n), np.zeros(n, dtype=np.int64), np.zeros(n))


def exhaustive(table: CostTable) -> Plan | None:
    """The best of all plans, each tried; of equals the first. None if none can run.

    Plan n has the choice of each layer as a digit of n, to the base devices + 1; the first layer's is its device.
    """
    layers, devices = table.execution.shape
    cost, best = _least(table, _none(devices).grown(table, 0, np.arange(devices) + 1), 1)
    if math.isinf(cost):
        return None
    choices = []
    for _ in range(1, layers):
        best, choice = divmod(best, devices + 1)
        choices.append(choice)
    return plan_of(table, np.array([best + 1, *reversed(choices)]))


def _least(table: CostTable, begun: _Begun, layer: int) -> tuple[float, int]:
    """The least cost of all ways to go on with these plans from this layer on, and its number."""
    layers, devices = table.execution.shape
    if layer == layers:
        costs = begun.cost + table.exit[-1, begun.device]
        return float(costs.min()), int(costs.argmin())
    ways = (devices + 1) ** (layers - layer)
    least = (math.inf, 0)
    for first in range(0, len(begun.cost), AT_ONCE):
        some = begun.repeated(slice(first, first + AT_ONCE), devices + 1)
        grown = some.grown(table, layer, np.tile(np.arange(devices + 1), len(some.cost) // (devices + 1)))
        cost, number = _least(table, grown, layer + 1)
        least = min(least, (cost, first * ways + number))
    return least


def random_plans(table: CostTable, n: int = RANDOM_PLANS, seed: int = SEED) -> Drawn:
    """Up to `n` different plans that can run. Each layer goes on with its slice or begins one on any device that can
    run it, all with the same probability; without limits and unsupported layers all plans are equally likely."""
    rng = np.random.default_rng(seed)
    n = min(n, MOST_WORK // table.layers)
    choices, costs = np.empty((0, table.layers), dtype=np.int64), np.empty(0)
    for _ in range(MOST_DRAWS):
        more, theirs = _drawn(table, n, rng)
        choices, costs = np.concatenate([choices, more]), np.concatenate([costs, theirs])
        first = np.sort(np.unique(choices, axis=0, return_index=True)[1])[:n]
        choices, costs = choices[first], costs[first]
        if len(costs) == n:
            break
    return Drawn(choices, costs, seed)


def _drawn(table: CostTable, n: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Choices and costs of those of n draws that can run."""
    choices = np.empty((n, table.layers), dtype=np.int64)
    begun = _none(n)
    for layer in range(table.layers):
        able = np.flatnonzero(np.isfinite(table.execution[layer]) & (table.sizes[layer] <= table.limits * ROUNDING))
        if not len(able):
            return choices[:0], begun.cost[:0]
        goes_on = np.isfinite(table.execution[layer, begun.device]) & (layer > 0)
        goes_on &= begun.held + table.sizes[layer] <= table.limits[begun.device] * ROUNDING
        picked = rng.integers(0, len(able) + goes_on)
        choices[:, layer] = np.where(goes_on & (picked == 0), 0, able[picked - goes_on] + 1)
        begun = begun.grown(table, layer, choices[:, layer])
    costs = begun.cost + table.exit[-1, begun.device]
    runs = np.isfinite(costs)
    return choices[runs], costs[runs]


def plan_of(table: CostTable, choices: Ints) -> Plan:
    """The plan of these choices, one for each layer."""
    starts = np.flatnonzero(choices).tolist()
    ends = [start - 1 for start in starts[1:]] + [table.layers - 1]
    slices = tuple(Slice(first, last, int(choices[first]) - 1) for first, last in zip(starts, ends, strict=True))
    return Plan(slices, plan_cost(table, slices))
