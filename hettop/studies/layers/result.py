"""What a study of layers found: time by layer, and what the roofs of the machine allow each, with the arithmetic.

Source: Williams et al., "Roofline", CACM 52(4), 2009.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import msgspec
from msgspec.structs import force_setattr, replace

from hettop.events.base import Count, Ratio, Share, Text
from hettop.studies.result import ROWS_LIMIT, StudyResult
from hettop.studies.texts import MOST_NOTES, notes, number, short
from hettop.text import clean

COMPUTE, MEMORY, RIDGE = "compute", "memory", "ridge"
"""What limits a layer; the last where it is too near the ridge for either to be named."""

FLOPS_PER_MAC = 2

TOLERANCE = 1.1
"""How far above a roof a layer may be before the roof is doubted: other kernels are a little better than those that
were measured, and no two moments of a machine are the same."""

MOST_OPS = 24
LONGEST_NAME = 80
"""In a line of a recording."""


class LayerRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One layer as it ran, with those that the runtime fused into it, or the whole model.

    ms: mean time of a call. share: of the sum of all layers. macs, nbytes: None where they cannot be counted; bytes of
        weights, of values that come in and of values that leave, each moved once; what stays inside a fused layer is
        not moved. bound: `compute` or `memory` by the ridge; in a line `ridge` where `near_ridge` says that either may
        limit it. cache_resident: whether all that it moves fits in the last-level cache.
    device: where a plan would run it; fallback: whether that is not the device that the unit is chosen for.

    What follows is detail that a line leaves out. fused: names of the other operations in it. ran_as: the runtime's
    name. The last four follow from the others: `bytes` is `nbytes`, `oi` the theoretical operational intensity in MACs
    per byte; `gflops` counts two FLOP for each MAC; `gbytes_per_s` is what memory, or a cache, gave.
    """

    name: Text
    op: Text
    ms: Ratio
    share: Share
    macs: Count | None = None
    nbytes: Count | None = None
    bound: Text | None = None
    cache_resident: bool | None = None
    device: Text | None = None
    fallback: bool | None = None
    near_ridge: bool | None = None
    fused: tuple[Text, ...] = ()
    ran_as: Text | None = None
    attainable_gflops: float | None = None
    exceeds_roof: bool | None = None
    bytes: Count | None = None
    oi: float | None = None
    gflops: float | None = None
    gbytes_per_s: float | None = None

    def __post_init__(self) -> None:
        moved, ns = self.nbytes, self.ms * 1e6
        force_setattr(self, "bytes", moved)
        force_setattr(self, "oi", None if self.macs is None or not moved else self.macs / moved)
        force_setattr(self, "gflops", _rate(FLOPS_PER_MAC * self.macs, ns) if self.macs else None)
        force_setattr(self, "gbytes_per_s", _rate(moved, ns) if moved else None)

    @property
    def limit(self) -> str | None:
        """What limits it, as a line and a page say it."""
        return RIDGE if self.near_ridge else self.bound

    def line(self) -> dict[str, Any]:
        """As a line of a recording holds it."""
        return _known(
            name=short(self.name, LONGEST_NAME),
            op=short(self.op, LONGEST_NAME),
            ms=number(self.ms),
            share=number(self.share),
            macs=self.macs,
            nbytes=self.nbytes,
            bound=self.limit,
            cache_resident=self.cache_resident,
            device=short(self.device),
            fallback=self.fallback,
        )


class Kernel(msgspec.Struct, frozen=True):
    """A micro-benchmark: the best and the median rate over its repeats, in GFLOP/s or GB/s."""

    name: Text
    best: Ratio
    median: Ratio


