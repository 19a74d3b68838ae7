"""Activation functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from hettop.models.mil.call import Call
from hettop.models.mil.graph import BOOL, Tensor


def _plain(operator: str) -> Callable[[Call], Tensor]:
    return lambda call: call.emit(operator, call.tensor("x"), shape=call.shape)


def relu6(call: Call) -> Tensor:
    x = call.tensor("x")
    return call.emit("Clip", x, call.like(x, 0), call.like(x, 6), shape=x.shape)


def leaky_relu(call: Call) -> Tensor:
    return call.emit("LeakyRelu", call.tensor("x"), alpha=call.number("alpha"))


def elu(call: Call) -> Tensor:
    return call.emit("Elu", call.tensor("x"), alpha=call.number("alpha"))


def sigmoid_hard(call: Call) -> Tensor:
    return call.emit("HardSigmoid", call.tensor("x"), alpha=call.number("alpha"), beta=call.number("beta"))


def scaled_tanh(call: Call) -> Tensor:
    x = call.tensor("x")
    inner = call.emit("Mul", x, call.like(x, call.number("beta")))
    return call.emit("Mul", call.emit("Tanh", inner), call.like(x, call.number("alpha")))


def linear_activation(call: Call) -> Tensor:
    x = call.tensor("x")
    return call.emit("Add", call.emit("Mul", x, call.like(x, call.number("alpha"))), call.like(x, call.number("beta")))


def clamped_relu(call: Call) -> Tensor:
    x = call.tensor("x")
    leaky = call.emit("LeakyRelu", x, alpha=call.number("alpha"))
    return call.emit("Min", leaky, call.like(x, call.number("beta")))


def thresholded_relu(call: Call) -> Tensor:
    """x where x >= alpha; ONNX's ThresholdedRelu drops equality."""
    x = call.tensor("x")
    kept = call.emit("GreaterOrEqual", x, call.like(x, call.number("alpha")), dtype=BOOL)
    return call.emit("Where", kept, x, call.like(x, 0), dtype=x.dtype)


def _per_channel(call: Call, name: str) -> Tensor:
    """A parameter with a value per channel (axis 1), shaped to broadcast over x."""
    x = call.tensor("x")
    return call.graph.constant(call.constant(name).reshape(-1, *[1] * (x.rank - 2)), x.dtype)


def prelu(call: Call) -> Tensor:
    return call.emit("PRelu", call.tensor("x"), _per_channel(call, "alpha"))


def softplus_parametric(call: Call) -> Tensor:
    inner = call.emit("Softplus", call.emit("Mul", call.tensor("x"), _per_channel(call, "beta")))
    return call.emit("Mul", inner, _per_channel(call, "alpha"))


def silu(call: Call) -> Tensor:
    x = call.tensor("x")
    return call.emit("Mul", x, call.emit("Sigmoid", x))


def gelu(call: Call) -> Tensor:
    x = call.tensor("x")
    mode = call.text("mode", "EXACT")
    if mode == "SIGMOID_APPROXIMATION":
        return call.emit("Mul", x, call.emit("Sigmoid", call.emit("Mul", x, call.like(x, 1.702))))
    if mode == "TANH_APPROXIMATION":
        cube = call.emit("Mul", call.emit("Mul", x, x), x)
        inner = call.emit("Add", x, call.emit("Mul", cube, call.like(x, 0.044715)))
        bell = call.emit("Tanh", call.emit("Mul", inner, call.like(x, math.sqrt(2 / math.pi))))
    else:
        bell = call.emit("Erf", call.emit("Mul", x, call.like(x, math.sqrt(0.5))))
    return call.emit("Mul", call.emit("Mul", x, call.like(x, 0.5)), call.emit("Add", bell, call.like(x, 1)))


OPS: Mapping[str, Callable[[Call], Tensor]] = {
    **{name.lower(): _plain(name) for name in ("Relu", "Sigmoid", "Softplus", "Softsign")},
    "relu6": relu6,
    "leaky_relu": leaky_relu,
    "elu": elu,
    "sigmoid_hard": sigmoid_hard,
    "scaled_tanh": scaled_tanh,
    "linear_activation": linear_activation,
    "clamped_relu": clamped_relu,
    "thresholded_relu": thresholded_relu,
    "prelu": prelu,
    "softplus_parametric": softplus_parametric,
    "silu": silu,
    "gelu": gelu,
}
