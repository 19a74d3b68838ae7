"""Convolutions, pools, products, normalisations, reductions and attention agree with numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.models.mil.programs import Case, agrees, ct, mb
from tests.models.mil.references import attention, convolve, layer_norm, pool, softmax, spread

RNG = np.random.default_rng(2)


def floats(*shape: int) -> Any:
    return RNG.normal(size=shape).astype(np.float32)


IMAGE = floats(2, 4, 7, 6)
KERNEL = floats(6, 4, 3, 3)
GROUPED = floats(6, 2, 3, 2)
BIAS = floats(6)
SPREAD = floats(4, 3, 3, 3)
COLUMN = BIAS.reshape(6, 1, 1)

CONVOLUTIONS = {
    "valid": Case(
        lambda t, x: mb.conv(x=x, weight=KERNEL.astype(t), bias=BIAS.astype(t), pad_type="valid"),
        {"x": IMAGE},
        lambda x: convolve(x, KERNEL, [(0, 0), (0, 0)]) + COLUMN,
    ),
    "custom padding, strides, dilations": Case(
        lambda t, x: mb.conv(
            x=x, weight=KERNEL.astype(t), pad_type="custom", pad=[2, 1, 0, 3], strides=[2, 1], dilations=[1, 2]
        ),
        {"x": IMAGE},
        lambda x: convolve(x, KERNEL, [(2, 1), (0, 3)], (2, 1), (1, 2)),
    ),
    "same: the odd row goes below": Case(
        lambda t, x: mb.conv(x=x, weight=KERNEL.astype(t), pad_type="same", strides=[2, 2]),
        {"x": IMAGE},
        lambda x: convolve(x, KERNEL, [(1, 1), (0, 1)], (2, 2)),
    ),
    "same_lower: the odd column goes left": Case(
        lambda t, x: mb.conv(x=x, weight=KERNEL.astype(t), pad_type="same_lower", strides=[2, 2]),
        {"x": IMAGE},
        lambda x: convolve(x, KERNEL, [(1, 1), (1, 0)], (2, 2)),
    ),
    "groups": Case(
        lambda t, x: mb.conv(x=x, weight=GROUPED.astype(t), groups=2, pad_type="valid"),
        {"x": IMAGE},
        lambda x: convolve(x, GROUPED, [(0, 0), (0, 0)], groups=2),
    ),
    "one dimension": Case(
        lambda t, x: mb.conv(x=x, weight=KERNEL[:, :, 0].astype(t), pad_type="valid"),
        {"x": IMAGE[:, :, 0]},
        lambda x: convolve(x[:, :, None], KERNEL[:, :, :1], [(0, 0), (0, 0)])[:, :, 0],
    ),
    "three dimensions": Case(
        lambda t, x: mb.conv(x=x, weight=KERNEL[:, :, None].astype(t), pad_type="valid"),
        {"x": IMAGE[:, :, None]},
        lambda x: convolve(x[:, :, 0], KERNEL, [(0, 0), (0, 0)])[:, :, None],
    ),
    "transposed, valid": Case(
        lambda t, x: mb.conv_transpose(x=x, weight=SPREAD.astype(t), bias=BIAS[:3].astype(t), strides=[2, 2]),
        {"x": IMAGE},
        lambda x: spread(x, SPREAD, 2) + COLUMN[:3],
    ),
    "transposed, custom padding crops": Case(
        lambda t, x: mb.conv_transpose(
            x=x, weight=SPREAD.astype(t), strides=[2, 2], pad_type="custom", pad=[1, 0, 1, 1]
        ),
        {"x": IMAGE},
        lambda x: spread(x, SPREAD, 2)[:, :, 1:, 1:-1],
    ),
    "transposed, same": Case(
        lambda t, x: mb.conv_transpose(x=x, weight=SPREAD.astype(t), strides=[2, 2], pad_type="same"),
        {"x": IMAGE},
        lambda x: spread(x, SPREAD, 2)[:, :, :-1, :-1],
    ),
    "transposed, an output_shape one larger": Case(
        lambda t, x: mb.conv_transpose(x=x, weight=SPREAD.astype(t), strides=[2, 2], output_shape=[2, 3, 16, 13]),
        {"x": IMAGE},
        lambda x: np.pad(spread(x, SPREAD, 2), [(0, 0), (0, 0), (0, 1), (0, 0)]),
    ),
}

POOLS = {
    "max": Case(
        lambda t, x: mb.max_pool(x=x, kernel_sizes=[3, 3], strides=[2, 2], pad_type="valid"),
        {"x": IMAGE},
        lambda x: pool(x, 3, 2, (0, 0), np.max, -np.inf),
    ),
    "max, padded": Case(
        lambda t, x: mb.max_pool(x=x, kernel_sizes=[3, 3], strides=[1, 1], pad_type="custom", pad=[1, 1, 1, 1]),
        {"x": IMAGE},
        lambda x: pool(x, 3, 1, (1, 1), np.max, -np.inf),
    ),
    "max, the last window reaches beyond the end": Case(
        lambda t, x: mb.max_pool(x=x, kernel_sizes=[2, 2], strides=[2, 2], pad_type="valid", ceil_mode=True),
        {"x": IMAGE},
        lambda x: pool(np.pad(x, [(0, 0), (0, 0), (0, 1), (0, 0)], constant_values=-np.inf), 2, 2, (0, 0), np.max, 0),
    ),
    "average, padding counted": Case(
        lambda t, x: mb.avg_pool(x=x, kernel_sizes=[3, 3], strides=[2, 2], pad_type="custom", pad=[1, 1, 1, 1]),
        {"x": IMAGE},
        lambda x: pool(x, 3, 2, (1, 1), np.mean, 0),
    ),
    "average, padding left out": Case(
        lambda t, x: mb.avg_pool(
            x=x,
            kernel_sizes=[3, 3],
            strides=[2, 2],
            pad_type="custom",
            pad=[1, 1, 1, 1],
            exclude_padding_from_average=True,
        ),
        {"x": IMAGE},
        lambda x: pool(x, 3, 2, (1, 1), np.nanmean, np.nan),
    ),
    "average, same": Case(
        lambda t, x: mb.avg_pool(x=x, kernel_sizes=[2, 2], strides=[2, 2], pad_type="same"),
        {"x": IMAGE},
        lambda x: pool(np.pad(x, [(0, 0), (0, 0), (0, 1), (0, 0)]), 2, 2, (0, 0), np.mean, 0),
    ),
    "l2": Case(
        lambda t, x: mb.l2_pool(x=x, kernel_sizes=[2, 2], strides=[1, 1], pad_type="valid"),
        {"x": IMAGE},
        lambda x: pool(x, 2, 1, (0, 0), lambda w, axis: np.sqrt((w**2).sum(axis=axis)), 0),
    ),
    "average, one dimension": Case(
        lambda t, x: mb.avg_pool(x=x, kernel_sizes=[7], strides=[1], pad_type="valid"),
        {"x": IMAGE[:, :, :, 0]},
        lambda x: x.mean(axis=2, keepdims=True),
    ),
}

WEIGHT = floats(5, 4)
PRODUCTS = {
    "linear on a matrix": Case(
        lambda t, x: mb.linear(x=x, weight=WEIGHT.astype(t), bias=BIAS[:5].astype(t)),
        {"x": floats(3, 4)},
        lambda x: x @ WEIGHT.T + BIAS[:5],
    ),
    "linear on more axes, no bias": Case(
        lambda t, x: mb.linear(x=x, weight=WEIGHT.astype(t)), {"x": floats(2, 3, 4)}, lambda x: x @ WEIGHT.T
    ),
    "matmul, broadcast": Case(
        lambda t, x, y: mb.matmul(x=x, y=y), {"x": floats(2, 3, 4), "y": floats(5, 1, 4, 3)}, np.matmul
    ),
    "matmul, both turned": Case(
        lambda t, x, y: mb.matmul(x=x, y=y, transpose_x=True, transpose_y=True),
        {"x": floats(2, 4, 3), "y": floats(2, 5, 4)},
        lambda x, y: x.swapaxes(-1, -2) @ y.swapaxes(-1, -2),
    ),
    "matmul by a constant": Case(
        lambda t, x: mb.matmul(x=x, y=WEIGHT.astype(t), transpose_y=True), {"x": floats(2, 4)}, lambda x: x @ WEIGHT.T
    ),
    "einsum, broadcast": Case(
        lambda t, x, y: mb.einsum(values=(x, y), equation="nchw,nwhu->nchu"),
        {"x": floats(2, 3, 4, 5), "y": floats(2, 5, 1, 6)},
        lambda x, y: np.einsum("nchw,nwhu->nchu", x, np.broadcast_to(y, (2, 5, 4, 6))),
    ),
}

MEAN, GAMMA, BETA = floats(4), floats(4), floats(4)
VARIANCE = RNG.uniform(0.5, 2, 4).astype(np.float32)


def _column(values: Any) -> Any:
    return values.astype(np.float64).reshape(4, 1, 1)


NORMS = {
    "batch_norm": Case(
        lambda t, x: mb.batch_norm(
            x=x,
            mean=MEAN.astype(t),
            variance=VARIANCE.astype(t),
            gamma=GAMMA.astype(t),
            beta=BETA.astype(t),
            epsilon=t(1e-3),
        ),
        {"x": IMAGE},
        lambda x: _column(GAMMA) * (x - _column(MEAN)) / np.sqrt(_column(VARIANCE) + 1e-3) + _column(BETA),
    ),
    "batch_norm without gamma and beta": Case(
        lambda t, x: mb.batch_norm(x=x, mean=MEAN.astype(t), variance=VARIANCE.astype(t)),
        {"x": IMAGE},
        lambda x: (x - _column(MEAN)) / np.sqrt(_column(VARIANCE) + 1e-5),
    ),
    "instance_norm": Case(
        lambda t, x: mb.instance_norm(x=x, gamma=GAMMA.astype(t), beta=BETA.astype(t), epsilon=t(1e-3)),
        {"x": IMAGE},
        lambda x: _column(GAMMA) * layer_norm(x, (2, 3), 1e-3) + _column(BETA),
    ),
    "layer_norm over the last axes": Case(
        lambda t, x: mb.layer_norm(
            x=x, axes=[2, 3], gamma=IMAGE[0, 0].astype(t), beta=IMAGE[1, 1].astype(t), epsilon=t(1e-3)
        ),
        {"x": IMAGE},
        lambda x: layer_norm(x, (2, 3), 1e-3) * IMAGE[0, 0] + IMAGE[1, 1],
    ),
    "layer_norm over the channels": Case(
        lambda t, x: mb.layer_norm(x=x, axes=[1], gamma=GAMMA.astype(t), beta=BETA.astype(t), epsilon=t(1e-3)),
        {"x": IMAGE},
        lambda x: _column(GAMMA) * layer_norm(x, (1,), 1e-3) + _column(BETA),
    ),
    "layer_norm over everything": Case(
        lambda t, x: mb.layer_norm(x=x, axes=[0, 1, 2, 3], epsilon=t(1e-3)),
        {"x": IMAGE},
        lambda x: layer_norm(x, (0, 1, 2, 3), 1e-3),
    ),
    "l2_norm": Case(
        lambda t, x: mb.l2_norm(x=x, epsilon=t(1e-3)),
        {"x": IMAGE},
        lambda x: x / np.sqrt((x**2).sum(axis=(1, 2, 3), keepdims=True) + 1e-3),
    ),
    "local_response_norm": Case(
        lambda t, x: mb.local_response_norm(x=x, size=3, alpha=t(0.5), beta=t(0.75), k=t(2)),
        {"x": IMAGE},
        lambda x: (
            x
            / (2 + 0.5 / 3 * sum(np.pad(x**2, [(0, 0), (1, 1), (0, 0), (0, 0)])[:, i : i + 4] for i in range(3)))
            ** 0.75
        ),
    ),
}

AXES = {
    "mean": np.mean,
    "sum": np.sum,
    "max": np.max,
    "min": np.min,
    "prod": np.prod,
    "l1_norm": lambda x, axis, keepdims: np.abs(x).sum(axis=axis, keepdims=keepdims),
    "l2_norm": lambda x, axis, keepdims: np.sqrt((x**2).sum(axis=axis, keepdims=keepdims)),
    "sum_square": lambda x, axis, keepdims: (x**2).sum(axis=axis, keepdims=keepdims),
    "log_sum": lambda x, axis, keepdims: np.log(x.sum(axis=axis, keepdims=keepdims)),
    "log_sum_exp": lambda x, axis, keepdims: np.log(np.exp(x).sum(axis=axis, keepdims=keepdims)),
}  # fmt: skip
POSITIVE = RNG.uniform(0.5, 1.5, size=(2, 3, 4)).astype(np.float32)


def reduction(name: str, reference: Any, axes: tuple[int, ...], kept: bool) -> Case:
    return Case(
        lambda t, x: getattr(mb, f"reduce_{name}")(x=x, axes=list(axes), keep_dims=kept),
        {"x": POSITIVE},
        lambda x: reference(x, axis=axes, keepdims=kept),
    )


REDUCTIONS = {
    **{f"{name}, kept": reduction(name, reference, (1,), True) for name, reference in AXES.items()},
    **{f"{name}, dropped": reduction(name, reference, (0, -1), False) for name, reference in AXES.items()},
    "sum of everything": Case(lambda t, x: mb.reduce_sum(x=x), {"x": POSITIVE}, lambda x: np.asarray(x.sum())),
    "argmax": Case(
        lambda t, x: mb.reduce_argmax(x=x, axis=1), {"x": POSITIVE}, lambda x: x.argmax(axis=1).astype(np.int32)
    ),
    "argmin, kept": Case(
        lambda t, x: mb.reduce_argmin(x=x, axis=-1, keep_dims=True),
        {"x": POSITIVE},
        lambda x: x.argmin(axis=-1, keepdims=True).astype(np.int32),
    ),
}

QUERY, KEY, VALUE = floats(1, 2, 3, 8), floats(1, 2, 5, 8), floats(1, 2, 5, 6)
TRUE_MASK = RNG.random((3, 5)) < 0.7
TRUE_MASK[:, 0] = True

ATTENTION = {
    "softmax": Case(lambda t, x: mb.softmax(x=x, axis=1), {"x": IMAGE}, lambda x: softmax(x, 1)),
    "attention": Case(
        lambda t, q, k, v: mb.scaled_dot_product_attention(query=q, key=k, value=v),
        {"q": QUERY, "k": KEY, "v": VALUE},
        attention,
    ),
    "attention, float mask": Case(
        lambda t, q, k, v, m: mb.scaled_dot_product_attention(query=q, key=k, value=v, attn_mask=m),
        {"q": QUERY, "k": KEY, "v": VALUE, "m": floats(3, 5)},
        attention,
    ),
    "attention, mask of truth values": Case(
        lambda t, q, k, v: mb.scaled_dot_product_attention(query=q, key=k, value=v, attn_mask=TRUE_MASK),
        {"q": QUERY, "k": KEY, "v": VALUE},
        lambda q, k, v: attention(q, k, v, np.where(TRUE_MASK, 0, -np.inf)),
    ),
}

ALL = {
    f"{family}: {name}": case
    for family, cases in (
        ("conv", CONVOLUTIONS),
        ("pool", POOLS),
        ("product", PRODUCTS),
        ("norm", NORMS),
        ("reduce", REDUCTIONS),
        ("attention", ATTENTION),
    )
    for name, case in cases.items()
}


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("name", ALL)
def test_a_layer_agrees_with_its_definition(name: str, dtype: str) -> None:
    agrees(ALL[name], dtype)


def test_an_older_program_means_the_same() -> None:
    case = CONVOLUTIONS["same: the odd row goes below"]
    agrees(Case(case.build, case.inputs, case.reference, ct.target.iOS15), "float32")
