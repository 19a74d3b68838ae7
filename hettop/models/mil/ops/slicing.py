"""Parts of tensors: slices, splits, crops, windows, padding; elements by index, sorted or the largest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hettop.models.mil.blob import Array
from hettop.models.mil.call import END, Call
from hettop.models.mil.graph import BOOL, INT64, Tensor
from hettop.models.mil.ops.windows import onnx_pads

_PAD_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge"}


@dataclass(frozen=True, slots=True)
class _Bounds:
    """Where a slice begins and ends along each axis, with masks applied; `dropped` axes are indexed, not sliced."""

    begin: Tensor
    end: Tensor
    stride: list[int]
    dropped: list[int]

    def along(self, call: Call, axis: int) -> tuple[Tensor, Tensor]:
        """Begin and end along one axis, each a 1-D tensor of one element."""
        return _pick(call, self.begin, axis), _pick(call, self.end, axis)


def _pick(call: Call, tensor: Tensor, axis: int) -> Tensor:
    if tensor.value is not None:
        return call.ints([int(tensor.value[axis])])
    return call.emit("Slice", tensor, call.ints([axis]), call.ints([axis + 1]), call.ints([0]), shape=(1,))


def _bounds(call: Call) -> _Bounds:
    rank = call.tensor("x").rank
    stride = call.integers("stride", [1] * rank)
    from_start, to_end, indexed = (call.flags(f"{name}_mask", rank) for name in ("begin", "end", "squeeze"))
    backwards = np.array(stride) < 0
    begin, end = call.index(call.tensor("begin")), call.index(call.tensor("end"))
    begin = _choose(call, from_start, np.where(backwards, END, 0), begin)
    # an indexed axis ends one further; after index -1 that would be 0, the start, so it ends at the end
    next_one = _plus_one(call, begin)
    end = _choose(call, indexed, next_one, end)
    ends = [to and not one for to, one in zip(to_end, indexed, strict=True)]
    end = _choose(call, ends, np.where(backwards, -END, END), end)
    stride = [1 if one else step for one, step in zip(indexed, stride, strict=True)]
    return _Bounds(begin, end, stride, [axis for axis, one in enumerate(indexed) if one])


def _choose(call: Call, mask: Sequence[bool], chosen: Array | Tensor, other: Tensor) -> Tensor:
    """`chosen` where the mask is set, `other` elsewhere; at once if both are known."""
    if not any(mask):
        return other
    known = chosen.value if isinstance(chosen, Tensor) else chosen
    if known is not None and other.value is not None:
        return call.ints(np.where(mask, known, other.value).tolist())
    tensor = chosen if isinstance(chosen, Tensor) else call.ints(chosen.tolist())
    return call.emit("Where", call.mask(mask), tensor, other, dtype=INT64, shape=other.shape)


def _plus_one(call: Call, begin: Tensor) -> Tensor:
    if begin.value is not None:
        return call.ints([END if item in {-1, END} else item + 1 for item in begin.value.tolist()])
    last = call.emit("Equal", begin, call.ints([-1]), dtype=BOOL)
    return call.emit("Where", last, call.ints([END]), call.emit("Add", begin, call.ints([1])), dtype=INT64)


def slice_by_index(call: Call) -> Tensor:
    x = call.tensor("x")
    bounds = _bounds(call)
    axes = call.ints(range(x.rank))
    part = call.emit("Slice", x, bounds.begin, bounds.end, axes, call.ints(bounds.stride))
    return call.emit("Squeeze", part, call.ints(bounds.dropped), shape=call.shape) if bounds.dropped else part


def slice_by_size(call: Call) -> Tensor:
    """size -1 takes everything from `begin` on."""
    x = call.tensor("x")
    begin, size = call.index(call.tensor("begin")), call.index(call.tensor("size"))
    if begin.value is not None and size.value is not None:
        stops = [start + many for start, many in zip(begin.value.tolist(), size.value.tolist(), strict=True)]
        # a slice that starts before the end, counted from there, and reaches it must not stop at index 0
        open_ended = [
            many == -1 or (start < 0 and stop >= 0)
            for start, many, stop in zip(begin.value.tolist(), size.value.tolist(), stops, strict=True)
        ]
        end = call.ints([END if is_open else stop for is_open, stop in zip(open_ended, stops, strict=True)])
    else:
        rest = call.emit("Equal", size, call.ints([-1]), dtype=BOOL)
        end = call.emit("Where", rest, call.ints([END]), call.emit("Add", begin, size), dtype=INT64)
    return call.emit("Slice", x, begin, end, call.ints(range(x.rank)), shape=call.shape)


def slice_update(call: Call) -> Tensor:
    """x with one slice replaced. Contiguous slices are cut out and joined; others are scattered element by element."""
    x, bounds = call.tensor("x"), _bounds(call)
    update = call.tensor("update")
    if bounds.dropped:
        update = call.unsqueeze(update, bounds.dropped)
    if any(step != 1 for step in bounds.stride):
        return _scattered(call, x, bounds, update)
    return _joined(call, x, bounds, update, _sliced_axes(x, bounds))


def _sliced_axes(x: Tensor, bounds: _Bounds) -> list[int]:
    """The axes along which the slice is not known to be everything."""
    begin, end = bounds.begin.value, bounds.end.value

    def everything(axis: int) -> bool:
        size = x.sizes[axis]
        if begin is None or end is None or begin[axis] != 0:
            return False
        return int(end[axis]) == END or (size is not None and int(end[axis]) >= size)

    return [axis for axis in range(x.rank) if not everything(axis)]


def _joined(call: Call, x: Tensor, bounds: _Bounds, update: Tensor, axes: Sequence[int]) -> Tensor:
    if not axes:
        return update
    axis, rest = axes[0], axes[1:]
    begin, end = bounds.along(call, axis)
    where = call.ints([axis])
    before = call.emit("Slice", x, call.ints([0]), begin, where)
    after = call.emit("Slice", x, end, call.ints([END]), where)
    middle = call.emit("Slice", x, begin, end, where) if rest else x
    return call.emit("Concat", before, _joined(call, middle, bounds, update, rest), after, axis=axis, shape=x.shape)


def _scattered(call: Call, x: Tensor, bounds: _Bounds, update: Tensor) -> Tensor:
    shape = call.emit("Shape", x, dtype=INT64)
    count = call.emit("ReduceProd", shape, keepdims=0)
    zero, one = call.graph.constant(0, INT64), call.graph.constant(1, INT64)
    places = call.emit("Reshape", call.emit("Range", zero, count, one), shape)
    axes = call.ints(range(x.rank))
    hit = call.emit("Slice", places, bounds.begin, bounds.end, axes, call.ints(bounds.stride))
    flat = call.ints([-1])
    replaced = call.emit(
        "ScatterElements",
        call.emit("Reshape", x, flat),
        call.emit("Reshape", hit, flat),
        call.emit("Reshape", update, flat),
        axis=0,
    )
    return call.emit("Reshape", replaced, shape, shape=x.shape)


def split(call: Call) -> tuple[Tensor, ...]:
    x = call.tensor("x")
    axis = call.axis("axis", x.rank)
    if len(call.outputs) == 1:
        return (x,)
    if call.has("split_sizes"):
        inputs, even = [x, call.ints(call.integers("split_sizes"))], None
    else:
        inputs, even = [x], len(call.outputs)
    return tuple(call.graph.emit_many("Split", inputs, [x.dtype] * len(call.outputs), axis=axis, num_outputs=even))


def crop(call: Call) -> Tensor:
    x = call.tensor("x")
    (top, bottom), (left, right) = call.integers("crop_height"), call.integers("crop_width")
    ends = [-bottom if bottom else END, -right if right else END]
    return call.emit("Slice", x, call.ints([top, left]), call.ints(ends), call.ints([-2, -1]), shape=call.shape)


def pad(call: Call) -> Tensor:
    x, amounts = call.tensor("x"), call.tensor("pad")
    mode = call.text("mode", "constant")
    fill = call.like(x, call.number("constant_val", 0.0)) if mode == "constant" else None
    if amounts.value is not None:
        pairs = [int(item) for item in amounts.value.reshape(-1)]
        pads = call.ints(onnx_pads([0] * (2 * x.rank - len(pairs)) + pairs))
    else:
        table = call.emit("Reshape", call.index(amounts), call.ints([-1, 2]))
        pads = call.emit("Reshape", call.emit("Transpose", table, perm=[1, 0]), call.ints([-1]), shape=(2 * x.rank,))
    return call.emit("Pad", x, pads, fill, mode=_PAD_MODES[mode], shape=call.shape)


def sliding_windows(call: Call) -> Tensor:
    x = call.tensor("x")
    axis, size, stride = call.axis("axis", x.rank), call.integer("size"), call.integer("stride", 1)
    length = call.size(x, axis)
    inside = np.arange(call.bounded(size), dtype=np.int64)
    if isinstance(length, int):
        call.bounded(((length - size) // stride + 1) * size)
        starts = np.arange((length - size) // stride + 1, dtype=np.int64) * stride
        return call.emit("Gather", x, call.graph.constant(starts[:, None] + inside), axis=axis, shape=call.shape)
    last = call.emit("Squeeze", call.emit("Sub", length, call.ints([size - 1])), call.ints([0]))
    zero, step = call.graph.constant(0, INT64), call.graph.constant(stride, INT64)
    column = call.emit("Unsqueeze", call.emit("Range", zero, last, step), call.ints([1]))
    return call.emit("Gather", x, call.emit("Add", column, call.graph.constant(inside)), axis=axis, shape=call.shape)


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
    """Scatter slices along `axis`: the indices are repeated for each element, because ONNX scatters single elements."""
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
    "slice_by_index": slice_by_index,
    "slice_by_size": slice_by_size,
    "slice_update": slice_update,
    "split": split,
    "crop": crop,
    "pad": pad,
    "sliding_windows": sliding_windows,
    "gather": gather,
    "gather_along_axis": gather_along_axis,
    "gather_nd": gather_nd,
    "scatter": scatter,
    "scatter_along_axis": scatter_along_axis,
    "scatter_nd": scatter_nd,
    "topk": topk,
    "argsort": argsort,
    "one_hot": one_hot,
    "non_zero": non_zero,
    "classify": classify,
}
