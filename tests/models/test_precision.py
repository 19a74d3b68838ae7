"""Variants that the tools write: what is in them, and how far their answers are from the original's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from hettop.errors import HettopError
from hettop.models.precision import CALIBRATION_SETS, FP16, FP32, INT8, INT8_DYNAMIC, VariantJob, note_of
from hettop.models.precision_onnx import write_variant

WEIGHT = np.random.default_rng(5).normal(size=(64, 96)).astype(np.float32)
X = np.random.default_rng(6).random((4, 64), dtype=np.float32)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """y = relu(x W), float32."""
    path = tmp_path_factory.mktemp("source") / "product.onnx"
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["h"], name="product"), helper.make_node("Relu", ["h"], ["y"])],
        "product",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (4, 64))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (4, 96))],
        [numpy_helper.from_array(WEIGHT, "w")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def feeds(asked: list[int]) -> Any:
    def sets(number: int) -> Iterator[Mapping[str, Any]]:
        asked.append(number)
        for index in range(number):
            yield {"x": np.random.default_rng(100 + index).random((4, 64), dtype=np.float32)}

    return sets


def answer(path: Path) -> Any:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": X})[0]


@pytest.mark.parametrize(("precision", "bound"), [(FP16, 2e-3), (INT8, 3e-2), (INT8_DYNAMIC, 3e-2)])
def test_a_variant_is_smaller_and_near_the_original(precision: str, bound: float, source: Path, tmp_path: Path) -> None:
    target = tmp_path / "variant.onnx"
    asked: list[int] = []
    write_variant(VariantJob(source=str(source), target=str(target), precision=precision), feeds(asked))
    expected = np.maximum(X @ WEIGHT, 0)
    got = answer(target)
    assert got.dtype == np.float32
    far = float(np.abs(got - expected).max() / np.abs(expected).max())
    assert 0 < far < bound, "not the same file, and not another model"
    stored = {"fp16": 2, "int8": 1, "int8-dynamic": 1}[precision]
    weights = [numpy_helper.to_array(tensor) for tensor in onnx.load(target).graph.initializer]
    assert any(w.size == WEIGHT.size and w.itemsize == stored for w in weights)
    assert asked == ([CALIBRATION_SETS] if precision == INT8 else [])


def test_what_no_tool_writes_is_refused_by_name(source: Path, tmp_path: Path) -> None:
    with pytest.raises(HettopError, match="no tool converts an ONNX model to fp32") as refused:
        write_variant(VariantJob(source=str(source), target=str(tmp_path / "x.onnx"), precision=FP32), feeds([]))
    assert refused.value.kind == "input"


def test_a_tool_that_gives_up_is_reported_in_a_line(tmp_path: Path) -> None:
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"no model at all")
    with pytest.raises(HettopError, match="cannot create fp16: ") as refused:
        write_variant(VariantJob(source=str(broken), target=str(tmp_path / "x.onnx"), precision=FP16), feeds([]))
    assert refused.value.kind == "load"


def test_notes_say_what_is_in_a_variant() -> None:
    assert note_of(INT8, core_ml=False).startswith("int8: activations calibrated on 16 sets")
    assert "k-means" in note_of("palette4", core_ml=True)


def convolution(path: Path, opset: int) -> Path:
    """y = x * W + b: its bias is what quantisation by channel needs opset 13 for."""
    rng = np.random.default_rng(7)
    stored = {"w": rng.normal(size=(8, 64, 1)).astype(np.float32), "b": rng.normal(size=8).astype(np.float32)}
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w", "b"], ["y"], name="conv")],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, 64, 4))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 8, 4))],
        [numpy_helper.from_array(each, name) for name, each in stored.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)
    return path


def transposed_feeds(number: int) -> Iterator[Mapping[str, Any]]:
    for index in range(number):
        yield {"x": np.random.default_rng(index).random((1, 64, 4), dtype=np.float32)}


@pytest.mark.parametrize("opset", [7, 9, 10, 12, 13])
def test_a_model_in_an_old_set_of_operators_is_quantised_too(opset: int, tmp_path: Path) -> None:
    source, target = convolution(tmp_path / "old.onnx", opset), tmp_path / "new.onnx"
    write_variant(VariantJob(source=str(source), target=str(target), precision=INT8), transposed_feeds)
    feed = {"x": np.random.default_rng(99).random((1, 64, 4), dtype=np.float32)}
    expected, got = (
        onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, feed)[0]
        for path in (source, target)
    )
    assert np.abs(got - expected).max() < 0.05 * np.abs(expected).max()
    assert {path.name for path in tmp_path.iterdir()} == {"old.onnx", "new.onnx"}, "no file is left over"


def test_what_cannot_be_converted_says_which_set_of_operators_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("no adapter")

    monkeypatch.setattr("onnx.version_converter.convert_version", refuse)
    source = convolution(tmp_path / "old.onnx", 9)
    with pytest.raises(HettopError, match="the model has opset 9") as refused:
        write_variant(VariantJob(source=str(source), target=str(tmp_path / "x.onnx"), precision=INT8), transposed_feeds)
    assert "opset 13" in refused.value.hint
    later = convolution(tmp_path / "later.onnx", 12)
    write_variant(VariantJob(source=str(later), target=str(tmp_path / "y.onnx"), precision=INT8), transposed_feeds)
    onnxruntime.InferenceSession(tmp_path / "y.onnx", providers=["CPUExecutionProvider"])
