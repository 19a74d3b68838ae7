"""New shapes for the same elements, and joining and repeating tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from hettop.models.mil.call import Call
from hettop.models.mil.graph import INT32, INT64, Tensor


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
}
