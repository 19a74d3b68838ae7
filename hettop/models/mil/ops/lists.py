"""Lists of tensors of one shape, each held as one tensor whose first axis is the list."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from hettop.models.mil.call import Call
from hettop.models.mil.graph import INT32, Tensor


def _element(call: Call, held: Tensor) -> list[int]:
    known = [size for size in held.sizes[1:] if size is not None]
    if len(known) != held.rank - 1:
        raise call.unsupported("has elements whose shape is known at run time only")
    return known


def make_list(call: Call) -> Tensor:
    """Zeros; the first axis of a list that may grow has no fixed length."""
    element = [size for size in call.shape[1:] if size is not None]
    if len(element) != len(call.shape) - 1:
        raise call.unsupported("has elements whose shape is known at run time only")
    length = call.integer("init_length", 1)
    call.bounded(length * math.prod(element))
    zeros = np.zeros(1, call.dtype)
    open_ended = call.flag("dynamic_length", True)
    shape = (None if open_ended else length, *element)
    return call.emit("ConstantOfShape", call.ints([length, *element]), value=zeros, dtype=call.dtype, shape=shape)


def _with_room(call: Call, held: Tensor, last: Tensor) -> Tensor:
    """The list, made longer by zeros if the index `last` lies beyond its end; one of a fixed length is as it is."""
    if held.sizes[0] is not None:
        return held
    length = call.size(held, 0)
    assert isinstance(length, Tensor)  # noqa: S101 (its length is not known)
    missing = call.emit("Sub", call.emit("Add", last, call.ints([1]), shape=(1,)), length, shape=(1,))
    lacking = call.emit("Max", missing, call.ints([0]), shape=(1,))
    sizes = call.vector([lacking, *_element(call, held)])
    zeros = np.zeros(1, held.dtype)
    added = call.emit("ConstantOfShape", sizes, value=zeros, dtype=held.dtype, shape=held.shape)
    return call.emit("Concat", held, added, axis=0, shape=held.shape)


def _flat(call: Call, index: Tensor) -> Tensor:
    return call.reshape(call.index(index), [-1], (1,))


def list_write(call: Call) -> Tensor:
    held, index = call.tensor("ls"), _flat(call, call.tensor("index"))
    room = _with_room(call, held, index)
    value = call.unsqueeze(call.cast(call.tensor("value"), held.dtype), [0])
    return call.emit("ScatterND", room, call.unsqueeze(index, [1]), value, shape=held.shape)


def list_scatter(call: Call) -> Tensor:
    held, indices = call.tensor("ls"), call.index(call.tensor("indices"))
    room = _with_room(call, held, call.emit("ReduceMax", indices, keepdims=1, shape=(1,)))
    value = call.cast(call.tensor("value"), held.dtype)
    return call.emit("ScatterND", room, call.unsqueeze(indices, [1]), value, shape=held.shape)


def list_read(call: Call) -> Tensor:
    index = call.squeeze(_flat(call, call.tensor("index")), [0])
    return call.emit("Gather", call.tensor("ls"), index, axis=0, shape=call.shape)


def list_gather(call: Call) -> Tensor:
    return call.emit("Gather", call.tensor("ls"), call.index(call.tensor("indices")), axis=0, shape=call.shape)


def list_length(call: Call) -> Tensor:
    held = call.tensor("ls")
    length = call.size(held, 0)
    if isinstance(length, int):
        return call.graph.constant(length, INT32)
    return call.cast(call.squeeze(length, [0]), INT32)


OPS: Mapping[str, Callable[[Call], Tensor]] = {
    "make_list": make_list,
    "list_write": list_write,
    "list_scatter": list_scatter,
    "list_read": list_read,
    "list_gather": list_gather,
    "list_length": list_length,
}
