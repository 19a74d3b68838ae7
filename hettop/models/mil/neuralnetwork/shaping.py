"""Layers that give the same elements another shape or order, join, cut, repeat or look them up."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hettop.models.mil.graph import INT64, Tensor
from hettop.models.mil.neuralnetwork.layer import Layer
from hettop.models.mil.neuralnetwork.shapes import sequence_axis

_SLICED = (-3, -2, -1)
"""The axis that a slice's `axis` stands for."""


def flatten(layer: Layer) -> Tensor:
    """To channels alone, read channel by channel or, if `mode` says so, pixel by pixel."""
    x = layer.x
    if layer.parameters.mode:
        x = layer.call.transpose(x, [*range(x.rank - 3), x.rank - 2, x.rank - 1, x.rank - 3])
    return _shaped(layer, x)


def reshape(layer: Layer) -> Tensor:
    """As `flatten`, to (sequence,) channels, height and width; pixel by pixel, the result is read so, too."""
    x = layer.x
    if not layer.parameters.mode:
        return _shaped(layer, x)
    rank = x.rank
    pixels = layer.call.transpose(x, [*range(rank - 3), rank - 2, rank - 1, rank - 3])
    *lead, channels, height, width = layer.shape
    made = layer.call.reshape(
        pixels, [*(-1 if size is None else size for size in lead), height or 1, width or 1, channels or 1]
    )
    return layer.call.transpose(made, [*range(rank - 3), rank - 1, rank - 3, rank - 2])


def _shaped(layer: Layer, x: Tensor) -> Tensor:
    """x in the shape of the output; a single length may be known at run time only."""
    lengths = layer.shape
    if lengths.count(None) > 1:
        raise layer.call.unsupported("has several lengths known at run time only")
    target = layer.call.ints([-1 if length is None else length for length in lengths])
    return layer.graph.emit("Reshape", x, target, shape=lengths)


def reshaped(layer: Layer) -> Tensor:
    return _shaped(layer, layer.x)


def permute(layer: Layer) -> Tensor:
    """Axes are those of (sequence, channel, height, width); the batch stays."""
    order = [int(axis) for axis in layer.parameters.axis] or [0, 1, 2, 3]
    if not layer.folded:
        places = [0, 2, 3, 4]
        order = [places[order[0]], 1, *(places[axis] for axis in order[1:])]
    return layer.call.transpose(layer.x, order)


def transpose(layer: Layer) -> Tensor:
    return layer.call.transpose(layer.x, [int(axis) for axis in layer.parameters.axes])


def concat(layer: Layer) -> Tensor:
    axis = sequence_axis(layer.x.rank) if layer.parameters.sequenceConcat else -3
    return layer.mil("concat", layer.shape, values=list(layer.inputs), axis=axis)


def concat_along(layer: Layer) -> Tensor:
    given = layer.parameters
    return layer.mil(
        "concat", layer.shape, values=list(layer.inputs), axis=int(given.axis), interleave=bool(given.interleave)
    )


def split(layer: Layer) -> tuple[Tensor, ...]:
    return _split(layer, -3)


def split_along(layer: Layer) -> tuple[Tensor, ...]:
    return _split(layer, int(layer.parameters.axis))


def _split(layer: Layer, axis: int) -> tuple[Tensor, ...]:
    known = [shape for shape in layer.shapes if shape is not None]
    if len(known) != len(layer.shapes):
        raise layer.call.unsupported("splits lengths known at run time only")
    sizes = [shape[axis] or 0 for shape in known]
    return layer.mil_outputs("split", known, x=layer.x, axis=axis, split_sizes=sizes)


def repeat(layer: Layer) -> Tensor:
    reps = [1] * layer.x.rank
    reps[sequence_axis(layer.x.rank)] = max(int(layer.parameters.nRepetitions), 1)
    return layer.mil("tile", layer.shape, x=layer.x, reps=reps)


def tile(layer: Layer) -> Tensor:
    return layer.mil("tile", layer.shape, x=layer.x, reps=[int(count) for count in layer.parameters.reps])


