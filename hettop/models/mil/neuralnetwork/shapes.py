"""Shapes through the layers of a NeuralNetwork, which the format does not write down."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hettop.models.mil.values import Shape

Message = Any

Shapes = Sequence[Shape | None]
Rule = Callable[[Message, Shapes], Shape | None]

LAST_PIXEL = "includeLastPixel"
"""The padding with which a pool includes the last pixel."""

# ReduceLayerParams: by `mode` the ML Program's name of the reduction, by `axis` what it goes over.
LEGACY_REDUCTIONS = ("sum", "mean", "prod", "log_sum", "sum_square", "l1_norm", "l2_norm", "max", "min", "argmax")
LEGACY_AXES = ([-3, -2, -1], [-2, -1], [-3], [-2], [-1])


def output_shapes(layer: Message, inputs: Shapes) -> list[Shape | None]:
    """The shape of each of the layer's outputs, None if it is not known."""
    kind, count = str(layer.WhichOneof("layer")), len(layer.output)
    parameters = getattr(layer, kind)
    if count > 1 and kind in RECURRENT and None not in inputs[:1]:
        first = RECURRENT[kind](parameters, inputs)
        batch = () if first is None else first[1:-3]
        return [first, *[None if first is None else (1, *batch, int(parameters.outputVectorSize), 1, 1)] * (count - 1)]
    if kind in {"split", "splitND"} and inputs and inputs[0] is not None:
        return _split(parameters, inputs[0], count)
    return [output_shape(layer, inputs)] * count


def output_shape(layer: Message, inputs: Shapes) -> Shape | None:
    """The shape of the layer's first output, None if it is not known."""
    kind = str(layer.WhichOneof("layer"))
    rule = _RULES.get(kind)
    if rule is None or any(shape is None for shape in inputs):
        return None
    return rule(getattr(layer, kind), inputs)


def input_shape(network: Message, kind: str, shape: Shape) -> Shape:
    """The shape that the layers see of an input: exactly its own, or with the older axes, of which batch is left out.

    The older axes are (sequence, batch, channel, height, width); a call has a batch of one. kind: of the input.
    """
    if kind == "image":
        return (1, *shape) if not is_folded(network) and not network.imageInputShapeMapping else shape
    if not is_folded(network):
        return shape
    return (1, *shape, 1, 1) if len(shape) == 1 else (1, *shape) if len(shape) == 3 else shape


def is_folded(network: Message) -> bool:
    """Whether the network has the older axes."""
    return not network.arrayInputShapeMapping and not network.imageInputShapeMapping


def sequence_axis(rank: int) -> int:
    """The axis of the sequence: the first of the older axes, whether the batch is left out or not."""
    return 0 if rank == 4 else rank - 5


def steps_and_batch(shape: Shape) -> tuple[int | None, int | None]:
    """Of what a recurrent layer reads: (sequence, batch, inputs, 1, 1), or without the batch."""
    return shape[0], (1 if len(shape) == 4 else shape[1])


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
        pair(parameters.kernelSize, 3),
        pair(parameters.stride, 1),
        pair(parameters.dilationFactor, 1),
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
    kernel, strides = pair(parameters.kernelSize, 3), pair(parameters.stride, 1)
    ceiling = parameters.WhichOneof("PoolingPaddingType") == LAST_PIXEL
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
    if len(shape) >= 3 and _product(shape[-3:]) == parameters.inputChannels:
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
    return None if shape is None else (*shape[:-3], _product(shape[-3:]), 1, 1)


def _flattened_to_matrix(parameters: Message, inputs: Shapes) -> Shape | None:
    shape = inputs[0]
    if shape is None:
        return None
    axis = int(parameters.axis) % (len(shape) + 1) if parameters.axis < 0 else int(parameters.axis)
    return (_product(shape[:axis]), _product(shape[axis:]))