class Roofs(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the machine can do, in GFLOP/s and GB/s; `measured` is false for published figures, with their `source`.

    Detail that a line leaves out: the kernels that were called in turns so many times, the best of which are the roofs,
    the bytes of the last level of cache, None if the system does not tell, and `ridge`, which follows from the others:
    the FLOP per byte from which on computing is the limit.
    """

    gflops: Ratio
    gbytes_per_s: Ratio
    threads: Count | None = None
    measured: bool = True
    source: Text | None = None
    compute: tuple[Kernel, ...] = ()
    streaming: tuple[Kernel, ...] = ()
    repeats: Count | None = None
    cache_bytes: Count | None = None
    ridge: float = 0.0

    def __post_init__(self) -> None:
        force_setattr(self, "ridge", self.gflops / self.gbytes_per_s if self.gbytes_per_s else 0.0)

    @classmethod
    def of_kernels(cls, compute: Sequence[Kernel], streaming: Sequence[Kernel], **known: Any) -> Self:
        """The best of the compute kernels and of the streaming ones."""
        gflops, gbytes_per_s = best(compute).best, best(streaming).best
        return cls(
            gflops=gflops, gbytes_per_s=gbytes_per_s, compute=tuple(compute), streaming=tuple(streaming), **known
        )

    @property
    def ridge_oi(self) -> float:
        """The ridge in MACs per byte."""
        return self.ridge / FLOPS_PER_MAC

    @property
    def near(self) -> tuple[float, float]:
        """FLOP per byte between which the ridge may lie: by the best and the usual calls of the kernels at the roofs,
        and by `TOLERANCE` at least."""
        low, high = self.ridge, self.ridge
        if self.compute and self.streaming:
            compute, memory = best(self.compute), best(self.streaming)
            low = compute.median / memory.best
            high = compute.best / memory.median if memory.median > 0 else math.inf
        return min(low, self.ridge / TOLERANCE), max(high, self.ridge * TOLERANCE)

    def attainable(self, oi: float) -> float:
        """GFLOP/s at so many MACs per byte: min(peak, intensity x bandwidth)."""
        return min(self.gflops, FLOPS_PER_MAC * oi * self.gbytes_per_s)

    def judged(self, layer: LayerRow) -> LayerRow:
        """The layer with what these roofs say of it; None where its work is unknown.

        It exceeds them if it did clearly more than they allow: of memory, if what it moves comes from a cache.
        """
        fits = None if self.cache_bytes is None or layer.nbytes is None else layer.nbytes <= self.cache_bytes
        if layer.oi is None:
            return replace(layer, cache_resident=fits, exceeds_roof=False)
        intensity, attainable, (low, high) = FLOPS_PER_MAC * layer.oi, self.attainable(layer.oi), self.near
        return replace(
            layer,
            bound=COMPUTE if intensity > self.ridge else MEMORY,
            near_ridge=low <= intensity <= high,
            cache_resident=fits,
            attainable_gflops=attainable,
            exceeds_roof=layer.gflops is not None and layer.gflops > TOLERANCE * attainable,
        )

    def line(self) -> dict[str, Any]:
        """As a line of a recording holds them."""
        return _known(
            gflops=number(self.gflops),
            gbytes_per_s=number(self.gbytes_per_s),
            threads=self.threads,
            measured=self.measured,
            source=short(self.source),
        )


class LayersResult(StudyResult, frozen=True, kw_only=True, omit_defaults=True):
    """Time by layer in the order in which they run; in a line the largest, and `rest_n` more of `rest_ms` together.

    end_to_end_ms: mean time of a call without profiling, in turns with the profiled ones. by_op: shares of the time by
        type of operation, the largest first. estimated: times are shares of `end_to_end_ms` by the estimate of a plan;
        nobody took them. whole: of a roofline, the model as one layer by its end-to-end time.
    Detail that a line leaves out: how many calls were measured, the shapes of the inputs, and `unused` operations of
    the model, which do not run because the runtime computed or removed them when it loaded the model.
    """

    OF: ClassVar[str] = "layers"
    ROW_TYPES: ClassVar[Mapping[str, type[msgspec.Struct]]] = {"layers": LayerRow, "whole": LayerRow}

    unit: Text
    threads: Count | None = None
    estimated: bool = False
    total_ms: Ratio
    end_to_end_ms: Ratio
    by_op: dict[Text, Share] = {}
    layers: list[LayerRow] = []
    rest_n: Count = 0
    rest_ms: Ratio = 0.0
    roofs: Roofs | None = None
    whole: LayerRow | None = None
    notes: list[str] = []
    runs: Count | None = None
    unused: Count = 0
    shapes: list[str] = []

    @classmethod
    def of_layers(cls, layers: Iterable[LayerRow], **known: Any) -> Self:
        """With the sums that follow from the layers."""
        layers, by_op = list(layers), dict[str, float]()
        for layer in layers:
            by_op[layer.op] = min(1.0, by_op.get(layer.op, 0.0) + layer.share)
        ordered = dict(sorted(by_op.items(), key=lambda item: (-item[1], item[0])))
        return cls(layers=layers, total_ms=math.fsum(layer.ms for layer in layers), by_op=ordered, **known)

    def under(self, roofs: Roofs) -> Self:
        """With these roofs, and what they say of each layer."""
        return replace(self, roofs=roofs, layers=[roofs.judged(layer) for layer in self.layers])

    def with_whole(self, name: str) -> Self:
        """With the model of that name as one layer; the bytes are those of all layers."""
        macs, nbytes = total(each.macs for each in self.layers), total(each.nbytes for each in self.layers)
        whole = LayerRow(clean(name), "", self.end_to_end_ms, 1.0, macs, nbytes)
        return replace(self, whole=whole if self.roofs is None else self.roofs.judged(whole))

    def shortened(self, most: int) -> Self:
        """With so many layers at most, those that take longest; of the others their number and time."""
        by_time = sorted(range(len(self.layers)), key=lambda i: -self.layers[i].ms)
        kept, rest = set(by_time[:most]), by_time[most:]
        return replace(
            self,
            layers=[layer for i, layer in enumerate(self.layers) if i in kept],
            rest_n=self.rest_n + len(rest),
            rest_ms=self.rest_ms + math.fsum(self.layers[i].ms for i in rest),
        )

    def line(self) -> dict[str, Any]:
        kept = self.shortened(ROWS_LIMIT)
        shares = list(self.by_op.items())[:MOST_OPS]
        return _known(
            of=self.OF,
            unit=short(self.unit),
            threads=self.threads,
            estimated=self.estimated,
            total_ms=number(self.total_ms),
            end_to_end_ms=number(self.end_to_end_ms),
            by_op={str(short(op, LONGEST_NAME)): number(share) for op, share in shares},
            layers=[layer.line() for layer in kept.layers],
            rest_n=kept.rest_n,
            rest_ms=number(kept.rest_ms),
            roofs=None if self.roofs is None else self.roofs.line(),
            whole=None if self.whole is None else self.whole.line(),
            notes=notes(self.notes),
        )

    @classmethod
    def from_line(cls, found: Mapping[str, Any]) -> Self:
        read = super().from_line(found)
        if len(read.layers) > ROWS_LIMIT or len(read.notes) > MOST_NOTES:
            raise ValueError("more rows or notes than a line may hold")
        return read


RESULT = LayersResult


def best(kernels: Sequence[Kernel]) -> Kernel:
    return max(kernels, key=lambda kernel: kernel.best)


def total(parts: Iterable[int | None]) -> int | None:
    """The sum, None if a part is unknown."""
    known = list(parts)
    found = [part for part in known if part is not None]
    return sum(found) if len(found) == len(known) else None


def _rate(amount: float, ns: float) -> float | None:
    """So much in a nanosecond; None where that is no number."""
    rate = amount / ns if ns > 0 else math.inf
    return rate if math.isfinite(rate) else None


def _known(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
