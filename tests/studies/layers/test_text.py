"""Layers as a page and as a document."""

from __future__ import annotations

from hettop.studies.layers.rows import Kernel
from hettop.studies.layers.text import layers_document, layers_text, roofline_document
from hettop.studies.roofline.text import roofline_text
from tests.report.sessions import widest
from tests.studies.layers.measured import CONV, DEPTHWISE, ROOFS, UNKNOWN, measured

MODEL = {"name": "net", "sha256": "ab", "backend": "onnxruntime", "note": None}


def test_the_document_has_the_agreed_fields() -> None:
    document = layers_document(MODEL, measured())
    assert (document["unit"], document["estimated"], document["total_ms"]) == ("CPU_ONLY@2", False, 8.0)
    assert document["layers"][0] == {
        "name": "conv1",
        "op": "Conv",
        "ms": 4.0,
        "share": 0.5,
        "macs": 100_000_000,
        "bytes": 4_000_000,
        "oi": 25.0,
        "bound": "compute",
        "near_ridge": False,
        "cache_resident": False,
        "fused": ["relu1", "add1"],
        "ran_as": "conv1_nchwc",
        "device": None,
        "fallback": None,
    }
    assert document["by_op"] == {"Conv": 0.75, "Gemm": 0.125, "GlobalAveragePool": 0.125}
    assert (document["end_to_end_ms"], document["threads"], document["runs"]) == (10.0, 2, 50)


def test_what_is_unknown_is_null_and_without_roofs_nothing_is_bound() -> None:
    document = layers_document(MODEL, measured(rows=(CONV, UNKNOWN), roofs=None))
    odd = document["layers"][1]
    assert [odd[name] for name in ("macs", "bytes", "oi", "bound", "cache_resident", "ran_as")] == [None] * 6
    assert document["layers"][0]["bound"] is None
    assert document["roofs"] is None


def test_the_roofline_document_has_roofs_rates_and_the_whole_model() -> None:
    document = roofline_document(MODEL, measured(), ROOFS)
    roofs = document["roofs"]
    assert (roofs["gflops"], roofs["gbytes_per_s"], roofs["threads"], roofs["measured"]) == (100.0, 20.0, 2, True)
    assert (roofs["ridge"], roofs["cache_bytes"]) == (5.0, 1_000_000)
    assert roofs["compute"][0] == {"name": "GEMM", "best": 80.0, "median": 70.0}
    assert [layer["gflops"] for layer in document["layers"]] == [50.0, 2.0, 40.0, None]
    assert document["layers"][1]["attainable_gflops"] == 40.0
    # 122 million MACs in 10 ms, over 7.5 MB
    assert (document["model"]["name"], document["model"]["gflops"], document["model"]["bound"]) == (
        "net",
        24.4,
        "compute",
    )


def test_the_page_states_the_sum_of_the_layers_against_a_whole_call() -> None:
    text = layers_text("net", measured(), 140)
    assert text.splitlines()[0] == "net · CPU_ONLY@2 · 2 threads · image 1x3x8x8"
    assert "layers sum to 8.00 ms; a call without the profiler takes 10.0 ms end to end, 80% of it" in text
    assert "meet at 2.50 MAC/B" in text
    assert "2 operations of the model run inside of others" in text
    assert "3 operations of the model do not run" in text
    assert "a note" in text


def test_a_row_says_what_limits_the_layer_and_what_runs_with_it() -> None:
    rows = {line.split()[0]: line.split() for line in layers_text("net", measured(), 140).splitlines() if line}
    assert rows["conv1"] == [
        "conv1",
        "Conv",
        "4.00",
        "50%",
        "▇" * 16,
        "100M",
        "4.0",
        "MB",
        "25.0",
        "compute",
        "relu1,",
        "add1",
    ]
    assert rows["cached"][-2:] == ["compute", "fits"]


def test_shares_by_operation_come_first() -> None:
    lines = layers_text("net", measured(), 100).splitlines()
    assert lines[2].split() == ["Conv", "75%", "▇" * 24]


def test_the_page_fits_its_width() -> None:
    for width in (60, 80, 120):
        assert widest(layers_text("net", measured(), width).splitlines()) <= width


def test_an_unknown_cache_is_said_to_be_unknown() -> None:
    from dataclasses import replace

    text = layers_text("net", measured(roofs=replace(ROOFS, cache_bytes=None)), 100)
    assert "does not tell the size of its caches" in text
    assert "fits" not in text


def test_a_long_table_ends_and_says_so() -> None:
    text = layers_text("net", measured(rows=(CONV,) * 300), 100)
    assert "the table ends after 200 of 300 layers" in text
    assert len(text.splitlines()) < 230


def test_times_are_said_to_be_taken_in_turns_with_and_without_the_profiler() -> None:
    text = " ".join(layers_text("net", measured(), 100).split())
    assert "the middle half of 50 calls, calls with the profiler and without it taken in turns" in text


def test_a_roof_that_half_of_its_calls_do_not_half_reach_is_said_to_be_disturbed() -> None:
    """49.7 of 201 is a quarter; a kernel that is no roof may differ as it likes."""
    from dataclasses import replace

    kernels = (Kernel("conv 3x3", 201.0, 49.7), Kernel("GEMM", 90.0, 10.0))
    roofs = replace(ROOFS, compute=kernels)
    note = (
        "roof of compute: the best call of conv 3x3 did 201 GFLOP/s, half of its calls less than 49.7: something else "
        "ran meanwhile"
    )
    for notes in (
        layers_document(MODEL, measured(roofs=roofs))["notes"],
        roofline_document(MODEL, measured(roofs=roofs), roofs)["notes"],
    ):
        assert [each.startswith(note) for each in notes].count(True) == 1
        assert not any("GEMM" in each for each in notes)
    assert note in " ".join(roofline_text("net", measured(roofs=roofs), roofs, 100).split())
    assert not any("something else ran" in each for each in layers_document(MODEL, measured())["notes"])


def test_memory_that_was_disturbed_is_told_in_its_own_unit() -> None:
    from dataclasses import replace

    roofs = replace(ROOFS, streaming=(Kernel("read", 20.0, 9.0),))
    assert any(
        "did 20.0 GB/s, half of its calls less than 9.00" in each
        for each in layers_document(MODEL, measured(roofs=roofs))["notes"]
    )


def test_a_layer_near_the_ridge_is_said_to_be_and_its_bound_stays_in_the_document() -> None:
    from dataclasses import replace

    near = replace(DEPTHWISE, name="near", macs=5_200_000)  # 2.6 MACs a byte, and the ridge is at 2.5
    found = measured(rows=(CONV, DEPTHWISE, near))
    document = layers_document(MODEL, found)
    assert [(layer["bound"], layer["near_ridge"]) for layer in document["layers"]] == [
        ("compute", False),
        ("memory", False),
        ("compute", True),
    ]
    for page in (layers_text("net", found, 140), roofline_text("net", found, ROOFS, 140)):
        (row,) = [line for line in page.splitlines() if line.split()[:2] == ["near", "Conv"]]
        assert row.rstrip().endswith("near the ridge")
        assert "near the ridge (1 layer): from 2.25 to 2.78 MAC/B either may limit" in page
    assert "near the ridge" not in layers_text("net", measured(), 140)
