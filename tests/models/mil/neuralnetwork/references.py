"""Layers of NeuralNetwork.proto in numpy, as its formulas are written, position by position."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.models.mil.neuralnetwork.networks import Array


def bordered(x: Array, pads: tuple[int, int, int, int], value: float = 0.0) -> Array:
    """x (channels, height, width) with (top, bottom, left, right) more."""
    top, bottom, left, right = pads
    return np.pad(x, ((0, 0), (top, bottom), (left, right)), constant_values=value)


def convolved(x: Array, w: Array, b: Array, stride: int = 1, dilation: int = 1, groups: int = 1) -> Array:
    """w: (out, in / groups, rows, columns)."""
    outputs, inputs, rows, columns = w.shape
    reach = [(size - 1) * dilation + 1 for size in (rows, columns)]
    height, width = ((x.shape[1 + axis] - reach[axis]) // stride + 1 for axis in range(2))
    y = np.zeros((outputs, height, width))
    for o in range(outputs):
        first = o // (outputs // groups) * inputs
        for i in range(height):
            for j in range(width):
                window = x[first : first + inputs, i * stride :, j * stride :]
                y[o, i, j] = (window[:, : reach[0] : dilation, : reach[1] : dilation] * w[o]).sum() + b[o]
    return y


def spread(x: Array, w: Array, b: Array, stride: int) -> Array:
    """A deconvolution without a border. w: (in, out, rows, columns)."""
    _, outputs, rows, columns = w.shape
    y = np.zeros((outputs, (x.shape[1] - 1) * stride + rows, (x.shape[2] - 1) * stride + columns))
    for c, i, j in np.ndindex(*x.shape):
        y[:, i * stride : i * stride + rows, j * stride : j * stride + columns] += x[c, i, j] * w[c]
    return y + b[:, None, None]


def pooled(x: Array, size: int, stride: int, how: Callable[[Array], Any]) -> Array:
    height, width = ((length - size) // stride + 1 for length in x.shape[1:])
    y = np.zeros((x.shape[0], height, width))
    for c, i, j in np.ndindex(*y.shape):
        y[c, i, j] = how(x[c, i * stride : i * stride + size, j * stride : j * stride + size])
    return y


def softmax(x: Array, axis: int) -> Array:
    e = np.exp(x - x.max(axis, keepdims=True))
    return np.asarray(e / e.sum(axis, keepdims=True))


def sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def rnn(x: Array, w: Array, r: Array, b: Array) -> Array:
    """x: (steps, inputs). All states."""
    h, states = np.zeros(r.shape[0]), []
    for step in x:
        h = np.tanh(w @ step + r @ h + b)
        states.append(h)
    return np.array(states)


def gru(x: Array, w: dict[str, Array], r: dict[str, Array], b: dict[str, Array]) -> Array:
    """Gates z (update), r (reset), o (output); the reset gate is applied before the product."""
    h, states = np.zeros(r["z"].shape[0]), []
    for step in x:
        z = sigmoid(w["z"] @ step + r["z"] @ h + b["z"])
        reset = sigmoid(w["r"] @ step + r["r"] @ h + b["r"])
        o = np.tanh(w["o"] @ step + r["o"] @ (h * reset) + b["o"])
        h = (1 - z) * o + z * h
        states.append(h)
    return np.array(states)


def lstm(x: Array, w: dict[str, Array], r: dict[str, Array], b: dict[str, Array], p: dict[str, Array]) -> Array:
    """Gates i, f, o and the block input z; p: peepholes of i, f and o."""
    h, c, states = np.zeros(r["i"].shape[0]), np.zeros(r["i"].shape[0]), []
    for step in x:
        i, f = (sigmoid(w[gate] @ step + r[gate] @ h + p[gate] * c + b[gate]) for gate in "if")
        z = np.tanh(w["z"] @ step + r["z"] @ h + b["z"])
        c = c * f + i * z
        o = sigmoid(w["o"] @ step + r["o"] @ h + p["o"] * c + b["o"])
        h = np.tanh(c) * o
        states.append(h)
    return np.array(states)
