"""New shapes and new orders for the same elements; joining, repeating and filling tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from hettop.models.mil.call import END, Call
from hettop.models.mil.graph import INT32, INT64, Tensor
from hettop.models.mil.ops.windows import onnx_pads


def identity(call: Call) -> Tensor:
    return call.tensor("x")


def expand_dims(call: Call) -> Tensor:
    return call.unsqueeze(call.tensor("x"), call.integers("axes"))


def squeeze(call: Call) -> Tensor:
    """Drops axes of size 1; others that are named stay, as in PyTorch."""
    x = call.tensor("x")
    named = [axis % x.rank for axis in call.integers("axes")] if call.has("axes") else None
    axes = [
        axis
        for axis, size in enumerate(x.sizes)
        if size == 1
        or (size is None and named is not None and axis in named and x.rank - len(named) == len(call.shape))
    ]
    if named is not None:
        axes = [axis for axis in axes if axis in named]
    return call.squeeze(x, axes) if axes else x


def reshape(call: Call) -> Tensor:
    x = call.tensor("x")
    unknown = [index for index, size in enumerate(call.shape) if size is None]
    if len(unknown) <= 1 and 0 not in call.shape:
        # what the program computed at conversion; one open size follows from the number of elements
        return call.emit(
            "Reshape", x, call.ints([-1 if size is None else size for size in call.shape]), shape=call.shape
        )
    wanted = call.tensor("shape")
    if wanted.value is None:
        return call.emit("Reshape", x, call.index(wanted), shape=call.shape)
    # a 0 stands for the size of x at the same place, counted from the right
    shift = x.rank - wanted.value.size
    parts: list[int | Tensor] = []
    for index, size in enumerate(int(item) for item in wanted.value.reshape(-1)):
        inherited = call.size(x, index + shift) if size == 0 and index + shift >= 0 else 1
        parts.append(inherited if size == 0 else size)
    return call.emit("Reshape", x, call.vector(parts), shape=call.shape)


def reshape_like(call: Call) -> Tensor:
    known = [size for size in call.shape if size is not None]
    if len(known) != len(call.shape):
        raise call.unsupported("has an output shape known at run time only")
    return call.emit("Reshape", call.tensor("x"), call.ints(known), shape=call.shape)


def flatten2d(call: Call) -> Tensor:
    x = call.tensor("x")
    return call.emit("Flatten", x, axis=call.integer("axis", 1), shape=call.shape)


def transpose(call: Call) -> Tensor:
    x = call.tensor("x")
    return call.transpose(x, [axis % x.rank for axis in call.integers("perm")])


def shape(call: Call) -> Tensor:
    x = call.tensor("x")
    known = [size for size in x.sizes if size is not None]
    if len(known) == x.rank:
        return call.graph.constant(np.array(known), INT32)
    return call.cast(call.emit("Shape", x, dtype=INT64, shape=(x.rank,)), INT32)


def concat(call: Call) -> Tensor:
    values = call.tensors("values")
    if values[0].rank == 0:
        return call.emit("Concat", *(call.unsqueeze(value, [0]) for value in values), axis=0, shape=call.shape)
    axis = call.axis("axis", values[0].rank)
    if call.flag("interleave", False):
        stacked = call.emit("Concat", *(call.unsqueeze(value, [axis + 1]) for value in values), axis=axis + 1)
        parts = [call.size(values[0], index) for index in range(values[0].rank)]
        parts[axis] = -1
        return call.emit("Reshape", stacked, call.vector(parts), shape=call.shape)
    return call.emit("Concat", *values, axis=axis, shape=call.shape)


def stack(call: Call) -> Tensor:
    values = call.tensors("values")
    axis = call.axis("axis", values[0].rank + 1)
    return call.emit("Concat", *(call.unsqueeze(value, [axis]) for value in values), axis=axis, shape=call.shape)


def tile(call: Call) -> Tensor:
    return call.emit("Tile", call.tensor("x"), call.index(call.tensor("reps")), shape=call.shape)


def _divided(call: Call, tensor: Tensor, axis: int, by: int) -> int | Tensor:
    size = call.size(tensor, axis)
    return size // by if isinstance(size, int) else call.emit("Div", size, call.ints([by]), shape=(1,))


def _times(call: Call, tensor: Tensor, axis: int, by: int) -> int | Tensor:
    size = call.size(tensor, axis)
    return size * by if isinstance(size, int) else call.emit("Mul", size, call.ints([by]), shape=(1,))


def depth_to_space(call: Call) -> Tensor:
    """Channels are (block row, block column, channel), TensorFlow's order."""
    return call.emit(
        "DepthToSpace", call.tensor("x"), blocksize=call.integer("block_size"), mode="DCR", shape=call.shape
    )


def space_to_depth(call: Call) -> Tensor:
    return call.emit("SpaceToDepth", call.tensor("x"), blocksize=call.integer("block_size"), shape=call.shape)


def pixel_shuffle(call: Call) -> Tensor:
    """Channels are (channel, block row, block column), PyTorch's order."""
    return call.emit(
        "DepthToSpace", call.tensor("x"), blocksize=call.integer("upscale_factor"), mode="CRD", shape=call.shape
    )


def pixel_unshuffle(call: Call) -> Tensor:
    x, block = call.tensor("x"), call.integer("downscale_factor")
    batch, channels = call.size(x, 0), call.size(x, 1)
    height, width = _divided(call, x, 2, block), _divided(call, x, 3, block)
    tiles = call.reshape(x, [batch, channels, height, block, width, block])
    moved = call.transpose(tiles, [0, 1, 3, 5, 2, 4])
    return call.reshape(moved, [batch, _times(call, x, 1, block * block), height, width], call.shape)


