"""Resizing by interpolation on a grid, and sampling images at computed places.

The sampling modes of MIL are those of ONNX's Resize where the two agree; the others are a product with a matrix of
interpolation weights, which is exact for any grid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from hettop.models.mil.blob import Array
from hettop.models.mil.call import Call
from hettop.models.mil.graph import BOOL, FLOAT32, INT64, Tensor

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
    """Resize the last two of four axes of x linearly."""
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
    """Resize by factors, for sizes known only at run time."""
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


# MIL's padding -> ONNX's, and whether ONNX must measure the grid between the centres of the corner pixels for it:
# its reflection turns around at the end of the grid, which is the corner's centre only then.
_PADDING = {"constant": ("zeros", None), "border": ("border", None), "reflection": ("reflection", True)}
_PADDING["symmetric"] = ("reflection", False)
_BOX_ORDER = {"HEIGHT_FIRST": (0, 1, 2, 3), "WIDTH_FIRST": (1, 0, 3, 2)}


def _side(call: Call, x: Tensor, axis: int) -> int:
    size = x.sizes[axis]
    if size is None:
        raise call.unsupported("samples an image whose size is known at run time only")
    return size


def _float(call: Call, value: float | Array) -> Tensor:
    return call.graph.constant(value, FLOAT32)


def _sample(
    call: Call, x: Tensor, grid: Tensor, *, aligned: bool, mode: str = "bilinear", padding: str = "zeros"
) -> Tensor:
    return call.emit(
        "GridSample",
        call.cast(x, FLOAT32),
        grid,
        mode=mode,
        padding_mode=padding,
        align_corners=int(aligned),
        dtype=FLOAT32,
        shape=(x.sizes[0], x.sizes[1], None, None),
    )


def _grid(call: Call, pixels: Tensor, sides: Array, aligned: bool) -> Tensor:
    """Pixel coordinates (x, y) in the last axis as a grid from -1 to 1; sides: (width, height)."""
    if aligned:
        scale, offset = 2 / np.maximum(sides - 1, 1), np.full(2, -1.0)
    else:
        scale, offset = 2 / sides, 1 / sides - 1
    return call.emit("Add", call.emit("Mul", pixels, _float(call, scale)), _float(call, offset))


def resample(call: Call) -> Tensor:
    x = call.tensor("x")
    sides = np.array([_side(call, x, 3), _side(call, x, 2)], np.float64)
    padding, needed = _PADDING[call.text("padding_mode")]
    aligned = call.flag("align_corners")
    grid = call.cast(call.tensor("coordinates"), FLOAT32)
    mode = call.text("coordinates_mode")
    if mode == "normalized_zero_to_one":
        grid = call.emit("Sub", call.emit("Mul", grid, _float(call, 2)), _float(call, 1))
    if mode == "unnormalized":
        aligned = True if needed is None else needed
        grid = _grid(call, grid, sides, aligned)
    elif needed is not None and needed != aligned:
        # back to pixels, then to the grid that reflects where MIL does
        scale, offset = ((sides - 1) / 2,) * 2 if aligned else (sides / 2, (sides - 1) / 2)
        pixels = call.emit("Add", call.emit("Mul", grid, _float(call, scale)), _float(call, offset))
        aligned, grid = needed, _grid(call, pixels, sides, needed)
    fill = call.number("padding_value", 0.0) if padding == "zeros" else 0.0
    shifted = call.emit("Sub", x, call.like(x, fill), shape=x.shape) if fill else x
    sampled = _sample(call, shifted, grid, aligned=aligned, mode=call.text("sampling_mode"), padding=padding)
    return call.emit("Add", sampled, _float(call, fill), shape=sampled.shape) if fill else sampled


def affine(call: Call) -> Tensor:
    """x' = a0 x + a1 y + a2 and y' = b0 x + b1 y + b2, between the centres of the corner pixels."""
    x, height, width = call.tensor("x"), call.integer("output_height"), call.integer("output_width")
    if call.number("padding_value", 0.0) or not call.flag("align_corners"):
        raise call.unsupported("pads with a value, or does not align corners; Core ML does neither")
    call.bounded(height * width)
    rows, columns = np.meshgrid(np.linspace(-1, 1, height), np.linspace(-1, 1, width), indexing="ij")
    places = np.stack([columns.ravel(), rows.ravel(), np.ones(height * width)])
    matrix = call.emit("Reshape", call.cast(call.tensor("transform_matrix"), FLOAT32), call.ints([-1, 2, 3]))
    mapped = call.emit("Transpose", call.emit("MatMul", matrix, _float(call, places)), perm=[0, 2, 1])
    grid = call.emit("Reshape", mapped, call.ints([-1, height, width, 2]))
    grid = call.emit("Expand", grid, call.vector([call.size(x, 0), height, width, 2]))
    return _sample(call, x, grid, aligned=True)


def crop_resize(call: Call) -> Tensor:
    """Boxes cut out of images and resized; places outside the image get the padding value."""
    x = call.tensor("x")
    height, width = call.integer("target_height", 1), call.integer("target_width", 1)
    boxes, images = _boxes(call)
    top, left, bottom, right = _corners(call, boxes)
    rows, inside_rows = _places(call, top, bottom, height, _side(call, x, 2))
    columns, inside_columns = _places(call, left, right, width, _side(call, x, 3))
    sides = np.array([_side(call, x, 3), _side(call, x, 2)], np.float64)
    full = call.ints([1, height, width])
    spread = [
        call.emit("Expand", call.emit("Unsqueeze", rows, call.ints([2])), full),
        call.emit("Expand", call.emit("Unsqueeze", columns, call.ints([1])), full),
    ]
    pixels = call.emit("Concat", *(call.emit("Unsqueeze", item, call.ints([3])) for item in reversed(spread)), axis=3)
    chosen = call.emit("Gather", x, images, axis=0, shape=(None, *x.sizes[1:]))
    sampled = _sample(call, chosen, _grid(call, pixels, sides, aligned=True), aligned=True, padding="border")
    inside = call.emit(
        "And",
        call.emit("Unsqueeze", inside_rows, call.ints([1, 3])),
        call.emit("Unsqueeze", inside_columns, call.ints([1, 2])),
    )
    filled = call.emit("Where", inside, sampled, _float(call, call.number("pad_value", 0.0)), dtype=FLOAT32)
    if len(call.shape) == 4:
        return filled
    # boxes given as regions of interest: the crops of one box come together
    channels = call.size(x, 1)
    together = -1 if call.tensor("roi").sizes[2] == 4 else 1
    return call.emit(
        "Reshape", filled, call.vector([_count(call), together, channels, height, width]), shape=call.shape
    )


def _count(call: Call) -> int | Tensor:
    return call.size(call.tensor("roi"), 0)


def _boxes(call: Call) -> tuple[Tensor, Tensor]:
    """(crops, 4) coordinates in float32, and for each crop the image it is cut from."""
    x = call.tensor("x")
    if call.has("boxes"):
        boxes = call.cast(call.tensor("boxes"), FLOAT32)
        count = boxes.sizes[0]
        if call.has("box_indices"):
            return boxes, call.index(call.tensor("box_indices"))
        if count is None:
            raise call.unsupported("has a number of boxes known at run time only, and no box_indices")
        return boxes, call.ints(range(count))
    roi = call.cast(call.tensor("roi"), FLOAT32)
    count, batch = roi.sizes[0], x.sizes[0]
    flat = call.emit("Reshape", roi, call.ints([-1, roi.sizes[2] or -1]), shape=(count, roi.sizes[2]))
    if roi.sizes[2] == 5:
        index = call.emit("Slice", flat, call.ints([0]), call.ints([1]), call.ints([1]))
        coordinates = call.emit("Slice", flat, call.ints([1]), call.ints([5]), call.ints([1]), shape=(count, 4))
        return coordinates, call.cast(call.emit("Reshape", index, call.ints([-1])), INT64)
    if count is None or batch is None:
        raise call.unsupported("cuts every box from every image of a number known at run time only")
    order = np.repeat(np.arange(count), batch)
    return call.emit("Gather", flat, call.ints(order), axis=0), call.ints(np.tile(np.arange(batch), count))


def _corners(call: Call, boxes: Tensor) -> list[Tensor]:
    """Top, left, bottom and right of each box in pixels, each (crops, 1)."""
    x = call.tensor("x")
    style, _, order = call.text("box_coordinate_mode", "CORNERS_HEIGHT_FIRST").partition("_")
    if style == "CENTER":
        order = order.removeprefix("SIZE_")
    scale = np.full(4, call.number("spatial_scale", 1.0))
    if call.flag("normalized_coordinates", False):
        scale = scale * np.array([_side(call, x, 2) - 1, _side(call, x, 3) - 1] * 2)
    sorted_boxes = call.emit("Gather", boxes, call.ints(_BOX_ORDER[order]), axis=1)
    scaled = call.emit("Mul", sorted_boxes, _float(call, scale))
    parts = [call.emit("Slice", scaled, call.ints([i]), call.ints([i + 1]), call.ints([1])) for i in range(4)]
    if style == "CORNERS":
        return parts
    halves = [call.emit("Mul", part, _float(call, 0.5)) for part in parts[2:]]
    return [
        call.emit(sign, centre, half) for sign in ("Sub", "Add") for centre, half in zip(parts, halves, strict=False)
    ]


def _places(call: Call, start: Tensor, end: Tensor, count: int, size: int) -> tuple[Tensor, Tensor]:
    """Where `count` samples of each box lie, (crops, count), and which of them are inside an axis of `size`.

    The formulas are resize_bilinear's, with the box from `start` to `end` in place of the whole axis.
    """
    mode = call.text("sampling_mode", "DEFAULT")
    steps = np.arange(call.bounded(count))
    length = call.emit("Sub", end, start)
    if mode in {"ALIGN_CORNERS", "STRICT_ALIGN_CORNERS"}:
        middle = 0.5 if mode == "ALIGN_CORNERS" else 0.0
        share = steps / (count - 1) if count > 1 else np.array([middle])
        along = call.emit("Mul", length, _float(call, share[None]))
    elif mode == "OFFSET_CORNERS":
        along = call.emit("Mul", call.emit("Max", length, _float(call, 1)), _float(call, (steps[None] + 0.5) / count))
    else:
        shift = (0.5, -0.5) if mode == "UNALIGN_CORNERS" else (0.0, 0.0)
        pixels = call.emit("Add", length, _float(call, 1))
        along = call.emit("Mul", pixels, _float(call, (steps[None] + shift[0]) / count))
        along = call.emit("Add", along, _float(call, shift[1]))
        along = call.emit("Min", call.emit("Max", along, _float(call, 0)), length)
    places = call.emit("Add", start, along)
    above = call.emit("GreaterOrEqual", places, _float(call, 0), dtype=BOOL)
    below = call.emit("LessOrEqual", places, _float(call, size - 1), dtype=BOOL)
    return places, call.emit("And", above, below)


OPS: Mapping[str, Callable[[Call], Tensor]] = {
    "upsample_nearest_neighbor": upsample_nearest_neighbor,
    "resize_nearest_neighbor": resize_nearest_neighbor,
    "upsample_bilinear": upsample_bilinear,
    "resize_bilinear": resize_bilinear,
    "resize": resize,
    "resample": resample,
    "affine": affine,
    "crop_resize": crop_resize,
}
