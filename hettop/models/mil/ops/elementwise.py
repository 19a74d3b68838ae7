"""Arithmetic, comparison, logic and activation functions, element by element."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from hettop.models.mil.call import Call
from hettop.models.mil.dtypes import NAMED_TYPES
from hettop.models.mil.graph import BOOL, Tensor


def _unary(operator: str) -> Callable[[Call], Tensor]:
    return lambda call: call.emit(operator, call.tensor("x"), shape=call.shape)


def _arithmetic(operator: str) -> Callable[[Call], Tensor]:
    def translate(call: Call) -> Tensor:
        x, y = _same_type(call)
        return call.emit(operator, x, y, shape=call.shape)

    return translate


def _comparison(operator: str) -> Callable[[Call], Tensor]:
    def translate(call: Call) -> Tensor:
        x, y = _same_type(call)
        return call.emit(operator, x, y, dtype=BOOL, shape=call.shape)

    return translate


def _logical(operator: str) -> Callable[[Call], Tensor]:
    def translate(call: Call) -> Tensor:
        x, y = (call.cast(call.tensor(name), BOOL) for name in ("x", "y"))
        return call.emit(operator, x, y, dtype=BOOL, shape=call.shape)

    return translate


def _same_type(call: Call) -> tuple[Tensor, Tensor]:
    x, y = call.tensor("x"), call.tensor("y")
    common = np.promote_types(x.dtype, y.dtype)
    # a constant beside float16 must not widen the whole computation
    if common != x.dtype and x.value is None:
        common = x.dtype
    elif common != y.dtype and y.value is None:
        common = y.dtype
    return call.cast(x, common), call.cast(y, common)


def not_equal(call: Call) -> Tensor:
    x, y = _same_type(call)
    return call.emit("Not", call.emit("Equal", x, y, dtype=BOOL))


def floor_div(call: Call) -> Tensor:
    """Rounds towards minus infinity, as Python's `//` does; ONNX's integer Div rounds towards zero."""
    x, y = _same_type(call)
    if x.dtype.kind == "f":
        return call.emit("Floor", call.emit("Div", x, y))
    return call.emit("Div", call.emit("Sub", x, call.emit("Mod", x, y)), y)


def mod(call: Call) -> Tensor:
    """Takes the sign of the divisor, as Python's `%` does; ONNX has that for integers only."""
    x, y = _same_type(call)
    if x.dtype.kind != "f":
        return call.emit("Mod", x, y)
    return call.emit("Sub", x, call.emit("Mul", call.emit("Floor", call.emit("Div", x, y)), y))


def _shifted(call: Call, default: float) -> Tensor:
    """x + epsilon; nothing is added when epsilon is zero in the type of x."""
    x = call.tensor("x")
    epsilon = np.asarray(call.number("epsilon", default)).astype(x.dtype)
    return call.emit("Add", x, call.graph.constant(epsilon), shape=x.shape) if epsilon != 0 else x


def inverse(call: Call) -> Tensor:
    return call.emit("Reciprocal", _shifted(call, 1e-4))


def log(call: Call) -> Tensor:
    return call.emit("Log", _shifted(call, 1e-45))


def rsqrt(call: Call) -> Tensor:
    return call.emit("Reciprocal", call.emit("Sqrt", _shifted(call, 1e-12)))


def square(call: Call) -> Tensor:
    x = call.tensor("x")
    return call.emit("Mul", x, x)


def exp2(call: Call) -> Tensor:
    x = call.tensor("x")
    return call.emit("Pow", call.like(x, 2), x)


def threshold(call: Call) -> Tensor:
    x = call.tensor("x")
    return call.emit("Max", x, call.cast(call.tensor("alpha"), x.dtype))


def clip(call: Call) -> Tensor:
    x = call.tensor("x")
    low, high = (call.like(x, call.number(name)) for name in ("alpha", "beta"))
    return call.emit("Clip", x, low, high, shape=x.shape)


def logical_not(call: Call) -> Tensor:
    return call.emit("Not", call.cast(call.tensor("x"), BOOL))


def cast(call: Call) -> Tensor:
    word = call.text("dtype")
    if word not in NAMED_TYPES:
        raise call.unsupported(f"casts to {word!r}")
    return call.cast(call.tensor("x"), NAMED_TYPES[word].numpy)


def select(call: Call) -> Tensor:
    if not call.has("a"):
        raise call.unsupported("gives the indices of its condition instead of choosing between two tensors")
    a, b = (call.cast(call.tensor(name), call.dtype) for name in ("a", "b"))
    return call.emit("Where", call.cast(call.tensor("cond"), BOOL), a, b, dtype=call.dtype, shape=call.shape)


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
    **{
        name.lower(): _unary(name)
        for name in ("Abs", "Acos", "Asin", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Erf", "Exp", "Floor", "Round")
    },
    **{name.lower(): _unary(name) for name in ("Sign", "Sin", "Sinh", "Sqrt", "Tan", "Tanh")},
    **{
        name: _arithmetic(operator)
        for name, operator in (("add", "Add"), ("sub", "Sub"), ("mul", "Mul"), ("pow", "Pow"))
    },
    **{name: _arithmetic(operator) for name, operator in (("real_div", "Div"), ("maximum", "Max"), ("minimum", "Min"))},
    **{
        name: _comparison(operator) for name, operator in (("equal", "Equal"), ("greater", "Greater"), ("less", "Less"))
    },
    "greater_equal": _comparison("GreaterOrEqual"),
    "less_equal": _comparison("LessOrEqual"),
    **{f"logical_{name}": _logical(name.capitalize()) for name in ("and", "or", "xor")},
    "logical_not": logical_not,
    "not_equal": not_equal,
    "floor_div": floor_div,
    "mod": mod,
    "inverse": inverse,
    "log": log,
    "rsqrt": rsqrt,
    "square": square,
    "exp2": exp2,
    "threshold": threshold,
    "clip": clip,
    "cast": cast,
    "select": select,
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
