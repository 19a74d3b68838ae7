"""Element by element: arithmetic, comparisons, logic and activation functions agree with numpy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.models.mil.programs import Array, Case, agrees, ct, evaluate, mb

RNG = np.random.default_rng(1)
ANY = RNG.normal(size=(2, 3, 4)).astype(np.float32)
INNER = RNG.uniform(-0.9, 0.9, size=(2, 5)).astype(np.float32)
POSITIVE = RNG.uniform(0.5, 3, size=(2, 5)).astype(np.float32)
LEFT = np.array([[7, -7, 5], [-5, 4, 0]], np.int32)
RIGHT = np.array([3, -2, 4], np.int32)


def _erf(x: Array) -> Array:
    return np.asarray(np.vectorize(math.erf)(x))


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def unary(name: str, reference: Any, x: Array = ANY, **constants: float) -> Case:
    return Case(
        lambda t, x: getattr(mb, name)(x=x, **{key: t(value) for key, value in constants.items()}), {"x": x}, reference
    )


def binary(name: str, reference: Any, x: Array, y: Array) -> Case:
    return Case(lambda t, x, y: getattr(mb, name)(x=x, y=y), {"x": x, "y": y}, reference)


CHANNELS = np.array([0.1, 0.2, 0.3], np.float32)

FLOATS = {
    "abs": unary("abs", np.abs),
    "acos": unary("acos", np.arccos, INNER),
    "asin": unary("asin", np.arcsin, INNER),
    "atan": unary("atan", np.arctan),
    "atanh": unary("atanh", np.arctanh, INNER),
    "ceil": unary("ceil", np.ceil),
    "cos": unary("cos", np.cos),
    "cosh": unary("cosh", np.cosh),
    "erf": unary("erf", _erf),
    "exp": unary("exp", np.exp),
    "exp2": unary("exp2", np.exp2),
    "floor": unary("floor", np.floor),
    "round": unary("round", np.round, np.array([0.5, 1.5, 2.5, -0.5, 2.6], np.float32)),
    "sign": unary("sign", np.sign),
    "sin": unary("sin", np.sin),
    "sinh": unary("sinh", np.sinh),
    "sqrt": unary("sqrt", np.sqrt, POSITIVE),
    "square": unary("square", np.square),
    "tan": unary("tan", np.tan, INNER),
    "tanh": unary("tanh", np.tanh),
    "inverse": unary("inverse", lambda x: 1 / (x + 0.5), POSITIVE, epsilon=0.5),
    "inverse, epsilon 1e-4 by default": unary("inverse", lambda x: 1 / (x + 1e-4), POSITIVE),
    "log": unary("log", np.log, POSITIVE),
    "log, epsilon": unary("log", lambda x: np.log(x + 0.25), POSITIVE, epsilon=0.25),
    "rsqrt": unary("rsqrt", lambda x: 1 / np.sqrt(x), POSITIVE),
    "threshold": unary("threshold", lambda x: np.maximum(x, 0.25), alpha=0.25),
    "clip": unary("clip", lambda x: np.clip(x, -0.5, 0.25), alpha=-0.5, beta=0.25),
    "relu": unary("relu", lambda x: np.maximum(x, 0)),
    "relu6": unary("relu6", lambda x: np.clip(x, 0, 6), 5 * ANY),
    "leaky_relu": unary("leaky_relu", lambda x: np.where(x < 0, 0.125 * x, x), alpha=0.125),
    "elu": unary("elu", lambda x: np.where(x < 0, 0.5 * np.expm1(x), x), alpha=0.5),
    "sigmoid": unary("sigmoid", _sigmoid),
    "sigmoid_hard": unary("sigmoid_hard", lambda x: np.clip(0.25 * x + 0.5, 0, 1), 2 * ANY, alpha=0.25, beta=0.5),
    "scaled_tanh": unary("scaled_tanh", lambda x: 1.5 * np.tanh(0.5 * x), alpha=1.5, beta=0.5),
    "linear_activation": unary("linear_activation", lambda x: 2 * x + 0.5, alpha=2, beta=0.5),
    "clamped_relu": unary("clamped_relu", lambda x: np.minimum(np.where(x < 0, 0.5 * x, x), 1), alpha=0.5, beta=1),
    "thresholded_relu keeps equality": unary(
        "thresholded_relu", lambda x: np.where(x >= 0.5, x, 0), np.array([0.5, 0.25, -1, 2], np.float32), alpha=0.5
    ),
    "silu": unary("silu", lambda x: x * _sigmoid(x)),
    "softplus": unary("softplus", lambda x: np.log1p(np.exp(x))),
    "softsign": unary("softsign", lambda x: x / (1 + np.abs(x))),
    "gelu, exact": Case(lambda t, x: mb.gelu(x=x), {"x": ANY}, lambda x: 0.5 * x * (1 + _erf(x / math.sqrt(2)))),
    "gelu, tanh": Case(
        lambda t, x: mb.gelu(x=x, mode="TANH_APPROXIMATION"),
        {"x": ANY},
        lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    ),
    "gelu, sigmoid": Case(
        lambda t, x: mb.gelu(x=x, mode="SIGMOID_APPROXIMATION"), {"x": ANY}, lambda x: x * _sigmoid(1.702 * x)
    ),
    "prelu, a slope per channel": Case(
        lambda t, x: mb.prelu(x=x, alpha=CHANNELS.astype(t)),
        {"x": RNG.normal(size=(2, 3, 2, 2)).astype(np.float32)},
        lambda x: np.where(x < 0, CHANNELS.reshape(3, 1, 1) * x, x),
    ),
    "softplus_parametric": Case(
        lambda t, x: mb.softplus_parametric(x=x, alpha=CHANNELS.astype(t), beta=(2 * CHANNELS).astype(t)),
        {"x": RNG.normal(size=(2, 3, 2, 2)).astype(np.float32)},
        lambda x: CHANNELS.reshape(3, 1, 1) * np.log1p(np.exp(2 * CHANNELS.reshape(3, 1, 1) * x)),
    ),
    "add, broadcast": binary("add", np.add, ANY, ANY[0, :, :1]),
    "sub": binary("sub", np.subtract, ANY, ANY[:1]),
    "mul": binary("mul", np.multiply, ANY, ANY[1]),
    "real_div": binary("real_div", np.divide, INNER, POSITIVE),
    "pow": binary("pow", np.power, POSITIVE, INNER),
    "maximum": binary("maximum", np.maximum, ANY, ANY[::-1].copy()),
    "minimum": binary("minimum", np.minimum, ANY, ANY[::-1].copy()),
    "mod takes the divisor's sign": binary(
        "mod", np.mod, np.array([7, -7, 5.5], np.float32), np.array([3, 3, -2], np.float32)
    ),
    "floor_div rounds down": binary(
        "floor_div", np.floor_divide, np.array([7, -7, 5.5], np.float32), np.array([3, 3, -2], np.float32)
    ),
    "select": Case(
        lambda t, x, y: mb.select(cond=mb.greater(x=x, y=y), a=x, b=y),
        {"x": ANY, "y": ANY[::-1].copy()},
        np.maximum,
    ),
    "a constant operand": Case(lambda t, x: mb.add(x=x, y=t(0.5)), {"x": ANY}, lambda x: x + 0.5),
    "an iOS 15 program": Case(
        lambda t, x: mb.relu(x=mb.cast(x=x, dtype="fp32")), {"x": ANY}, lambda x: np.maximum(x, 0)
    ),
}

COMPARISONS = {
    "equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal,
    "greater": np.greater, "greater_equal": np.greater_equal,
}  # fmt: skip

INTEGERS = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "maximum": np.maximum, "minimum": np.minimum,
    "mod": np.mod, "floor_div": np.floor_divide,
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("name", FLOATS)
def test_an_operation_on_floats_agrees_with_numpy(name: str, dtype: str) -> None:
    agrees(FLOATS[name], dtype)


@pytest.mark.parametrize("name", INTEGERS)
def test_an_operation_on_integers_agrees_with_numpy(name: str) -> None:
    agrees(binary(name, INTEGERS[name], LEFT, RIGHT), "float32")


def test_comparisons_give_integers_of_their_truth() -> None:
    def build(x: Any, y: Any) -> Any:
        return [mb.cast(x=getattr(mb, name)(x=x, y=y), dtype="int32") for name in COMPARISONS]

    y = np.array([7, 0, 4], np.int32)
    for got, compare in zip(evaluate(build, {"x": LEFT, "y": y}), COMPARISONS.values(), strict=True):
        np.testing.assert_array_equal(got, compare(LEFT, y).astype(np.int32))


def test_logic_works_on_truth_values() -> None:
    def build(x: Any, y: Any) -> Any:
        a, b = mb.cast(x=x, dtype="bool"), mb.cast(x=y, dtype="bool")
        results = [mb.logical_and(x=a, y=b), mb.logical_or(x=a, y=b), mb.logical_xor(x=a, y=b), mb.logical_not(x=a)]
        results.append(mb.select(cond=a, a=b, b=mb.logical_not(x=b)))
        return [mb.cast(x=result, dtype="int32") for result in results]

    x, y = np.array([0, 0, 2, 3], np.int32), np.array([0, 1, 0, 1], np.int32)
    got = evaluate(build, {"x": x, "y": y})
    wanted = [[0, 0, 0, 1], [0, 1, 1, 1], [0, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 1]]
    np.testing.assert_array_equal(np.stack(got), wanted)


def test_casts_truncate_towards_zero() -> None:
    (got,) = evaluate(lambda x: mb.cast(x=x, dtype="int32"), {"x": np.array([1.7, -1.7, 0.2], np.float32)})
    np.testing.assert_array_equal(got, np.array([1, -1, 0], np.int32))


@pytest.mark.parametrize("narrow", ["int8", "uint8", "int16", "uint16"])
def test_narrow_integers_pass_through_operations_without_kernels_for_them(narrow: str) -> None:
    def build(x: Any) -> Any:
        small = mb.cast(x=x, dtype=narrow)
        return mb.cast(x=mb.reduce_max(x=mb.cast(x=small, dtype="int32"), axes=[0]), dtype="int32"), mb.cast(
            x=mb.topk(x=small, k=2, axis=0)[0], dtype="int32"
        )

    highest, top = evaluate(build, {"x": np.array([3, 9, 7], np.int32)}, ct.target.iOS17)
    assert highest == 9
    np.testing.assert_array_equal(top, [9, 7])
