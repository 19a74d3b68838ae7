"""Values cross into Core ML in the form that costs least at each call, and come back as arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.errors import HettopError
from hettop.models.inputs import make_inputs
from hettop.models.ports import InputOptions, Port
from hettop.sources.engine.backends.coreml import NativeFeed, check_kinds, native_value, output_array


def test_half_precision_becomes_single_once() -> None:
    port = Port("x", "float16", (2,))
    feed = NativeFeed({"x": np.array([1.5, -2], np.float16)}, [port])
    assert feed["x"].dtype == np.float16
    assert (feed.native["x"].dtype, feed.native["x"].tolist()) == (np.float32, [1.5, -2])


ACCEPTED = {np.dtype(name) for name in ("float32", "float64", "int32", "int8")}
"""What the binding's own source takes, in the machine's order of bytes."""


def views_of(array: Any) -> st.SearchStrategy[Any]:
    """The same values, as they may lie in memory."""
    mapped = array.copy()
    mapped.flags.writeable = False
    return st.sampled_from(
        [
            array,
            mapped,
            np.asfortranarray(array),
            np.broadcast_to(array[:1], array.shape),
            array[::-1],
            array[:, ::2],
            array.astype(array.dtype.newbyteorder(">")),
            np.frombuffer(b"-" + array.tobytes(), np.uint8)[1:].view(array.dtype).reshape(array.shape),
        ]
    )


@given(st.sampled_from(["float16", "float32", "float64", "int32", "int8"]), st.data())
def test_however_an_array_lies_in_memory_the_binding_takes_it(dtype: str, data: st.DataObject) -> None:
    array = data.draw(views_of(np.arange(24).reshape(4, 6).astype(dtype)))
    native = native_value(Port("x", dtype, array.shape), array)
    assert (native.flags.writeable, native.flags.c_contiguous, native.flags.aligned) == (True, True, True)
    assert native.dtype in ACCEPTED
    assert native.dtype.isnative
    assert native.tolist() == array.tolist()


def test_an_array_without_axes_gets_one() -> None:
    """The binding takes none without."""
    assert native_value(Port("x", "float32", ()), np.asarray(np.float32(3))).tolist() == [3.0]


@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool", "complex64"])
def test_types_that_core_ml_has_not_are_refused_by_name(dtype: str) -> None:
    with pytest.raises(HettopError, match=f"x: Core ML has no arrays of type {dtype}"):
        native_value(Port("x", dtype, (2,)), np.zeros(2, dtype))


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_file_of_numbers_is_prepared_once_and_not_at_each_call(order: str, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(4, dtype=f"{order}f4"))
    port = Port("x", "float32", (4,))
    feed = NativeFeed(make_inputs([port], InputOptions(values={"x": str(tmp_path / "x.npy")})), [port])
    assert feed.native["x"].flags.writeable
    assert feed.native["x"].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("shape", [(1, 2, 3, 1), (1, 2, 3, 3), (2, 3, 1), (1, 3, 2, 3), (1, 1, 2, 3)])
def test_a_picture_for_an_array_can_be_written_to(shape: tuple[int, ...], tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    image.new("RGB", (3, 2), (255, 255, 255)).save(tmp_path / "white.png")
    for dtype, white in (("float32", 1), ("int32", 255)):
        port = Port("x", dtype, shape)
        feed = NativeFeed(make_inputs([port], InputOptions(values={"x": str(tmp_path / "white.png")})), [port])
        assert (feed.native["x"].flags.writeable, feed.native["x"].flags.c_contiguous) == (True, True)
        assert feed.native["x"].tolist() == np.full(shape, white).tolist()


@pytest.mark.parametrize("dtype", ["float32", "int32", "float64", "int8"])
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
