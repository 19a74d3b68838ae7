"""What was measured of a model's layers and of this machine, as data, with the arithmetic of the roofline.

Pure: knows neither who measured nor who shows it. Source: Williams et al., "Roofline", CACM 52(4), 2009.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

COMPUTE, MEMORY = "compute", "memory"

FLOPS_PER_MAC = 2

TOLERANCE = 1.1
"""How far above a roof a layer may be before the roof is doubted: other kernels are a little better than those that
were measured, and no two moments of a machine are the same."""


@dataclass(frozen=True, slots=True)
class LayerRow:
    """One layer as it ran: an operation of the model, with those that the runtime fused into it.

    ms: mean time of a call. share: of the sum of all layers. macs, nbytes: None where they cannot be counted; bytes of
        weights, of values that come in and of values that leave, each moved once; what stays inside a fused layer is
        not moved. fused: names of the other operations in it. ran_as: the runtime's name.
    device: where a plan would run it; fallback: whether that is not the device that the unit is chosen for. Both None
        where nothing tells.
    """

    name: str
    op: str
    ms: float
    share: float
    macs: int | None
    nbytes: int | None
    fused: tuple[str, ...] = ()
    ran_as: str = ""
    device: str | None = None
    fallback: bool | None = None

    @property
    def oi(self) -> float | None:
        """Theoretical operational intensity, MACs per byte."""
        return None if self.macs is None or not self.nbytes else self.macs / self.nbytes

    @property
    def gflops(self) -> float | None:
        """Achieved 10^9 floating-point operations a second, two for each MAC; None for a layer that has no MACs."""
        return FLOPS_PER_MAC * self.macs / (self.ms * 1e6) if self.macs and self.ms > 0 else None

    @property
    def gbytes_per_s(self) -> float | None:
        """The bytes of the layer by its time, 10^9 a second: what memory, or a cache, gave."""
        return self.nbytes / (self.ms * 1e6) if self.nbytes and self.ms > 0 else None


@dataclass(frozen=True, slots=True)
class Kernel:
    """A micro-benchmark: the best and the median rate over its repeats, in GFLOP/s or GB/s."""

    name: str
    best: float
    median: float


@dataclass(frozen=True, slots=True)
class Roofs:
    """What this machine can do with so many threads: the best of the compute kernels and of the streaming ones.

    cache_bytes: of the last level of cache, None if the system does not tell.
    """

    threads: int
    compute: tuple[Kernel, ...]
    streaming: tuple[Kernel, ...]
    repeats: int
    cache_bytes: int | None = None

    @property
    def gflops(self) -> float:
        return _best(self.compute).best

    @property
    def gbytes_per_s(self) -> float:
        return _best(self.streaming).best

    @property
    def ridge(self) -> float:
        """FLOP per byte from which on computing is the limit."""
        return self.gflops / self.gbytes_per_s

    def bound(self, layer: LayerRow) -> str | None:
        """`compute` or `memory` by the ridge, whatever the layer achieves; None where its work is unknown."""
        intensity = _flop_per_byte(layer)
        return None if intensity is None else COMPUTE if intensity > self.ridge else MEMORY

    @property
    def near(self) -> tuple[float, float]:
        """FLOP per byte between which the ridge may lie: by the best and the usual calls of the kernels at the roofs,
        and by `TOLERANCE` at least."""
        compute, memory = _best(self.compute), _best(self.streaming)
        low = compute.median / memory.best
        high = compute.best / memory.median if memory.median > 0 else math.inf
        return min(low, self.ridge / TOLERANCE), max(high, self.ridge * TOLERANCE)

    def near_ridge(self, layer: LayerRow) -> bool | None:
        """Whether either may limit it, for all that was measured; None where its work is unknown."""
        intensity, (low, high) = _flop_per_byte(layer), self.near
        return None if intensity is None else low <= intensity <= high

    def attainable(self, layer: LayerRow) -> float | None:
        """GFLOP/s under the roofs: min(peak, intensity x bandwidth)."""
        intensity = _flop_per_byte(layer)
        return None if intensity is None else min(self.gflops, intensity * self.gbytes_per_s)

    def cache_resident(self, layer: LayerRow) -> bool | None:
        """Whether all that the layer moves fits in the last-level cache, so that memory may not be its limit."""
        if self.cache_bytes is None or layer.nbytes is None:
            return None
        return layer.nbytes <= self.cache_bytes

    def exceeds(self, layer: LayerRow) -> bool:
        """Whether it did clearly more than the roofs allow: of memory, if what it moves comes from a cache."""
        attainable = self.attainable(layer)
        return layer.gflops is not None and attainable is not None and layer.gflops > TOLERANCE * attainable


@dataclass(frozen=True, slots=True)
class Measured:
    """A model's layers on one unit.

    end_to_end_ms: mean time of a call without profiling, in turns with the profiled ones. unused: operations of the
        model that do not run, because the runtime computed or removed them when it loaded the model. estimated: the
        layers' times are shares of `end_to_end_ms` by the estimate of a plan; nobody took them.
    """

    unit: str
    threads: int
    rows: tuple[LayerRow, ...]
    end_to_end_ms: float
    runs: int
    unused: int = 0
    notes: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()
    roofs: Roofs | None = None
    estimated: bool = False

    @property
    def total_ms(self) -> float:
        """The sum of all layers."""
        return math.fsum(row.ms for row in self.rows)

    @property
    def by_op(self) -> dict[str, float]:
        """Share of the time by type of operation, the largest first."""
        found: dict[str, float] = {}
        for row in self.rows:
            found[row.op] = found.get(row.op, 0.0) + row.share
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    @property
    def whole(self) -> LayerRow:
        """The model as one layer, by its end-to-end time; the bytes are those of all layers."""
        macs, nbytes = total(row.macs for row in self.rows), total(row.nbytes for row in self.rows)
        return LayerRow("model", "", self.end_to_end_ms, 1.0, macs, nbytes)


def total(parts: Iterable[int | None]) -> int | None:
    """The sum, None if a part is unknown."""
    known = list(parts)
    found = [part for part in known if part is not None]
    return sum(found) if len(found) == len(known) else None


def _best(kernels: Sequence[Kernel]) -> Kernel:
    return max(kernels, key=lambda kernel: kernel.best)


def _flop_per_byte(layer: LayerRow) -> float | None:
    return None if layer.oi is None else FLOPS_PER_MAC * layer.oi
