"""Layers of the NeuralNetwork format, translated to ONNX, answer what their formulas do, to 1e-5 in float32."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.models.mil.neuralnetwork.networks import Array, Case, answer, counted, floats, network
from tests.models.mil.neuralnetwork.references import (
    bordered,
    convolved,
    gru,
    lstm,
    pooled,
    rnn,
    sigmoid,
    softmax,
    spread,
)

X = floats(4, 7, 6)
C = np.arange(4)
W, B = floats(6, 4, 3, 3), floats(6)
GROUPED = floats(6, 2, 3, 3)
BACK = floats(4, 5, 3, 3)
GAMMA, BETA, MEAN, VARIANCE = floats(4), floats(4), floats(4), np.abs(floats(4)) + 0.1
DENSE, DENSE_BIAS = floats(5, 4 * 7 * 6), floats(5)


def conv(b: Any, **options: Any) -> None:
    settings: dict[str, Any] = {"stride": 1, "mode": "valid", "weights": W, "groups": 1} | options
    weights, stride = settings.pop("weights"), settings.pop("stride")
    groups, mode = settings.pop("groups"), settings.pop("mode")
    back = settings.get("is_deconv", False)
    outputs = weights.shape[1] if back else weights.shape[0]
    kernel = weights.transpose(2, 3, 0, 1) if back else weights.transpose(2, 3, 1, 0)
    inputs = weights.shape[0] if back else weights.shape[1]
    b.add_convolution(
        "conv", inputs, outputs, *weights.shape[2:], stride, stride, mode, groups, kernel, B[:outputs], True,
        input_name="x", output_name="y", **settings,
    )  # fmt: skip


def pool(b: Any, how: str, size: int, stride: int, mode: str, **options: Any) -> None:
    b.add_pooling("pool", size, size, stride, stride, how, mode, "x", "y", **options)


def activated(kind: str, params: Any = None) -> Callable[[Any], object]:
    return lambda b: b.add_activation("a", kind, "x", "y", params)


def per_channel(values: Array) -> Array:
    return values[:, None, None]


def one(build: Callable[[Any], object], expected: Array, x: Array = X, **options: Any) -> Case:
    return Case(build, {"x": x}, np.asarray(expected), **options)


def l2(window: Array) -> float:
    return math.sqrt((window**2).sum())


PLUS_MINUS = np.where(X >= 0, X, 0.2 * X)
CHANNELS = np.abs(floats(4)) + 0.5
CENTRED = X - X.mean((1, 2), keepdims=True)

IMAGES = {
    "convolution": one(conv, convolved(X, W, B)),
    "convolution, same, stride 2": one(
        lambda b: conv(b, stride=2, mode="same"), convolved(bordered(X, (1, 1, 0, 1)), W, B, stride=2)
    ),
    "convolution, same, heavy at the top": one(
        lambda b: conv(b, stride=2, mode="same", same_padding_asymmetry_mode="TOP_LEFT_HEAVY"),
        convolved(bordered(X, (1, 1, 1, 0)), W, B, stride=2),
    ),
    "convolution, border": one(
        lambda b: conv(b, padding_top=2, padding_left=1), convolved(bordered(X, (2, 0, 1, 0)), W, B)
    ),
    "convolution, dilation": one(lambda b: conv(b, dilation_factors=[2, 2]), convolved(X, W, B, dilation=2)),
    "convolution, groups": one(lambda b: conv(b, weights=GROUPED, groups=2), convolved(X, GROUPED, B, groups=2)),
    "deconvolution": one(lambda b: conv(b, weights=BACK, stride=2, is_deconv=True), spread(X, BACK, B[:5], 2)),
    "deconvolution, border": one(
        lambda b: conv(b, weights=BACK, stride=2, is_deconv=True, padding_top=1, padding_right=1),
        spread(X, BACK, B[:5], 2)[:, 1:, :-1],
    ),
    "deconvolution, output shape": one(
        lambda b: conv(b, weights=BACK, stride=2, is_deconv=True, output_shape=(15, 13)), spread(X, BACK, B[:5], 2)
    ),
    "max pool": one(lambda b: pool(b, "MAX", 3, 2, "VALID"), pooled(X, 3, 2, np.max)),
    "max pool, same": one(
        lambda b: pool(b, "MAX", 2, 2, "SAME"), pooled(bordered(X, (0, 1, 0, 0), -np.inf), 2, 2, np.max)
    ),
    "max pool, last pixel": one(
        lambda b: pool(b, "MAX", 3, 2, "INCLUDE_LAST_PIXEL"), pooled(bordered(X, (0, 0, 0, 1), -np.inf), 3, 2, np.max)
    ),
    "average pool": one(lambda b: pool(b, "AVERAGE", 3, 2, "VALID"), pooled(X, 3, 2, np.mean)),
    "average pool, border counted": one(
        lambda b: pool(b, "AVERAGE", 3, 1, "VALID", exclude_pad_area=False, padding_top=1, padding_left=1),
        pooled(bordered(X, (1, 0, 1, 0)), 3, 1, np.mean),
    ),
    "average pool, border not counted": one(
        lambda b: pool(b, "AVERAGE", 3, 1, "VALID", padding_top=1, padding_left=1),
        pooled(bordered(X, (1, 0, 1, 0), np.nan), 3, 1, np.nanmean),
    ),
    "l2 pool": one(lambda b: pool(b, "L2", 3, 2, "VALID"), pooled(X, 3, 2, l2)),
    "global max": one(lambda b: pool(b, "MAX", 3, 2, "VALID", is_global=True), X.max((1, 2), keepdims=True)),
    "global average": one(lambda b: pool(b, "AVERAGE", 3, 2, "VALID", is_global=True), X.mean((1, 2), keepdims=True)),
    "batch norm": one(
        lambda b: b.add_batchnorm("n", 4, GAMMA, BETA, MEAN, VARIANCE, "x", "y"),
        per_channel(GAMMA) * (X - per_channel(MEAN)) / np.sqrt(per_channel(VARIANCE) + 1e-5) + per_channel(BETA),
    ),
    "instance norm": one(
        lambda b: b.add_batchnorm(
            "n", 4, GAMMA, BETA, input_name="x", output_name="y", compute_mean_var=True, instance_normalization=True
        ),
        per_channel(GAMMA) * CENTRED / np.sqrt((CENTRED**2).mean((1, 2), keepdims=True) + 1e-5) + per_channel(BETA),
    ),
    "mean and variance": one(
        lambda b: b.add_mvn("n", "x", "y", across_channels=False, epsilon=1e-3),
        CENTRED / np.sqrt((CENTRED**2).mean((1, 2), keepdims=True) + 1e-3),
    ),
    "mean alone, across channels": one(lambda b: b.add_mvn("n", "x", "y", normalize_variance=False), X - X.mean()),
    "l2 norm": one(lambda b: b.add_l2_normalize("n", "x", "y", 1e-3), X / np.sqrt((X**2).sum() + 1e-3)),
    "local response": one(
        lambda b: b.add_lrn("n", "x", "y", alpha=0.3, beta=0.7, local_size=3, k=2.0),
        X / (2 + 0.1 * np.stack([(X[max(c - 1, 0) : c + 2] ** 2).sum(0) for c in C])) ** 0.7,
    ),
    "crop": one(lambda b: b.add_crop("c", 1, 2, 3, 1, [], ["x"], "y"), X[:, 3:-1, 1:-2]),
    "border, constant": one(
        lambda b: b.add_padding("p", 1, 2, 3, 0, 7.0, "x", "y"), bordered(X, (3, 0, 1, 2), 7.0)
    ),
    "border, reflected": one(
        lambda b: b.add_padding("p", 1, 2, 3, 0, input_name="x", output_name="y", padding_type="reflection"),
        np.pad(X, ((0, 0), (3, 0), (1, 2)), mode="reflect"),
    ),
    "border, repeated": one(
        lambda b: b.add_padding("p", 1, 2, 3, 0, input_name="x", output_name="y", padding_type="replication"),
        np.pad(X, ((0, 0), (3, 0), (1, 2)), mode="edge"),
    ),
    "nearest neighbours": one(lambda b: b.add_upsample("u", 2, 3, "x", "y"), X.repeat(2, 1).repeat(3, 2)),
    "space to depth": one(
        lambda b: b.add_reorganize_data("r", "x", "y", "SPACE_TO_DEPTH", 2),
        np.concatenate([X[:, i:6:2, j::2] for i in range(2) for j in range(2)]),
        x=X[:, :6],
    ),
}  # fmt: skip


def interpolated(x: Array, places: Array) -> Array:
    """Along the last axis."""
    return np.apply_along_axis(lambda row: np.interp(places, np.arange(len(row)), row), -1, x)


def enlarged(x: Array, rows: Array, columns: Array) -> Array:
    return interpolated(interpolated(x, columns).swapaxes(1, 2), rows).swapaxes(1, 2)


IMAGES |= {
    "bilinear, default": one(
        lambda b: b.add_upsample("u", 2, 2, "x", "y", "BILINEAR"),
        enlarged(X, np.linspace(0, 7 - 7 / 14, 14), np.linspace(0, 6 - 6 / 12, 12)),
    ),
    "bilinear, aligned": one(
        lambda b: b.add_upsample("u", 2, 2, "x", "y", "BILINEAR", "ALIGN_CORNERS_TRUE"),
        enlarged(X, np.linspace(0, 6, 14), np.linspace(0, 5, 12)),
    ),
    "bilinear, not aligned": one(
        lambda b: b.add_upsample("u", 2, 2, "x", "y", "BILINEAR", "ALIGN_CORNERS_FALSE"),
        enlarged(X, np.arange(14) * 0.5 - 0.25, np.arange(12) * 0.5 - 0.25),
    ),
    "resized": one(
        lambda b: b.add_resize_bilinear("u", "x", "y", 9, 4, "STRICT_ALIGN_ENDPOINTS_MODE"),
        enlarged(X, np.linspace(0, 6, 9), np.linspace(0, 5, 4)),
    ),
}

ELEMENTS = {
    "relu": one(activated("RELU"), np.maximum(X, 0)),
    "leaky relu": one(activated("LEAKYRELU", [0.2]), PLUS_MINUS),
    "thresholded relu": one(activated("THRESHOLDEDRELU", 0.3), np.where(X >= 0.3, X, 0)),
    "prelu": one(activated("PRELU", GAMMA), np.where(X >= 0, X, per_channel(GAMMA) * X)),
    "tanh": one(activated("TANH"), np.tanh(X)),
    "scaled tanh": one(activated("SCALED_TANH", [1.7, 0.6]), 1.7 * np.tanh(0.6 * X)),
    "sigmoid": one(activated("SIGMOID"), sigmoid(X)),
    "hard sigmoid": one(activated("SIGMOID_HARD", [0.2, 0.5]), np.clip(0.2 * X + 0.5, 0, 1)),
    "elu": one(activated("ELU", 0.7), np.where(X >= 0, X, 0.7 * (np.exp(X) - 1))),
    "linear": one(activated("LINEAR", [2.0, 3.0]), 2 * X + 3),
    "softsign": one(activated("SOFTSIGN"), X / (1 + np.abs(X))),
    "softplus": one(activated("SOFTPLUS"), np.log(1 + np.exp(X))),
    "parametric softplus": one(
        activated("PARAMETRICSOFTPLUS", [GAMMA, CHANNELS]),
        per_channel(GAMMA) * np.log(1 + np.exp(per_channel(CHANNELS) * X)),
    ),
    "softmax": one(lambda b: b.add_softmax("s", "x", "y"), softmax(X, 0)),
    "square root": one(lambda b: b.add_unary("u", "x", "y", "sqrt"), np.sqrt(np.abs(X)), x=np.abs(X)),
    "inverse root": one(
        lambda b: b.add_unary("u", "x", "y", "rsqrt", epsilon=0.1), 1 / np.sqrt(np.abs(X) + 0.1), x=np.abs(X)
    ),
    "inverse": one(lambda b: b.add_unary("u", "x", "y", "inverse", epsilon=0.1), 1 / (np.abs(X) + 0.1), x=np.abs(X)),
    "power": one(lambda b: b.add_unary("u", "x", "y", "power", alpha=3, shift=1, scale=2), (2 * X + 1) ** 3),
    "logarithm": one(lambda b: b.add_unary("u", "x", "y", "log", shift=5), np.log(X + 5)),
    "threshold": one(lambda b: b.add_unary("u", "x", "y", "threshold", alpha=0.1), np.maximum(X, 0.1)),
    "scale": one(
        lambda b: b.add_scale("s", GAMMA, BETA, True, "x", "y", [4], [4]), per_channel(GAMMA) * X + per_channel(BETA)
    ),
    "bias": one(lambda b: b.add_bias("s", X[:1], "x", "y", [1, 7, 6]), X + X[:1]),
    "sum with a number": one(lambda b: b.add_elementwise("e", ["x"], "y", "ADD", 2.0), X + 2),
    "product": one(lambda b: b.add_elementwise("e", ["x", "x"], "y", "MULTIPLY"), X * X),
    "sum over channels and places": Case(
        lambda b: b.add_elementwise("e", ["x", "z"], "y", "ADD"), {"x": X, "z": X[:, :1, :1]}, X + X[:, :1, :1]
    ),
    "average": Case(lambda b: b.add_elementwise("e", ["x", "z"], "y", "AVE"), {"x": X, "z": -3 * X}, -X),
    "largest": Case(lambda b: b.add_elementwise("e", ["x", "z"], "y", "MAX"), {"x": X, "z": -X}, np.abs(X)),
    "reduced, mean": one(
        lambda b: b.add_reduce("r", "x", "y", "HW", "avg"), X.mean((1, 2), keepdims=True)
    ),
    "reduced, logarithms": one(
        lambda b: b.add_reduce("r", "x", "y", "C", "logsum", 0.1),
        np.log(np.abs(X) + 0.1).sum(0, keepdims=True),
        x=np.abs(X),
    ),
    "reduced, place of the largest": one(
        lambda b: b.add_reduce("r", "x", "y", "C", "argmax"), X.argmax(0)[None].astype(np.float32)
    ),
    "dense": one(
        lambda b: b.add_inner_product("d", DENSE, DENSE_BIAS, 168, 5, True, "x", "y"), DENSE @ X.ravel() + DENSE_BIAS
    ),
}  # fmt: skip

SHAPES = {
    "flatten": one(lambda b: b.add_flatten("f", 0, "x", "y"), X.ravel()),
    "flatten, channels last": one(lambda b: b.add_flatten("f", 1, "x", "y"), X.transpose(1, 2, 0).ravel()),
    "reshape": one(lambda b: b.add_reshape("r", "x", "y", (6, 4, 7), 0), X.reshape(6, 4, 7)),
    "reshape, channels last": one(
        lambda b: b.add_reshape("r", "x", "y", (6, 4, 7), 1),
        X.transpose(1, 2, 0).reshape(4, 7, 6).transpose(2, 0, 1),
    ),
    "permute": one(lambda b: b.add_permute("p", (0, 3, 1, 2), "x", "y"), X.transpose(2, 0, 1)),
    "concat": Case(
        lambda b: b.add_elementwise("c", ["x", "z"], "y", "CONCAT"), {"x": X, "z": X[:2]}, np.concatenate([X, X[:2]])
    ),
    "split": one(
        lambda b: (b.add_split("s", "x", ["a", "b"]), b.add_elementwise("m", ["a", "b"], "y", "MULTIPLY")),
        X[:2] * X[2:],
    ),
    "slice": one(lambda b: b.add_slice("s", "x", "y", "height", 1, -1, 2), X[:, 1:-1:2]),
    "constant": one(
        lambda b: (
            b.add_load_constant("k", "k", X[:, :1], [4, 1, 6]),
            b.add_elementwise("m", ["x", "k"], "y", "MULTIPLY"),
        ),
        X * X[:, :1],
    ),
    "repeated sequence": one(lambda b: b.add_sequence_repeat("r", 2, "x", "y"), np.stack([X, X]), shape=(8, 7, 6)),
}

NEWER = {
    "clip": one(lambda b: b.add_clip("c", "x", "y", -0.2, 0.3), np.clip(X, -0.2, 0.3), exact=True),
    "gelu": one(
        lambda b: b.add_gelu("g", "x", "y"), 0.5 * X * (1 + np.vectorize(math.erf)(X / math.sqrt(2))), exact=True
    ),
    "softmax of the last axis": one(lambda b: b.add_softmax_nd("s", "x", "y", 2), softmax(X, 2), exact=True),
    "broadcast": Case(
        lambda b: b.add_subtract_broadcastable("s", ["x", "z"], "y"), {"x": X, "z": X[0]}, X - X[0], exact=True
    ),
    "comparison": Case(
        lambda b: b.add_greater_than("s", ["x", "z"], "y"), {"x": X, "z": -X}, (X > -X).astype(np.float32), exact=True
    ),
    "transpose": one(lambda b: b.add_transpose("t", [2, 0, 1], "x", "y"), X.transpose(2, 0, 1), exact=True),
    "concat of the last axis": one(
        lambda b: b.add_concat_nd("c", ["x", "x"], "y", 2), np.concatenate([X, X], 2), exact=True
    ),
    "split of the last axis": one(
        lambda b: (
            b.add_split_nd("s", "x", ["a", "b"], 2, 2, [3, 3]),
            b.add_multiply_broadcastable("m", ["a", "b"], "y"),
        ),
        X[:, :, :3] * X[:, :, 3:],
        exact=True,
    ),
    "squeeze and expand": one(
        lambda b: (b.add_expand_dims("e", "x", "e", [0, 4]), b.add_squeeze("s", "e", "y", squeeze_all=True)),
        X,
        exact=True,
    ),
    "reshape to a shape": one(lambda b: b.add_reshape_static("r", "x", "y", (8, -1)), X.reshape(8, 21), exact=True),
    "reshape of one rank": one(
        lambda b: b.add_rank_preserving_reshape("r", "x", "y", (0, -1, 2)), X.reshape(4, 21, 2), exact=True
    ),
    "flatten to a matrix": one(lambda b: b.add_flatten_to_2d("f", "x", "y", 1), X.reshape(4, 42), exact=True),
    "slice of all axes": one(
        lambda b: b.add_slice_static(
            "s", "x", "y", [1, 0, -3], [3, 0, -1], [1, 2, 1], [False, True, False], [False, True, False]
        ),
        X[1:3, ::2, -3:-1],
        exact=True,
    ),
    "mean over an axis": one(
        lambda b: b.add_reduce_mean("r", "x", "y", [1], keepdims=False), X.mean(1), exact=True
    ),
    "matrix product": Case(
        lambda b: b.add_batched_mat_mul("m", ["x", "z"], "y", transpose_b=True),
        {"x": X, "z": X[:, :5]},
        X @ X[:, :5].transpose(0, 2, 1),
        exact=True,
    ),
    "matrix product with a constant": one(
        lambda b: b.add_batched_mat_mul(
            "m", ["x"], "y", weight_matrix_rows=6, weight_matrix_columns=5, W=DENSE[:5, :6].T, bias=DENSE_BIAS
        ),
        X @ DENSE[:5, :6].T + DENSE_BIAS,
        exact=True,
    ),
    "dense over the last axis": one(
        lambda b: b.add_inner_product("d", DENSE[:, :6], DENSE_BIAS, 6, 5, True, "x", "y"),
        X @ DENSE[:, :6].T + DENSE_BIAS,
        exact=True,
    ),
    "layer norm": one(
        lambda b: b.add_layer_normalization("n", "x", "y", [6], X[0, 0], X[0, 1], 1e-3),
        X[0, 0] * (X - X.mean(2, keepdims=True)) / np.sqrt(X.var(2, keepdims=True) + 1e-3) + X[0, 1],
        exact=True,
    ),
    "embedding": one(
        lambda b: b.add_embedding_nd("e", "x", "y", 6, 5, DENSE[:, :6], DENSE_BIAS),
        DENSE[:, [2, 0, 5]].T + DENSE_BIAS,
        x=np.array([[2.0], [0.0], [5.0]]),
        exact=True,
    ),
    "convolution of four axes": one(conv, convolved(X, W, B)[None], x=X[None], exact=True),
    "convolution of five axes": one(
        conv,
        np.stack([convolved(X, W, B), convolved(-X, W, B)])[:, None],
        x=np.stack([X, -X])[:, None],
        exact=True,
    ),
}  # fmt: skip

STEPS, INPUTS, HIDDEN = 4, 3, 5
S = floats(INPUTS, 1, STEPS)
ROWS = S[:, 0].T
GATES = "ifoz"
WEIGHTS = {gate: floats(HIDDEN, INPUTS) for gate in GATES}
AGAIN = {gate: floats(HIDDEN, HIDDEN) for gate in GATES}
BIASES = {gate: floats(HIDDEN) for gate in GATES}
BACKWARDS = ({gate: -value for gate, value in part.items()} for part in (WEIGHTS, AGAIN, BIASES))
W2, R2, B2 = BACKWARDS
PEEP = {gate: floats(HIDDEN) for gate in "ifo"}
NO_PEEP = dict.fromkeys("ifo", np.zeros(HIDDEN))
UPDATE = {"z": "i", "r": "f", "o": "o"}
"""The weights of the test that a GRU's gates get."""


