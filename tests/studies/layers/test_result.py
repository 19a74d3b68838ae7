"""The arithmetic of the roofline, on numbers worked out by hand."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from hettop.errors import HettopError
from hettop.events import Study
from hettop.studies.layers.result import Kernel, LayerRow, LayersResult, Roofs
from hettop.studies.registry import read_document
from tests.studies.layers.measured import CACHED, CONV, DEPTHWISE, POOL, ROOFS, UNKNOWN, measured


def test_intensity_is_in_macs_per_byte_and_rates_count_two_flop_for_a_mac() -> None:
    """10^8 MACs in 4 ms over 4 MB: 25 MACs per byte, 50 GFLOP/s, 1 GB/s."""
    assert (CONV.oi, CONV.gflops, CONV.gbytes_per_s) == (25, 50, 1)


def test_published_intensities_in_flop_per_byte_are_twice_the_macs_per_byte() -> None:
    """AlexNet's fc6 .4998 and conv2 226.66, MobileNetV2's depthwise of stride 2 .8995 (weights without biases)."""
    layers = {0.4998: (37_748_736, 151_064_576), 226.6615: (223_948_800, 1_976_064), 0.8995: (2_709_504, 6_024_576)}
    for published, (macs, nbytes) in layers.items():
        row = LayerRow("layer", "Conv", 1.0, 1.0, macs, nbytes)
        assert row.oi is not None
        assert 2 * row.oi == pytest.approx(published, abs=5e-5)


def test_the_best_kernel_of_each_kind_is_the_roof_and_they_meet_at_the_ridge() -> None:
    assert (ROOFS.gflops, ROOFS.gbytes_per_s, ROOFS.ridge) == (100, 20, 5)


def test_published_roofs_meet_where_the_paper_has_them() -> None:
    """Cortex-A15 cluster: 32 GFLOP/s and 3.44 GB/s; Mali-T628: 57.6 and 6.15."""
    for peak, bandwidth, ridge in ((32.0, 3.44, 9.3023), (57.6, 6.15, 9.3659)):
        roofs = Roofs.of_kernels([Kernel("", peak, peak)], [Kernel("", bandwidth, bandwidth)])
        assert roofs.ridge == pytest.approx(ridge, abs=5e-5)


@pytest.mark.parametrize(
    ("layer", "bound", "attainable"),
    [(CONV, "compute", 100), (DEPTHWISE, "memory", 40), (POOL, "memory", 0), (UNKNOWN, None, None)],
)
def test_a_layer_is_bound_by_the_lower_roof_at_its_intensity(
    layer: LayerRow, bound: str | None, attainable: float | None
) -> None:
    judged = ROOFS.judged(layer)
    assert (judged.bound, judged.attainable_gflops) == (bound, attainable)


@pytest.mark.parametrize(
    ("macs", "near"), [(2_240_000, False), (2_260_000, True), (2_500_000, True), (2_770_000, True), (2_790_000, False)]
)
def test_where_usual_and_best_calls_put_the_ridge_apart_either_roof_may_limit(macs: int, near: bool) -> None:
    """90 GFLOP/s by 20 GB/s to 100 by 18: 4.5 to 5.56 FLOP a byte, 2.25 to 2.78 MACs."""
    layer = LayerRow("layer", "Conv", 1.0, 1.0, macs, 1_000_000)
    judged = ROOFS.judged(layer)
    assert (judged.near_ridge, judged.limit == "ridge") == (near, near)
    assert judged.bound == ("compute" if macs > 2_500_000 else "memory")


def test_the_ridge_is_no_more_certain_than_a_tenth_however_steady_the_kernels_were() -> None:
    """5 FLOP a byte: from 4.55 to 5.5."""
    steady = Roofs.of_kernels([Kernel("", 100.0, 100.0)], [Kernel("", 20.0, 20.0)])
    assert steady.near == pytest.approx((5 / 1.1, 5.5))
    assert ROOFS.judged(UNKNOWN).near_ridge is None
    assert ROOFS.judged(POOL).near_ridge is False


def test_a_layer_fits_in_the_cache_with_all_that_it_moves() -> None:
    assert [ROOFS.judged(layer).cache_resident for layer in (CONV, CACHED, UNKNOWN)] == [False, True, None]
    assert replace(ROOFS, cache_bytes=None).judged(CACHED).cache_resident is None


def test_a_layer_exceeds_its_roof_only_beyond_a_tenth() -> None:
    """1 MAC a byte: attainable are 40 GFLOP/s, and 44 are a tenth more."""
    assert not ROOFS.judged(replace(DEPTHWISE, ms=0.1)).exceeds_roof  # 40
    assert not ROOFS.judged(replace(DEPTHWISE, ms=0.0915)).exceeds_roof  # 43.7
    assert ROOFS.judged(replace(DEPTHWISE, ms=0.09)).exceeds_roof  # 44.4
    assert not ROOFS.judged(UNKNOWN).exceeds_roof


def test_what_cannot_be_divided_is_unknown() -> None:
    assert (POOL.gflops, UNKNOWN.oi, UNKNOWN.gflops, UNKNOWN.gbytes_per_s) == (None, None, None, None)
    assert LayerRow("empty", "Identity", 0.0, 0.0, 0, 0).oi is None


def test_shares_by_operation_add_up_the_largest_first() -> None:
    assert measured().by_op == {"Conv": 0.75, "Gemm": 0.125, "GlobalAveragePool": 0.125}
    assert next(iter(measured().by_op)) == "Conv"
    assert measured().total_ms == 8.0


def test_the_whole_model_has_the_time_of_a_call_and_is_unknown_where_a_layer_is() -> None:
    whole = measured().with_whole("net").whole
    assert whole is not None
    assert (whole.name, whole.bound, whole.gflops) == ("net", "compute", 24.4)
    assert (whole.ms, whole.macs, whole.nbytes) == (10.0, 122_000_000, 7_500_000)
    unknown = measured(CONV, UNKNOWN).with_whole("net").whole
    assert unknown is not None
    assert unknown.macs is None


def test_the_document_has_the_agreed_fields() -> None:
    document = measured().document()
    assert (document["unit"], document["estimated"], document["total_ms"]) == ("CPU_ONLY@2", False, 8.0)
    assert document["layers"][0] == {
        "name": "conv1",
        "op": "Conv",
        "ms": 4.0,
        "share": 0.5,
        "macs": 100_000_000,
        "nbytes": 4_000_000,
        "bytes": 4_000_000,
        "oi": 25.0,
        "bound": "compute",
        "near_ridge": False,
        "cache_resident": False,
        "fused": ["relu1", "add1"],
        "ran_as": "conv1_nchwc",
        "device": None,
        "fallback": None,
        "gflops": 50.0,
        "gbytes_per_s": 1.0,
        "attainable_gflops": 100.0,
        "exceeds_roof": False,
    }
    assert document["by_op"] == {"Conv": 0.75, "Gemm": 0.125, "GlobalAveragePool": 0.125}
    assert (document["end_to_end_ms"], document["threads"], document["runs"]) == (10.0, 2, 50)
    roofs = document["roofs"]
    assert (roofs["gflops"], roofs["gbytes_per_s"], roofs["threads"], roofs["measured"]) == (100.0, 20.0, 2, True)
    assert (roofs["ridge"], roofs["cache_bytes"]) == (5.0, 1_000_000)
    assert roofs["compute"][0] == {"name": "GEMM", "best": 80.0, "median": 70.0}
    assert [layer["gflops"] for layer in document["layers"]] == [50.0, 2.0, 40.0, None]
    assert document["layers"][1]["attainable_gflops"] == 40.0


def test_what_is_unknown_is_null_and_without_roofs_nothing_is_bound() -> None:
    document = measured(CONV, UNKNOWN, roofs=None).document()
    odd = document["layers"][1]
    assert [odd[name] for name in ("macs", "bytes", "oi", "bound", "cache_resident", "ran_as")] == [None] * 6
    assert document["layers"][0]["bound"] is None
    assert document["roofs"] is None


def test_a_rate_beyond_all_numbers_is_unknown() -> None:
    row = LayerRow("fast", "Conv", 5e-324, 0.0, 2**53 - 1, 2**53 - 1)
    assert (row.gflops, row.gbytes_per_s) == (None, None)


def layer(name: str, ms: float, share: float, op: str = "Conv", **more: Any) -> LayerRow:
    return LayerRow(name, op, ms, share, **{"macs": 10, "nbytes": 5, "bound": "memory", **more})


def result(*layers: LayerRow, **more: Any) -> LayersResult:
    return LayersResult.of_layers(layers, **{"unit": "CPU_ONLY", "threads": 2, "end_to_end_ms": 1.5, **more})


def kept(found: LayersResult) -> LayersResult:
    """As a recording has it."""
    return LayersResult.from_line(found.line())


def test_a_line_keeps_the_order_and_the_figures() -> None:
    found = kept(
        result(layer("a", 0.25, 0.25), layer("b", 0.75, 0.75, "Gemm", device="GPU", fallback=True), notes=["a note"])
    )
    assert [(each.name, each.ms, each.share) for each in found.layers] == [("a", 0.25, 0.25), ("b", 0.75, 0.75)]
    assert (found.layers[1].device, found.layers[1].fallback) == ("GPU", True)
    assert found.layers[0].oi == 2.0, "10 MACs by 5 bytes"
    assert found.by_op == {"Gemm": 0.75, "Conv": 0.25}
    assert (found.total_ms, found.end_to_end_ms, found.threads, found.notes) == (1.0, 1.5, 2, ["a note"])


def test_a_line_names_the_ridge_where_neither_roof_is_certain_and_keeps_no_detail() -> None:
    near, far = (
        layer("a", 0.5, 0.5, near_ridge=True, fused=("b",), ran_as="c"),
        layer("b", 1 / 3, 0.5, near_ridge=False),
    )
    line = result(near, far, runs=50, unused=3, shapes=["x 1x4"]).line()
    assert line["layers"] == [
        {"name": "a", "op": "Conv", "ms": 0.5, "share": 0.5, "macs": 10, "nbytes": 5, "bound": "ridge"},
        {"name": "b", "op": "Conv", "ms": 0.333333, "share": 0.5, "macs": 10, "nbytes": 5, "bound": "memory"},
    ]
    assert not line.keys() & {"runs", "unused", "shapes"}


def test_a_line_has_the_roofs_without_their_kernels_and_the_whole_model() -> None:
    found = kept(measured().with_whole("net"))
    assert found.roofs == Roofs(gflops=100.0, gbytes_per_s=20.0, threads=2)
    assert found.roofs.ridge_oi == 2.5
    assert found.whole is not None
    assert (found.whole.name, found.whole.ms) == ("net", 10.0)
    published = Roofs(gflops=32.0, gbytes_per_s=3.44, measured=False, source="a paper")
    assert kept(result(layer("a", 1.0, 1.0), roofs=published)).roofs == published


def test_of_a_long_model_the_largest_stay_in_order_and_the_rest_is_counted() -> None:
    found = kept(result(*(layer(f"l{i}", float(i % 100), 0.01) for i in range(100))))
    assert [each.name for each in found.layers] == [f"l{i}" for i in range(36, 100)]
    assert (found.rest_n, found.rest_ms) == (36, sum(range(36)))


def test_it_stays_within_a_line_of_the_stream() -> None:
    many = [layer("l/" + "x" * 198, 1 / 3, 1 / 1000, "O" * 200, macs=2**52, nbytes=2**52) for _ in range(1000)]
    assert length(result(*many, notes=["n" * 1000] * 100)) < 24_000
    usual = [layer(f"block{i}_expand_conv_Conv", 0.1234567, 0.01234567, cache_resident=True) for i in range(200)]
    assert length(result(*usual)) < 9_216


def length(found: LayersResult) -> int:
    return len(msgspec.json.encode(Study(t=1, name="layers", state="done", elapsed_ns=1, found=found.line())))


def test_a_text_that_could_move_the_cursor_is_cleaned() -> None:
    found = kept(result(layer("\x1b[2Jevil", 1.0, 1.0, "\x9bOp")))
    assert found.layers[0].name == "\ufffd[2Jevil"
    assert found.layers[0].op == "\ufffdOp"


@pytest.mark.parametrize("name", ["layers", "roofline"])
def test_the_document_of_a_command_is_read_as_the_result(name: str) -> None:
    found = measured().with_whole("net")
    assert read_document(name, {"hettop": "1", "model": {"name": "net"}, **found.document()}) == found


BROKEN: list[dict[str, Any]] = [{}, {"layers": 3}, {"layers": [{"name": "a", "ms": 1.0}]}, {"roofs": 1}]


@pytest.mark.parametrize("broken", BROKEN)
def test_what_is_no_such_document_is_an_error(broken: dict[str, Any]) -> None:
    with pytest.raises(HettopError, match="returned an invalid result"):
        read_document("layers", {**result().document(), **broken} if broken else {})
