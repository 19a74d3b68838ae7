"""Reads an ONNX graph for inspection: parameters, layers with inferred shapes, multiply-accumulates by operator.

Weights are looked at by type and size alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hettop.models.inspection import macs
from hettop.models.inspection.graph import (
    BITS,
    UNKNOWN,
    Graph,
    Layer,
    Shape,
    Tensor,
    Weight,
    costlier,
    repeated,
    total_bytes,
)
from hettop.models.inspection.onnx_file import type_name, value_type
from hettop.models.inspection.onnx_fold import fold, is_folded
from hettop.text import clean

SMALL = 1024
"""Elements of a constant that may be a shape or the like; the contents of larger ones are dropped to save memory."""

CONSTANT = "Constant"

_DATA_FIELDS = ("raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data", "string_data")
_REPEATED = frozenset({"Loop", "Scan", "SequenceMap"})


def read_graph(model: Any, shapes: Mapping[str, tuple[int, ...]], values: Mapping[str, Any] | None = None) -> Graph:
    """Weights and layers of the model for inputs of these shapes. The contents of its weights are dropped.

    values: arrays of inputs that are known; those of one element may decide which branch runs.
    """
    ops = Counter(_op_name(node) for node in _nodes(model.graph))
    graph = _read(*_inferred(model, shapes), ops)
    known = all(layer.macs is not None and layer.moved_bytes is not None for layer in graph.layers)
    if known and "If" not in ops:
        return graph
    lone = {name: array for name, array in (values or {}).items() if array.size == 1 and array.dtype.kind in "iubf"}
    return _read(fold(model, lambda each: _infer(each)[0], lone), _infer(model)[1], ops)


def value_types(model: Any, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Tensor]:
    """Types of all values outside of subgraphs, by name, for inputs of these shapes; contents are dropped, too."""
    graph = _inferred(model, shapes)[0].graph
    return {value.name: value_type(value.type) for value in (*graph.input, *graph.value_info, *graph.output)}


def _read(model: Any, fault: str | None, ops: Counter[str]) -> Graph:
    reader = _Reader()
    layers = reader.read(model.graph, _Scope())
    notes = [fault] if fault else []
    if reader.undecided:
        notes.append(
            f"{reader.undecided} conditions depend on values: the costlier branch is counted;"
            " the value of an input may decide (--input NAME=NUMBER)"
        )
    if reader.endless:
        notes.append(
            f"the body of {', '.join(sorted(reader.endless))} is not counted: its number of iterations is known at run"
            " time only"
        )
    return Graph(tuple(layers), tuple(reader.weights.values()), ops, tuple(notes))


def _nodes(graph: Any) -> Iterator[Any]:
    """Every operator in the graph and in the graphs inside it."""
    for node in graph.node:
        if node.op_type != CONSTANT:
            yield node
        for inner in _graphs(node):
            yield from _nodes(inner)


def _numbers(graph: Any) -> Iterator[tuple[str, int]]:
    """Constants of the graph that are one whole number or truth value, by name."""
    from onnx import TensorProto, numpy_helper

    stored = [(tensor.name, tensor) for tensor in graph.initializer]
    made = [(node.output[0], each.t) for node in graph.node if node.op_type == CONSTANT for each in node.attribute]
    for name, tensor in (*stored, *made):
        lone = math.prod(tensor.dims) == 1 and tensor.data_location != TensorProto.EXTERNAL
        if lone and tensor.data_type in (TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL):
            yield name, int(numpy_helper.to_array(tensor).item())
    for node in graph.node:
        if node.op_type == CONSTANT:
            yield from ((node.output[0], int(each.i)) for each in node.attribute if each.name == "value_int")


def _iterations(node: Any, scope: _Scope) -> int | None:
    """How often the body of a Loop, Scan or SequenceMap runs, None where that is known at run time only."""
    attributes = {each.name: each for each in node.attribute}
    if node.op_type == "Loop":
        return _loop_count(node, attributes["body"].g, scope)
    if node.op_type == "Scan":
        count = int(attributes["num_scan_inputs"].i)
        axes = list(attributes["scan_input_axes"].ints) if "scan_input_axes" in attributes else []
        shape = scope.types.get(node.input[-count], UNKNOWN).shape if 0 < count <= len(node.input) else None
        axis = axes[0] if axes else 0
        return shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else None
    return None


def _loop_count(node: Any, body: Any, scope: _Scope) -> int | None:
    """The trip count, if it is constant and no condition can end the loop earlier."""
    count = scope.numbers.get(node.input[0]) if node.input[0] else None
    begun = scope.numbers.get(node.input[1]) if len(node.input) > 1 and node.input[1] else 1
    if begun == 0:
        return 0
    if count is None or begun is None or not _goes_on(body, scope):
        return None
    return max(count, 0)


def _goes_on(body: Any, scope: _Scope) -> bool:
    """Whether the body hands on the condition that it was given, or a constant that is true."""
    makers = {name: node for node in body.node for name in node.output}
    name = body.output[0].name
    while name in makers and makers[name].op_type == "Identity":
        name = makers[name].input[0]
    given = body.input[1].name if len(body.input) > 1 else ""
    return name == given or {**scope.numbers, **dict(_numbers(body))}.get(name) == 1


def _drop_contents(tensor: Any) -> None:
    lengths = 1
    for axis in tensor.dims:
        lengths *= axis
    if lengths > SMALL:
        for field in _DATA_FIELDS:
            tensor.ClearField(field)


def _fix_shapes(graph: Any, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Gives the inputs these shapes; what the exporter noted of other values holds for others, and is forgotten."""
    changed = [
        value for value in graph.input if value.name in shapes and value_type(value.type).shape != shapes[value.name]
    ]
    for value in changed:
        del value.type.tensor_type.shape.dim[:]
        for length in shapes[value.name]:
            value.type.tensor_type.shape.dim.add().dim_value = length
    if changed:
        del graph.value_info[:]
        for value in graph.output:
            if value.type.HasField("tensor_type"):
                value.type.tensor_type.ClearField("shape")


