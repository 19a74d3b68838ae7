"""Seeded weights for the layers of the default model, the same whatever format they are written to."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from hettop.models.mobilenetv2 import Classifier, Convolution, Network

Float32Array = npt.NDArray[np.float32]

SEED = 224

RELU6_GAIN, LINEAR_GAIN = 2.0, 1.0
"""He et al. 2015: variance 2 / fan-in before a rectifier, 1 / fan-in otherwise, keeps activations at one scale."""

BIAS_LIMIT = 0.1


def parameters(net: Network) -> Iterator[tuple[str, Float32Array, Float32Array]]:
    """Name, weight and bias of each layer, in order. Convolution weights have the shape (out, in / groups, k, k)."""
    bits = np.random.PCG64(SEED)
    layers: tuple[Convolution | Classifier, ...] = (*net.convolutions, net.classifier)
    for layer in layers:
        gain = RELU6_GAIN if isinstance(layer, Convolution) and layer.relu6 else LINEAR_GAIN
        # A uniform distribution has a third of its squared limit as variance.
        limit = math.sqrt(3 * gain / layer.fan_in)
        yield layer.name, _uniform(bits, layer.weight_shape, limit), _uniform(bits, (layer.outputs,), BIAS_LIMIT)


def _uniform(bits: np.random.PCG64, shape: tuple[int, ...], limit: float) -> Float32Array:
    """Numbers in [-limit, limit), the same on every platform and with every numpy.

    Raw PCG64 output is covered by numpy's promise of stability, which distributions are not. Its upper 24 bits make a
    float32 exactly, and none but 0 lies within 2**-23 of the limit of 0, so none is denormal.
    """
    raw = np.asarray(bits.random_raw(math.prod(shape)), dtype=np.uint64)
    unit = (raw >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-23) - np.float32(1)
    return (unit * np.float32(limit)).reshape(shape)
