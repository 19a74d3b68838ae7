"""Gathering and scattering by index."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hettop.models.mil.call import Call
from hettop.models.mil.graph import Tensor

# MIL's update modes -> ONNX's reductions; `sub` and `div` are `add` and `mul` of inverted updates.
_REDUCTIONS = {"update": "none", "add": "add", "sub": "add", "mul": "mul", "div": "mul", "max": "max", "min": "min"}


def gather(call: Call) -> Tensor:
    x, indices = call.tensor("x"), call.index(call.tensor("indices"))
    axis, batch = call.axis("axis", x.rank, 0), call.integer("batch_dims", 0)
    if batch == 0:
        return call.emit("Gather", x, indices, axis=axis, shape=call.shape)
    # ONNX batches GatherND only, which indexes the axis right after the batch: the axis is brought there and back
    others = [index for index in range(batch, x.rank) if index != axis]
    front = call.transpose(x, [*range(batch), axis, *others]) if axis != batch else x
    taken = call.emit("GatherND", front, call.unsqueeze(indices, [indices.rank]), batch_dims=batch)
    if axis == batch:
        return taken
    # taken is batch, then the indices' own axes, then the others in order; the indices belong at `axis`
    own, before = indices.rank - batch, axis - batch
    middle = list(range(batch, batch + own))
    rest = list(range(batch + own, batch + own + len(others)))
    return call.emit(
        "Transpose", taken, perm=[*range(batch), *rest[:before], *middle, *rest[before:]], shape=call.shape
    )


def gather_along_axis(call: Call) -> Tensor:
    x = call.tensor("x")
    return call.emit(
        "GatherElements", x, call.index(call.tensor("indices")), axis=call.axis("axis", x.rank, 0), shape=call.shape
    )


def gather_nd(call: Call) -> Tensor:
    indices = call.index(call.tensor("indices"))
    return call.emit("GatherND", call.tensor("x"), indices, batch_dims=call.integer("batch_dims", 0), shape=call.shape)


def _updates(call: Call) -> tuple[Tensor, str]:
    """The updates and the ONNX reduction that apply `mode`."""
    updates, mode = call.cast(call.tensor("updates"), call.tensor("data").dtype), call.text("mode", "add")
    if mode not in _REDUCTIONS:
        raise call.unsupported(f"has the mode {mode!r}")
    if mode == "sub":
        updates = call.emit("Neg", updates, shape=updates.shape)
    if mode == "div":
        if updates.dtype.kind != "f":
            raise call.unsupported("divides integers in place")
        updates = call.emit("Reciprocal", updates, shape=updates.shape)
    return updates, _REDUCTIONS[mode]


def scatter(call: Call) -> Tensor:
    """Whole slices along `axis`; the indices are spread over the slices, as ONNX scatters single elements."""
    data, indices = call.tensor("data"), call.index(call.tensor("indices"))
    axis = call.axis("axis", data.rank, 0)
    if indices.rank != 1:
        raise call.unsupported(f"scatters by indices of rank {indices.rank}")
    updates, reduction = _updates(call)
    column = call.reshape(indices, [*[1] * axis, call.size(indices, 0), *[1] * (data.rank - axis - 1)])
    spread = call.emit("Expand", column, call.vector([call.size(updates, index) for index in range(data.rank)]))
    return call.emit("ScatterElements", data, spread, updates, axis=axis, reduction=reduction, shape=call.shape)


def scatter_along_axis(call: Call) -> Tensor:
    data, (updates, reduction) = call.tensor("data"), _updates(call)
    indices, axis = call.index(call.tensor("indices")), call.axis("axis", data.rank, 0)
    return call.emit("ScatterElements", data, indices, updates, axis=axis, reduction=reduction, shape=call.shape)


def scatter_nd(call: Call) -> Tensor:
    updates, reduction = _updates(call)
    indices = call.index(call.tensor("indices"))
    return call.emit("ScatterND", call.tensor("data"), indices, updates, reduction=reduction, shape=call.shape)


OPS: Mapping[str, Callable[[Call], Tensor]] = {
    "gather": gather,
    "gather_along_axis": gather_along_axis,
    "gather_nd": gather_nd,
    "scatter": scatter,
    "scatter_along_axis": scatter_along_axis,
    "scatter_nd": scatter_nd,
}