def stack(layer: Layer) -> Tensor:
    return layer.mil("stack", layer.shape, values=list(layer.inputs), axis=int(layer.parameters.axis))


def cut(layer: Layer) -> Tensor:
    """Along one axis. A negative end counts from the end."""
    given, call = layer.parameters, layer.call
    bounds = [call.ints([int(number)]) for number in (given.startIndex, given.endIndex)]
    axis, step = call.ints([_SLICED[given.axis]]), call.ints([max(int(given.stride), 1)])
    return call.emit("Slice", layer.x, *bounds, axis, step, shape=layer.shape)


def cut_statically(layer: Layer) -> Tensor:
    given = layer.parameters
    options = {
        "begin": [int(each) for each in given.beginIds],
        "end": [int(each) for each in given.endIds],
        "stride": [int(each) for each in given.strides],
        "begin_mask": list(given.beginMasks),
        "end_mask": list(given.endMasks),
        "squeeze_mask": list(given.squeezeMasks) or None,
    }
    return layer.mil("slice_by_index", layer.shape, x=layer.x, **options)


def squeeze(layer: Layer) -> Tensor:
    given, x = layer.parameters, layer.x
    if given.squeezeAll:
        axes = [axis for axis, size in enumerate(x.sizes) if size == 1]
        axes = axes[1:] if len(axes) == x.rank else axes  # a tensor keeps one axis
    else:
        axes = [int(axis) for axis in given.axes]
    return layer.call.squeeze(x, axes)


def expand_dims(layer: Layer) -> Tensor:
    return layer.call.unsqueeze(layer.x, [int(axis) for axis in layer.parameters.axes])


def load_constant(layer: Layer) -> Tensor:
    sizes = [int(size) for size in layer.parameters.shape]
    return layer.constant(layer.weights(layer.parameters.data, *sizes).reshape([size or 1 for size in layer.shape]))


def embedding(layer: Layer) -> Tensor:
    given = layer.parameters
    rows = layer.weights(given.weights, int(given.outputChannels), int(given.inputDim))
    return _looked_up(layer, rows, drop=3)


def embedding_along(layer: Layer) -> Tensor:
    given = layer.parameters
    rows = layer.weights(given.weights, int(given.embeddingSize), int(given.vocabSize))
    return _looked_up(layer, rows, drop=1)


def _looked_up(layer: Layer, rows: object, drop: int) -> Tensor:
    """The column of the matrix for each index; the last `drop` axes of indices have length 1."""
    given, x, call = layer.parameters, layer.x, layer.call
    table = rows.T  # type: ignore[attr-defined]
    if given.hasBias:
        table = table + layer.weights(given.bias, table.shape[1])
    places = call.cast(call.squeeze(x, list(range(-drop, 0))), INT64)
    found = layer.graph.emit(
        "Gather", layer.constant(table), places, axis=0, shape=(*x.sizes[:-drop], int(table.shape[1]))
    )
    return call.unsqueeze(found, list(range(x.rank - drop + 1, x.rank))) if drop > 1 else found


def gather(layer: Layer) -> Tensor:
    places = layer.graph.cast(layer.inputs[1], INT64)
    return layer.graph.emit("Gather", layer.x, places, axis=int(layer.parameters.axis), shape=layer.shape)


def copy(layer: Layer) -> Tensor:
    return layer.x


LAYERS: Mapping[str, Callable[[Layer], Tensor | tuple[Tensor, ...]]] = {
    "flatten": flatten,
    "reshape": reshape,
    "permute": permute,
    "concat": concat,
    "split": split,
    "sequenceRepeat": repeat,
    "slice": cut,
    "loadConstant": load_constant,
    "embedding": embedding,
    "reshapeStatic": reshaped,
    "rankPreservingReshape": reshaped,
    "flattenTo2D": reshaped,
    "transpose": transpose,
    "concatND": concat_along,
    "splitND": split_along,
    "tile": tile,
    "stack": stack,
    "sliceStatic": cut_statically,
    "squeeze": squeeze,
    "expandDims": expand_dims,
    "loadConstantND": load_constant,
    "embeddingND": embedding_along,
    "gather": gather,
    "copy": copy,
}
