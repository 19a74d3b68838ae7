"""Small ONNX models that really run, with what makes cutting hard: residuals, constants, branches, several outputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from tests.sources.engine.backends.onnx_files import FLOAT, save

RNG = np.random.default_rng(7)


def weight(name: str, *shape: int) -> TensorProto:
    return numpy_helper.from_array((RNG.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32), name)


def residual(path: Path) -> str:
    """Four products of 64 x 64, with a value that goes by two of them, and two outputs."""
    nodes = [
        helper.make_node("MatMul", ["x", "w0"], ["a"], name="first"),
        helper.make_node("Relu", ["a"], ["p"], name="relu"),
        helper.make_node("MatMul", ["p", "w1"], ["b"], name="second"),
        helper.make_node("Tanh", ["b"], ["q"], name="tanh"),
        helper.make_node("MatMul", ["q", "w2"], ["c"], name="third"),
        helper.make_node("Add", ["c", "p"], ["s"], name="sum"),
        helper.make_node("Softmax", ["s"], ["z"], name="soft"),
        helper.make_node("MatMul", ["s", "w3"], ["y"], name="fourth"),
    ]
    weights = [weight(f"w{number}", 64, 64) for number in range(4)]
    return save(
        path, nodes, [("x", FLOAT, (8, 64))], [("y", FLOAT, (8, 64)), ("z", FLOAT, (8, 64))], initializers=weights
    )


def with_constants(path: Path) -> str:
    """A constant that is worked out from others, read on both sides of any cut."""
    nodes = [
        helper.make_node(
            "Constant", [], ["half"], name="half", value=numpy_helper.from_array(np.array(0.5, np.float32))
        ),
        helper.make_node("Mul", ["w", "half"], ["scaled"], name="scale"),
        helper.make_node("MatMul", ["x", "scaled"], ["a"], name="first"),
        helper.make_node("Sigmoid", ["a"], ["b"], name="bend"),
        helper.make_node("MatMul", ["b", "scaled"], ["y"], name="second"),
    ]
    return save(path, nodes, [("x", FLOAT, (4, 16))], [("y", FLOAT, (4, 16))], initializers=[weight("w", 16, 16)])


def branching(path: Path) -> str:
    """An If whose branches read values from around them."""
    same = helper.make_graph(
        [helper.make_node("Add", ["a", "k"], ["then_out"], name="inner_add")],
        "then",
        [],
        [helper.make_tensor_value_info("then_out", FLOAT, (4, 16))],
    )
    other = helper.make_graph(
        [helper.make_node("Sub", ["a", "k"], ["else_out"], name="inner_sub")],
        "else",
        [],
        [helper.make_tensor_value_info("else_out", FLOAT, (4, 16))],
    )
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], name="relu"),
        helper.make_node("ReduceSum", ["a"], ["total"], name="sum", keepdims=0),
        helper.make_node("Greater", ["total", "nought"], ["positive"], name="greater"),
        helper.make_node("If", ["positive"], ["c"], name="choice", then_branch=same, else_branch=other),
        helper.make_node("Tanh", ["c"], ["y"], name="tanh"),
    ]
    constants = [weight("k", 4, 16), numpy_helper.from_array(np.array(0, np.float32), "nought")]
    return save(path, nodes, [("x", FLOAT, (4, 16))], [("y", FLOAT, (4, 16))], initializers=constants)


def one_layer(path: Path) -> str:
    node = helper.make_node("MatMul", ["x", "w"], ["y"], name="only")
    return save(path, [node], [("x", FLOAT, (4, 16))], [("y", FLOAT, (4, 16))], initializers=[weight("w", 16, 16)])


def drawing(path: Path) -> str:
    nodes = [
        helper.make_node("RandomNormalLike", ["x"], ["n"], name="noise"),
        helper.make_node("Add", ["x", "n"], ["y"], name="sum"),
    ]
    return save(path, nodes, [("x", FLOAT, (4, 16))], [("y", FLOAT, (4, 16))])


def sequences(path: Path) -> str:
    """A sequence of arrays lies between its steps."""
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], name="relu"),
        helper.make_node("SplitToSequence", ["a"], ["parts"], name="split", axis=0),
        helper.make_node("ConcatFromSequence", ["parts"], ["y"], name="join", axis=0),
    ]
    return save(path, nodes, [("x", FLOAT, (4, 16))], [("y", FLOAT, (4, 16))])


def unsorted(path: Path) -> str:
    """As converters leave it that insert casts: what comes first stands last."""
    nodes = [
        helper.make_node("MatMul", ["h", "w"], ["a"], name="first"),
        helper.make_node("Tanh", ["a"], ["b"], name="bend"),
        helper.make_node("MatMul", ["b", "w"], ["c"], name="second"),
        helper.make_node("Cast", ["x"], ["h"], name="cast_in", to=TensorProto.FLOAT),
        helper.make_node("Cast", ["c"], ["y"], name="cast_out", to=TensorProto.DOUBLE),
    ]
    double = TensorProto.DOUBLE
    return save(path, nodes, [("x", double, (4, 16))], [("y", double, (4, 16))], initializers=[weight("w", 16, 16)])


def half(path: Path) -> str:
    """Of half precision within."""
    sixteen = [
        numpy_helper.from_array(numpy_helper.to_array(weight(name, 16, 16)).astype(np.float16), name) for name in "wv"
    ]
    nodes = [
        helper.make_node("Cast", ["x"], ["h"], name="cast_in", to=TensorProto.FLOAT16),
        helper.make_node("MatMul", ["h", "w"], ["a"], name="first"),
        helper.make_node("Relu", ["a"], ["b"], name="bend"),
        helper.make_node("MatMul", ["b", "v"], ["c"], name="second"),
        helper.make_node("Cast", ["c"], ["y"], name="cast_out", to=TensorProto.FLOAT),
    ]
    return save(path, nodes, [("x", FLOAT, (4, 16))], [("y", FLOAT, (4, 16))], initializers=sixteen)
