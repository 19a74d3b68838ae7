"""Values cross into Core ML in the form that costs least at each call, and come back as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hettop.engine.backend import Port
from hettop.engine.coreml.values import NativeFeed, check_kinds, native_value, output_array
from hettop.errors import HettopError


def test_half_precision_becomes_single_once() -> None:
    port = Port("x", "float16", (2,))
    feed = NativeFeed({"x": np.array([1.5, -2], np.float16)}, [port])
    assert feed["x"].dtype == np.float16
    assert (feed.native["x"].dtype, feed.native["x"].tolist()) == (np.float32, [1.5, -2])


@pytest.mark.parametrize("dtype", ["float32", "int32", "float64"])
def test_other_arrays_go_in_as_they_are(dtype: str) -> None:
    array = np.arange(4, dtype=dtype)
    assert native_value(Port("x", dtype, (4,)), array) is array


@pytest.mark.parametrize(
    ("color", "mode", "first"),
    [
        ("RGB", "RGB", (10, 20, 30)),
        ("BGR", "RGB", (30, 20, 10)),
        ("GRAYSCALE", "L", 10),
        ("GRAYSCALE_FLOAT16", "F", 10),
    ],
)
def test_an_image_goes_in_in_its_mode_and_order_of_colours(color: str, mode: str, first: Any) -> None:
    pytest.importorskip("PIL", reason="Pillow is not installed")
    channels = 3 if len(color) == 3 else 1
    array = np.zeros((1, channels, 2, 5), np.float16 if "16" in color else np.uint8)
    array[0, :, 1, 4] = [10, 20, 30][:channels]
    picture = native_value(Port("x", str(array.dtype), array.shape, kind="image", color=color), array)
    assert (picture.mode, picture.size, picture.getpixel((4, 1))) == (mode, (5, 2), first)


def test_scalars_are_plain_numbers_and_text() -> None:
    assert native_value(Port("n", "int64", (), kind="scalar"), np.array(7)) == 7
    assert type(native_value(Port("n", "int64", (), kind="scalar"), np.array(7))) is int
    assert native_value(Port("t", "string", (), kind="scalar"), np.array("ab", dtype=object)) == "ab"


def test_what_cannot_be_made_up_is_refused_by_name() -> None:
    with pytest.raises(HettopError) as caught:
        check_kinds([Port("x"), Port("words", "string", (), kind="dictionary")], "m.mlmodel")
    assert (caught.value.kind, "words is a dictionary" in caught.value.message) == ("format", True)


def test_every_output_is_an_array() -> None:
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    assert output_array(2.5).shape == ()
    assert output_array({"b": 0.25, "a": 0.75}).tolist() == [0.75, 0.25]
    assert output_array(image.new("RGB", (6, 4), (1, 2, 3)))[3, 5].tolist() == [1, 2, 3]