def _inferred(model: Any, shapes: Mapping[str, tuple[int, ...]]) -> tuple[Any, str | None]:
    """The model with the shapes of its values for these inputs; as `_infer`."""
    for tensor in model.graph.initializer:
        _drop_contents(tensor)
    _fix_shapes(model.graph, shapes)
    return _infer(model)


def _infer(model: Any) -> tuple[Any, str | None]:
    """The model with the shapes of its values, or as it was with the reason why they cannot be inferred."""
    import onnx

    try:
        return onnx.shape_inference.infer_shapes(model, data_prop=True), None
    except (onnx.shape_inference.InferenceError, RuntimeError, ValueError, TypeError) as error:
        return model, f"cannot infer shapes: {clean((str(error).splitlines() or [''])[0])}"


@dataclass(frozen=True, slots=True)
class _Scope:
    """What names mean in a graph, those of the graphs around it included: types of values and of constants.

    numbers: constants of a single whole number or truth value.
    derived: values that depend on constants alone (a weight that is dequantised, say), with the stored bytes behind
    each; a runtime computes them once, when it loads the model.
    """

    types: dict[str, Tensor] = field(default_factory=dict)
    constants: dict[str, Tensor] = field(default_factory=dict)
    derived: dict[str, int] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)

    def inner(self) -> _Scope:
        return _Scope(dict(self.types), dict(self.constants), dict(self.derived), dict(self.numbers))

    def is_fixed(self, name: str) -> bool:
        return name in self.constants or name in self.derived

    def sized(self, names: Iterable[str]) -> tuple[tuple[str, int | None], ...]:
        """Values with their bytes."""
        return tuple((name, self.types.get(name, UNKNOWN).nbytes) for name in names)


