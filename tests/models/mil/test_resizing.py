"""Resizing and sampling follow MIL's grids, worked out here by hand or in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hettop.models.mil.translate import translate
from tests.models.mil.programs import Array, Case, agrees, close, convert, ct, evaluate, mb, opened, program, run, spec
from tests.models.mil.references import sampled

RNG = np.random.default_rng(4)
IMAGE = RNG.normal(size=(1, 2, 4, 6)).astype(np.float32)
LINE = np.array([0, 1], np.float32).reshape(1, 1, 1, 2)


def _bilinear(x: Array, rows: Any, columns: Any) -> Array:
    clamp = [np.clip(np.asarray(points, float), 0, size - 1) for points, size in ((rows, 4), (columns, 6))]
    return sampled(sampled(x, clamp[0], 2), clamp[1], 3)


def _resized(mode: str, rows: Any, columns: Any, height: int, width: int) -> Case:
    return Case(
        lambda t, x: mb.resize_bilinear(x=x, target_size_height=height, target_size_width=width, sampling_mode=mode),
        {"x": IMAGE},
        lambda x: _bilinear(x, rows, columns),
    )


CASES = {
    "upsample_nearest_neighbor": Case(
        lambda t, x: mb.upsample_nearest_neighbor(x=x, scale_factor_height=2, scale_factor_width=3),
        {"x": IMAGE},
        lambda x: x.repeat(2, 2).repeat(3, 3),
    ),
    "upsample_nearest_neighbor of three axes": Case(
        lambda t, x: mb.upsample_nearest_neighbor(x=x, scale_factor_height=2, scale_factor_width=2),
        {"x": IMAGE[0]},
        lambda x: x.repeat(2, 1).repeat(2, 2),
    ),
    "upsample_nearest_neighbor of five axes": Case(
        lambda t, x: mb.upsample_nearest_neighbor(x=x, scale_factor_height=2, scale_factor_width=1),
        {"x": IMAGE[None]},
        lambda x: x.repeat(2, 3),
    ),
    "resize_nearest_neighbor": Case(
        lambda t, x: mb.resize_nearest_neighbor(x=x, target_size_height=2, target_size_width=9),
        {"x": IMAGE},
        lambda x: x[:, :, [0, 2]][..., [0, 0, 1, 2, 2, 3, 4, 4, 5]],
    ),
    "upsample_bilinear, corners aligned": Case(
        lambda t, x: mb.upsample_bilinear(x=x, scale_factor_height=2, scale_factor_width=2, align_corners=True),
        {"x": IMAGE},
        lambda x: _bilinear(x, np.linspace(0, 3, 8), np.linspace(0, 5, 12)),
    ),
    "upsample_bilinear, pixels centred": Case(
        lambda t, x: mb.upsample_bilinear(x=x, scale_factor_height=2, scale_factor_width=2, align_corners=False),
        {"x": IMAGE},
        lambda x: _bilinear(x, (np.arange(8) + 0.5) / 2 - 0.5, (np.arange(12) + 0.5) / 2 - 0.5),
    ),
    "upsample_bilinear by a fraction": Case(
        lambda t, x: mb.upsample_bilinear(x=x, scale_factor_height=1.0, scale_factor_width=2.6, align_corners=False),
        {"x": LINE},
        lambda x: np.array([0, 0.1, 0.5, 0.9, 1]).reshape(1, 1, 1, 5),
    ),
    "upsample_bilinear of neither": Case(
        lambda t, x: mb.upsample_bilinear(
            x=x, scale_factor_height=2, scale_factor_width=2, align_corners=False, half_pixel_centers=False
        ),
        {"x": IMAGE},
        lambda x: _bilinear(x, np.arange(8) / 2, np.arange(12) / 2),
    ),
    "resize_bilinear, corners aligned": _resized("ALIGN_CORNERS", np.linspace(0, 3, 7), np.linspace(0, 5, 5), 7, 5),
    "resize_bilinear, one sample is the middle": _resized("ALIGN_CORNERS", [1.5], np.linspace(0, 5, 5), 1, 5),
    "resize_bilinear, strictly aligned, one sample is the first": _resized(
        "STRICT_ALIGN_CORNERS", [0], np.linspace(0, 5, 5), 1, 5
    ),
    "resize_bilinear, default": _resized("DEFAULT", np.arange(7) * 4 / 7, np.arange(5) * 6 / 5, 7, 5),
    "resize_bilinear, unaligned": _resized(
        "UNALIGN_CORNERS", (np.arange(7) + 0.5) * 4 / 7 - 0.5, (np.arange(5) + 0.5) * 6 / 5 - 0.5, 7, 5
    ),
    "resize_bilinear, offset corners": _resized(
        "OFFSET_CORNERS", (np.arange(7) + 0.5) * 3 / 7, (np.arange(5) + 0.5) * 5 / 5, 7, 5
    ),
    "resize, linear": Case(
        lambda t, x: mb.resize(
            x=x, shape=[1, 1, 5], resized_dims=np.uint32(2), interpolation_mode="LINEAR", sampling_mode="DEFAULT"
        ),
        {"x": LINE[0]},
        lambda x: np.array([0, 0.4, 0.8, 1, 1]).reshape(1, 1, 5),
    ),
    "resize, nearest rounds": Case(
        lambda t, x: mb.resize(
            x=x, shape=[1, 1, 3, 2], resized_dims=np.uint32(2), interpolation_mode="NEAREST_NEIGHBOR"
        ),
        {"x": LINE.reshape(1, 1, 1, 2, 1)},
        lambda x: np.array([0, 0, 1, 1, 1, 1]).reshape(1, 1, 1, 3, 2),
    ),
    "resize one axis": Case(
        lambda t, x: mb.resize(x=x, shape=[3], resized_dims=np.uint32(1), sampling_mode="ALIGN_CORNERS"),
        {"x": IMAGE},
        lambda x: sampled(x, np.linspace(0, 5, 3), 3),
    ),
}


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("name", CASES)
def test_resizing_samples_the_grid_of_its_mode(name: str, dtype: str) -> None:
    agrees(CASES[name], dtype)


def test_the_offset_corner_grid_is_the_documented_one() -> None:
    (got,) = evaluate(
        lambda x: mb.resize_bilinear(x=x, target_size_height=1, target_size_width=5, sampling_mode="OFFSET_CORNERS"),
        {"x": LINE},
    )
    close(got, np.array([0.1, 0.3, 0.5, 0.7, 0.9]).reshape(1, 1, 1, 5))


def test_a_resize_to_a_computed_shape_keeps_sizes_that_are_zero() -> None:
    def build(x: Any, shape: Any) -> Any:
        return mb.resize(x=x, shape=shape, resized_dims=np.uint32(2), sampling_mode="ALIGN_CORNERS")

    specs = {"x": spec(IMAGE.shape), "shape": spec((2,), np.int32)}
    translation = translate(opened(convert(program(build, specs))))
    (got,) = run(translation, {"x": IMAGE, "shape": np.array([0, 3], np.int32)})
    close(got, sampled(IMAGE.astype(float), np.linspace(0, 5, 3), 3))


NUMBERED = np.arange(1, 17, dtype=np.float32).reshape(1, 1, 4, 4)


def _cropped(boxes: Any, size: int, **options: Any) -> Array:
    (got,) = evaluate(
        lambda x: mb.crop_resize(
            x=x,
            boxes=np.array(boxes, np.float32),
            box_indices=np.zeros(len(boxes), np.int32),
            target_height=size,
            target_width=size,
            sampling_mode="ALIGN_CORNERS",
            **options,
        ),
        {"x": NUMBERED},
    )
    return got


def test_boxes_are_cut_out_and_resized() -> None:
    close(_cropped([[1, 1, 2, 2]], 2), np.array([6, 7, 10, 11.0]).reshape(1, 1, 2, 2))
    close(_cropped([[1, 1, 2, 2]], 1), np.array([8.5]).reshape(1, 1, 1, 1))
    close(_cropped([[2, 2, 1, 1]], 2), np.array([11, 10, 7, 6.0]).reshape(1, 1, 2, 2))


def test_a_box_by_its_centre_with_width_first() -> None:
    got = _cropped([[1.5, 0.5, 1, 1]], 2, box_coordinate_mode="CENTER_SIZE_WIDTH_FIRST")
    close(got, np.array([2, 3, 6, 7.0]).reshape(1, 1, 2, 2))


def test_what_lies_outside_the_image_gets_the_padding_value() -> None:
    got = _cropped(
        [[0.1, 0.3, 1.3, 1.0], [0.5, 1.8, 1.0, 0.3], [0.0, 0.4, 0.6, 0.7]],
        2,
        normalized_coordinates=True,
        pad_value=10.0,
    )
    # rows .3 and 3.9 by columns .9 and 3; rows 1.5 and 3 by columns 5.4 and .9; rows 0 and 1.8 by columns 1.2 and 2.1
    wanted = [3.1, 5.2, 10, 10, 10, 7.9, 10, 13.9, 2.2, 3.1, 9.4, 10.3]
    np.testing.assert_allclose(got.ravel(), wanted, rtol=1e-5)


def _regions(x: Array, roi: Any) -> Array:
    (got,) = evaluate(
        lambda x: mb.crop_resize(
            x=x, roi=np.array(roi, np.float32), target_height=2, target_width=2, sampling_mode="ALIGN_CORNERS"
        ),
        {"x": x},
        ct.target.iOS16,
    )
    return got


def test_a_region_of_interest_is_cut_from_every_image() -> None:
    got = _regions(np.concatenate([NUMBERED, -NUMBERED]), np.reshape([1, 1, 2, 2], (1, 1, 4, 1, 1)))
    close(got, np.array([6, 7, 10, 11, -6, -7, -10, -11.0]).reshape(1, 2, 1, 2, 2))


def test_a_region_of_interest_may_name_its_image() -> None:
    got = _regions(NUMBERED, np.reshape([0, 1, 1, 2, 2, 0, 0, 0, 1, 1], (2, 1, 5, 1, 1)))
    close(got, np.array([6, 7, 10, 11, 1, 2, 5, 6.0]).reshape(2, 1, 1, 2, 2))


PLACES = np.array([[[[0, 0], [2.5, 1]], [[-1, 0], [3, 4]]]], np.float32)


def _resampled(padding: str, mode: str = "unnormalized", aligned: bool = True, value: float = 0.0) -> Array:
    coordinates: dict[str, Array] = {
        "unnormalized": PLACES,
        "normalized_minus_one_to_one": 2 * PLACES / 3 - 1 if aligned else (2 * PLACES + 1) / 4 - 1,
        "normalized_zero_to_one": PLACES / 3 if aligned else (2 * PLACES + 1) / 8,
    }
    (got,) = evaluate(
        lambda x, c: mb.resample(
            x=x,
            coordinates=c,
            sampling_mode="bilinear",
            padding_mode=padding,
            padding_value=value,
            coordinates_mode=mode,
            align_corners=aligned,
        ),
        {"x": NUMBERED, "c": coordinates[mode].astype(np.float32)},
    )
    return got


@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("mode", ["unnormalized", "normalized_minus_one_to_one", "normalized_zero_to_one"])
def test_places_are_sampled_whatever_their_unit(mode: str, aligned: bool) -> None:
    # (0, 0) is 1; (2.5, 1) lies between 7 and 8; (-1, 0) and (3, 4) are one pixel outside
    inside = [1, 7.5]
    for padding, outside in (
        ("border", [1, 16]),
        ("reflection", [2, 12]),
        ("symmetric", [1, 16]),
        ("constant", [0, 0]),
    ):
        got = _resampled(padding, mode, aligned)
        np.testing.assert_allclose(got.ravel(), [*inside, *outside], rtol=1e-5, atol=1e-5)


def test_a_constant_padding_may_have_a_value() -> None:
    np.testing.assert_allclose(_resampled("constant", value=5.0).ravel(), [1, 7.5, 5, 5], rtol=1e-5)


def test_an_affine_map_turns_an_image() -> None:
    # x' = y, y' = x: the transpose
    (got,) = evaluate(
        lambda x: mb.affine(
            x=x,
            transform_matrix=np.array([[0, 1, 0, 1, 0, 0]], np.float32),
            output_height=4,
            output_width=4,
            sampling_mode="bilinear",
            padding_mode="constant",
            padding_value=0.0,
            coordinates_mode="normalized_minus_one_to_one",
            align_corners=True,
        ),
        {"x": NUMBERED},
    )
    close(got, NUMBERED.swapaxes(2, 3))
