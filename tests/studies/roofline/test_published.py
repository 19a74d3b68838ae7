"""The page and the document of published roofs: labelled, with sources, and without a time that nobody took."""

from __future__ import annotations

import json

from hettop.report.document import to_json
from hettop.report.terminal.blocks import block_text
from hettop.studies.layers.published import Work, find_chip, read_chips
from hettop.studies.roofline.command import LABEL, published_blocks, published_document

WORK = [Work("fc6", "Gemm", 37_748_736, 151_064_576), Work("conv2", "Conv", 223_948_800, 1_976_064)]
EXYNOS = find_chip("Exynos 5422", read_chips())


def test_the_page_says_that_nothing_was_measured_and_where_figures_come_from() -> None:
    text = block_text(list(published_blocks(EXYNOS, EXYNOS.device("A15"), WORK)), 100)
    assert f"{LABEL}: peak rates" in " ".join(text.split())
    assert "published, not measured" in LABEL
    assert "Neural Network Inference on Mobile SoCs" in text
    fc6 = next(line for line in text.splitlines() if line.startswith("fc6"))
    assert fc6.split()[-2:] == ["1.72", "memory"], ".4998 FLOP per byte at 3.44 GB/s"
    conv2 = next(line for line in text.splitlines() if line.startswith("conv2"))
    assert conv2.split()[-2:] == ["32.0", "compute"]


def test_the_document_keeps_published_and_measured_apart() -> None:
    document = json.loads(to_json(published_document({"name": "AlexNet"}, EXYNOS, EXYNOS.device("A15"), WORK)))
    roofs = document["roofs"]
    assert (roofs["measured"], roofs["published"], roofs["gflops"], roofs["threads"]) == (False, True, 32.0, None)
    assert {layer["ms"] for layer in document["layers"]} == {None}
    assert [layer["bound"] for layer in document["layers"]] == ["memory", "compute"]
    assert round(document["model"]["least_ms"], 1) == round(151_064_576 / 3.44e6 + 2 * 223_948_800 / 32e6, 1)
    assert [device["device"] for device in document["devices"]] == ["A15", "A7", "Mali-T628 MP6"]


def test_a_doubt_is_reported() -> None:
    m2 = find_chip("M2", read_chips())
    text = block_text(list(published_blocks(m2, m2.device("Neural Engine"), WORK)), 100)
    assert "11,000?" in text
    assert "not used as a roof" in text
    document = published_document({"name": "net"}, m2, m2.device("Neural Engine"), WORK)
    assert {layer["bound"] for layer in document["layers"]} == {None}
