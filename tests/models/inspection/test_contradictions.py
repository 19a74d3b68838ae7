"""A graph that is inconsistent, or has no end, is answered in words."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from hettop.errors import HettopError
from hettop.models.inspection.onnx_file import expands_within
from hettop.models.inspection.reading import inspect


def saved(tmp_path: Path, nodes: list[onnx.NodeProto], **more: object) -> Path:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("own", 1)], **more)
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    return path


@pytest.mark.parametrize(
    "nodes",
    [
        [onnx.NodeProto(op_type="Constant")],
        [
            helper.make_node("Constant", [], ["c"], value=helper.make_tensor("c", TensorProto.BOOL, [], [False])),
            helper.make_node("If", ["c"], ["y"]),
        ],
    ],
    ids=["a constant without an output", "a decided if without branches"],
)
def test_a_malformed_graph_is_answered_in_words(tmp_path: Path, nodes: list[onnx.NodeProto]) -> None:
    with pytest.raises(HettopError, match="is inconsistent"):
        inspect(saved(tmp_path, nodes), shapes={})


def doubling(depth: int) -> list[onnx.FunctionProto]:
    """Functions that each call the one before twice: 2**depth nodes."""
    opset = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    found = []
    for level in range(depth):
        called = helper.make_node if level else None
        inner = f"f{level - 1}" if called else "Relu"
        domain = "own" if called else ""
        nodes = [
            helper.make_node(inner, ["a"], ["b"], domain=domain),
            helper.make_node(inner, ["b"], ["c"], domain=domain),
        ]
        found.append(helper.make_function("own", f"f{level}", ["a"], ["c"], nodes, opset))
    return found


def test_functions_are_counted_before_they_are_written_out(tmp_path: Path) -> None:
    call = [helper.make_node("f9", ["x"], ["y"], domain="own")]
    model = onnx.load(saved(tmp_path, call, functions=doubling(10)))
    assert expands_within(model, 1024)
    assert not expands_within(model, 1023)
    bomb = saved(tmp_path, [helper.make_node("f39", ["x"], ["y"], domain="own")], functions=doubling(40))
    with pytest.raises(HettopError, match="recursive"):
        inspect(bomb, shapes={})


def test_a_function_that_calls_itself_has_no_end(tmp_path: Path) -> None:
    opset = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    loop = helper.make_function("own", "f", ["a"], ["b"], [helper.make_node("f", ["a"], ["b"], domain="own")], opset)
    with pytest.raises(HettopError, match="recursive"):
        inspect(saved(tmp_path, [helper.make_node("f", ["x"], ["y"], domain="own")], functions=[loop]), shapes={})
