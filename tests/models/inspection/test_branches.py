"""Ifs whose condition is known: the branch that is taken stands in their place, whatever it calls its values."""

from __future__ import annotations

from unittest import mock

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from hettop.models.inspection import onnx_fold, onnx_graph
from hettop.models.inspection.onnx_graph import read_graph

FLOATS = TensorProto.FLOAT


def value(name: str, *shape: int) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, FLOATS, shape)


def nested(level: int, name: str) -> onnx.GraphProto:
    """A branch with an If in it, and so on."""
    inner = (
        helper.make_node("Identity", ["x"], [name])
        if level == 0
        else helper.make_node(
            "If", ["c"], [name], then_branch=nested(level - 1, f"t{level}"), else_branch=leaf(f"e{level}")
        )
    )
    return helper.make_graph([inner], name, [], [value(name, 4)])


def leaf(name: str) -> onnx.GraphProto:
    return helper.make_graph([helper.make_node("Neg", ["x"], [name])], name, [], [value(name, 4)])


def model(nodes: list[onnx.NodeProto], output: onnx.ValueInfoProto, *, taken: bool = True) -> onnx.ModelProto:
    condition = numpy_helper.from_array(np.asarray(taken), "c")
    graph = helper.make_graph(nodes, "main", [value("x", 4)], [output], [condition])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def work(depth: int) -> int:
    """How many nodes are looked at."""
    graph = nested(depth, "y")
    made = model(list(graph.node), value("y", 4))
    with (
        mock.patch.object(onnx_fold, "_computed", wraps=onnx_fold._computed) as folding,
        mock.patch.object(onnx_graph, "_op_name", wraps=onnx_graph._op_name) as reading,
    ):
        read_graph(made, {})
    return folding.call_count + reading.call_count


def test_twice_the_depth_is_twice_the_work() -> None:
    five, ten, twenty = (work(depth) for depth in (5, 10, 20))
    assert twenty - ten == 2 * (ten - five)


@pytest.mark.parametrize(("taken", "op"), [(True, "Identity"), (False, "Neg")])
def test_the_branch_that_is_taken_is_what_runs(taken: bool, op: str) -> None:
    graph = nested(3, "y")
    found = read_graph(model(list(graph.node), value("y", 4), taken=taken), {})
    assert [(layer.op, layer.writes) for layer in found.layers] == [(op, (("y", 16),))]


def branch(scale: int) -> onnx.GraphProto:
    """Two branches use the same names: `w` is stored, `h` computed, `x` is the outer one and an output itself."""
    weight = numpy_helper.from_array(np.full((4, scale), scale, np.float32), "w")
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("If", ["unknown"], ["r"], then_branch=inner("Abs"), else_branch=inner("Neg")),
    ]
    return helper.make_graph(nodes, "b", [], [value("r", scale), value("x", 4)], [weight])


def inner(op: str) -> onnx.GraphProto:
    return helper.make_graph([helper.make_node(op, ["h"], [f"{op}_out"])], op, [], [value(f"{op}_out", 0)])


def test_names_of_two_branches_stay_apart_and_their_weights_are_counted() -> None:
    nodes = [
        helper.make_node("If", ["c"], [f"y{n}", f"x{n}"], then_branch=branch(n), else_branch=branch(n)) for n in (2, 3)
    ]
    made = model(nodes, value("y2", 2))
    made.graph.input.append(helper.make_tensor_value_info("unknown", TensorProto.BOOL, ()))
    found = read_graph(made, {})
    products = [layer for layer in found.layers if layer.op == "MatMul"]
    assert [layer.macs for layer in products] == [4 * 2, 4 * 3]
    written = [name for layer in found.layers for name, _ in layer.writes]
    assert {"y2", "x2", "y3", "x3"} <= set(written)
    read = [name for layer in found.layers if layer.op in ("Abs", "Neg") for name, _ in layer.reads]
    assert read == [layer.writes[0][0] for layer in products]
    assert len(set(read)) == 2