def by_steps(b: Any) -> None:
    """The last axis becomes the sequence."""
    b.add_permute("steps", (3, 1, 2, 0), "x", "s")


def each(part: dict[str, Array], gates: str = GATES) -> list[Array]:
    return [part[gate] for gate in gates]


def add_rnn(b: Any) -> None:
    by_steps(b)
    b.add_simple_rnn("r", AGAIN["i"], WEIGHTS["i"], BIASES["i"], HIDDEN, INPUTS, "TANH", ["s"], ["y"], True)


def add_gru(b: Any, **options: Any) -> None:
    by_steps(b)
    parts = [[part[UPDATE[gate]] for gate in "zro"] for part in (AGAIN, WEIGHTS, BIASES)]
    b.add_gru("g", *parts, HIDDEN, INPUTS, ["s"], ["y"], inner_activation="SIGMOID", **options)


def add_lstm(b: Any, **options: Any) -> None:
    by_steps(b)
    b.add_unilstm("l", each(AGAIN), each(WEIGHTS), each(BIASES), HIDDEN, INPUTS, ["s"], ["y"], **options)


def add_both(b: Any, **options: Any) -> None:
    by_steps(b)
    forward, back = (each(AGAIN), each(WEIGHTS), each(BIASES)), (each(R2), each(W2), each(B2))
    b.add_bidirlstm("l", *forward, *back, HIDDEN, INPUTS, ["s"], ["y"], **options)


