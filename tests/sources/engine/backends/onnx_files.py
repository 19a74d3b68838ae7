"""Small ONNX models for odd cases, written with onnx.helper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from onnx import TensorProto, helper

Tensor = tuple[str, int, Sequence[int | str]]

FLOAT, DOUBLE, FLOAT16, INT64, BOOL, STRING = (
    TensorProto.FLOAT,
    TensorProto.DOUBLE,
    TensorProto.FLOAT16,
    TensorProto.INT64,
    TensorProto.BOOL,
    TensorProto.STRING,
)


def save(
    path: Path,
    nodes: Sequence[Any],
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    *,
    initializers: Sequence[Any] = (),
    opset: int = 17,
    ir_version: int = 8,
    domains: Mapping[str, int] | None = None,
) -> str:
    """Writes the model and returns its path; inputs and outputs are (name, element type, shape)."""
    graph = helper.make_graph(
        list(nodes),
        "small",
        [helper.make_tensor_value_info(*tensor) for tensor in inputs],
        [helper.make_tensor_value_info(*tensor) for tensor in outputs],
        list(initializers),
    )
    opsets = [helper.make_opsetid(name, version) for name, version in {"": opset, **(domains or {})}.items()]
    path.write_bytes(helper.make_model(graph, opset_imports=opsets, ir_version=ir_version).SerializeToString())
    return str(path)


def relu(path: Path, shape: Sequence[int | str] = (1, 4), *, opset: int = 17, ir_version: int = 8) -> str:
    """`y = max(x, 0)`, float32."""
    node = helper.make_node("Relu", ["x"], ["y"])
    return save(path, [node], [("x", FLOAT, shape)], [("y", FLOAT, shape)], opset=opset, ir_version=ir_version)
