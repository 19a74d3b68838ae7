"""What each layer costs on each device: the table, its units, and the names of devices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from hettop.errors import HettopError
from hettop.text import clean

Floats = npt.NDArray[np.float64]

LATENCY, ENERGY = "latency", "energy"
OBJECTIVES = (LATENCY, ENERGY)
UNITS = {LATENCY: "ms", ENERGY: "mJ"}


@dataclass(frozen=True, slots=True, eq=False)
class CostTable:
    """Costs by layer and device, (layers, devices); infinite where a device cannot run a layer.

    execution: of the layer itself. entry, exit: of communication where a slice begins, or ends, with this layer.
    sizes: MB of each layer, (layers,). limits: MB that a slice may have on each device, (devices,), infinite where
        there is none.
    watts: power by layer and device, (layers, devices), None where the file reports none.
    unit: `ms` or `mJ`, None where the file does not say.
    fallback: names of devices, with or without frequency, that run what a preferred device cannot, in this order; empty
        where the file does not say.
    """

    devices: tuple[str, ...]
    execution: Floats
    entry: Floats
    exit: Floats
    sizes: Floats
    limits: Floats
    watts: Floats | None = None
    unit: str | None = None
    fallback: tuple[str, ...] = ()

    @property
    def layers(self) -> int:
        return len(self.execution)

    def only(self, devices: Sequence[int]) -> CostTable:
        """The table with these devices alone, by their index."""
        chosen = list(devices)
        return replace(
            self,
            devices=tuple(self.devices[index] for index in chosen),
            execution=self.execution[:, chosen],
            entry=self.entry[:, chosen],
            exit=self.exit[:, chosen],
            limits=self.limits[chosen],
            watts=None if self.watts is None else self.watts[:, chosen],
        )


def for_objective(table: CostTable, objective: str) -> CostTable:
    """The table in the objective's unit: ms, or mJ = ms x W.

    A file that names no unit is taken to be in the objective's. Raises HettopError: `input`, if it is in the other
    unit and cannot be converted.
    """
    if objective == ENERGY and table.watts is not None and table.unit != UNITS[ENERGY]:
        energy = [_times(costs, table.watts) for costs in (table.execution, table.entry, table.exit)]
        return replace(table, execution=energy[0], entry=energy[1], exit=energy[2], unit=UNITS[ENERGY])
    if table.unit not in (None, UNITS[objective]):
        hint = 'add "P": watts by device, or by layer and device' if objective == ENERGY else "use --objective energy"
        raise HettopError("input", f"costs in {table.unit} cannot be used for the objective {objective}", hint)
    return replace(table, unit=UNITS[objective])


def times_of(table: CostTable, objective: str) -> CostTable | None:
    """The table if its costs are ms, as `for_objective` takes them to be; None for mJ."""
    in_ms = table.unit == UNITS[LATENCY] or (table.unit is None and (objective == LATENCY or table.watts is not None))
    return table if in_ms else None


def _times(costs: Floats, watts: Floats) -> Floats:
    """What cannot run cannot run at no power either."""
    return np.multiply(costs, watts, where=np.isfinite(costs), out=costs.copy())


FREQUENCY = "^"
"""Parts the name from the frequency: `N^960`."""


def written(device: str, first: int) -> str:
    """A slice in the paper's notation: `N_1`, or `N_1^960`; `first` is its first layer, counted from 1."""
    name, mark, frequency = device.partition(FREQUENCY)
    return f"{clean(name, 30)}_{first}{mark}{clean(frequency, 30)}"


def at_highest_frequency(devices: Sequence[str]) -> list[int]:
    """Indices of the devices that are left where nothing scales its frequency: each name at its highest, and others."""
    highest: dict[str, tuple[float, int]] = {}
    for index, device in enumerate(devices):
        name, frequency = _split(device)
        if frequency is not None:
            highest[name] = max(highest.get(name, (-math.inf, index)), (frequency, index))
    kept = {index for _, index in highest.values()}
    return [index for index, device in enumerate(devices) if _split(device)[1] is None or index in kept]


def kind_of(device: str) -> str:
    """The name without its frequency: `N` of `N^960`."""
    return _split(device)[0]


def mhz_of(device: str) -> float | None:
    """The frequency in its name, None where it has none."""
    return _split(device)[1]


def _split(device: str) -> tuple[str, float | None]:
    """Name and frequency; None without one, or with a word in its place that is not a number."""
    name, _, frequency = device.partition(FREQUENCY)
    try:
        value = float(frequency)
    except ValueError:
        return device, None
    return (name, value) if math.isfinite(value) else (device, None)
