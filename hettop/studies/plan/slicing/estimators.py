"""Costs that were not measured, from few that were: communication by size, time and power by frequency.

Pure arithmetic; source: MOSAIC, equations 1 to 5 (docs/method/slicing.md has the worked values).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hettop.errors import HettopError


@dataclass(frozen=True, slots=True)
class Communication:
    """c = slope x bytes + offset (equations 1 and 2; the paper's alpha and beta).

    slope: cost a byte. r_squared: share of the measured costs' variance that the line explains, None where they have
        none, so that there is nothing to explain.
    """

    slope: float
    offset: float
    r_squared: float | None
    n: int

    def at(self, nbytes: float) -> float:
        """The cost of moving `nbytes`."""
        return self.slope * nbytes + self.offset


def fit_communication(nbytes: Sequence[float], costs: Sequence[float]) -> Communication:
    """The least-squares line through costs of tensors of these sizes. Raises HettopError: `input`."""
    if len(nbytes) != len(costs):
        raise HettopError("input", f"{len(nbytes)} sizes and {len(costs)} costs: each size needs its cost")
    sizes, measured = np.asarray(nbytes, dtype=np.float64), np.asarray(costs, dtype=np.float64)
    if len(set(nbytes)) < 2 or not (np.isfinite(sizes).all() and np.isfinite(measured).all()):
        raise HettopError("input", "a fit needs costs of at least two tensor sizes", "measure further sizes")
    spread = sizes - sizes.mean()
    slope = float(spread @ (measured - measured.mean()) / (spread @ spread))
    offset = float(measured.mean() - slope * sizes.mean())
    variation = float(np.square(measured - measured.mean()).sum())
    left = float(np.square(measured - (slope * sizes + offset)).sum())
    return Communication(slope, offset, 1 - left / variation if variation > 0 else None, len(costs))


@dataclass(frozen=True, slots=True)
class Time:
    """t = scaling / f + fixed (equation 3; the paper's gamma and epsilon), in the time's unit, f in MHz.

    Between the two frequencies it was fitted by, an interpolation; the paper gives no information about others.
    """

    scaling: float
    fixed: float

    def at(self, mhz: float) -> float:
        return self.scaling / mhz + self.fixed


def fit_time(lowest: tuple[float, float], highest: tuple[float, float]) -> Time:
    """From (MHz, time) at the lowest and at the highest frequency. Raises HettopError: `input`."""
    (low, slow), (high, fast) = lowest, highest
    if not 0 < low < high < math.inf:
        raise HettopError("input", f"{low:g} and {high:g} MHz: two frequencies are needed, the lower first")
    scaling = (slow - fast) / (1 / low - 1 / high)
    return Time(scaling, slow - scaling / low)


@dataclass(frozen=True, slots=True)
class Level:
    """A step of voltage and frequency."""

    volts: float
    mhz: float


def dynamic_power(level: Level, top: Level, at_top: float) -> float:
    """Dynamic power at `level` from that at the highest level (equation 5): as V² f; in the unit of `at_top`."""
    return level.volts**2 * level.mhz / (top.volts**2 * top.mhz) * at_top


def energy_mj(time_ms: float, dynamic_w: float, static_w: float) -> float:
    """Energy of a layer in mJ: time x (dynamic + static power) (equation 4)."""
    return time_ms * (dynamic_w + static_w)
