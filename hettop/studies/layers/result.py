"""What a study of layers found: time by layer, and what the roofs of the machine allow each, with the arithmetic.

Source: Williams et al., "Roofline", CACM 52(4), 2009.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import msgspec
from msgspec.structs import replace

from hettop.events.base import Count, Ratio, Share, Text
from hettop.studies.result import ROWS_LIMIT, StudyResult, named
from hettop.text import clean

COMPUTE, MEMORY, RIDGE = "compute", "memory", "ridge"
"""What limits a layer; the last where it is too near the ridge for either to be named."""

FLOPS_PER_MAC = 2

TOLERANCE = 1.1
"""How far above a roof a layer may be before the roof is doubted: other kernels are a little better than those that
were measured, and no two moments of a machine are the same."""

MOST_OPS = 24
"""In a line of a recording."""


class LayerRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One layer as it ran, with those that the runtime fused into it, or the whole model.

    ms: mean time of a call. share: of the sum of all layers. macs, nbytes: None where they cannot be counted; bytes of
        weights, of values that come in and of values that leave, each moved once; what stays inside a fused layer is
        not moved. bound: `compute` or `memory` by the ridge; in a line `ridge` where `near_ridge` says that either may
        limit it. cache_resident: whether all that it moves fits in the last-level cache.
    device: where a plan would run it; fallback: whether that is not the device that the unit is chosen for.
    fused: names of the other operations in it. ran_as: the runtime's name.
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

    @property
    def oi(self) -> float | None:
        """Theoretical operational intensity, MACs per byte; None where either is not known."""
        return None if self.macs is None or not self.nbytes else self.macs / self.nbytes

    @property
    def gflops(self) -> float | None:
        """What was achieved, two FLOP for each MAC; None for a layer that has no MACs."""
        return self._rate(FLOPS_PER_MAC * self.macs) if self.macs else None

    @property
    def gbytes_per_s(self) -> float | None:
        """What memory, or a cache, gave."""
        return self._rate(self.nbytes) if self.nbytes else None

    def _rate(self, amount: float) -> float | None:
        """So much, 10^9 a second; None where that is not a number."""
        rate = amount / (self.ms * 1e6) if self.ms > 0 else math.inf
        return rate if math.isfinite(rate) else None

    @property
    def limit(self) -> str | None:
        """What limits it, as a line and a page say it."""
        return RIDGE if self.near_ridge else self.bound

    def document(self) -> dict[str, Any]:
        """With what follows from the rest; `bytes` is the name that `--json` had first."""
        derived = {"oi": self.oi, "gflops": self.gflops, "gbytes_per_s": self.gbytes_per_s}
        return {**named(self), "bytes": self.nbytes, **derived}


class Kernel(msgspec.Struct, frozen=True):
    """A micro-benchmark: the best and the median rate over its repeats, in GFLOP/s or GB/s."""

    name: Text
    best: Ratio
    median: Ratio


class Roofs(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the machine can do, in GFLOP/s and GB/s; `measured` is false for published figures, with their `source`.

    compute, streaming: the kernels that were called in turns `repeats` times; the best of each are the roofs.
    cache_bytes: of the last level of cache, None if the system does not report.
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

    @classmethod
    def of_kernels(cls, compute: Sequence[Kernel], streaming: Sequence[Kernel], **known: Any) -> Self:
        """The best of the compute kernels and of the streaming ones."""
        gflops, gbytes_per_s = best(compute).best, best(streaming).best
        return cls(
            gflops=gflops, gbytes_per_s=gbytes_per_s, compute=tuple(compute), streaming=tuple(streaming), **known
        )

    @property
    def ridge(self) -> float:
        """FLOP per byte from which on computing is the limit."""
        return self.gflops / self.gbytes_per_s if self.gbytes_per_s else 0.0

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

    def document(self) -> dict[str, Any]:
        """With the ridge, which follows from the rest."""
        return {**named(self), "ridge": self.ridge}


class CacheUse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a call asks of the last-level cache, by the processor's counters: accesses, misses, and the bytes of those.

    oi: empirical operational intensity, MACs per byte that came from memory (OI_e of Wang et al., "Neural Network
    Inference on Mobile SoCs", equation 2); None where MACs are unknown or nothing missed.
    """

    references: Ratio
    misses: Ratio
    nbytes: Ratio
    hit_rate: Share | None = None
    oi: Ratio | None = None

    @classmethod
    def of_counts(cls, references: float, misses: float, line_bytes: int, macs: int | None) -> Self:
        nbytes = misses * line_bytes
        return cls(
            references=references,
            misses=misses,
            nbytes=nbytes,
            hit_rate=min(1.0, max(0.0, 1 - misses / references)) if references > 0 else None,
            oi=macs / nbytes if macs and nbytes > 0 else None,
        )


class LayersResult(StudyResult, frozen=True, kw_only=True, omit_defaults=True):
    """Time by layer in the order in which they run; in a line the largest, and `rest_n` more of `rest_ms` together.

    end_to_end_ms: mean time of a call without profiling, in turns with the profiled ones. by_op: shares of the time by
        type of operation, the largest first. estimated: times are shares of `end_to_end_ms` by the estimate of a plan;
        nobody took them. whole: of a roofline, the model as one layer by its end-to-end time.
    runs: how many calls were measured. shapes: of the inputs. unused: operations of the model that do not run, because
        the runtime computed or removed them when it loaded the model.
    cache: of a call of the whole model; None where it was not counted, for the reason in `cache_why`.
    """

    OF: ClassVar[str] = "layers"
    ROW_TYPES: ClassVar[Mapping[str, type[msgspec.Struct]]] = {"layers": LayerRow, "whole": LayerRow}
    DETAILS: ClassVar[frozenset[str]] = frozenset(
        {
            *("near_ridge", "fused", "ran_as", "attainable_gflops", "exceeds_roof"),
            *("compute", "streaming", "repeats", "cache_bytes", "runs", "unused", "shapes"),
        }
    )

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
    cache: CacheUse | None = None
    cache_why: Text | None = None

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

    def document(self) -> dict[str, Any]:
        layers = [layer.document() for layer in self.layers]
        roofs = None if self.roofs is None else self.roofs.document()
        return {
            **super().document(),
            "layers": layers,
            "roofs": roofs,
            "whole": None if self.whole is None else self.whole.document(),
        }

    def summary(self) -> Self:
        """The largest layers and types of operation; where either roof may limit a layer, `bound` says so."""
        kept = self.shortened(ROWS_LIMIT)
        layers = [replace(layer, bound=layer.limit) for layer in kept.layers]
        whole = None if self.whole is None else replace(self.whole, bound=self.whole.limit)
        return replace(kept, layers=layers, whole=whole, by_op=dict(list(self.by_op.items())[:MOST_OPS]))


RESULT = LayersResult


def best(kernels: Sequence[Kernel]) -> Kernel:
    return max(kernels, key=lambda kernel: kernel.best)


def total(parts: Iterable[int | None]) -> int | None:
    """The sum, None if a part is unknown."""
    known = list(parts)
    found = [part for part in known if part is not None]
    return sum(found) if len(found) == len(known) else None