class _Reader:
    """Walks a graph and the graphs inside it, gathering weights."""

    def __init__(self) -> None:
        self.weights: dict[str, Weight] = {}
        self.endless: set[str] = set()
        self.undecided = 0

    def read(self, graph: Any, scope: _Scope) -> list[Layer]:
        """The layers that one call of the graph runs; `scope` gains the graph's own names."""
        scope.constants.update((tensor.name, _tensor(tensor)) for tensor in graph.initializer)
        scope.constants.update((each.values.name, _sparse(each)) for each in graph.sparse_initializer)
        scope.numbers.update(_numbers(graph))
        for value in (*graph.input, *graph.value_info, *graph.output):
            scope.types[value.name] = value_type(value.type)
        layers: list[Layer] = []
        for node in graph.node:
            if node.op_type == CONSTANT:
                constant = _constant(node)
                if is_folded(node):  # follows from the shapes of the inputs: neither trained nor stored
                    scope.types[node.output[0]], scope.derived[node.output[0]] = constant, 0
                else:
                    scope.constants[node.output[0]] = constant
                continue
            op = _op_name(node)
            branches = [self.read(inner, scope.inner()) for inner in _graphs(node)]
            self.undecided += op == "If"
            if op in _REPEATED:
                times = _iterations(node, scope)
                if times is None:
                    self.endless.add(op)
                layers += repeated((each for branch in branches for each in branch), times)
            else:
                layers += costlier(branches)
            layers.append(self._layer(node, op, scope))
        return layers

    def _layer(self, node: Any, op: str, scope: _Scope) -> Layer:
        name = clean(node.name or next(iter(node.output), op))
        outputs = tuple(scope.types.get(name, UNKNOWN) for name in node.output if name)
        inputs = tuple(scope.constants.get(name) or scope.types.get(name, UNKNOWN) for name in node.input)
        attributes = _attributes(node)
        dtype = outputs[0].dtype if outputs else UNKNOWN.dtype
        stored = sum(weight.stored for weight in self._weights(node, op, attributes, scope))
        stored += sum(scope.derived.get(each, 0) for each in set(node.input))
        if node.input and all(scope.is_fixed(each) for each in node.input if each):
            scope.derived.update((each, stored) for each in node.output)
            return Layer(name, op, 0, 0, 0, 0, dtype, writes=tuple((each, 0) for each in node.output if each))
        flowing = [each for each in node.input if each and not scope.is_fixed(each)]
        return Layer(
            name=name,
            op=op,
            macs=count(Node(op, inputs, outputs, attributes)),
            input_bytes=total_bytes(scope.types.get(each, UNKNOWN) for each in flowing),
            weight_bytes=stored,
            output_bytes=total_bytes(outputs),
            dtype=dtype,
            reads=scope.sized(dict.fromkeys(flowing)),
            writes=scope.sized(each for each in node.output if each),
        )

    def _weights(self, node: Any, op: str, attributes: Mapping[str, Any], scope: _Scope) -> Iterator[Weight]:
        for position, name in enumerate(node.input):
            if name not in scope.constants:
                continue
            packed = attributes["K"] * attributes["N"] if op == "com.microsoft:MatMulNBits" else None
            weight = read_weight(op, position, clean(name), scope.constants[name], packed=packed)
            if weight is not None:
                # Graphs inside of two branches may have constants of one name.
                key = f"{name} {scope.constants[name]}"
                known = self.weights.get(key)
                # One that is a parameter anywhere is one; used twice it is stored once.
                if known is None or known.elements < weight.elements:
                    self.weights[key] = weight
                yield weight


def _op_name(node: Any) -> str:
    name = f"{node.domain}:{node.op_type}" if node.domain not in ("", "ai.onnx") else node.op_type
    return clean(name)


def _graphs(node: Any) -> list[Any]:
    return [graph for attribute in node.attribute for graph in (attribute.g, *attribute.graphs) if graph.node]


def _attributes(node: Any) -> dict[str, Any]:
    """Numbers and words; what else there is (tensors, graphs) is of no concern to a counter."""
    from onnx import AttributeProto

    plain = {AttributeProto.INT: "i", AttributeProto.FLOAT: "f"}
    found: dict[str, Any] = {
        each.name: getattr(each, plain[each.type]) for each in node.attribute if each.type in plain
    }
    texts = {
        each.name: each.s.decode(errors="replace") for each in node.attribute if each.type == AttributeProto.STRING
    }
    return found | texts


def _tensor(tensor: Any) -> Tensor:
    return Tensor(type_name(tensor.data_type), tuple(tensor.dims))


def _sparse(tensor: Any) -> Tensor:
    return Tensor(type_name(tensor.values.data_type), tuple(tensor.dims))


def _constant(node: Any) -> Tensor:
    """The value of a Constant node: one of several attributes, each of its own type."""
    for attribute in node.attribute:
        match attribute.name:
            case "value":
                return _tensor(attribute.t)
            case "sparse_value":
                return _sparse(attribute.sparse_tensor)
            case "value_floats":
                return Tensor("float32", (len(attribute.floats),))
            case "value_float":
                return Tensor("float32", ())
    return UNKNOWN  # whole numbers and text: settings


@dataclass(frozen=True, slots=True)
class Node:
    """An operator with what is known of its inputs and outputs; attributes by name, as plain Python values."""

    op: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    attributes: Mapping[str, Any]

    def input(self, index: int) -> Shape | None:
        return (self.inputs[index] if index < len(self.inputs) else UNKNOWN).shape

    def output(self, index: int = 0) -> Shape | None:
        return (self.outputs[index] if index < len(self.outputs) else UNKNOWN).shape


