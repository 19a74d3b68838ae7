"""What a study of layers found: time by layer, and what the roofs of the machine allow each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

import msgspec

from hettop.events.base import Count, Ratio, Share, Text
from hettop.studies.result import ROWS, Notes, StudyResult


class LayerRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One layer, or the whole model: `share` of the layers' total, `oi` in MACs per byte.

    bound: `compute`, `memory`, or `ridge` where it is too near the ridge for either to be named.
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

    @property
    def oi(self) -> float | None:
        """Operational intensity, MACs per byte; None where either is not known."""
        return self.macs / self.nbytes if self.macs and self.nbytes else None

    @property
    def gflops(self) -> float | None:
        """What was achieved, two FLOP for each MAC; None where it is not known."""
        return 2 * self.macs / self.ms / 1e6 if self.macs and self.ms else None


class Roofs(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the machine can do, in GFLOP/s and GB/s; `measured` is false for published figures, with their `source`."""

    gflops: Ratio
    gbytes_per_s: Ratio
    threads: Count | None = None
    measured: bool = True
    source: Text | None = None

    @property
    def ridge(self) -> float:
        """The intensity, in MACs per byte, from which on computing limits and not memory."""
        return self.gflops / self.gbytes_per_s / 2 if self.gbytes_per_s else 0.0

    def attainable(self, oi: float) -> float:
        """GFLOP/s at so many MACs per byte: min(peak, intensity x bandwidth), Williams et al., CACM 52(4), 2009."""
        return min(self.gflops, 2 * oi * self.gbytes_per_s)


class LayersResult(StudyResult, frozen=True, kw_only=True, omit_defaults=True):
    """Time by layer: the largest, in the order in which they run, and `rest_n` more of `rest_ms` together.

    `whole` is the model as one layer by its end-to-end time, there where roofs are.
    """

    OF: ClassVar[str] = "layers"
    ROW_TYPES: ClassVar[Mapping[str, type[msgspec.Struct]]] = {"layers": LayerRow, "whole": LayerRow}

    unit: Text
    threads: Count | None = None
    estimated: bool = False
    total_ms: Ratio
    end_to_end_ms: Ratio
    by_op: dict[Text, Share] = {}
    layers: Annotated[list[LayerRow], ROWS] = []
    rest_n: Count = 0
    rest_ms: Ratio = 0.0
    roofs: Roofs | None = None
    whole: LayerRow | None = None
    notes: Notes = []


RESULT = LayersResult
