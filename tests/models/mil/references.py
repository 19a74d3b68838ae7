"""Layers in plain numpy, written from their definitions: slow, small and independent of ONNX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.models.mil.programs import Array


def convolve(
    x: Array,
    weight: Array,
    pads: Sequence[tuple[int, int]],
    strides: Sequence[int] = (1, 1),
    dilations: Sequence[int] = (1, 1),
    groups: int = 1,
) -> Array:
    """(n, c, h, w) with (out, c / groups, kh, kw): every output element is a sum over its window."""
    padded = np.pad(x, [(0, 0), (0, 0), *pads])
    out_channels, per_group, height, width = weight.shape
    reach = [(size - 1) * step + 1 for size, step in zip((height, width), dilations, strict=True)]
    rows, columns = ((padded.shape[axis + 2] - reach[axis]) // strides[axis] + 1 for axis in (0, 1))
    result = np.zeros((x.shape[0], out_channels, rows, columns))
    for channel in range(out_channels):
        first = (channel // (out_channels // groups)) * per_group
        for i in range(rows):
            for j in range(columns):
                top, left = i * strides[0], j * strides[1]
                window = padded[
                    :,
                    first : first + per_group,
                    top : top + reach[0] : dilations[0],
                    left : left + reach[1] : dilations[1],
                ]
                result[:, channel, i, j] = (window * weight[channel]).sum(axis=(1, 2, 3))
    return result


def spread(x: Array, weight: Array, stride: int) -> Array:
    """The full transposed convolution of (n, c, h, w) with (c, out, kh, kw): every input element adds its kernel."""
    n, channels, rows, columns = x.shape
    _, out, height, width = weight.shape
    result = np.zeros((n, out, (rows - 1) * stride + height, (columns - 1) * stride + width))
    for channel in range(channels):
        for i in range(rows):
            for j in range(columns):
                top, left = i * stride, j * stride
                result[:, :, top : top + height, left : left + width] += (
                    x[:, channel, i, j][:, None, None, None] * weight[channel]
                )
    return result


def pool(x: Array, size: int, stride: int, pads: tuple[int, int], over: Callable[..., Any], fill: float) -> Array:
    """Square windows of (n, c, h, w), reduced by `over` after padding with `fill`."""
    padded = np.pad(x, [(0, 0), (0, 0), pads, pads], constant_values=fill)
    rows, columns = ((padded.shape[axis] - size) // stride + 1 for axis in (2, 3))
    result = np.zeros((*x.shape[:2], rows, columns))
    for i in range(rows):
        for j in range(columns):
            window = padded[:, :, i * stride : i * stride + size, j * stride : j * stride + size]
            result[:, :, i, j] = over(window, axis=(2, 3))
    return result


def softmax(x: Array, axis: int = -1) -> Array:
    raised = np.exp(x - x.max(axis=axis, keepdims=True))
    return np.asarray(raised / raised.sum(axis=axis, keepdims=True))


def attention(query: Array, key: Array, value: Array, mask: Array | float = 0.0) -> Array:
    scores = query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1]) + mask
    return np.asarray(softmax(scores) @ value)


def layer_norm(x: Array, axes: tuple[int, ...], epsilon: float) -> Array:
    mean, variance = x.mean(axis=axes, keepdims=True), x.var(axis=axes, keepdims=True)
    return np.asarray((x - mean) / np.sqrt(variance + epsilon))


def sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def lstm(
    x: Array, h: Array, c: Array, weights: Sequence[Array], peephole: Array | None = None
) -> tuple[Array, Array, Array]:
    """x: (steps, batch, inputs); weights: (W, R, b) with the gates i, f, o, z one after another. All steps, h, c."""
    outer, inner, bias = weights
    outputs = []
    for step in x:
        i, f, o, z = np.split(step @ outer.T + h @ inner.T + bias, 4, axis=-1)
        if peephole is not None:
            pi, pf, po = np.split(peephole, 3)
            i, f = i + pi * c, f + pf * c
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(z)
        if peephole is not None:
            o = o + po * c
        h = sigmoid(o) * np.tanh(c)
        outputs.append(h)
    return np.stack(outputs), h, c


def gru(
    x: Array, h: Array, weights: Sequence[Array], reset_after: bool = False, input_bias: Array | None = None
) -> tuple[Array, Array]:
    """Gates r, o, z one after another; the reset gate multiplies the state, or its product if `reset_after`."""
    (wr, wo, wz), (rr, ro, rz), (br, bo, bz) = (np.split(part, 3) for part in weights)
    ir, io, iz = np.split(input_bias if input_bias is not None else np.zeros(3 * len(bo)), 3)
    outputs = []
    for step in x:
        r = sigmoid(step @ wr.T + ir + h @ rr.T + br)
        z = sigmoid(step @ wz.T + iz + h @ rz.T + bz)
        recurrent = r * (h @ ro.T + bo) if reset_after else (r * h) @ ro.T + bo
        o = np.tanh(step @ wo.T + io + recurrent)
        h = (1 - z) * o + z * h
        outputs.append(h)
    return np.stack(outputs), h


def sampled(x: Array, points: Array, axis: int) -> Array:
    """x interpolated linearly along `axis` at fractional `points`."""
    low = np.floor(points).astype(int)
    high = np.minimum(low + 1, x.shape[axis] - 1)
    shape = [-1 if index == axis % x.ndim else 1 for index in range(x.ndim)]
    share = (points - low).reshape(shape)
    return np.asarray(np.take(x, low, axis) * (1 - share) + np.take(x, high, axis) * share)
