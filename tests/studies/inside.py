"""Layers of a small model whose figures can be worked out by hand: roofs that meet at 5 MACs per byte."""

from __future__ import annotations

from hettop.studies.layers.result import Kernel, LayerRow, LayersResult, Roofs

ROOFS = Roofs(gflops=100.0, gbytes_per_s=10.0, threads=2)

EXPAND = LayerRow("expand", "Conv", 0.5, 0.4, macs=10_000_000, nbytes=1_000_000, bound="compute", cache_resident=True)
"""10 MACs/B: 100 GFLOP/s allowed, 40 reached; .2 ms would do."""

DEPTHWISE = LayerRow("depthwise", "Conv", 0.5, 0.4, 1_000_000, 1_000_000, bound="memory", cache_resident=True)
"""1 MAC/B: 20 GFLOP/s allowed, 4 reached; .1 ms would do."""

LOGITS = LayerRow("logits", "Gemm", 0.2, 0.16, 1_000_000, 4_000_000, bound="memory", cache_resident=True)
""".25 MACs/B: 5 GFLOP/s allowed by memory, 10 reached, from the cache."""

POOL = LayerRow("pool", "Pool", 0.05, 0.04, 0, 100_000, bound="memory", cache_resident=True)

WHOLE = LayerRow("small", "model", 1.0, 1.0, 12_000_000, 1_200_000, bound="compute", cache_resident=True)
"""10 MACs/B: 24 of 100 GFLOP/s."""

LAYERS = LayersResult(
    unit="CPU_ONLY",
    threads=2,
    total_ms=1.25,
    end_to_end_ms=1.0,
    by_op={"Conv": 0.8, "Gemm": 0.16, "Pool": 0.04},
    layers=[EXPAND, DEPTHWISE, LOGITS, POOL],
    roofs=ROOFS,
    notes=["layers sum to 1.25 ms"],
)
"""As `hettop layers` finds them."""

ROOFLINE = LayersResult(
    unit="CPU_ONLY",
    threads=2,
    total_ms=1.25,
    end_to_end_ms=1.0,
    by_op={"Conv": 0.8, "Gemm": 0.16, "Pool": 0.04},
    layers=[EXPAND, DEPTHWISE, LOGITS, POOL],
    roofs=ROOFS,
    whole=WHOLE,
    notes=["layers sum to 1.25 ms"],
)
"""As `hettop roofline` finds them: with the whole model."""

ESTIMATED = LayersResult(
    unit="CPU_AND_NE",
    estimated=True,
    total_ms=2.0,
    end_to_end_ms=2.0,
    by_op={"conv": 1.0},
    layers=[
        LayerRow("stem", "conv", 1.5, 0.75, device="NE", fallback=False),
        LayerRow("odd", "conv", 0.5, 0.25, device="CPU", fallback=True),
    ],
)
"""By a plan: no layer was timed and there are no roofs."""

EMPTY = LayersResult(unit="CPU_ONLY", total_ms=0.0, end_to_end_ms=0.0)

FULL = (
    LayersResult.of_layers(
        [
            LayerRow("stem", "Conv", 0.5, 0.5, 10_000_000, 1_000_000, fused=("relu", "add"), ran_as="stem_nchwc"),
            LayerRow("near", "Conv", 0.25, 0.25, 5_000_000, 1_000_000, device="NE", fallback=True),
            LayerRow("odd", "Custom", 0.25, 0.25),
        ],
        unit="CPU_ONLY",
        threads=2,
        end_to_end_ms=1.25,
        runs=50,
        unused=3,
        shapes=["image 1x3x8x8"],
        notes=["a note"],
    )
    .under(Roofs.of_kernels([Kernel("GEMM", 100.0, 90.0)], [Kernel("copy", 10.0, 9.0)], threads=2, repeats=9))
    .with_whole("small")
)
"""As a command has it: with all details, which no recording keeps."""