def _gru(rows: Array) -> Array:
    return gru(rows, *({gate: part[UPDATE[gate]] for gate in "zro"} for part in (WEIGHTS, AGAIN, BIASES)))


AHEAD = lstm(ROWS, WEIGHTS, AGAIN, BIASES, NO_PEEP)
BEHIND = lstm(ROWS[::-1], W2, R2, B2, NO_PEEP)
FORGETFUL = BIASES | {"f": BIASES["f"] + 1}


def sequence(build: Callable[[Any], object], expected: Array) -> Case:
    return Case(build, {"x": S}, expected.ravel())


RECURRENT = {
    "rnn": sequence(
        add_rnn,
        rnn(ROWS, WEIGHTS["i"], AGAIN["i"], BIASES["i"]),
    ),
    "gru": sequence(lambda b: add_gru(b, output_all=True), _gru(ROWS)),
    "gru, last step": sequence(add_gru, _gru(ROWS)[-1]),
    "lstm": sequence(lambda b: add_lstm(b, output_all=True), AHEAD),
    "lstm, last step": sequence(add_lstm, AHEAD[-1]),
    "lstm, from right to left": sequence(
        lambda b: add_lstm(b, reverse_input=True), lstm(ROWS[::-1], WEIGHTS, AGAIN, BIASES, NO_PEEP)[-1]
    ),
    "lstm, peepholes": sequence(
        lambda b: add_lstm(b, peep=each(PEEP, "ifo")), lstm(ROWS, WEIGHTS, AGAIN, BIASES, PEEP)[-1]
    ),
    "lstm, forget bias": sequence(
        lambda b: add_lstm(b, forget_bias=True), lstm(ROWS, WEIGHTS, AGAIN, FORGETFUL, NO_PEEP)[-1]
    ),
    "lstm, both ways": sequence(
        lambda b: add_both(b, output_all=True), np.concatenate([AHEAD, BEHIND[::-1]], axis=1)
    ),
    "lstm, both ways, last step": sequence(add_both, np.concatenate([AHEAD[-1], BEHIND[-1]])),
}  # fmt: skip

CASES = {**IMAGES, **ELEMENTS, **SHAPES, **NEWER, **RECURRENT}


@pytest.mark.parametrize("name", CASES)
def test_a_layer_answers_as_its_formula(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    found = answer(case, tmp_path)
    np.testing.assert_allclose(found.reshape(case.expected.shape), case.expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_inspect_counts_what_the_translation_multiplies(name: str, tmp_path: Path) -> None:
    in_file, in_graph = counted(network(CASES[name]), tmp_path)
    assert in_file == in_graph
    assert in_file is not None


@pytest.mark.parametrize(
    ("name", "macs"),
    [
        ("convolution", 6 * 5 * 4 * 4 * 9),
        ("dense", 5 * 168),
        ("gru", STEPS * 3 * HIDDEN * (INPUTS + HIDDEN)),
        ("lstm, both ways", 2 * STEPS * 4 * HIDDEN * (INPUTS + HIDDEN)),
    ],
)
def test_macs_are_those_of_the_formulas(name: str, macs: int, tmp_path: Path) -> None:
    assert counted(network(CASES[name]), tmp_path)[0] == macs
