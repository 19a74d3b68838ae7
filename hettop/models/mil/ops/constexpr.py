"""Compressed weights, unpacked when the program is translated; activations quantised at run time.

Every declared size is checked against the data that is there before anything of that size is allocated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from hettop.errors import HettopError
from hettop.models.mil.blob import Array, unpack_bits
from hettop.models.mil.call import Call
from hettop.models.mil.dtypes import NAMED_TYPES, UINT1, UINT2, UINT4, UINT6, UINT8
from hettop.models.mil.graph import FLOAT32, DType, Tensor

_INDEX_TYPES = {2: UINT1, 4: UINT2, 16: UINT4, 64: UINT6, 256: UINT8}


def _fault(call: Call, what: str) -> HettopError:
    return HettopError("format", f"{call.place} {what}", "the program is damaged: convert it again")


def affine_dequantize(call: Call) -> Tensor:
    """scale (data - zero point), per tensor or along one axis; computed in float32."""
    data, scale = call.constant("quantized_data"), call.constant("scale")
    axis = call.axis("axis", data.ndim, 0)
    shape = [-1 if index == axis else 1 for index in range(data.ndim)]

    def along(values: Array) -> Array:
        if values.size not in {1, data.shape[axis]}:
            raise _fault(call, f"has {values.size} scales or zero points for an axis of {data.shape[axis]}")
        return values.astype(np.float32).reshape(shape if values.size > 1 else [1] * data.ndim)

    dense = (data.astype(np.float32) - along(call.constant("zero_point"))) * along(scale)
    return call.graph.constant(dense, scale.dtype)


def constexpr_cast(call: Call) -> Tensor:
    return call.graph.constant(call.constant("source_val"), NAMED_TYPES[call.text("output_dtype")].numpy)


def lut_to_dense(call: Call) -> Tensor:
    """Dense tensor from a table of values and an index per element."""
    if call.has("shape"):
        lut, shape = call.constant("lut"), tuple(call.integers("shape"))
        element = _INDEX_TYPES.get(lut.size)
        packed = call.constant("indices")
        if element is None or packed.size != (math.prod(shape) * element.bits + 7) // 8:
            raise _fault(
                call, f"has {packed.size} bytes of indices into {lut.size} values for a shape of {list(shape)}"
            )
        indices = unpack_bits(packed, element, shape) if element.bits < 8 else packed.reshape(shape)
        return call.graph.constant(lut[indices])
    axis = call.integer("vector_axis") if call.has("vector_axis") else None
    return call.graph.constant(_looked_up(call, call.constant("indices"), call.constant("lut"), axis))


def _looked_up(call: Call, indices: Array, lut: Array, axis: int | None) -> Array:
    """lut: (groups per axis of the indices, then the number of values, then the length of each value's vector)."""
    rank = indices.ndim
    groups, (values, length) = lut.shape[:rank], lut.shape[rank:]
    if lut.ndim != rank + 2 or any(size % group for size, group in zip(indices.shape, groups, strict=True)):
        raise _fault(call, f"has a table of shape {list(lut.shape)} for indices of shape {list(indices.shape)}")
    if indices.size and int(indices.max()) >= values:
        raise _fault(call, f"has the index {int(indices.max())} into {values} values")
    places = np.ogrid[tuple(slice(size) for size in indices.shape)]
    own = tuple(place // (size // group) for place, size, group in zip(places, indices.shape, groups, strict=True))
    vectors = lut[(*own, indices)]
    if length == 1:
        return np.ascontiguousarray(vectors[..., 0])
    if axis is None:
        raise _fault(call, "has vectors in its table but no vector_axis")
    axis %= rank
    # the elements of a vector follow each other along its axis
    shape = [size * length if index == axis else size for index, size in enumerate(indices.shape)]
    return np.asarray(np.moveaxis(vectors, -1, axis + 1).reshape(shape))


def sparse_to_dense(call: Call) -> Tensor:
    """Dense tensor from a bit per element, and the values of the elements whose bit is set."""
    data, mask = call.constant("nonzero_data"), call.constant("mask")
    if call.has("shape"):
        shape = tuple(call.integers("shape"))
        if mask.size != (math.prod(shape) + 7) // 8:
            raise _fault(call, f"has {mask.size} bytes of mask for a shape of {list(shape)}")
        mask = unpack_bits(mask, UINT1, shape)
    return call.graph.constant(_spread(call, data, mask))


def _spread(call: Call, data: Array, mask: Array) -> Array:
    if np.count_nonzero(mask) != data.size:
        raise _fault(call, f"has {data.size} values for {np.count_nonzero(mask)} set bits")
    dense = np.zeros(mask.shape, data.dtype)
    dense[mask != 0] = data.reshape(-1)
    return dense


def blockwise_shift_scale(call: Call) -> Tensor:
    """scale (data - offset), a scale and offset per block of elements; computed in float32."""
    return call.graph.constant(_shift_scaled(call, call.constant("data")))


def _shift_scaled(call: Call, data: Array) -> Array:
    scale = call.constant("scale")
    if scale.ndim != data.ndim or any(size % many for size, many in zip(data.shape, scale.shape, strict=True)):
        raise _fault(call, f"has scales of shape {list(scale.shape)} for data of shape {list(data.shape)}")
    # data as (blocks, elements of a block) per axis, so that a scale broadcasts over its block
    blocks = [part for size, many in zip(data.shape, scale.shape, strict=True) for part in (many, size // many)]
    apart = [part for many in scale.shape for part in (many, 1)]
    dense = data.astype(np.float32).reshape(blocks)
    if call.has("offset"):
        dense = dense - call.constant("offset").astype(np.float32).reshape(apart)
    return np.asarray((dense * scale.astype(np.float32).reshape(apart)).reshape(data.shape).astype(scale.dtype))


def lut_to_sparse(call: Call) -> tuple[Tensor, Tensor]:
    """A sparse tensor of indices into a table: the mask and the values they stand for."""
    mask, lut = call.constant("indices_mask"), call.constant("lut")
    axis = call.integer("vector_axis") if call.has("vector_axis") else None
    dense = _looked_up(call, _spread(call, call.constant("indices_nonzero_data"), mask), lut, axis)
    if axis is not None:
        mask = np.repeat(mask, lut.shape[-1], axis=axis)
    return call.graph.constant(mask), call.graph.constant(dense[mask != 0])


def sparse_blockwise_shift_scale(call: Call) -> tuple[Tensor, Tensor]:
    mask = call.constant("data_mask")
    dense = _shift_scaled(call, _spread(call, call.constant("nonzero_data"), mask))
    return call.graph.constant(mask), call.graph.constant(dense[mask != 0])


def _scale_and_zero(call: Call, integer: DType) -> tuple[Tensor, Tensor, int | None]:
    scale = call.constant("scale")
    given = call.known("zero_point")
    zero = given if given is not None else np.zeros(scale.shape)
    axis = call.axis("axis", call.tensor("input").rank) if call.has("axis") else None
    return call.graph.constant(scale, FLOAT32), call.graph.constant(zero, integer), axis


def quantize(call: Call) -> Tensor:
    """clip(round(x / scale) + zero point), computed in float32."""
    integer = NAMED_TYPES[call.text("output_dtype")].numpy
    scale, zero, axis = _scale_and_zero(call, integer)
    x = call.cast(call.tensor("input"), FLOAT32)
    return call.emit("QuantizeLinear", x, scale, zero, axis=axis, dtype=integer, shape=call.shape)


def dequantize(call: Call) -> Tensor:
    """(x - zero point) scale, computed in float32."""
    x = call.tensor("input")
    scale, zero, axis = _scale_and_zero(call, x.dtype)
    return call.emit("DequantizeLinear", x, scale, zero, axis=axis, dtype=FLOAT32, shape=call.shape)


OPS: Mapping[str, Callable[[Call], Tensor | tuple[Tensor, ...]]] = {
    "constexpr_affine_dequantize": affine_dequantize,
    "constexpr_cast": constexpr_cast,
    "constexpr_lut_to_dense": lut_to_dense,
    "constexpr_sparse_to_dense": sparse_to_dense,
    "constexpr_blockwise_shift_scale": blockwise_shift_scale,
    "constexpr_lut_to_sparse": lut_to_sparse,
    "constexpr_sparse_blockwise_shift_scale": sparse_blockwise_shift_scale,
    "quantize": quantize,
    "dequantize": dequantize,
}
