"""Sorting, the largest elements, indices of elements, one-hot vectors and class labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from hettop.models.mil.call import Call
from hettop.models.mil.graph import INT64, Tensor


def topk(call: Call) -> tuple[Tensor, ...]:
    x = call.tensor("x")
    axis, count = call.axis("axis", x.rank, -1), call.integer("k", 1)
    found = _ordered(call, x, axis, count if count >= 0 else call.size(x, axis), call.flag("sort", True))
    return found[: len(call.outputs)]


def argsort(call: Call) -> Tensor:
    x = call.tensor("x")
    axis = call.axis("axis", x.rank, -1)
    return _ordered(call, x, axis, call.size(x, axis), True)[1]


def _ordered(call: Call, x: Tensor, axis: int, count: int | Tensor, in_order: bool) -> tuple[Tensor, ...]:
    largest = int(not call.flag("ascending", False))
    inputs = [x, call.vector([count])]
    return tuple(
        call.graph.emit_many("TopK", inputs, [x.dtype, INT64], axis=axis, largest=largest, sorted=int(in_order))
    )


def one_hot(call: Call) -> Tensor:
    """Computed in int64 for types ONNX Runtime has no kernel for."""
    depth = call.index(call.tensor("one_hot_vector_size"))
    work = call.dtype if call.dtype.kind == "f" else INT64
    values = call.graph.constant([call.number("off_value", 0), call.number("on_value", 1)], work)
    hot = call.emit(
        "OneHot", call.index(call.tensor("indices")), depth, values, axis=call.integer("axis", -1), dtype=work
    )
    return call.cast(hot, call.dtype)


def non_zero(call: Call) -> Tensor:
    found = call.emit("NonZero", call.tensor("x"), dtype=INT64)
    return call.emit("Transpose", found, perm=[1, 0], shape=call.shape)


def classify(call: Call) -> tuple[Tensor, Tensor]:
    """The most probable label, and the probabilities in the order of the classes instead of a dictionary."""
    probabilities = call.tensor("probabilities")
    flat = call.emit("Reshape", probabilities, call.ints([-1]))
    best = call.emit("ArgMax", flat, axis=0, keepdims=0, dtype=INT64)
    labels = call.constant("classes")
    kept = labels if labels.dtype == np.dtype(object) else labels.astype(np.int64)
    return call.emit("Gather", call.graph.constant(kept), best, axis=0, shape=()), probabilities


OPS: Mapping[str, Callable[[Call], Tensor | tuple[Tensor, ...]]] = {
    "topk": topk,
    "argsort": argsort,
    "one_hot": one_hot,
    "non_zero": non_zero,
    "classify": classify,
}