MacCounter = Callable[[Node], int | None]

MICROSOFT = "com.microsoft:"

# ONNX Runtime's own operators without a product in them; every other one of a foreign domain is unknown.
_HARMLESS = frozenset(
    MICROSOFT + name
    for name in (
        "BiasGelu", "BiasSoftmax", "BiasSplitGelu", "DequantizeLinear", "EmbedLayerNormalization", "FastGelu", "Gelu",
        "GatherBlockQuantized", "GroupNorm", "QLinearAdd", "QLinearAveragePool", "QLinearConcat",
        "QLinearGlobalAveragePool", "QLinearLeakyRelu", "QLinearMul", "QLinearSigmoid", "QLinearSoftmax",
        "QuantizeLinear", "QuickGelu", "RotaryEmbedding", "SimplifiedLayerNormalization", "SkipLayerNormalization",
        "SkipSimplifiedLayerNormalization",
    )
)  # fmt: skip


def count(node: Node) -> int | None:
    """Multiply-accumulates of one call; None if a length is unknown or the operator is."""
    counter = _COUNTERS.get(node.op)
    if counter is not None:
        return counter(node)
    return 0 if ":" not in node.op or node.op in _HARMLESS else None


def _convolution(weight: int) -> MacCounter:
    return lambda node: macs.convolution(node.output(), node.input(weight))


def _product(node: Node) -> int | None:
    return macs.matrix_product(node.output(), node.input(0), transposed=bool(node.attributes.get("transA", 0)))


def _recurrent(gates: int) -> MacCounter:
    """Weights are (directions, gates * hidden, inputs) and (directions, gates * hidden, hidden)."""

    def counted(node: Node) -> int | None:
        data, weight, again = node.input(0), node.input(1), node.input(2)
        if data is None or weight is None or again is None or len(data) != 3:
            return None
        directions, inputs, hidden = weight[0], weight[-1], again[-1]
        if directions is None or inputs is None or hidden is None:
            return None
        return macs.recurrent(data[0], data[1], inputs=inputs, hidden=hidden, gates=gates, directions=directions)

    return counted


def _quantised_lstm(node: Node) -> int | None:
    """Weights are (directions, inputs, gates * hidden) and (directions, hidden, gates * hidden)."""
    data, weight, again = node.input(0), node.input(1), node.input(2)
    if data is None or weight is None or again is None or (len(data), len(weight), len(again)) != (3, 3, 3):
        return None
    directions, inputs, hidden = weight[0], weight[1], again[1]
    if directions is None or inputs is None or hidden is None:
        return None
    gates = macs.LSTM_GATES
    return macs.recurrent(data[0], data[1], inputs=inputs, hidden=hidden, gates=gates, directions=directions)


def _attention(node: Node) -> int | None:
    """Keys and values seen earlier count, too: the operator hands them on with the new ones."""
    queries, keys, values = node.input(0), node.input(1), node.input(2)
    if queries is None or keys is None or values is None:
        return None
    # Heads folded into the last axis: fewer of keys and values than of queries means that each is used several times.
    heads = node.attributes.get("q_num_heads", node.attributes.get("num_heads", 1))
    shared = heads // node.attributes.get("kv_num_heads", heads) if len(values) == 3 else 1
    width = None if values[-1] is None else values[-1] * shared
    present = node.output(1)
    length = present[-2] if present is not None else keys[-2]
    return macs.attention(queries, (length, keys[-1]), (length, width))


def _packed_attention(node: Node) -> int | None:
    """Queries, keys and values come from one matrix product. Input (batch, length, in), weight (in, 3 * width)."""
    data, weight, output = node.input(0), node.input(1), node.output()
    if data is None or weight is None or len(data) != 3:
        return None
    projected = macs.matrix_product((*data[:-1], weight[-1]), data)
    width = output[-1] if output is not None else None if weight[-1] is None else weight[-1] // 3
    mixed = macs.attention((*data[:-1], width), (data[1], width), (data[1], width))
    return None if projected is None or mixed is None else projected + mixed


