"""Seeded weights for the layers of a network, the same whatever format they are written to."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from hettop.models.networks.catalogue import Network
from hettop.models.networks.layers import Convolution, Dense, Layer, Norm

Float32Array = npt.NDArray[np.float32]

SEED = 224

BIAS_LIMIT = 0.1

CHUNK = 1 << 20
"""Numbers drawn at a time: a fully connected layer may have a hundred million."""


@dataclass(slots=True)
class Constant:
    """A constant of a layer. Its values are drawn in order: each constant before the next, each once."""

    name: str
    shape: tuple[int, ...]
    _limit: float
    _bits: np.random.PCG64 = field(repr=False)
    _value: float | None = None

    def chunks(self) -> Iterator[Float32Array]:
        """The values one after another, at most CHUNK at a time."""
        left = math.prod(self.shape)
        while left:
            size = min(CHUNK, left)
            left -= size
            if self._value is not None:
                yield np.full(size, self._value, dtype=np.float32)
            else:
                yield _uniform(self._bits, size, self._limit)

    def array(self, dtype: npt.DTypeLike = np.float32) -> npt.NDArray[np.floating]:
        """All values, in `shape`."""
        values = np.empty(math.prod(self.shape), dtype=dtype)
        place = 0
        for chunk in self.chunks():
            values[place : place + len(chunk)] = chunk
            place += len(chunk)
        return values.reshape(self.shape)


def constants(net: Network) -> Iterator[tuple[Layer, tuple[Constant, ...]]]:
    """Each layer with constants, in order, and these. A convolution's weight is (out, in / groups, height, width)."""
    bits = np.random.PCG64(SEED)
    for layer in net.layers:
        if layer.weights:
            yield layer, tuple(_constant(layer, role, shape, bits) for role, shape in layer.weights)


def _constant(layer: Layer, role: str, shape: tuple[int, ...], bits: np.random.PCG64) -> Constant:
    name = f"{layer.name}_{role}"
    if isinstance(layer, Norm):
        # The map that comes in keeps its scale; the shift lets the rectifier cut differently in each channel.
        fixed = {"scale": 1.0, "mean": 0.0, "variance": 1.0}
        return Constant(name, shape, BIAS_LIMIT, bits, fixed.get(role))
    if role == "bias":
        return Constant(name, shape, BIAS_LIMIT, bits)
    if not isinstance(layer, Convolution | Dense):
        raise TypeError(type(layer).__name__)
    # A uniform distribution has a third of its squared limit as variance.
    return Constant(name, shape, math.sqrt(3 * layer.gain / layer.fan_in), bits)


def _uniform(bits: np.random.PCG64, size: int, limit: float) -> Float32Array:
    """Numbers in [-limit, limit), the same on every platform and with every numpy.

    Raw PCG64 output is covered by numpy's promise of stability, which distributions are not. Its upper 24 bits make a
    float32 exactly, and none but 0 lies within 2**-23 of the limit of 0, so none is denormal.
    """
    raw = np.asarray(bits.random_raw(size), dtype=np.uint64)
    unit = (raw >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-23) - np.float32(1)
    return unit * np.float32(limit)
