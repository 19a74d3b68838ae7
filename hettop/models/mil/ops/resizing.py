"""Resizing by interpolation on a regular grid.

The sampling modes of MIL are those of ONNX's Resize where the two agree; the others are a product with a matrix of
interpolation weights, which is exact for any grid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from hettop.models.mil.blob import Array
from hettop.models.mil.call import Call
from hettop.models.mil.graph import FLOAT32, Tensor

_COORDINATES = {
    "DEFAULT": "asymmetric",
    "UNALIGN_CORNERS": "half_pixel",
    "ALIGN_CORNERS": "align_corners",
    "STRICT_ALIGN_CORNERS": "align_corners",
}


def grid(mode: str, size: int, count: int) -> Array:
    """Where `count` samples lie on an axis of `size` elements (the formulas in coremltools' resize_bilinear)."""
    steps = np.arange(count, dtype=np.float64)
    if mode in {"ALIGN_CORNERS", "STRICT_ALIGN_CORNERS"}:
        if count == 1:
            return np.array([(size - 1) / 2 if mode == "ALIGN_CORNERS" else 0.0])
        points = steps * (size - 1) / (count - 1)
    elif mode == "OFFSET_CORNERS":
        points = (steps + 0.5) * max(1, size - 1) / count
    elif mode == "UNALIGN_CORNERS":
        points = (steps + 0.5) * size / count - 0.5
    else:
        points = steps * size / count
    return np.clip(points, 0, size - 1)


def _weights(mode: str, size: int, count: int) -> Array:
    """(count, size): row i interpolates linearly between the two elements around grid point i."""
    points = grid(mode, size, count)
    low = np.floor(points).astype(int)
    rows = np.arange(count)
    weights = np.zeros((count, size))
    np.add.at(weights, (rows, low), 1 - (points - low))
    np.add.at(weights, (rows, np.minimum(low + 1, size - 1)), points - low)
    return weights


def _as_image(call: Call, x: Tensor, work: Callable[[Tensor], Tensor]) -> Tensor:
    """ONNX Runtime interpolates linearly over four axes only: others are folded into one and unfolded."""
    if x.rank == 4:
        return work(x)
    if x.rank == 3:
        return call.squeeze(work(call.unsqueeze(x, [0])), [0])
    height, width = call.size(x, x.rank - 2), call.size(x, x.rank - 1)
    folded = call.emit("Reshape", x, call.vector([1, -1, height, width]), shape=(1, None, *x.sizes[-2:]))
    out = work(folded)
    leading = [call.size(x, axis) for axis in range(x.rank - 2)]
    return call.emit("Reshape", out, call.vector([*leading, call.size(out, 2), call.size(out, 3)]), shape=call.shape)


def _linear(call: Call, x: Tensor, sizes: Sequence[int], mode: str) -> Tensor:
    """x, of four axes, with its last two resized."""
    known = [size for size in x.sizes[-2:] if size is not None]
    if _exact(mode, known, sizes):
        return _resize(call, x, sizes, "linear", _COORDINATES[mode])
    if len(known) != 2:
        raise call.unsupported(f"samples {mode} from a size known at run time only")
    call.bounded(max(old * new for old, new in zip(known, sizes, strict=True)))
    rows, columns = (
        call.graph.constant(_weights(mode, old, new), x.dtype) for old, new in zip(known, sizes, strict=True)
    )
    tall = call.emit("MatMul", rows, x, dtype=x.dtype)
    return call.emit("MatMul", tall, call.transpose(columns, [1, 0]), shape=(*x.sizes[:2], *sizes))


def _exact(mode: str, known: Sequence[int], sizes: Sequence[int]) -> bool:
    """Whether ONNX's grid is MIL's: not for offset corners, nor for one sample amid aligned corners."""
    if mode == "ALIGN_CORNERS":
        return 1 not in sizes or known == list(sizes)
    return mode in _COORDINATES


def _resize(call: Call, x: Tensor, sizes: Sequence[int] | Tensor, mode: str, coordinates: str, **more: str) -> Tensor:
    target = sizes if isinstance(sizes, Tensor) else call.ints(sizes)
    shape = (*x.sizes[:-2], *(sizes if not isinstance(sizes, Tensor) else (None, None)))
    return call.emit(
        "Resize",
        x,
        None,
        None,
        target,
        mode=mode,
        coordinate_transformation_mode=coordinates,
        axes=[x.rank - 2, x.rank - 1],
        shape=shape,
        **more,
    )


def _scaled(call: Call, x: Tensor, scales: Sequence[float], mode: str, coordinates: str, **more: str) -> Tensor:
    """Resized by factors, for sizes known at run time only."""
    factors = call.graph.constant(list(scales), FLOAT32)
    shape = (*x.sizes[:-2], None, None)
    return call.emit(
        "Resize",
        x,
        None,
        factors,
        mode=mode,
        coordinate_transformation_mode=coordinates,
        axes=[x.rank - 2, x.rank - 1],
        shape=shape,
        **more,
    )


def _factors(call: Call) -> list[float]:
    return [call.number(f"scale_factor_{side}", 1) for side in ("height", "width")]


def _targets(call: Call) -> list[int]:
    return [call.integer(f"target_size_{side}", 1) for side in ("height", "width")]


def upsample_nearest_neighbor(call: Call) -> Tensor:
    x = call.tensor("x")
    return _as_image(
        call, x, lambda image: _scaled(call, image, _factors(call), "nearest", "asymmetric", nearest_mode="floor")
    )


def resize_nearest_neighbor(call: Call) -> Tensor:
    x = call.tensor("x")
    return _as_image(
        call, x, lambda image: _resize(call, image, _targets(call), "nearest", "asymmetric", nearest_mode="floor")
    )


def upsample_bilinear(call: Call) -> Tensor:
    """The factor is taken from the sizes before and after, so that they fit exactly."""
    x, scales = call.tensor("x"), _factors(call)
    aligned = call.flag("align_corners", True)
    centred = call.flag("half_pixel_centers", not aligned)
    coordinates = "align_corners" if aligned else "half_pixel" if centred else "asymmetric"
    known = [size for size in call.shape[-2:] if size is not None]
    if len(known) == 2:
        return _as_image(call, x, lambda image: _resize(call, image, known, "linear", coordinates))
    return _as_image(call, x, lambda image: _scaled(call, image, scales, "linear", coordinates))


def resize_bilinear(call: Call) -> Tensor:
    mode = call.text("sampling_mode", "DEFAULT")
    return _as_image(call, call.tensor("x"), lambda image: _linear(call, image, _targets(call), mode))


def resize(call: Call) -> Tensor:
    """The last `resized_dims` sizes of `shape` (0: the size of x); nearest neighbours are those the grid rounds to."""
    x, count = call.tensor("x"), call.integer("resized_dims")
    mode = call.text("sampling_mode", "DEFAULT")
    linear = call.text("interpolation_mode", "LINEAR") == "LINEAR"
    if count > 2 or mode not in {*_COORDINATES, "OFFSET_CORNERS"}:
        raise call.unsupported(f"resizes {count} axes with sampling mode {mode!r}")
    known = [size for size in (*x.sizes[-2:-count], *call.shape[-count:]) if size is not None] if count else []
    if len(known) == 2 and linear:
        return _as_image(call, x, lambda image: _linear(call, image, known, mode))
    if mode not in _COORDINATES:
        raise call.unsupported(f"samples nearest neighbours, or a size known at run time only, with {mode}")
    how = {"mode": "linear"} if linear else {"mode": "nearest", "nearest_mode": "round_prefer_floor"}
    sizes: Sequence[int] | Tensor = known if len(known) == 2 else _computed_sizes(call, x, count)
    return _as_image(call, x, lambda image: _resize(call, image, sizes, coordinates=_COORDINATES[mode], **how))


def _computed_sizes(call: Call, x: Tensor, count: int) -> Tensor:
    wanted = call.index(call.tensor("shape"))
    last = call.emit("Slice", wanted, call.ints([-count]), call.ints([np.iinfo(np.int64).max]), call.ints([0]))
    own = call.vector([call.size(x, axis) for axis in range(x.rank - count, x.rank)])
    zero = call.emit("Equal", last, call.ints([0]), dtype=np.dtype(np.bool_))
    sizes = call.emit("Where", zero, own, last, dtype=own.dtype)
    if count == 2:
        return sizes
    return call.emit("Concat", call.vector([call.size(x, x.rank - 2)]), sizes, axis=0)


OPS: Mapping[str, Callable[[Call], Tensor]] = {
    "upsample_nearest_neighbor": upsample_nearest_neighbor,
    "resize_nearest_neighbor": resize_nearest_neighbor,
    "upsample_bilinear": upsample_bilinear,
    "resize_bilinear": resize_bilinear,
    "resize": resize,
}