def space_to_batch(call: Call) -> Tensor:
    x = call.tensor("x")
    rows, columns = call.integers("block_shape")
    pads = onnx_pads([0, 0, 0, 0, *call.integers("paddings")])
    shape = (
        *x.sizes[:2],
        *(size * block if size is not None else None for size, block in _blocks(call, (rows, columns))),
    )
    padded = call.emit("Pad", x, call.ints(pads), call.like(x, 0), shape=shape)
    batch, channels = call.size(padded, 0), call.size(padded, 1)
    height, width = _divided(call, padded, 2, rows), _divided(call, padded, 3, columns)
    tiles = call.reshape(padded, [batch, channels, height, rows, width, columns])
    moved = call.transpose(tiles, [3, 5, 0, 1, 2, 4])
    return call.reshape(moved, [_times(call, x, 0, rows * columns), channels, height, width], call.shape)


def _blocks(call: Call, blocks: Sequence[int]) -> list[tuple[int | None, int]]:
    return list(zip(call.shape[2:], blocks, strict=True))


def batch_to_space(call: Call) -> Tensor:
    x = call.tensor("x")
    rows, columns = call.integers("block_shape")
    top, bottom, left, right = call.integers("crops")
    batch, channels = _divided(call, x, 0, rows * columns), call.size(x, 1)
    tiles = call.reshape(x, [rows, columns, batch, channels, call.size(x, 2), call.size(x, 3)])
    moved = call.transpose(tiles, [2, 3, 4, 0, 5, 1])
    whole = call.reshape(moved, [batch, channels, _times(call, x, 2, rows), _times(call, x, 3, columns)])
    ends = [-bottom if bottom else END, -right if right else END]
    return call.emit("Slice", whole, call.ints([top, left]), call.ints(ends), call.ints([2, 3]), shape=call.shape)


def reverse(call: Call) -> Tensor:
    x = call.tensor("x")
    axes = call.integers("axes", range(x.rank))
    backwards = [call.ints([step] * len(axes)) for step in (-1, -END)]
    return call.emit("Slice", x, *backwards, call.ints(axes), call.ints([-1] * len(axes)), shape=call.shape)


def reverse_sequence(call: Call) -> Tensor:
    """ONNX wants the batch and the sequence in the first two axes; they are brought there and back."""
    x = call.tensor("x")
    time, batch = call.axis("seq_axis", x.rank, 0), call.axis("batch_axis", x.rank, 0)
    lengths = call.index(call.tensor("lengths"))
    if {time, batch} == {0, 1}:
        return call.emit("ReverseSequence", x, lengths, batch_axis=batch, time_axis=time, shape=call.shape)
    order = [batch, time, *(axis for axis in range(x.rank) if axis not in {batch, time})]
    back = [order.index(axis) for axis in range(x.rank)]
    front = call.transpose(x, order)
    turned = call.emit("ReverseSequence", front, lengths, batch_axis=0, time_axis=1, shape=front.shape)
    return call.transpose(turned, back)


def _filled(call: Call, shape: Tensor) -> Tensor:
    given = call.known("value")
    value = np.full(1, given.item() if given is not None else 0, call.dtype)
    return call.emit("ConstantOfShape", shape, value=value, dtype=call.dtype, shape=call.shape)


def fill(call: Call) -> Tensor:
    return _filled(call, call.index(call.tensor("shape")))


def fill_like(call: Call) -> Tensor:
    return _filled(call, call.emit("Shape", call.tensor("ref_tensor"), dtype=INT64))


def range_1d(call: Call) -> Tensor:
    start, end, step = (call.tensor(name) for name in ("start", "end", "step"))
    return call.emit("Range", *(_scalar(call, item) for item in (start, end, step)), shape=call.shape)


def _scalar(call: Call, tensor: Tensor) -> Tensor:
    return call.squeeze(tensor, [0]) if tensor.rank == 1 else tensor


def cumsum(call: Call) -> Tensor:
    x = call.tensor("x")
    axis = call.graph.constant(call.axis("axis", x.rank, 0), INT64)
    exclusive, reverse = (int(call.flag(name, False)) for name in ("exclusive", "reverse"))
    return call.emit("CumSum", x, axis, exclusive=exclusive, reverse=reverse, shape=call.shape)


def band_part(call: Call) -> Tensor:
    """Keeps `lower` diagonals below the main one and `upper` above it; a negative number keeps all of that side."""
    band = call.tensor("x")
    lower, upper = call.integer("lower", -1), call.integer("upper", -1)
    if lower >= 0:
        band = call.emit("Trilu", band, call.graph.constant(-lower, INT64), upper=1, shape=call.shape)
    if upper >= 0:
        band = call.emit("Trilu", band, call.graph.constant(upper, INT64), upper=0, shape=call.shape)
    return band


OPS: Mapping[str, Callable[[Call], Tensor]] = {
    "identity": identity,
    "expand_dims": expand_dims,
    "squeeze": squeeze,
    "reshape": reshape,
    "reshape_like": reshape_like,
    "flatten2d": flatten2d,
    "transpose": transpose,
    "shape": shape,
    "concat": concat,
    "stack": stack,
    "tile": tile,
    "depth_to_space": depth_to_space,
    "space_to_depth": space_to_depth,
    "pixel_shuffle": pixel_shuffle,
    "pixel_unshuffle": pixel_unshuffle,
    "space_to_batch": space_to_batch,
    "batch_to_space": batch_to_space,
    "reverse": reverse,
    "reverse_sequence": reverse_sequence,
    "fill": fill,
    "fill_like": fill_like,
    "range_1d": range_1d,
    "cumsum": cumsum,
    "band_part": band_part,
}
