"""Elements moved between axes: blocks to channels or batches and back, reversed axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hettop.models.mil.call import END, Call
from hettop.models.mil.graph import Tensor
from hettop.models.mil.ops.windows import onnx_pads


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


OPS: Mapping[str, Callable[[Call], Tensor]] = {
    "depth_to_space": depth_to_space,
    "space_to_depth": space_to_depth,
    "pixel_shuffle": pixel_shuffle,
    "pixel_unshuffle": pixel_unshuffle,
    "space_to_batch": space_to_batch,
    "batch_to_space": batch_to_space,
    "reverse": reverse,
    "reverse_sequence": reverse_sequence,
}
