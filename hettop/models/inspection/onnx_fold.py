"""Finds the shapes that an ONNX graph computes while it runs, by computing them: small whole numbers made from shapes.

Exporters write `x.reshape(n, -1)` as a chain of Shape, Slice, Concat and Reshape, through which ONNX's own inference
does not always see.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Known = dict[str, Array]

LARGEST = 1024
"""Elements of a value that may be a shape, an index or the like; none larger is computed."""

ROUNDS = 8
"""Each round finds the shapes behind those found before; a graph that needs more is left as it is."""

_FOLDED = frozenset(
    {
        "Shape", "Size", "Identity", "Cast", "Gather", "Slice", "Concat", "Unsqueeze", "Squeeze", "Reshape",
        "Transpose", "Flatten", "ConstantOfShape", "Expand", "Range", "Add", "Sub", "Mul", "Div", "Mod", "Neg", "Abs",
        "Sign", "Floor", "Ceil", "Min", "Max", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "And", "Or",
        "Not", "Where", "ReduceProd", "ReduceSum", "ReduceMin", "ReduceMax",
    }
)  # fmt: skip

# The reference implementation may raise anything for an invalid graph: the value is then unknown.
_FAULTS = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


def fold(model: Any, infer: Any) -> Any:
    """The model as `infer` (onnx's shape inference) leaves it, with all shapes found that can be.

    Nodes that were computed are constants afterwards, and of an If whose condition is known both branches are the one
    that is taken.
    """
    opsets = [entry for entry in model.opset_import if entry.domain in ("", "ai.onnx")]
    inferred = infer(model)
    for _ in range(ROUNDS):
        if not _fold_graph(inferred.graph, {}, {}, opsets):
            break
        inferred = infer(inferred)
    return inferred


def _fold_graph(graph: Any, outer: Known, shapes: Mapping[str, tuple[int, ...]], opsets: list[Any]) -> int:
    """Folds in place; returns how many nodes became constants or lost a branch."""
    known, shapes = dict(outer), {**shapes, **dict(_whole_shapes(graph))}
    known |= dict(_small_initializers(graph))
    folded = 0
    for node in graph.node:
        if node.op_type == "Constant" and not node.domain:
            known |= _constant(node)
        elif (value := _computed(node, known, shapes, opsets)) is not None:
            known[node.output[0]] = value
            _become_constant(node, value)
            folded += 1
        else:
            folded += _choose_branch(node, known)
            folded += sum(_fold_graph(each.g, known, shapes, opsets) for each in node.attribute if each.g.node)
    return folded


def _whole_shapes(graph: Any) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Values whose lengths are all known."""
    for value in (*graph.input, *graph.value_info, *graph.output):
        tensor = value.type.tensor_type
        if value.type.HasField("tensor_type") and tensor.HasField("shape"):
            lengths = tuple(axis.dim_value if axis.HasField("dim_value") else -1 for axis in tensor.shape.dim)
            if min(lengths, default=0) >= 0:
                yield value.name, lengths
    for tensor in graph.initializer:
        yield tensor.name, tuple(tensor.dims)


def _small_initializers(graph: Any) -> Iterator[tuple[str, Array]]:
    from onnx import TensorProto

    for tensor in graph.initializer:
        if math.prod(tensor.dims) <= LARGEST and tensor.data_location != TensorProto.EXTERNAL:
            yield from _value(tensor.name, tensor)


def _constant(node: Any) -> Known:
    """The value of a Constant node, if it is small."""
    for attribute in node.attribute:
        match attribute.name:
            case "value" if math.prod(attribute.t.dims) <= LARGEST:
                return dict(_value(node.output[0], attribute.t))
            case "value_int":
                return {node.output[0]: np.asarray(attribute.i, np.int64)}
            case "value_ints" if len(attribute.ints) <= LARGEST:
                return {node.output[0]: np.asarray(attribute.ints, np.int64)}
    return {}


def _value(name: str, tensor: Any) -> Iterator[tuple[str, Array]]:
    """Whole numbers and truth values, and lone floats: what is computed with on the way to a shape."""
    from onnx import numpy_helper

    try:
        value = numpy_helper.to_array(tensor)
    except _FAULTS:
        return
    if value.dtype.kind in "iub" or (value.dtype.kind == "f" and value.size == 1):
        yield name, value


def _computed(node: Any, known: Known, shapes: Mapping[str, tuple[int, ...]], opsets: list[Any]) -> Array | None:
    """The node's only output, if it can be known and is small."""
    if node.domain not in ("", "ai.onnx") or node.op_type not in _FOLDED or len(node.output) != 1 or not node.input:
        return None
    if node.op_type in ("Shape", "Size") and node.input[0] in shapes:
        return _measured(node, shapes[node.input[0]])
    if not all(name in known for name in node.input if name):
        return None
    given = {name: known[name] for name in node.input if name}
    if _length(node, known) > LARGEST:
        return None
    value = _run(node, given, opsets)
    return value if value is not None and value.size <= LARGEST and value.dtype.kind in "iubf" else None


def _measured(node: Any, shape: tuple[int, ...]) -> Array:
    limits = {each.name: each.i for each in node.attribute}
    if node.op_type == "Size":
        return np.asarray(math.prod(shape), np.int64)
    return np.asarray(shape[limits.get("start", 0) : limits.get("end", len(shape))], np.int64)


def _length(node: Any, known: Known) -> float:
    """How many elements an operator that makes many of few is about to make."""
    given = [known[name] for name in node.input if name]
    match node.op_type:
        case "ConstantOfShape":
            return math.prod(int(axis) for axis in given[0].ravel())
        case "Expand":
            return math.prod(int(axis) for axis in given[1].ravel()) * max(given[0].size, 1)
        case "Range" if given[2].size == 1 and given[2]:
            return float((given[1] - given[0]) / given[2])
        case "Range":
            return math.inf
    return sum(each.size for each in given) ** 2  # at most every element of one with every one of another


def _run(node: Any, given: Known, opsets: list[Any]) -> Array | None:
    from onnx import ValueInfoProto, helper
    from onnx.reference import ReferenceEvaluator

    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in given.items()
    ]
    graph = helper.make_graph([node], "one", inputs, [ValueInfoProto(name=node.output[0])])
    try:
        (value,) = ReferenceEvaluator(helper.make_model(graph, opset_imports=opsets)).run(None, given)
    except _FAULTS:
        return None
    return np.asarray(value)


def _become_constant(node: Any, value: Array) -> None:
    from onnx import helper, numpy_helper

    constant = helper.make_node("Constant", [], [node.output[0]], value=numpy_helper.from_array(value))
    node.Clear()
    node.CopyFrom(constant)


def _choose_branch(node: Any, known: Known) -> int:
    """Makes both branches of an If the taken one, if its condition is known; whether that changed anything."""
    if node.op_type != "If" or node.domain or node.input[0] not in known:
        return 0
    branches = {each.name: each.g for each in node.attribute}
    taken, other = ("then_branch", "else_branch") if known[node.input[0]].all() else ("else_branch", "then_branch")
    if branches[taken].SerializeToString() == branches[other].SerializeToString():
        return 0
    branches[other].CopyFrom(branches[taken])
    return 1
