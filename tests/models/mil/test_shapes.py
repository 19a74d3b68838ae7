"""Operations that move, cut, join, gather and make elements agree with numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.models.mil.programs import Array, Case, agrees, evaluate, mb

RNG = np.random.default_rng(3)
X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
# eight channels, so that the two orders in which blocks become channels differ
DEEP = np.arange(64, dtype=np.float32).reshape(1, 8, 2, 4)
SQUARE = np.arange(64, dtype=np.float32).reshape(1, 4, 4, 4)


def one(build: Any, reference: Any, x: Array = X) -> Case:
    return Case(lambda t, x: build(x), {"x": x}, reference)


def _blocks(x: Array) -> Array:
    """(n, c, h, w) as (n, c, h / 2, row in block, w / 2, column in block)."""
    n, c, h, w = x.shape
    return x.reshape(n, c, h // 2, 2, w // 2, 2)


def _updated(x: Array, value: Array, where: Any) -> Array:
    result = x.copy()
    result[where] = value
    return result


SHAPES = {
    "identity": one(lambda x: mb.identity(x=x), lambda x: x),
    "expand_dims": one(lambda x: mb.expand_dims(x=x, axes=[0, -1]), lambda x: x[None, ..., None]),
    "squeeze named axes": one(lambda x: mb.squeeze(x=x, axes=[0, -1]), lambda x: x[0, :, 0], X[:1, :, :1]),
    "squeeze leaves axes that are not one": one(lambda x: mb.squeeze(x=x, axes=[0, 1]), lambda x: x[0], X[:1]),
    "squeeze all": one(lambda x: mb.squeeze(x=x), lambda x: x[0, :, 0], X[:1, :, :1]),
    "reshape": one(lambda x: mb.reshape(x=x, shape=[4, -1]), lambda x: x.reshape(4, 6)),
    "reshape, 0 keeps a size": one(lambda x: mb.reshape(x=x, shape=[0, -1]), lambda x: x.reshape(3, 4), X[0]),
    "reshape_like": Case(
        lambda t, x, y: mb.reshape_like(x=x, ref_tensors=(y,), begins=(0,), ends=(0,), end_masks=(True,)),
        {"x": X, "y": X.reshape(6, 4)},
        lambda x, y: x.reshape(6, 4),
    ),
    "flatten2d": one(lambda x: mb.flatten2d(x=x, axis=-1), lambda x: x.reshape(6, 4)),
    "transpose": one(lambda x: mb.transpose(x=x, perm=[-1, 0, 1]), lambda x: x.transpose(2, 0, 1)),
    "concat": one(lambda x: mb.concat(values=(x, x), axis=-2), lambda x: np.concatenate([x, x], -2)),
    "concat, interleaved": one(
        lambda x: mb.concat(values=(x, mb.mul(x=x, y=x)), axis=1, interleave=True),
        lambda x: np.stack([x, x * x], 2).reshape(2, 6, 4),
        X / 24,
    ),
    "stack": one(lambda x: mb.stack(values=(x, x), axis=-1), lambda x: np.stack([x, x], -1)),
    "tile": one(lambda x: mb.tile(x=x, reps=[1, 2, 3]), lambda x: np.tile(x, (1, 2, 3))),
    "split, even": one(lambda x: mb.split(x=x, num_splits=2, axis=2), lambda x: tuple(np.split(x, 2, 2))),
    "split, sizes": one(lambda x: mb.split(x=x, split_sizes=[1, 3], axis=-1), lambda x: (x[..., :1], x[..., 1:])),
    "slice": one(
        lambda x: mb.slice_by_index(x=x, begin=[0, 1, 3], end=[2, 3, 0], stride=[1, 1, -1]), lambda x: x[:, 1:3, 3:0:-1]
    ),
    "slice, masks and an index": one(
        lambda x: mb.slice_by_index(
            x=x,
            begin=[0, -1, 1],
            end=[0, 0, 0],
            begin_mask=[True, False, False],
            end_mask=[True, False, True],
            squeeze_mask=[False, True, False],
        ),
        lambda x: x[:, -1, 1:],
    ),
    "slice, backwards from the end": one(
        lambda x: mb.slice_by_index(
            x=x, begin=[0, 0, 0], end=[0, 0, 0], stride=[1, 1, -2], begin_mask=[True] * 3, end_mask=[True] * 3
        ),
        lambda x: x[:, :, ::-2],
    ),
    "slice_by_size": one(lambda x: mb.slice_by_size(x=x, begin=[0, 1, -2], size=[2, -1, 2]), lambda x: x[:, 1:, -2:]),
    "slice_update": Case(
        lambda t, x, y: mb.slice_update(x=x, update=y, begin=[0, 1, 1], end=[2, 3, 3]),
        {"x": X, "y": -X[:, 1:, 1:3]},
        lambda x, y: _updated(x, y, np.s_[:, 1:3, 1:3]),
    ),
    "slice_update, every second": Case(
        lambda t, x, y: mb.slice_update(x=x, update=y, begin=[0, 0, 0], end=[2, 3, 4], stride=[1, 2, 2]),
        {"x": X, "y": -X[:, ::2, ::2]},
        lambda x, y: _updated(x, y, np.s_[:, ::2, ::2]),
    ),
    "slice_update at an index": Case(
        lambda t, x, y: mb.slice_update(
            x=x, update=y, begin=[-1, 0, 0], end=[0, 3, 4], squeeze_mask=[True, False, False]
        ),
        {"x": X, "y": -X[0]},
        lambda x, y: _updated(x, y, -1),
    ),
    "crop": one(lambda x: mb.crop(x=x, crop_height=[1, 0], crop_width=[1, 2]), lambda x: x[:, :, 1:, 1:2], SQUARE),
    "pad with a constant": Case(
        lambda t, x: mb.pad(x=x, pad=[1, 0, 0, 2], mode="constant", constant_val=t(7)),
        {"x": X},
        lambda x: np.pad(x, [(0, 0), (1, 0), (0, 2)], constant_values=7),
    ),
    "pad by reflection": one(
        lambda x: mb.pad(x=x, pad=[2, 1], mode="reflect"), lambda x: np.pad(x, [(0, 0), (0, 0), (2, 1)], "reflect")
    ),
    "pad by repetition": one(
        lambda x: mb.pad(x=x, pad=[2, 1], mode="replicate"), lambda x: np.pad(x, [(0, 0), (0, 0), (2, 1)], "edge")
    ),
    "sliding_windows": one(
        lambda x: mb.sliding_windows(x=x, axis=-1, size=2, stride=2),
        lambda x: np.stack([x[..., 0:2], x[..., 2:4]], -2),
    ),
    "depth_to_space": one(
        lambda x: mb.depth_to_space(x=x, block_size=2),
        lambda x: x.reshape(1, 2, 2, 2, 2, 4).transpose(0, 3, 4, 1, 5, 2).reshape(1, 2, 4, 8),
        DEEP,
    ),
    "space_to_depth": one(
        lambda x: mb.space_to_depth(x=x, block_size=2),
        lambda x: _blocks(x).transpose(0, 3, 5, 1, 2, 4).reshape(1, 16, 2, 2),
        SQUARE,
    ),
    "pixel_shuffle": one(
        lambda x: mb.pixel_shuffle(x=x, upscale_factor=2),
        lambda x: x.reshape(1, 2, 2, 2, 2, 4).transpose(0, 1, 4, 2, 5, 3).reshape(1, 2, 4, 8),
        DEEP,
    ),
    "pixel_unshuffle": one(
        lambda x: mb.pixel_unshuffle(x=x, downscale_factor=np.uint32(2)),
        lambda x: _blocks(x).transpose(0, 1, 3, 5, 2, 4).reshape(1, 16, 2, 2),
        SQUARE,
    ),
    "space_to_batch": one(
        lambda x: mb.space_to_batch(x=x, block_shape=[2, 2], paddings=[[0, 0], [2, 0]]),
        lambda x: (
            np.pad(x, [(0, 0), (0, 0), (0, 0), (2, 0)])
            .reshape(1, 4, 2, 2, 3, 2)
            .transpose(3, 5, 0, 1, 2, 4)
            .reshape(4, 4, 2, 3)
        ),
        SQUARE,
    ),
    "batch_to_space": one(
        lambda x: mb.batch_to_space(x=x, block_shape=[2, 2], crops=[[0, 1], [0, 0]]),
        lambda x: x.reshape(2, 2, 1, 1, 4, 4).transpose(2, 3, 4, 0, 5, 1).reshape(1, 1, 8, 8)[:, :, :-1],
        SQUARE.reshape(4, 1, 4, 4),
    ),
    "reverse": one(lambda x: mb.reverse(x=x, axes=[0, 2]), lambda x: x[::-1, :, ::-1]),
    "reverse everything": one(lambda x: mb.reverse(x=x), lambda x: x[::-1, ::-1, ::-1]),
    "reverse_sequence": one(
        lambda x: mb.reverse_sequence(x=x, lengths=[2, 3], seq_axis=1, batch_axis=0),
        lambda x: np.stack([x[0][[1, 0, 2]], x[1][::-1]]),
    ),
    "reverse_sequence along other axes": one(
        lambda x: mb.reverse_sequence(x=x, lengths=[1, 2, 4], seq_axis=2, batch_axis=1),
        lambda x: np.stack([x[:, 0], x[:, 1][:, [1, 0, 2, 3]], x[:, 2][:, ::-1]], 1),
    ),
    "gather": one(lambda x: mb.gather(x=x, indices=[2, 0, -1], axis=1), lambda x: x[:, [2, 0, -1]]),
    "gather one": one(lambda x: mb.gather(x=x, indices=1, axis=-1), lambda x: x[..., 1]),
    "gather in batches": one(
        lambda x: mb.gather(x=x, indices=[[1, 0], [2, 2]], axis=1, batch_dims=1),
        lambda x: np.stack([x[0, [1, 0]], x[1, [2, 2]]]),
    ),
    "gather in batches along a later axis": one(
        lambda x: mb.gather(x=x, indices=[[1, 0], [3, 3]], axis=2, batch_dims=1),
        lambda x: np.stack([x[0][:, [1, 0]], x[1][:, [3, 3]]]),
    ),
    "gather_along_axis": one(
        lambda x: mb.gather_along_axis(x=x, indices=np.array([[[0, 2, 1, 0]], [[2, 2, 0, 1]]], np.int32), axis=1),
        lambda x: np.take_along_axis(x, np.array([[[0, 2, 1, 0]], [[2, 2, 0, 1]]]), 1),
    ),
    "gather_nd": one(
        lambda x: mb.gather_nd(x=x, indices=np.array([[0, 1], [1, 2]], np.int32)), lambda x: x[[0, 1], [1, 2]]
    ),
    "gather_nd in batches": one(
        lambda x: mb.gather_nd(x=x, indices=np.array([[[1]], [[2]]], np.int32), batch_dims=1),
        lambda x: x[[0, 1], [1, 2]][:, None],
    ),
    "scatter, update": Case(
        lambda t, x, y: mb.scatter(data=x, indices=[2, 0], updates=y, axis=1, mode="update"),
        {"x": X, "y": -X[:, :2]},
        lambda x, y: _updated(x, y, np.s_[:, [2, 0]]),
    ),
    "scatter, add": Case(
        lambda t, x, y: mb.scatter(data=x, indices=[0, 0], updates=y, axis=0, mode="add"),
        {"x": X, "y": X},
        lambda x, y: _updated(x, x[0] + y[0] + y[1], 0),
    ),
    "scatter, sub": Case(
        lambda t, x, y: mb.scatter(data=x, indices=[1], updates=y, axis=0, mode="sub"),
        {"x": X, "y": X[:1]},
        lambda x, y: _updated(x, x[1] - y[0], 1),
    ),
    "scatter, div": Case(
        lambda t, x, y: mb.scatter(data=x, indices=[1], updates=y, axis=0, mode="div"),
        {"x": X, "y": X[:1] + 4},
        lambda x, y: _updated(x, x[1] / y[0], 1),
    ),
    "scatter_along_axis, max": Case(
        lambda t, x, y: mb.scatter_along_axis(
            data=x, indices=np.array([[[1, 1, 0, 2]]] * 2, np.int32), updates=y, axis=1, mode="max"
        ),
        {"x": X, "y": 20 - X[:, :1]},
        lambda x, y: _updated(x, np.maximum(x[:, [1, 1, 0, 2], range(4)], y[:, 0]), np.s_[:, [1, 1, 0, 2], range(4)]),
    ),
    "scatter_nd, mul": Case(
        lambda t, x, y: mb.scatter_nd(data=x, indices=np.array([[1, 2]], np.int32), updates=y, mode="mul"),
        {"x": X, "y": X[:1, 1]},
        lambda x, y: _updated(x, x[1, 2] * y[0], (1, 2)),
    ),
    "fill": one(
        lambda x: mb.add(x=mb.fill(shape=[2, 3, 4], value=0.5), y=mb.cast(x=x, dtype="fp32")), lambda x: x + 0.5
    ),
    "cumsum": one(lambda x: mb.cumsum(x=x, axis=1), lambda x: x.cumsum(1)),
    "cumsum, exclusive and reversed": one(
        lambda x: mb.cumsum(x=x, axis=-1, exclusive=True, reverse=True),
        lambda x: x[..., ::-1].cumsum(-1)[..., ::-1] - x,
    ),
    "band_part": one(lambda x: mb.band_part(x=x, lower=1, upper=0), lambda x: np.tril(np.triu(x, -1), 0), SQUARE),
    "band_part, all below": one(lambda x: mb.band_part(x=x, lower=-1, upper=1), lambda x: np.tril(x, 1), SQUARE),
    "topk": one(
        lambda x: mb.topk(x=x, k=2, axis=1), lambda x: (x[:, [2, 1]], np.full((2, 2, 4), [[2], [1]], np.int32))
    ),
    "topk, the smallest": one(
        lambda x: mb.topk(x=x, k=1, ascending=True), lambda x: (x[..., :1], np.zeros((2, 3, 1), np.int32))
    ),
    "argsort": one(
        lambda x: mb.argsort(x=x, axis=-1, ascending=True),
        lambda x: np.argsort(x, -1).astype(np.int32),
        RNG.permutation(24).reshape(2, 3, 4).astype(np.float32),
    ),
    "non_zero": one(
        lambda x: mb.non_zero(x=x), lambda x: np.argwhere(x).astype(np.int32), np.array([[0, 2], [3, 0]], np.float32)
    ),
}


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("name", SHAPES)
def test_moving_elements_agrees_with_numpy(name: str, dtype: str) -> None:
    if name == "fill" and dtype == "float16":
        pytest.skip("a fill without a typed value is float32")
    agrees(SHAPES[name], dtype)


INTEGERS = np.array([[2, 0], [1, 2]], np.int32)


def test_one_hot_vectors_take_the_given_values() -> None:
    (got,) = evaluate(
        lambda x: mb.one_hot(indices=x, one_hot_vector_size=3, axis=1, on_value=5.0, off_value=-1.0), {"x": INTEGERS}
    )
    wanted = np.where(np.arange(3)[None, :, None] == INTEGERS[:, None, :], 5.0, -1.0)
    np.testing.assert_array_equal(got, wanted.astype(np.float32))


def test_one_hot_of_integers() -> None:
    (got,) = evaluate(
        lambda x: mb.one_hot(indices=x, one_hot_vector_size=3, on_value=np.int32(1), off_value=np.int32(0)),
        {"x": INTEGERS},
    )
    np.testing.assert_array_equal(got, np.eye(3, dtype=np.int32)[INTEGERS])


def test_slices_whose_bounds_are_computed() -> None:
    def build(x: Any, begin: Any, end: Any) -> Any:
        return [
            mb.slice_by_index(
                x=x, begin=begin, end=end, begin_mask=[True, False, False], end_mask=[True, False, False]
            ),
            mb.slice_by_index(x=x, begin=begin, end=end, squeeze_mask=[True, True, False]),
            mb.slice_by_size(x=x, begin=begin, size=end),
        ]

    begin, end = np.array([1, -1, 1], np.int32), np.array([1, -1, 3], np.int32)
    got = evaluate(build, {"x": X, "begin": begin, "end": end})
    np.testing.assert_array_equal(got[0], X[:, -1:-1, 1:3])
    np.testing.assert_array_equal(got[1], X[1, -1, 1:3])
    np.testing.assert_array_equal(got[2], X[1:2, -1:, 1:4])


def test_ranges_of_every_type() -> None:
    def build(ends: Any) -> Any:
        end = mb.squeeze(x=ends)
        return [
            mb.range_1d(start=np.int32(1), end=end, step=np.int32(2)),
            mb.range_1d(start=0.5, end=mb.cast(x=end, dtype="fp32"), step=1.5),
            mb.range_1d(start=np.float16(0), end=mb.cast(x=end, dtype="fp16"), step=np.float16(2)),
        ]

    integers, floats, halves = evaluate(build, {"ends": np.array([7], np.int32)})
    np.testing.assert_array_equal(integers, np.array([1, 3, 5], np.int32))
    np.testing.assert_array_equal(floats, np.array([0.5, 2, 3.5, 5, 6.5], np.float32))
    np.testing.assert_array_equal(halves, np.array([0, 2, 4, 6], np.float16))


def test_shapes_and_fills_follow_the_input() -> None:
    def build(x: Any) -> Any:
        return [mb.shape(x=x), mb.fill_like(ref_tensor=x, value=np.int32(3))]

    shape, filled = evaluate(build, {"x": X})
    np.testing.assert_array_equal(shape, np.array([2, 3, 4], np.int32))
    np.testing.assert_array_equal(filled, np.full((2, 3, 4), 3, np.int32))


def test_a_pad_that_is_computed() -> None:
    (got,) = evaluate(
        lambda x, p: mb.pad(x=x, pad=p, mode="constant", constant_val=1.0),
        {"x": X, "p": np.array([0, 0, 1, 0, 0, 2], np.int32)},
    )
    np.testing.assert_array_equal(got, np.pad(X, [(0, 0), (1, 0), (0, 2)], constant_values=1))
