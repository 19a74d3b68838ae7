"""Names of devices: a name alone, or a name with a frequency, for at each frequency a device is one of its own.

Knows text alone; source: MOSAIC, equation 7 and table IV.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from hettop.text import clean

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


def _split(device: str) -> tuple[str, float | None]:
    """Name and frequency; None without one, or with a word in its place that is no number."""
    name, _, frequency = device.partition(FREQUENCY)
    try:
        value = float(frequency)
    except ValueError:
        return device, None
    return (name, value) if math.isfinite(value) else (device, None)
