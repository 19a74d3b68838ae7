"""Reads the older NeuralNetwork format for inspection: weights, layers, and the shapes that it does not write down."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from hettop.models.inspection import macs
from hettop.models.inspection.graph import Graph, Layer, Shape, Tensor, Weight, product, total_bytes
from hettop.models.mil.package import Package
from hettop.text import clean

Message = Any

FLOAT = "float32"
PRECISION_NOTE = "the NeuralNetwork format has no compute type: activations are counted as float32"

_COMPANIONS = {"batchnorm": ("mean", "variance")}
_RECURRENT = frozenset({"simpleRecurrent", "gru", "uniDirectionalLSTM", "biDirectionalLSTM"})
_NESTED = frozenset({"branch", "loop"})


def read_network(package: Package, shapes: Mapping[str, Shape] | None = None) -> Graph:
    """Weights and layers of the network; `shapes` of inputs replace those that the description gives."""
    network = getattr(package.spec, str(package.spec.WhichOneof("Type")))
    known: dict[str, Shape | None] = {port.name: port.shape for port in package.function().inputs}
    known |= dict(shapes or {})
    ops: Counter[str] = Counter()
    layers: list[Layer] = []
    weights: list[Weight] = []
    for layer in network.layers:
        kind = clean(str(layer.WhichOneof("layer")))
        ops[kind] += 1
        inputs = [known.get(name) for name in layer.input]
        output = output_shape(layer, inputs)
        known |= dict.fromkeys(layer.output, output)
        own = list(_weights(layer, kind))
        weights += own
        layers.append(
            Layer(
                name=clean(layer.name),
                op=kind,
                macs=_macs(layer, kind, inputs, output),
                input_bytes=total_bytes(Tensor(FLOAT, shape) for shape in inputs),
                weight_bytes=sum(weight.stored for weight in own),
                output_bytes=total_bytes([Tensor(FLOAT, output)] * len(layer.output)),
                dtype=FLOAT,
            )
        )
    return Graph(tuple(layers), tuple(weights), ops, (PRECISION_NOTE,))


def _macs(layer: Message, kind: str, inputs: list[Shape | None], output: Shape | None) -> int | None:
    """Recurrent layers and nested networks are not counted: None."""
    parameters = getattr(layer, kind)
    first = inputs[0] if inputs else None
    if kind == "convolution":
        weight = convolution_weight(parameters)
        if parameters.isDeconvolution:
            return macs.transposed_convolution(first, weight)
        return macs.convolution(output, weight)
    if kind == "innerProduct":
        return macs.matrix_product(output, (int(parameters.inputChannels),))
    if kind == "batchedMatmul":
        return macs.matrix_product(output, first, transposed=bool(parameters.transposeA))
    return None if kind in _RECURRENT or kind in _NESTED or kind == "custom" else 0


def _weights(layer: Message, kind: str) -> Iterator[Weight]:
    """Every set of weights in the layer's message, wherever it stands."""
    for field, values in _weight_messages(getattr(layer, kind)):
        dtype, elements, stored = _stored(values)
        if not elements:
            continue
        trained = field not in _COMPANIONS.get(kind, ())
        yield Weight(clean(f"{layer.name}.{field}"), dtype, elements if trained else 0, stored)


def _weight_messages(message: Message) -> Iterator[tuple[str, Message]]:
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        # protobuf reports repeated fields by their container
        for each in value if hasattr(value, "add") else [value]:
            if field.message_type.name == "WeightParams":
                yield field.name, each
            else:
                yield from _weight_messages(each)


def _stored(values: Message) -> tuple[str, int, int]:
    """Type, number of elements, and bytes of one set of weights."""
    if values.floatValue:
        return FLOAT, len(values.floatValue), 4 * len(values.floatValue)
    if values.float16Value:
        return "float16", len(values.float16Value) // 2, len(values.float16Value)
    if values.int8RawValue:
        return "int8", len(values.int8RawValue), len(values.int8RawValue)
    bits = int(values.quantization.numberOfBits) or 8
    return f"uint{bits}", len(values.rawValue) * 8 // bits, len(values.rawValue)


