"""Compressed weights are unpacked to the values their definitions give, and quantised activations to theirs."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from hettop.models.mil.translate import translate
from tests.models.mil.programs import Array, close, convert, ct, evaluate, mb, opened, program, run, spec

RNG = np.random.default_rng(6)
cto: Any = importlib.import_module("coremltools.optimize.coreml")
# large enough for the optimisers, which leave small weights alone
WEIGHT = RNG.normal(size=(64, 64)).astype(np.float32)
X = RNG.normal(size=(2, 64)).astype(np.float32)


def _model(target: Any) -> Any:
    return convert(program(lambda x: mb.linear(x=x, weight=WEIGHT), {"x": spec(X.shape)}, target), target)


def _output(model: Any) -> Array:
    return run(translate(opened(model)), {"x": X})[0]


def _ops(model: Any) -> set[str]:
    return {str(operation.type) for operation in opened(model).block().operations}


TARGETS = ["iOS16", "iOS18"]


@pytest.mark.parametrize("target", TARGETS)
def test_weights_quantised_to_8_bits_per_channel(target: str) -> None:
    config = cto.OptimizationConfig(cto.OpLinearQuantizerConfig(mode="linear_symmetric", weight_threshold=512))
    model = cto.linear_quantize_weights(_model(getattr(ct.target, target)), config)
    assert _ops(model) & {"constexpr_affine_dequantize", "constexpr_blockwise_shift_scale"}
    step = np.abs(WEIGHT).max(axis=1, keepdims=True) / 127
    close(_output(model), X @ (np.round(WEIGHT / step) * step).T)


@pytest.mark.parametrize("target", TARGETS)
def test_weights_quantised_with_a_zero_point(target: str) -> None:
    config = cto.OptimizationConfig(
        cto.OpLinearQuantizerConfig(mode="linear", granularity="per_tensor", weight_threshold=512)
    )
    model = cto.linear_quantize_weights(_model(getattr(ct.target, target)), config)
    low, high = min(WEIGHT.min(), 0), max(WEIGHT.max(), 0)
    step = (high - low) / 255
    # every weight is within half a step of what it was, plus the rounding of the zero point
    error = _output(model) - X @ WEIGHT.T
    assert np.abs(error).max() < step * np.abs(X).sum(axis=1).max()
    assert np.abs(error).max() > 0


def test_weights_quantised_to_4_bits_in_blocks() -> None:
    config = cto.OptimizationConfig(
        cto.OpLinearQuantizerConfig(
            mode="linear_symmetric", dtype="int4", granularity="per_block", block_size=16, weight_threshold=512
        )
    )
    model = cto.linear_quantize_weights(_model(ct.target.iOS18), config)
    assert "constexpr_blockwise_shift_scale" in _ops(model)
    blocks = WEIGHT.reshape(64, 4, 16)
    step = np.abs(blocks).max(axis=2, keepdims=True) / 7
    close(_output(model), X @ (np.round(blocks / step) * step).reshape(64, 64).T)


@pytest.mark.parametrize("target", TARGETS)
def test_weights_in_a_palette_of_4_bits(target: str) -> None:
    config = cto.OptimizationConfig(cto.OpPalettizerConfig(mode="uniform", nbits=4, weight_threshold=512))
    model = cto.palettize_weights(_model(getattr(ct.target, target)), config)
    assert "constexpr_lut_to_dense" in _ops(model)
    palette = np.linspace(WEIGHT.min(), WEIGHT.max(), 16)
    nearest = palette[np.abs(WEIGHT[..., None] - palette).argmin(axis=-1)]
    close(_output(model), X @ nearest.T)


def test_a_palette_per_group_of_channels() -> None:
    config = cto.OptimizationConfig(
        cto.OpPalettizerConfig(
            mode="uniform", nbits=2, granularity="per_grouped_channel", group_size=16, weight_threshold=512
        )
    )
    model = cto.palettize_weights(_model(ct.target.iOS18), config)
    dense = np.empty_like(WEIGHT)
    for first in range(0, 64, 16):
        group = WEIGHT[first : first + 16]
        palette = np.linspace(group.min(), group.max(), 4)
        dense[first : first + 16] = palette[np.abs(group[..., None] - palette).argmin(axis=-1)]
    close(_output(model), X @ dense.T)


@pytest.mark.parametrize("target", TARGETS)
def test_weights_of_which_most_are_zero(target: str) -> None:
    config = cto.OptimizationConfig(cto.OpMagnitudePrunerConfig(target_sparsity=0.75, weight_threshold=512))
    model = cto.prune_weights(_model(getattr(ct.target, target)), config)
    assert "constexpr_sparse_to_dense" in _ops(model)
    limit = np.sort(np.abs(WEIGHT).ravel())[int(0.75 * WEIGHT.size)]
    close(_output(model), X @ np.where(np.abs(WEIGHT) >= limit, WEIGHT, 0).T)


def _constant(build: Any) -> Array:
    """The value of a compressed constant, added to zeros of its shape."""
    shape = (1,)
    specs = {"x": spec(shape)}
    model = convert(program(lambda x: mb.add(x=x, y=build()), specs))
    return run(translate(opened(model)), {"x": np.zeros(shape, np.float32)})[0]


uint: Any = importlib.import_module("coremltools.converters.mil.mil.types")


def _typed(values: Any, bits: int) -> Array:
    return np.array(values).astype(uint.nptype_from_builtin(uint.string_to_builtin(f"uint{bits}")))


def test_a_palette_of_vectors_fills_its_axis() -> None:
    indices = [[[0, 0], [1, 0]], [[1, 1], [0, 0]]]
    lut = np.array([[1, 2, 3], [4, 5, 6]], np.float32).reshape(1, 1, 1, 2, 3)
    got = _constant(lambda: mb.constexpr_lut_to_dense(indices=_typed(indices, 1), lut=lut, vector_axis=np.int32(1)))
    wanted = [
        [[1, 1], [2, 2], [3, 3], [4, 1], [5, 2], [6, 3]],
        [[4, 4], [5, 5], [6, 6], [1, 1], [2, 2], [3, 3]],
    ]
    np.testing.assert_array_equal(got, np.array(wanted, np.float32))


def test_a_sparse_palette() -> None:
    mask = np.array([[1, 1, 0, 0], [0, 1, 1, 0]])

    def build() -> Any:
        kept, values = mb.constexpr_lut_to_sparse(
            indices_mask=_typed(mask, 1),
            indices_nonzero_data=_typed([0, 1, 1, 0], 1),
            lut=np.array([2, 3], np.float32).reshape(1, 1, 2, 1),
        )
        return mb.constexpr_sparse_to_dense(nonzero_data=values, mask=kept)

    np.testing.assert_array_equal(_constant(build), np.array([[2, 3, 0, 0], [0, 3, 2, 0]], np.float32))


def test_sparse_quantised_weights() -> None:
    mask = np.array([[1, 1, 0, 0], [1, 1, 1, 0], [0, 0, 1, 1], [1, 1, 0, 0]])

    def build() -> Any:
        kept, values = mb.constexpr_sparse_blockwise_shift_scale(
            data_mask=_typed(mask, 1),
            nonzero_data=np.array([10, 11, 3, 4, 5, 6, 7, 8, 9], np.int8),
            scale=np.array([[0.5, 0.25, 2, 4]], np.float32),
            offset=np.array([[1, 2, 3, 4]], np.int8),
        )
        return mb.constexpr_sparse_to_dense(nonzero_data=values, mask=kept)

    wanted = [[4.5, 2.25, 0, 0], [1, 0.5, 4, 0], [0, 0, 6, 12], [3.5, 1.75, 0, 0]]
    np.testing.assert_array_equal(_constant(build), np.array(wanted, np.float32))


def test_a_constant_cast() -> None:
    got = _constant(lambda: mb.constexpr_cast(source_val=np.arange(4, dtype=np.float16), output_dtype="fp32"))
    np.testing.assert_array_equal(got, np.arange(4, dtype=np.float32))


@pytest.mark.parametrize("word", ["int8", "uint8"])
def test_activations_are_quantised_and_back(word: str) -> None:
    zero = np.array(3, word)

    def build(x: Any) -> Any:
        quantised = mb.quantize(input=x, zero_point=zero, scale=np.float32(0.5), output_dtype=word)
        return mb.dequantize(input=quantised, zero_point=zero, scale=np.float32(0.5))

    x = np.array([-100, -1.3, 0.2, 0.25, 1.26, 100], np.float32)
    (got,) = evaluate(build, {"x": x})
    limits = np.iinfo(word)
    wanted = (np.clip(np.round(x / 0.5) + 3, limits.min, limits.max) - 3) * 0.5
    np.testing.assert_array_equal(got, wanted.astype(np.float32))


def test_a_scale_per_channel() -> None:
    scale = np.array([0.5, 0.25, 2], np.float32)

    def build(x: Any) -> Any:
        quantised = mb.quantize(input=x, scale=scale, axis=0, output_dtype="int8")
        return mb.dequantize(input=quantised, scale=scale, axis=0)

    x = RNG.normal(size=(3, 3, 4)).astype(np.float32)
    (got,) = evaluate(build, {"x": x})
    steps = scale.reshape(3, 1, 1)
    np.testing.assert_allclose(got, np.round(x / steps) * steps, rtol=1e-6)
