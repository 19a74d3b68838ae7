"""Documents of `hettop roofline` for fixed inputs: roofs measured here, doubtful ones, and published ones."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from hettop.studies.layers.published import Work, find_chip, read_chips
from hettop.studies.layers.result import LayersResult
from hettop.studies.roofline.command import published_document, roofline_document
from tests.studies.layers.documents import DISTURBED, MODEL, NEAR
from tests.studies.layers.measured import CONV, DEPTHWISE, UNKNOWN, measured

WORK = [Work("fc6", "Gemm", 37_748_736, 151_064_576), Work("conv2", "Conv", 223_948_800, 1_976_064)]
FAST = replace(DEPTHWISE, ms=0.05)


def document(result: LayersResult) -> dict[str, Any]:
    return roofline_document(MODEL, result.with_whole("net"))


def documents() -> dict[str, Any]:
    exynos, m2 = find_chip("Exynos 5422", read_chips()), find_chip("M2", read_chips())
    return {
        "roofline": document(measured()),
        "roofline-above": document(measured(FAST, NEAR, CONV)),
        "roofline-disturbed": document(measured(CONV, UNKNOWN, roofs=DISTURBED)),
        "roofline-published": published_document(MODEL, exynos, exynos.device("A15"), WORK),
        "roofline-published-doubt": published_document(MODEL, m2, m2.device("Neural Engine"), WORK),
    }
