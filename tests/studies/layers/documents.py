"""Documents of `hettop layers` for fixed inputs: measured, without roofs, doubtful, and estimated by a plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hettop.models.inspection.graph import Layer
from hettop.sources.engine.placement import OpFacts, make_plan
from hettop.studies.layers.planned import by_event, by_facts
from hettop.studies.layers.rows import Kernel
from hettop.studies.layers.text import layers_document
from tests.studies.layers.measured import CONV, DEPTHWISE, POOL, ROOFS, UNKNOWN, measured

MODEL = {"name": "net", "sha256": "ab", "backend": "onnxruntime", "note": None}
NE, CPU = "Neural Engine", "CPU"
FACTS = [
    OpFacts("c1", "conv", NE, (CPU, NE), 3.0),
    OpFacts("c2", "conv", NE, (CPU, NE), 1.0),
    OpFacts("s", "softmax", CPU, (CPU,), 1.0),
    OpFacts("r", "reshape", NE, (CPU, NE), None),
]
WORK = {"c1": Layer("c1", "conv", 1_000, 40, 40, 20, "float16")}
DISTURBED = replace(
    ROOFS, compute=(Kernel("conv 3x3", 201.0, 49.7),), streaming=(Kernel("read", 20.0, 9.0),), cache_bytes=None
)
NEAR = replace(DEPTHWISE, name="near", macs=5_200_000)


def documents() -> dict[str, Any]:
    return {
        "layers": layers_document(MODEL, measured()),
        "layers-without-roofs": layers_document(MODEL, measured(rows=(CONV, UNKNOWN), roofs=None)),
        "layers-near-the-ridge": layers_document(MODEL, measured(rows=(CONV, DEPTHWISE, NEAR, POOL))),
        "layers-disturbed": layers_document(MODEL, measured(roofs=DISTURBED)),
        "layers-estimated": layers_document(MODEL, by_facts("CPU_AND_NE", FACTS, WORK, mean_ms=2.0, runs=50)),
        "layers-of-a-recording": layers_document(
            {**MODEL, "simulated": False}, by_event(make_plan("CPU_AND_NE", FACTS), 4.0, 100)
        ),
    }