_COUNTERS: dict[str, MacCounter] = {
    "Conv": _convolution(1),
    "ConvInteger": _convolution(1),
    "DeformConv": _convolution(1),
    "QLinearConv": _convolution(3),
    MICROSOFT + "FusedConv": _convolution(1),
    "ConvTranspose": lambda node: macs.transposed_convolution(node.input(0), node.input(1)),
    "Gemm": _product,
    "MatMul": _product,
    "MatMulInteger": _product,
    "QLinearMatMul": _product,
    MICROSOFT + "FusedGemm": _product,
    MICROSOFT + "FusedMatMul": _product,
    MICROSOFT + "QGemm": _product,
    MICROSOFT + "MatMulNBits": _product,
    MICROSOFT + "MatMulIntegerToFloat": _product,
    MICROSOFT + "DynamicQuantizeMatMul": _product,
    "Einsum": lambda node: macs.contraction(node.attributes.get("equation", ""), [each.shape for each in node.inputs]),
    "LSTM": _recurrent(macs.LSTM_GATES),
    "GRU": _recurrent(macs.GRU_GATES),
    "RNN": _recurrent(macs.RNN_GATES),
    MICROSOFT + "DynamicQuantizeLSTM": _quantised_lstm,
    "Attention": _attention,
    MICROSOFT + "Attention": _packed_attention,
    MICROSOFT + "MultiHeadAttention": _attention,
}

# Inputs that are settings: a constant there is no parameter and takes part in no product.
_SETTINGS = {
    "Clip": (1, 2), "Pad": (1, 2, 3), "Resize": (1, 2, 3), "Upsample": (1,), "Range": (0, 1, 2), "OneHot": (1, 2),
    "Dropout": (1, 2), "ConstantOfShape": (0,), "Where": (0,), "NonMaxSuppression": (2, 3, 4), "STFT": (2,),
}  # fmt: skip

# Inputs that decode a parameter or accompany it without having been trained: stored, and no parameters.
_COMPANIONS = {
    "BatchNormalization": (3, 4), "DequantizeLinear": (1, 2), "QuantizeLinear": (1, 2),
    "QLinearConv": (1, 2, 4, 5, 6, 7), "QLinearMatMul": (1, 2, 4, 5, 6, 7),
    "MatMulInteger": (2, 3), "ConvInteger": (2, 3),
    "com.microsoft:MatMulNBits": (2, 3, 4), "com.microsoft:DynamicQuantizeMatMul": (2, 3),
    "com.microsoft:GatherBlockQuantized": (2, 3), "com.microsoft:DynamicQuantizeLSTM": (8, 9, 10, 11),
}  # fmt: skip

# Whole numbers are parameters only where an operator takes them for quantised ones; elsewhere they are indices.
_QUANTISED = {
    "DequantizeLinear": (0,), "QLinearConv": (3, 8), "QLinearMatMul": (0, 3), "MatMulInteger": (0, 1),
    "ConvInteger": (1,),
    "com.microsoft:MatMulNBits": (1,), "com.microsoft:DynamicQuantizeMatMul": (1,), "com.microsoft:QGemm": (3, 6),
    "com.microsoft:GatherBlockQuantized": (0,), "com.microsoft:DynamicQuantizeLSTM": (1, 2),
    "com.microsoft:MatMulIntegerToFloat": (1,),
}  # fmt: skip

# Inputs where a single number is a parameter, too; elsewhere a lone number is a factor of some formula.
_WEIGHTS = {
    "Conv": (1, 2), "ConvTranspose": (1, 2), "Gemm": (1, 2), "MatMul": (0, 1), "BatchNormalization": (1, 2),
    "InstanceNormalization": (1, 2), "LayerNormalization": (1, 2), "GroupNormalization": (1, 2), "PRelu": (1,),
}  # fmt: skip

_FLOATS = ("float", "bfloat", "complex")


def read_weight(op: str, position: int, name: str, tensor: Tensor, *, packed: int | None = None) -> Weight | None:
    """The constant read by `op` at input `position` as a weight, None if it is a setting there.

    packed: how many parameters it holds where several share one element, else None.
    """
    if position in _SETTINGS.get(op, ()):
        return None
    elements, stored = _elements(tensor), tensor.nbytes or 0
    if position in _COMPANIONS.get(op, ()):
        return Weight(name, tensor.dtype, 0, stored)
    if position in _QUANTISED.get(op, ()):
        return Weight(name, tensor.dtype, elements if packed is None else packed, stored)
    if not tensor.dtype.startswith(_FLOATS) or (elements <= 1 and position not in _WEIGHTS.get(op, ())):
        return None
    return Weight(name, tensor.dtype, elements, stored)


def _elements(tensor: Tensor) -> int:
    """Constants have a shape; one of a type without a known size (text) has no parameters."""
    return math.prod(axis or 0 for axis in tensor.shape or ()) if tensor.dtype in BITS else 0
