"""Quantising and dequantising activations at run time."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from hettop.models.mil.call import Call
from hettop.models.mil.dtypes import NAMED_TYPES
from hettop.models.mil.graph import FLOAT32, DType, Tensor


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


OPS: Mapping[str, Callable[[Call], Tensor]] = {"quantize": quantize, "dequantize": dequantize}
