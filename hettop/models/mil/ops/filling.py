"""Tensors made from a shape or a range, and running sums and bands."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from hettop.models.mil.call import Call
from hettop.models.mil.graph import INT64, Tensor


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
    "fill": fill,
    "fill_like": fill_like,
    "range_1d": range_1d,
    "cumsum": cumsum,
    "band_part": band_part,
}
