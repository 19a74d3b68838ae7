"""Finds the shapes that an ONNX graph computes while it runs, by computing them: small whole numbers made from shapes.

Exporters write `x.reshape(n, -1)` as a chain of Shape, Slice, Concat and Reshape, through which ONNX's own inference
does not always see.
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Known = dict[str, Array]
Names = dict[str, str]
"""New names of values by their old ones."""

LARGEST = 1024
"""Elements of a value that may be a shape, an index or the like; none larger is computed."""

ROUNDS = 8
"""Each round finds the shapes behind those found before; a graph that needs more is left as it is."""

_FOLDED_NAME = "folded by hettop"
"""Of the tensor in a Constant that this made, in which a later reader distinguishes it from one of the model."""

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


def fold(model: Any, infer: Any, values: Known | None = None) -> Any:
    """The model as `infer` (onnx's shape inference) leaves it, with all shapes found that can be.

    Nodes that were computed are constants afterwards, and an If whose condition is known is the branch that is taken.
    values: those of inputs, as far as known.
    """
    opsets = [entry for entry in model.opset_import if entry.domain in ("", "ai.onnx")]
    inferred = infer(model)
    for _ in range(ROUNDS):
        if not _fold_graph(inferred.graph, values or {}, {}, opsets):
            break
        inferred = infer(inferred)
    return inferred


def _fold_graph(graph: Any, outer: Known, shapes: Mapping[str, tuple[int, ...]], opsets: list[Any]) -> int:
    """Folds in place; returns how many nodes became constants or gave way to a branch."""
    known, shapes = dict(outer), {**shapes, **dict(_whole_shapes(graph))}
    known |= dict(_small_initializers(graph))
    folded, names = 0, _defined(graph)
    waiting: deque[tuple[Any, Names]] = deque((node, {}) for node in graph.node)
    nodes, branches = [], []
    while waiting:
        node, renamed = waiting.popleft()
        _rename(node, renamed)
        nodes.append(node)
        if node.op_type == "Constant" and not node.domain:
            known |= _constant(node)
        elif (value := _computed(node, known, shapes, opsets)) is not None:
            known[node.output[0]] = value
            _become_constant(node, value)
            folded += 1
        elif (taken := _taken_branch(node, known)) is not None:
            inner = {**renamed, **_new_names(node, taken, names)}
            shapes |= {inner.get(name, name): shape for name, shape in _whole_shapes(taken)}
            known |= {inner.get(name, name): value for name, value in _small_initializers(taken)}
            waiting.extendleft((each, {}) for each in _identities(node, taken, inner))
            waiting.extendleft((each, inner) for each in reversed(taken.node))
            branches.append((taken, inner))
            nodes.pop()
            folded += 1
        else:
            for each in node.attribute:
                _rename_inside(each.g, renamed)
            folded += sum(_fold_graph(each.g, known, shapes, opsets) for each in node.attribute if each.g.node)
    if branches:
        _replace_nodes(graph, nodes, branches)
    return folded


def _taken_branch(node: Any, known: Known) -> Any:
    """The graph that an If runs, if its condition is known."""
    if node.op_type != "If" or node.domain or node.input[0] not in known:
        return None
    taken = "then_branch" if known[node.input[0]].all() else "else_branch"
    return {each.name: each.g for each in node.attribute}[taken]


def _defined(graph: Any) -> set[str]:
    """Names of the values of a graph, without those of the graphs inside it."""
    stored = (*graph.initializer, *graph.input)
    return {each.name for each in stored} | {
        *(each.values.name for each in graph.sparse_initializer),
        *(name for node in graph.node for name in node.output if name),
    }


def _new_names(node: Any, taken: Any, names: set[str]) -> Names:
    """What values of the branch are called where the If was: as its outputs, or anew where a name is used already.

    `names` gains them.
    """
    own = _defined(taken)
    made = {name: name for name in own}
    for name in own & names:
        numbers = (f"{name}_{n}" for n in itertools.count(2))
        made[name] = next(each for each in numbers if each not in names and each not in own)
    computed = {name for each in taken.node for name in each.output}
    for inside, outside in zip(taken.output, node.output, strict=True):
        if outside and inside.name in computed:
            made[inside.name] = outside
            computed.discard(inside.name)
    names |= set(made.values())
    return made


def _identities(node: Any, taken: Any, made: Names) -> list[Any]:
    """For outputs of an If that no node of the branch computes for them alone."""
    from onnx import helper

    pairs = [(made.get(each.name, each.name), outside) for each, outside in zip(taken.output, node.output, strict=True)]
    return [helper.make_node("Identity", [name], [outside]) for name, outside in pairs if outside and name != outside]


def _rename(node: Any, names: Names) -> None:
    for values in (node.input, node.output):
        for index, name in enumerate(values):
            if names.get(name, name) != name:
                values[index] = names[name]


def _rename_inside(graph: Any, names: Names) -> None:
    """In a graph that stays inside its node: what it reads of the graphs around it, whose names it cannot reuse."""
    if all(old == new for old, new in names.items()):
        return
    for value in graph.output:
        value.name = names.get(value.name, value.name)
    for node in graph.node:
        _rename(node, names)
        for each in node.attribute:
            _rename_inside(each.g, names)


def _replace_nodes(graph: Any, nodes: list[Any], branches: list[tuple[Any, Names]]) -> None:
    """Gives the graph these nodes, and what is stored in the branches that they come from."""
    from onnx import GraphProto

    made = GraphProto(node=nodes)
    for taken, names in branches:
        for field in ("initializer", "value_info"):
            for each in getattr(taken, field):
                copy = getattr(graph, field).add()
                copy.CopyFrom(each)
                copy.name = names.get(each.name, each.name)
        for each in taken.sparse_initializer:
            sparse = graph.sparse_initializer.add()
            sparse.CopyFrom(each)
            sparse.values.name = names.get(each.values.name, each.values.name)
    del graph.node[:]
    graph.node.extend(made.node)


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


def is_folded(constant: Any) -> bool:
    """Whether a Constant node holds what `fold` computed."""
    return any(each.name == "value" and each.t.name == _FOLDED_NAME for each in constant.attribute)


def _become_constant(node: Any, value: Array) -> None:
    from onnx import helper, numpy_helper

    constant = helper.make_node("Constant", [], [node.output[0]], value=numpy_helper.from_array(value, _FOLDED_NAME))
    node.Clear()
    node.CopyFrom(constant)
