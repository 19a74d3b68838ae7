"""Normalisation, and reductions over axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from hettop.models.mil.call import Call
from hettop.models.mil.graph import INT64, Tensor


def _or(call: Call, name: str, shape: Sequence[int], value: float) -> Tensor:
    """A constant parameter in the type of x, or `value` everywhere."""
    x, given = call.tensor("x"), call.optional(name)
    if given is not None:
        return call.cast(given, x.dtype)
    call.bounded(math.prod(shape))
    return call.graph.constant(np.full(shape, value, x.dtype))


def batch_norm(call: Call) -> Tensor:
    x = call.tensor("x")
    mean, variance = (call.cast(call.tensor(name), x.dtype) for name in ("mean", "variance"))
    channels = [size for size in mean.sizes if size is not None]
    scale, offset = _or(call, "gamma", channels, 1), _or(call, "beta", channels, 0)
    epsilon = call.number("epsilon", 1e-5)
    return call.emit("BatchNormalization", x, scale, offset, mean, variance, epsilon=epsilon, shape=x.shape)


def instance_norm(call: Call) -> Tensor:
    x = call.tensor("x")
    if not call.has("gamma") and x.sizes[1] is None:
        raise call.unsupported("normalises a number of channels known at run time only")
    channels = [size for size in (x.sizes[1],) if size is not None]
    scale, offset = _or(call, "gamma", channels, 1), _or(call, "beta", channels, 0)
    return call.emit("InstanceNormalization", x, scale, offset, epsilon=call.number("epsilon", 1e-5), shape=x.shape)


def layer_norm(call: Call) -> Tensor:
    x = call.tensor("x")
    axes = sorted(axis % x.rank for axis in call.integers("axes", range(x.rank)))
    sizes = [x.sizes[axis] for axis in axes]
    epsilon = call.number("epsilon", 1e-5)
    if axes != list(range(axes[0], x.rank)) or None in sizes:
        return _spread_layer_norm(call, axes, epsilon)
    known = [size for size in sizes if size is not None]
    scale, offset = _or(call, "gamma", known, 1), _or(call, "beta", known, 0)
    return call.emit("LayerNormalization", x, scale, offset, axis=axes[0], epsilon=epsilon, shape=x.shape)


def _spread_layer_norm(call: Call, axes: list[int], epsilon: float) -> Tensor:
    """For axes that are not the last ones, or whose sizes are known at run time only."""
    x = call.tensor("x")
    over = call.ints(axes)
    centred = call.emit("Sub", x, call.emit("ReduceMean", x, over, keepdims=1))
    variance = call.emit("ReduceMean", call.emit("Mul", centred, centred), over, keepdims=1)
    result = call.emit("Div", centred, call.emit("Sqrt", call.emit("Add", variance, call.like(x, epsilon))))
    for name, operator in (("gamma", "Mul"), ("beta", "Add")):
        if call.has(name):
            given = iter(call.constant(name).shape)
            shape = [next(given) if axis in axes else 1 for axis in range(x.rank)]
            result = call.emit(operator, result, call.graph.constant(call.constant(name).reshape(shape), x.dtype))
    return result


def l2_norm(call: Call) -> Tensor:
    """x divided by the Euclidean norm of its last three axes."""
    x = call.tensor("x")
    total = call.emit("ReduceSumSquare", x, call.ints([-3, -2, -1]), keepdims=1)
    return call.emit("Div", x, call.emit("Sqrt", call.emit("Add", total, call.like(x, call.number("epsilon", 1e-6)))))


def local_response_norm(call: Call) -> Tensor:
    x = call.tensor("x")
    image = call.unsqueeze(x, [3]) if x.rank == 3 else x
    normalised = call.emit(
        "LRN",
        image,
        size=call.integer("size"),
        alpha=call.number("alpha", 1e-4),
        beta=call.number("beta", 0.75),
        bias=call.number("k", 1.0),
        shape=image.shape,
    )
    return call.squeeze(normalised, [3]) if x.rank == 3 else normalised


_OPERATORS = {
    "mean": "ReduceMean",
    "sum": "ReduceSum",
    "max": "ReduceMax",
    "min": "ReduceMin",
    "prod": "ReduceProd",
    "l1_norm": "ReduceL1",
    "l2_norm": "ReduceL2",
    "sum_square": "ReduceSumSquare",
    "log_sum": "ReduceLogSum",
    "log_sum_exp": "ReduceLogSumExp",
}


def _reduce(operator: str) -> Callable[[Call], Tensor]:
    def translate(call: Call) -> Tensor:
        axes = call.ints(call.integers("axes")) if call.has("axes") else None
        return call.emit(
            operator, call.tensor("x"), axes, keepdims=int(call.flag("keep_dims", False)), shape=call.shape
        )

    return translate


def _index_of(operator: str) -> Callable[[Call], Tensor]:
    def translate(call: Call) -> Tensor:
        axis, kept = call.integer("axis", -1), int(call.flag("keep_dims", False))
        return call.emit(operator, call.tensor("x"), axis=axis, keepdims=kept, dtype=INT64, shape=call.shape)

    return translate


OPS: Mapping[str, Callable[[Call], Tensor]] = {
    "batch_norm": batch_norm,
    "instance_norm": instance_norm,
    "layer_norm": layer_norm,
    "l2_norm": l2_norm,
    "local_response_norm": local_response_norm,
    **{f"reduce_{name}": _reduce(operator) for name, operator in _OPERATORS.items()},
    "reduce_argmax": _index_of("ArgMax"),
    "reduce_argmin": _index_of("ArgMin"),
}