Shapes = Sequence[Shape | None]
Rule = Callable[[Message, Shapes], Shape | None]

_CEILING = "includeLastPixel"


def output_shape(layer: Message, inputs: Shapes) -> Shape | None:
    """The shape of the layer's outputs, None if it is not known."""
    kind = str(layer.WhichOneof("layer"))
    rule = _RULES.get(kind)
    if rule is None or any(shape is None for shape in inputs):
        return None
    return rule(getattr(layer, kind), inputs)


def convolution_weight(parameters: Message) -> Shape:
    """(out, in / groups, *kernel), or for a deconvolution (in, out / groups, *kernel)."""
    kernel = tuple(int(length) for length in parameters.kernelSize) or (3, 3)
    outputs, inputs = int(parameters.outputChannels), int(parameters.kernelChannels)
    if parameters.isDeconvolution:
        return (inputs, outputs // max(int(parameters.nGroups), 1), *kernel)
    return (outputs, inputs, *kernel)


def _same(_parameters: Message, inputs: Shapes) -> Shape | None:
    return inputs[0]


def _broadcast(_parameters: Message, inputs: Shapes) -> Shape | None:
    """The shapes aligned at their last axes; an axis of length 1 is repeated."""
    known = [shape for shape in inputs if shape is not None]
    rank = max(len(shape) for shape in known)
    padded = [(1,) * (rank - len(shape)) + shape for shape in known]
    return tuple(None if None in axis else max(length or 0 for length in axis) for axis in zip(*padded, strict=True))


def _convolution(parameters: Message, inputs: Shapes) -> Shape | None:
    shape = inputs[0]
    if shape is None or len(shape) < 3:
        return None
    kernel, strides, dilations = (
        _pair(parameters.kernelSize, 3),
        _pair(parameters.stride, 1),
        _pair(parameters.dilationFactor, 1),
    )
    sides = []
    for axis in range(2):
        reach = (kernel[axis] - 1) * dilations[axis] + 1
        padding = _padding(parameters, axis)
        if parameters.isDeconvolution:
            given = parameters.outputShape[axis] if parameters.outputShape else None
            sides.append(given or _spread(shape[-2 + axis], reach, strides[axis], padding))
        else:
            sides.append(_slid(shape[-2 + axis], reach, strides[axis], padding))
    return (*shape[:-3], int(parameters.outputChannels), *sides)


def _pooling(parameters: Message, inputs: Shapes) -> Shape | None:
    shape = inputs[0]
    if shape is None or len(shape) < 2:
        return None
    if parameters.globalPooling:
        return (*shape[:-2], 1, 1)
    kernel, strides = _pair(parameters.kernelSize, 3), _pair(parameters.stride, 1)
    ceiling = parameters.WhichOneof("PoolingPaddingType") == _CEILING
    sides = [
        _slid(shape[-2 + axis], kernel[axis], strides[axis], _padding(parameters, axis), ceiling=ceiling)
        for axis in range(2)
    ]
    return (*shape[:-2], *sides)


def _inner_product(parameters: Message, inputs: Shapes) -> Shape | None:
    """Over the last axis; in models with the older axes (channel, height, width) over all three at once."""
    shape = inputs[0]
    if not shape:
        return None
    if shape[-1] == parameters.inputChannels:
        return (*shape[:-1], int(parameters.outputChannels))
    if len(shape) >= 3 and product(shape[-3:]) == parameters.inputChannels:
        return (*shape[:-3], int(parameters.outputChannels), 1, 1)
    return None


def _matrix_product(parameters: Message, inputs: Shapes) -> Shape | None:
    left = inputs[0]
    if not left:
        return None
    if len(inputs) == 1:
        return (*left[:-1], int(parameters.weightMatrixSecondDimension))
    right = inputs[1]
    if right is None or min(len(left), len(right)) < 2:
        return None
    rows = left[-1] if parameters.transposeA else left[-2]
    columns = right[-2] if parameters.transposeB else right[-1]
    batch = _broadcast(parameters, [left[:-2], right[:-2]])
    return None if batch is None else (*batch, rows, columns)


def _concatenated(axis_of: Callable[[Message], int]) -> Rule:
    def joined(parameters: Message, inputs: Shapes) -> Shape | None:
        known = [shape for shape in inputs if shape is not None]
        axis = axis_of(parameters)
        if (
            not known
            or any(len(shape) != len(known[0]) for shape in known)
            or not -len(known[0]) <= axis < len(known[0])
        ):
            return None
        axis %= len(known[0])
        lengths = [shape[axis] for shape in known]
        length = None if None in lengths else sum(each or 0 for each in lengths)
        return (*known[0][:axis], length, *known[0][axis + 1 :])

    return joined


def _flattened(_parameters: Message, inputs: Shapes) -> Shape | None:
    shape = inputs[0]
    return None if shape is None else (*shape[:-3], product(shape[-3:]), 1, 1)


def _flattened_to_matrix(parameters: Message, inputs: Shapes) -> Shape | None:
    shape = inputs[0]
    if shape is None:
        return None
    axis = int(parameters.axis) % (len(shape) + 1) if parameters.axis < 0 else int(parameters.axis)
    return (product(shape[:axis]), product(shape[axis:]))


def _reshaped(parameters: Message, _inputs: Shapes) -> Shape | None:
    target = tuple(int(length) for length in parameters.targetShape)
    return target if target and min(target) > 0 else None


def _permuted(axes_of: Callable[[Message], Sequence[int]]) -> Rule:
    def permuted(parameters: Message, inputs: Shapes) -> Shape | None:
        shape, axes = inputs[0], [int(axis) for axis in axes_of(parameters)]
        if shape is None or sorted(axes) != list(range(len(shape))):
            return None
        return tuple(shape[axis] for axis in axes)

    return permuted


def _padded(parameters: Message, inputs: Shapes) -> Shape | None:
    shape, amounts = inputs[0], parameters.paddingAmounts.borderAmounts
    if shape is None or len(shape) < 2 or len(amounts) != 2:
        return None
    sides = [
        None if length is None else length + int(border.startEdgeSize) + int(border.endEdgeSize)
        for length, border in zip(shape[-2:], amounts, strict=True)
    ]
    return (*shape[:-2], *sides)


def _enlarged(parameters: Message, inputs: Shapes) -> Shape | None:
    shape, factors = inputs[0], _pair(parameters.scalingFactor, 1)
    if shape is None or len(shape) < 2:
        return None
    sides = [None if length is None else length * factor for length, factor in zip(shape[-2:], factors, strict=True)]
    return (*shape[:-2], *sides)


def _squeezed(parameters: Message, inputs: Shapes) -> Shape | None:
    shape = inputs[0]
    if shape is None:
        return None
    dropped = {int(axis) % len(shape) for axis in parameters.axes}
    return tuple(
        length for axis, length in enumerate(shape) if not (length == 1 if parameters.squeezeAll else axis in dropped)
    )


def _expanded(parameters: Message, inputs: Shapes) -> Shape | None:
    shape = inputs[0]
    if shape is None:
        return None
    rank = len(shape) + len(parameters.axes)
    added, lengths = {int(axis) % rank for axis in parameters.axes}, iter(shape)
    return tuple(1 if axis in added else next(lengths) for axis in range(rank))


def _reduced(parameters: Message, inputs: Shapes) -> Shape | None:
    shape = inputs[0]
    if shape is None:
        return None
    axes = set(range(len(shape))) if parameters.reduceAll else {int(axis) % len(shape) for axis in parameters.axes}
    if parameters.keepDims:
        return tuple(1 if axis in axes else length for axis, length in enumerate(shape))
    return tuple(length for axis, length in enumerate(shape) if axis not in axes) or (1,)


def _loaded(parameters: Message, _inputs: Shapes) -> Shape | None:
    return tuple(int(length) for length in parameters.shape)


def _pair(values: Sequence[int], default: int) -> tuple[int, int]:
    return (int(values[0]), int(values[1])) if len(values) == 2 else (default, default)


def _padding(parameters: Message, axis: int) -> int | None:
    """What is added to a side, both ends together; None for as much as keeps its length at stride 1."""
    if parameters.HasField("same"):
        return None
    if parameters.DESCRIPTOR.fields_by_name.get(_CEILING) and parameters.HasField(_CEILING):
        amounts = parameters.includeLastPixel.paddingAmounts
        return 2 * int(amounts[axis]) if len(amounts) == 2 else 0
    borders = parameters.valid.paddingAmounts.borderAmounts
    return int(borders[axis].startEdgeSize + borders[axis].endEdgeSize) if len(borders) == 2 else 0


def _slid(length: int | None, reach: int, stride: int, padding: int | None, *, ceiling: bool = False) -> int | None:
    """Places of a window of `reach` that moves by `stride`."""
    if length is None or stride < 1:
        return None
    if padding is None:
        return math.ceil(length / stride)
    room = length + padding - reach
    if not ceiling:
        return room // stride + 1
    places = math.ceil(room / stride) + 1
    # The last window must begin inside the input or its leading border.
    return places - 1 if padding and (places - 1) * stride >= length + padding // 2 else places


def _spread(length: int | None, reach: int, stride: int, padding: int | None) -> int | None:
    if length is None:
        return None
    return length * stride if padding is None else (length - 1) * stride + reach - padding


_UNCHANGED = (
    "activation", "unary", "batchnorm", "softmax", "softmaxND", "scale", "bias", "l2normalize", "lrn", "mvn", "clip",
    "layerNormalization", "erf", "gelu", "tanh", "sinh", "cosh", "sin", "cos", "tan", "exp2", "sign", "round", "floor",
    "ceil", "cumSum", "copy", "reverse", "logicalNot",
)  # fmt: skip
_ELEMENTWISE = (
    "add", "multiply", "average", "max", "min", "addBroadcastable", "multiplyBroadcastable", "subtractBroadcastable",
    "divideBroadcastable", "powBroadcastable", "maxBroadcastable", "minBroadcastable", "modBroadcastable",
    "floorDivBroadcastable", "equal", "greaterThan", "lessThan", "logicalAnd", "logicalOr", "whereBroadcastable",
)  # fmt: skip

_RULES: dict[str, Rule] = {
    **dict.fromkeys(_UNCHANGED, _same),
    **dict.fromkeys(_ELEMENTWISE, _broadcast),
    **dict.fromkeys(("reduceMean", "reduceSum", "reduceMax", "reduceMin", "reduceL2", "reduceProd"), _reduced),
    "convolution": _convolution,
    "pooling": _pooling,
    "innerProduct": _inner_product,
    "batchedMatmul": _matrix_product,
    "concat": _concatenated(lambda parameters: -4 if parameters.sequenceConcat else -3),
    "concatND": _concatenated(lambda parameters: int(parameters.axis)),
    "flatten": _flattened,
    "flattenTo2D": _flattened_to_matrix,
    "reshape": _reshaped,
    "reshapeStatic": _reshaped,
    "transpose": _permuted(lambda parameters: parameters.axes),
    "permute": _permuted(lambda parameters: parameters.axis),
    "padding": _padded,
    "upsample": _enlarged,
    "squeeze": _squeezed,
    "expandDims": _expanded,
    "loadConstant": _loaded,
    "loadConstantND": _loaded,
}
