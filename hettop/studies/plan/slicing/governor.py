"""What a plan costs under the on-demand governor, simulated from a table with several frequencies.

Source of the rule: Pallipadi and Starikovskiy, "The Ondemand Governor", Linux Symposium 2006, as in the kernel's
cpufreq_ondemand.c: above the threshold of utilization the highest frequency, else lowest + utilization x (highest -
lowest), of the available ones the closest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from hettop.studies.plan.slicing.costs import CostTable, Floats, kind_of, mhz_of
from hettop.studies.plan.slicing.planner import Slice

THRESHOLD = 0.8
"""The kernel's default (DEF_FREQUENCY_UP_THRESHOLD); 0.95 where idle time is accounted for exactly."""

PERIOD_MS = 10.0
"""Between two looks at the utilization: the kernel's default for devices that report no transition latency."""

COUNTED, FEWEST = 50, 3
"""Inferences, one after another. A fifth as many before them settle: the first finds all devices at their lowest."""

MOST_WORK = 200_000
"""Layers of all inferences together; of longer plans fewer inferences are simulated."""


@dataclass(slots=True, eq=False)
class _Scaled:
    """A device and its frequencies, the lowest first. busy_ms: since utilization was last looked at."""

    columns: list[int]
    mhz: list[float]
    level: int = 0
    busy_ms: float = 0.0

    def govern(self) -> bool:
        """The rule; whether it is, and was all the time, at its highest frequency and busy."""
        busy, self.busy_ms = self.busy_ms / PERIOD_MS, 0.0
        top, before = len(self.mhz) - 1, self.level
        if busy > THRESHOLD:
            self.level = top
        else:
            wanted = self.mhz[0] + busy * (self.mhz[-1] - self.mhz[0])
            self.level = min(range(top + 1), key=lambda level: abs(self.mhz[level] - wanted))
        return before == self.level == top and busy > 1 - 1e-9


@dataclass(frozen=True, slots=True)
class _Work:
    """A layer or a communication: its time and power at each level of its device."""

    device: _Scaled
    ms: list[float]
    watts: list[float]


@dataclass(slots=True)
class _Machine:
    devices: Sequence[_Scaled]
    now: float = 0.0
    tick: float = PERIOD_MS
    spent_mj: list[float] = field(default_factory=list)

    def run(self, work: _Work) -> None:
        left, steady, device = 1.0, False, work.device
        while True:
            whole = work.ms[device.level]
            ends = self.now + left * whole
            if steady and ends > self.tick:  # nothing changes until this work is done
                self.tick += (ends - self.tick) // PERIOD_MS * PERIOD_MS
                self._spend(work, self.tick)
                left = (ends - self.tick) / whole
                device.busy_ms = 0.0
                self.tick += PERIOD_MS
                steady = False
            elif ends <= self.tick:
                self._spend(work, ends)
                return
            else:
                left -= (self.tick - self.now) / whole
                self._spend(work, self.tick)
                steady = [each.govern() for each in self.devices][self.devices.index(device)]
                self.tick += PERIOD_MS

    def _spend(self, work: _Work, until: float) -> None:
        self.spent_mj.append((until - self.now) * work.watts[work.device.level])
        work.device.busy_ms += until - self.now
        self.now = until


def on_demand_cost(times: CostTable, slices: Sequence[Slice], *, energy: bool) -> float | None:
    """Ms per inference, or mJ if `energy`, of these slices one after another and again; None if a device cannot run
    one at all of its frequencies.

    times: costs in ms, with watts where energy is wanted.
    """
    kinds = {kind_of(times.devices[each.device]): _scaled(times, each.device) for each in slices}
    work = [
        _work(times, kinds[kind_of(times.devices[each.device])], layer, costs)
        for each in slices
        for costs, layer in _parts(times, each)
    ]
    if not all(math.isfinite(ms) for each in work for ms in each.ms):
        return None
    machine = _Machine(list(kinds.values()))
    counted = max(FEWEST, min(COUNTED, MOST_WORK // len(work)))
    for _ in range(-(-counted // 5)):
        for each in work:
            machine.run(each)
    began, machine.spent_mj = machine.now, []
    for _ in range(counted):
        for each in work:
            machine.run(each)
    return (math.fsum(machine.spent_mj) if energy else machine.now - began) / counted


def _scaled(times: CostTable, device: int) -> _Scaled:
    kind = kind_of(times.devices[device])
    columns = [index for index, name in enumerate(times.devices) if kind_of(name) == kind]
    columns.sort(key=lambda index: mhz_of(times.devices[index]) or 0.0)
    return _Scaled(columns, [mhz_of(times.devices[index]) or 0.0 for index in columns])


def _parts(times: CostTable, part: Slice) -> Sequence[tuple[Floats, int]]:
    """Costs by device, and the layer whose power they have."""
    layers = [(times.execution[layer], layer) for layer in range(part.first, part.last + 1)]
    return [(times.entry[part.first], part.first), *layers, (times.exit[part.last], part.last)]


def _work(times: CostTable, device: _Scaled, layer: int, costs: Floats) -> _Work:
    watts = [0.0] * len(device.columns) if times.watts is None else times.watts[layer, device.columns].tolist()
    return _Work(device, costs[device.columns].tolist(), watts)
