"""Documents of `hettop layers` for fixed inputs: measured, without roofs, doubtful, and estimated by a plan."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from hettop.models.inspection.graph import Layer
from hettop.sources.engine.placement import OpFacts, make_plan
from hettop.studies.layers.notes import noted
from hettop.studies.layers.planned import by_event, by_facts
from hettop.studies.layers.result import Kernel, LayersResult, Roofs
from tests.studies.layers.measured import CONV, DEPTHWISE, POOL, UNKNOWN, measured

MODEL = {"name": "net", "sha256": "ab", "backend": "onnxruntime", "note": None}
NE, CPU = "Neural Engine", "CPU"
FACTS = [
    OpFacts("c1", "conv", NE, (CPU, NE), 3.0),
    OpFacts("c2", "conv", NE, (CPU, NE), 1.0),
    OpFacts("s", "softmax", CPU, (CPU,), 1.0),
    OpFacts("r", "reshape", NE, (CPU, NE), None),
]
WORK = {"c1": Layer("c1", "conv", 1_000, 40, 40, 20, "float16")}
DISTURBED = Roofs.of_kernels([Kernel("conv 3x3", 201.0, 49.7)], [Kernel("read", 20.0, 9.0)], threads=2, repeats=30)
NEAR = replace(DEPTHWISE, name="near", macs=5_200_000)


def document(result: LayersResult, **model: Any) -> dict[str, Any]:
    return {"model": {**MODEL, **model}, **result.document()}


def documents() -> dict[str, Any]:
    return {
        "layers": document(measured()),
        "layers-without-roofs": document(measured(CONV, UNKNOWN, roofs=None)),
        "layers-near-the-ridge": document(measured(CONV, DEPTHWISE, NEAR, POOL)),
        "layers-disturbed": document(measured(roofs=DISTURBED)),
        "layers-estimated": document(noted(by_facts("CPU_AND_NE", FACTS, WORK, mean_ms=2.0, runs=50))),
        "layers-of-a-recording": document(noted(by_event(make_plan("CPU_AND_NE", FACTS), 4.0, 100)), simulated=False),
    }
