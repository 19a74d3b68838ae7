"""Documents of `hettop layers` and `hettop roofline` as a line of the stream holds them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from hettop.errors import HettopError
from hettop.events import Study
from hettop.studies.layers.result import LayersResult
from hettop.studies.reading import found_of


def layer(name: str, ms: float, share: float, op: str = "Conv", **more: Any) -> dict[str, Any]:
    told = {"name": name, "op": op, "ms": ms, "share": share, "macs": 10, "bytes": 5, "bound": "memory"}
    return {**told, "cache_resident": None, "device": None, "fallback": None, **more}


def document(layers: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    total = sum(each["ms"] for each in layers)
    told = {"unit": "CPU_ONLY", "threads": 2, "estimated": False, "total_ms": total, "end_to_end_ms": 1.5}
    return {**told, "layers": layers, "roofs": None, "notes": ["a note"], **more}


def read(name: str, told: dict[str, Any]) -> LayersResult:
    found = found_of(name, told)
    assert isinstance(found, LayersResult)
    return found


def test_layers_keep_their_order_and_their_figures() -> None:
    told = document([layer("a", 0.25, 0.25), layer("b", 0.75, 0.75, "Gemm", device="GPU", fallback=True)])
    found = read("layers", {**told, "by_op": {"Gemm": 0.75, "Conv": 0.25}})
    assert [(each.name, each.ms, each.share) for each in found.layers] == [("a", 0.25, 0.25), ("b", 0.75, 0.75)]
    assert (found.layers[1].device, found.layers[1].fallback) == ("GPU", True)
    assert found.layers[0].oi == 2.0, "10 MACs by 5 bytes"
    assert found.by_op == {"Gemm": 0.75, "Conv": 0.25}
    assert (found.total_ms, found.end_to_end_ms, found.threads, found.notes) == (1.0, 1.5, 2, ["a note"])


def test_near_the_ridge_neither_roof_is_named() -> None:
    layers = [layer("a", 0.5, 0.5, near_ridge=True), layer("b", 0.5, 0.5, near_ridge=False)]
    assert [each.bound for each in read("layers", document(layers)).layers] == ["ridge", "memory"]


def test_a_roofline_has_roofs_and_the_whole_model_and_shares_by_type_of_its_layers() -> None:
    roofs = {"gflops": 100.0, "gbytes_per_s": 10.0, "threads": 2, "measured": True}
    whole = layer("model", 1.5, 1.0, "", gflops=0.5)
    told = document([layer("a", 0.6, 0.6), layer("b", 0.3, 0.3), layer("c", 0.1, 0.1, "Gemm")], roofs=roofs)
    found = read("roofline", {**told, "model": whole})
    assert found.roofs is not None
    assert (found.roofs.gflops, found.roofs.gbytes_per_s, found.roofs.ridge) == (100.0, 10.0, 5.0)
    assert found.whole is not None
    assert (found.whole.name, found.whole.ms) == ("model", 1.5)
    assert found.by_op == {"Conv": pytest.approx(0.9), "Gemm": pytest.approx(0.1)}


def test_published_roofs_keep_their_source() -> None:
    roofs = {"gflops": 32.0, "gbytes_per_s": 3.44, "measured": False, "source": "a paper"}
    found = read("layers", document([layer("a", 1.0, 1.0)], roofs=roofs))
    assert found.roofs is not None
    assert (found.roofs.measured, found.roofs.source, found.roofs.threads) == (False, "a paper", None)


def test_of_a_long_model_the_largest_stay_in_order_and_the_rest_is_counted() -> None:
    layers = [layer(f"l{i}", float(i % 100), 0.01) for i in range(100)]
    found = read("layers", document(layers))
    assert [each.name for each in found.layers] == [f"l{i}" for i in range(36, 100)]
    assert (found.rest_n, found.rest_ms) == (36, sum(range(36)))


def test_it_stays_within_a_line_of_the_stream() -> None:
    layers = [layer("layer/" + "x" * 300, 1 / 3, 1 / 1000, "Op" * 100, macs=2**52, bytes=2**52) for _ in range(1000)]
    found = read("layers", document(layers, notes=["n" * 1000] * 100))
    line = msgspec.json.encode(Study(t=1, name="layers", state="done", elapsed_ns=1, found=found.line()))
    assert len(line) < 24_000
    named = [layer(f"block{i}_expand_conv_Conv", 0.1234567, 0.01234567, cache_resident=True) for i in range(200)]
    usual = read("layers", document(named))
    assert len(msgspec.json.encode(Study(t=1, name="layers", state="done", elapsed_ns=1, found=usual.line()))) < 9_216


def test_a_text_that_could_move_the_cursor_is_cleaned() -> None:
    found = read("layers", document([layer("\x1b[2Jevil", 1.0, 1.0, "\x9bOp")]))
    assert found.layers[0].name == "\ufffd[2Jevil"
    assert found.layers[0].op == "\ufffdOp"


@pytest.mark.parametrize(
    "broken", [{}, {"layers": 3}, {**document([]), "layers": [{"name": "a", "ms": 1.0}]}, {**document([]), "roofs": 1}]
)
def test_what_is_no_such_document_is_an_error(broken: dict[str, Any]) -> None:
    with pytest.raises(HettopError, match="cannot be read"):
        found_of("layers", broken)