def _reshaped(parameters: Message, inputs: Shapes) -> Shape | None:
    """A length of -1 follows from the others, one of 0 is that of the input at the same place."""
    target, shape = [int(length) for length in parameters.targetShape], inputs[0] or ()
    lengths: list[int | None] = [
        shape[axis] if length == 0 and axis < len(shape) else length for axis, length in enumerate(target)
    ]
    whole = _product(shape)
    if lengths.count(-1) == 1 and whole is not None and None not in lengths:
        rest = -math.prod(each for each in lengths if each is not None)
        lengths = [whole // rest if length == -1 and rest > 0 else length for length in lengths]
    return tuple(lengths) if lengths and all(each is None or each > 0 for each in lengths) else None


def _reshaped_folded(parameters: Message, inputs: Shapes) -> Shape | None:
    """Three lengths leave the sequence (and the batch) as they are; four begin with the sequence's."""
    shape, target = inputs[0], tuple(int(length) for length in parameters.targetShape)
    if shape is None or len(target) not in (3, 4) or min(target) < 1:
        return None
    if len(target) == 3:
        return (*shape[:-3], *target)
    return (target[0], *shape[1:-3], *target[1:]) if len(shape) > 3 else target


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
    shape, factors = inputs[0], pair(parameters.scalingFactor, 1)
    if shape is None or len(shape) < 2:
        return None
    sides = [None if length is None else length * factor for length, factor in zip(shape[-2:], factors, strict=True)]
    return (*shape[:-2], *sides)


def _squeezed(parameters: Message, inputs: Shapes) -> Shape | None:
    shape = inputs[0]
    if shape is None:
        return None
    dropped = {int(axis) % len(shape) for axis in parameters.axes}
    kept = tuple(
        length for axis, length in enumerate(shape) if not (length == 1 if parameters.squeezeAll else axis in dropped)
    )
    return kept or (1,)


def _expanded(parameters: Message, inputs: Shapes) -> Shape | None:
    shape = inputs[0]
    if shape is None:
        return None
    rank = len(shape) + len(parameters.axes)
    added, lengths = {int(axis) % rank for axis in parameters.axes}, iter(shape)
    return tuple(1 if axis in added else next(lengths) for axis in range(rank))


def _reduced_folded(parameters: Message, inputs: Shapes) -> Shape | None:
    shape = inputs[0]
    if shape is None or len(shape) < 3:
        return None
    axes = {axis + len(shape) for axis in LEGACY_AXES[parameters.axis]}
    return tuple(1 if axis in axes else length for axis, length in enumerate(shape))


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


def _loaded_folded(parameters: Message, _inputs: Shapes) -> Shape | None:
    return (1, *(int(length) for length in parameters.shape))


def _permuted_folded(parameters: Message, inputs: Shapes) -> Shape | None:
    """Axes are those of (sequence, channel, height, width); a batch stays where it is."""
    shape, order = inputs[0], [int(axis) for axis in parameters.axis] or [0, 1, 2, 3]
    if shape is None or sorted(order) != [0, 1, 2, 3] or len(shape) not in (4, 5):
        return None
    named = (shape[0], *shape[-3:])
    moved = [named[axis] for axis in order]
    return (moved[0], *shape[1:-3], *moved[1:])


def _recurrent(directions: int) -> Rule:
    def ran(parameters: Message, inputs: Shapes) -> Shape | None:
        shape = inputs[0]
        if shape is None or len(shape) not in (4, 5):
            return None
        whole = parameters.params.sequenceOutput if hasattr(parameters, "params") else parameters.sequenceOutput
        return (shape[0] if whole else 1, *shape[1:-3], directions * int(parameters.outputVectorSize), 1, 1)

    return ran


def _split(parameters: Message, shape: Shape, count: int) -> list[Shape | None]:
    """Evenly along channels, or along an axis, by sizes where they are given."""
    axis = parameters.axis if hasattr(parameters, "axis") else -3
    if not -len(shape) <= axis < len(shape) or not count:
        return [None] * count
    axis %= len(shape)
    length, sizes = shape[axis], [int(size) for size in getattr(parameters, "splitSizes", ())]
    if len(sizes) != count:
        if length is None:
            return [None] * count
        sizes = [length // count] * count
    return [(*shape[:axis], size, *shape[axis + 1 :]) for size in sizes]


def _cropped(parameters: Message, inputs: Shapes) -> Shape | None:
    shape = inputs[0]
    if shape is None or len(shape) < 3:
        return None
    if len(inputs) > 1:
        like = inputs[1]
        return None if like is None else (*shape[:-2], *like[-2:])
    amounts = parameters.cropAmounts.borderAmounts
    if len(amounts) != 2:
        return shape
    sides = [
        None if length is None else length - int(border.startEdgeSize) - int(border.endEdgeSize)
        for length, border in zip(shape[-2:], amounts, strict=True)
    ]
    return (*shape[:-2], *sides)


def _resized(parameters: Message, inputs: Shapes) -> Shape | None:
    shape = inputs[0]
    return None if shape is None or len(shape) < 2 else (*shape[:-2], *pair(parameters.targetSize, 1))


def _reorganized(parameters: Message, inputs: Shapes) -> Shape | None:
    shape, block = inputs[0], int(parameters.blockSize)
    if shape is None or len(shape) < 3 or block < 1 or None in shape[-3:]:
        return None
    channels, height, width = (int(length or 0) for length in shape[-3:])
    if parameters.mode == 0:
        return (*shape[:-3], channels * block * block, height // block, width // block)
    return (*shape[:-3], channels // (block * block), height * block, width * block)


def _cut(parameters: Message, inputs: Shapes) -> Shape | None:
    shape, axis = inputs[0], int(parameters.axis) - 3
    if shape is None or len(shape) < -axis:
        return None
    length, step = shape[axis], max(int(parameters.stride), 1)
    many = (
        None if length is None else len(range(*slice(parameters.startIndex, parameters.endIndex, step).indices(length)))
    )
    changed = list(shape)
    changed[axis] = many
    return tuple(changed)


def _cut_statically(parameters: Message, inputs: Shapes) -> Shape | None:
    shape, squeezed = inputs[0], [*parameters.squeezeMasks]
    if shape is None or not len(shape) == len(parameters.beginIds) == len(parameters.endIds) == len(parameters.strides):
        return None
    lengths: list[int | None] = []
    for axis, length in enumerate(shape):
        if axis < len(squeezed) and squeezed[axis]:
            continue
        begin = None if parameters.beginMasks[axis] else int(parameters.beginIds[axis])
        end = None if parameters.endMasks[axis] else int(parameters.endIds[axis])
        bounds = slice(begin, end, int(parameters.strides[axis]))
        lengths.append(None if length is None else len(range(*bounds.indices(length))))
    return tuple(lengths)


def _stacked(parameters: Message, inputs: Shapes) -> Shape | None:
    shape = inputs[0]
    if shape is None:
        return None
    axis = int(parameters.axis) % (len(shape) + 1)
    return (*shape[:axis], len(inputs), *shape[axis:])


def _tiled(parameters: Message, inputs: Shapes) -> Shape | None:
    shape, counts = inputs[0], [int(count) for count in parameters.reps]
    if shape is None or len(counts) != len(shape):
        return None
    return tuple(None if length is None else length * count for length, count in zip(shape, counts, strict=True))


def _repeated(parameters: Message, inputs: Shapes) -> Shape | None:
    shape = inputs[0]
    if shape is None or len(shape) not in (4, 5):
        return None
    return (None if shape[0] is None else shape[0] * max(int(parameters.nRepetitions), 1), *shape[1:])


def _embedded(parameters: Message, inputs: Shapes) -> Shape | None:
    shape = inputs[0]
    return None if shape is None or len(shape) < 4 else (*shape[:-3], int(parameters.outputChannels), 1, 1)


def _embedded_along(parameters: Message, inputs: Shapes) -> Shape | None:
    shape = inputs[0]
    return None if not shape else (*shape[:-1], int(parameters.embeddingSize))


def _indexed(parameters: Message, inputs: Shapes) -> Shape | None:
    shape = inputs[0]
    if not shape:
        return None
    axis = int(parameters.axis) % len(shape)
    return (*shape[:axis], *([] if parameters.removeDim else [1]), *shape[axis + 1 :])


def _gathered(parameters: Message, inputs: Shapes) -> Shape | None:
    if len(inputs) != 2 or inputs[0] is None or inputs[1] is None or not inputs[0]:
        return None
    axis = int(parameters.axis) % len(inputs[0])
    return (*inputs[0][:axis], *inputs[1], *inputs[0][axis + 1 :])


def pair(values: Sequence[int], default: int) -> tuple[int, int]:
    """Height and width, as given or `default` for both."""
    return (int(values[0]), int(values[1])) if len(values) == 2 else (default, default)


def _padding(parameters: Message, axis: int) -> int | None:
    """What is added to a side, both ends together; None for as much as keeps its length at stride 1."""
    if parameters.HasField("same"):
        return None
    if parameters.DESCRIPTOR.fields_by_name.get(LAST_PIXEL) and parameters.HasField(LAST_PIXEL):
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
    "ceil", "cumSum", "copy", "reverse", "logicalNot", "asin", "acos", "atan",
)  # fmt: skip
_ELEMENTWISE = (
    "add", "multiply", "average", "max", "min", "addBroadcastable", "multiplyBroadcastable", "subtractBroadcastable",
    "divideBroadcastable", "powBroadcastable", "maxBroadcastable", "minBroadcastable", "modBroadcastable",
    "floorDivBroadcastable", "equal", "greaterThan", "lessThan", "logicalAnd", "logicalOr", "whereBroadcastable",
    "notEqual", "lessEqual", "greaterEqual", "logicalXor",
)  # fmt: skip

_REDUCTIONS = (
    "reduceMean", "reduceSum", "reduceMax", "reduceMin", "reduceProd", "reduceL1", "reduceL2", "reduceSumSquare",
    "reduceLogSum", "reduceLogSumExp",
)  # fmt: skip
RECURRENT: dict[str, Rule] = {
    **dict.fromkeys(("simpleRecurrent", "gru", "uniDirectionalLSTM"), _recurrent(1)),
    "biDirectionalLSTM": _recurrent(2),
}

_RULES: dict[str, Rule] = {
    **dict.fromkeys(_UNCHANGED, _same),
    **dict.fromkeys(_ELEMENTWISE, _broadcast),
    **dict.fromkeys(_REDUCTIONS, _reduced),
    **RECURRENT,
    "convolution": _convolution,
    "pooling": _pooling,
    "innerProduct": _inner_product,
    "batchedMatmul": _matrix_product,
    "concat": _concatenated(lambda parameters: 0 if parameters.sequenceConcat else -3),
    "concatND": _concatenated(lambda parameters: int(parameters.axis)),
    "flatten": _flattened,
    "flattenTo2D": _flattened_to_matrix,
    "reshape": _reshaped_folded,
    "reshapeStatic": _reshaped,
    "rankPreservingReshape": _reshaped,
    "transpose": _permuted(lambda parameters: parameters.axes),
    "permute": _permuted_folded,
    "reduce": _reduced_folded,
    "crop": _cropped,
    "resizeBilinear": _resized,
    "reorganizeData": _reorganized,
    "slice": _cut,
    "sliceStatic": _cut_statically,
    "stack": _stacked,
    "tile": _tiled,
    "sequenceRepeat": _repeated,
    "embedding": _embedded,
    "embeddingND": _embedded_along,
    "argMax": _indexed,
    "argMin": _indexed,
    "gather": _gathered,
    "padding": _padded,
    "upsample": _enlarged,
    "squeeze": _squeezed,
    "expandDims": _expanded,
    "loadConstant": _loaded_folded,
    "loadConstantND": _loaded,
}


def _product(lengths: Iterable[int | None]) -> int | None:
    """None if a length is unknown."""
    known = list(lengths)
    return None if None in known else math.prod(length or 0 for length in known)
