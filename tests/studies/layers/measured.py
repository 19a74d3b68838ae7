"""Layers and roofs for tests, with round numbers."""

from __future__ import annotations

from typing import Any

from hettop.studies.layers.notes import noted
from hettop.studies.layers.result import Kernel, LayerRow, LayersResult, Roofs

# 100 GFLOP/s and 20 GB/s meet at 5 FLOP per byte, that is 2.5 MACs per byte.
ROOFS = Roofs.of_kernels(
    threads=2,
    compute=(Kernel("GEMM", 80.0, 70.0), Kernel("convolution", 100.0, 90.0)),
    streaming=(Kernel("read", 20.0, 18.0), Kernel("copy", 15.0, 14.0)),
    repeats=30,
    cache_bytes=1_000_000,
)
CONV = LayerRow("conv1", "Conv", 4.0, 0.5, 100_000_000, 4_000_000, fused=("relu1", "add1"), ran_as="conv1_nchwc")
DEPTHWISE = LayerRow("depthwise", "Conv", 2.0, 0.25, 2_000_000, 2_000_000)
CACHED = LayerRow("cached", "Gemm", 1.0, 0.125, 20_000_000, 1_000_000)
POOL = LayerRow("pool", "GlobalAveragePool", 1.0, 0.125, 0, 500_000)
UNKNOWN = LayerRow("odd", "Custom", 0.0, 0.0, None, None)


def measured(*layers: LayerRow, roofs: Roofs | None = ROOFS, **changed: Any) -> LayersResult:
    """As the command has it."""
    known = {"unit": "CPU_ONLY@2", "threads": 2, "end_to_end_ms": 10.0, "runs": 50, "unused": 3, "notes": ["a note"]}
    known |= {"shapes": ["image 1x3x8x8"], **changed}
    found = LayersResult.of_layers(layers or (CONV, DEPTHWISE, CACHED, POOL), **known)
    return noted(found if roofs is None else found.under(roofs))
