"""Weights of the NeuralNetwork format as float32 arrays, unpacked if they are quantised."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hettop.errors import HettopError
from hettop.models.mil.blob import Array
from hettop.models.mil.call import DAMAGED

Message = Any


def read_weights(values: Message, shape: Sequence[int], place: str, *, axis: int = 0) -> Array:
    """A WeightParams message as an array of `shape`. axis: the one along which quantised weights have their scales.

    Raises HettopError("format") naming `place` when the message holds another number of values.
    """
    count = math.prod(shape)
    if values.floatValue:
        found = np.asarray(values.floatValue, np.float32)
    elif values.float16Value:
        found = np.frombuffer(values.float16Value, np.float16).astype(np.float32)
    else:
        found = _unpacked(values, count, shape, axis, place)
    if found.size != count:
        raise HettopError("format", f"{place} has {found.size:,} weights instead of {count:,}", DAMAGED)
    return found.reshape(shape)


def _unpacked(values: Message, count: int, shape: Sequence[int], axis: int, place: str) -> Array:
    """Quantised weights: numbers of 1 to 8 bits, each byte filled from its highest bit downward."""
    bits, how = int(values.quantization.numberOfBits), values.quantization.WhichOneof("QuantizationType")
    packed = np.frombuffer(values.rawValue, np.uint8)
    if how is None or not 1 <= bits <= 8 or packed.size * 8 < count * bits:
        raise HettopError("format", f"{place} has no weights of a known type", DAMAGED)
    found = np.unpackbits(packed, count=count * bits).reshape(count, bits) @ (1 << np.arange(bits)[::-1])
    if how == "lookupTableQuantization":
        table = np.asarray(values.quantization.lookupTableQuantization.floatValue, np.float32)
        if found.size and int(found.max()) >= table.size:
            raise HettopError("format", f"{place} has an index outside of its table of {table.size}", DAMAGED)
        return table[found]
    linear = values.quantization.linearQuantization
    scale, bias = (np.asarray(each or [0.0], np.float32) for each in (linear.scale, linear.bias))
    along = [-1 if place_ == axis else 1 for place_ in range(len(shape))]
    for each in (scale, bias):
        if each.size not in {1, shape[axis]}:
            raise HettopError("format", f"{place} has {each.size} scales instead of {shape[axis]}", DAMAGED)
    return found.reshape(shape).astype(np.float32) * scale.reshape(along) + bias.reshape(along)
