"""Inputs are made from a seed or read as asked; what does not fit the model is refused by name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.errors import HettopError
from hettop.models.inputs import make_inputs, parse_shape, parse_value
from hettop.models.ports import InputOptions, Port

IMAGE = Port("image", "float32", (1, 3, 4, 6))
DYNAMIC = Port("x", "float32", ("batch", 3, None))


def refused(port: Port, **options: dict[str, object]) -> HettopError:
    with pytest.raises(HettopError) as caught:
        make_inputs([port], InputOptions(**options))  # type: ignore[arg-type]
    assert caught.value.kind == "input"
    return caught.value


# -- made up ------------------------------------------------------------------------------------------------------


def test_floats_are_spread_between_0_and_1() -> None:
    image = make_inputs([Port("image", "float32", (1, 3, 100, 100))], InputOptions())["image"]
    assert image.dtype == np.float32
    assert 0 <= image.min() < 0.01
    assert 0.99 < image.max() <= 1
    assert image.mean() == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
def test_whole_numbers_are_small(dtype: str) -> None:
    tokens = make_inputs([Port("tokens", dtype, (1000,))], InputOptions())["tokens"]
    assert tokens.dtype == dtype
    assert set(tokens.tolist()) == set(range(10))


def test_flags_are_mixed_and_text_is_text() -> None:
    feed = make_inputs([Port("flag", "bool", (100,)), Port("text", "string", (5,))], InputOptions())
    assert feed["flag"].dtype == np.bool_
    assert 0 < feed["flag"].sum() < 100
    assert feed["text"].dtype == object
    assert all(isinstance(item, str) for item in feed["text"])


def test_a_scalar_is_an_array_without_axes() -> None:
    feed = make_inputs(
        [Port("rate", "int64", ()), Port("gain", "float16", ()), Port("name", "string", ())], InputOptions()
    )
    assert [feed[name].shape for name in feed] == [(), (), ()]
    assert [feed[name].dtype for name in feed] == [np.int64, np.float16, object]


@given(st.integers(0, 2**63 - 1))
def test_a_seed_always_gives_the_same_inputs_and_two_ports_differ(seed: int) -> None:
    ports = [Port("a", "float32", (16,)), Port("b", "float32", (16,))]
    first, second = (make_inputs(ports, InputOptions(seed=seed)) for _ in range(2))
    assert np.array_equal(first["a"], second["a"])
    assert not np.array_equal(first["a"], first["b"])


def test_a_type_numpy_lacks_is_refused() -> None:
    assert "bfloat16" in refused(Port("x", "bfloat16", (1,))).message


def test_pixels_of_an_image_have_the_whole_range_whatever_their_type() -> None:
    for dtype in ("uint8", "float16", "float32"):
        pixels = make_inputs([Port("x", dtype, (1, 3, 100, 100), kind="image")], InputOptions())["x"]
        assert pixels.dtype == dtype
        assert set(np.unique(pixels)) == set(range(256))


def test_a_state_begins_as_zeros_and_an_input_left_out_as_the_model_says() -> None:
    ports = [
        Port("memory", "float16", (2, 2), kind="state"),
        Port("gain", "float32", (2,), optional=True, fill=1.5),
        Port("extra", "int32", (2,), optional=True),
    ]
    feed = make_inputs(ports, InputOptions())
    assert {name: array.ravel().tolist() for name, array in feed.items()} == {
        "memory": [0, 0, 0, 0],
        "gain": [1.5, 1.5],
        "extra": [0, 0],
    }
    assert [array.dtype.name for array in feed.values()] == ["float16", "float32", "int32"]


def test_an_optional_input_that_is_asked_for_is_made() -> None:
    port = Port("gain", "float32", (None,), optional=True, fill=1.5, usual=(2,))
    assert make_inputs([port], InputOptions(values={"gain": "3"}))["gain"].tolist() == [3, 3]
    assert len(set(make_inputs([port], InputOptions(shapes={"gain": (50,)}))["gain"].tolist())) > 40


# -- shapes -------------------------------------------------------------------------------------------------------


def test_dynamic_axes_are_1_unless_specified() -> None:
    assert make_inputs([DYNAMIC], InputOptions())["x"].shape == (1, 3, 1)
    assert make_inputs([DYNAMIC], InputOptions(shapes={"x": (8, 3, 5)}))["x"].shape == (8, 3, 5)


def test_axes_of_one_name_agree_across_inputs() -> None:
    ports = [Port("mask", "int64", ("batch", "length")), Port("tokens", "int64", ("batch", "length"))]
    feed = make_inputs(ports, InputOptions(shapes={"tokens": (2, 7)}))
    assert feed["mask"].shape == (2, 7)


def test_a_name_that_two_different_axes_bear_means_nothing() -> None:
    ports = [Port("x", "float32", ("?", 3, "?", "?")), Port("y", "float32", ("?",))]
    feed = make_inputs(ports, InputOptions(shapes={"x": (1, 3, 64, 320)}))
    assert (feed["x"].shape, feed["y"].shape) == ((1, 3, 64, 320), (1,))


@pytest.mark.parametrize("shape", [(1, 3, 4), (1, 3, 4, 7), (1, 1, 3, 4, 6), ()])
def test_a_shape_that_does_not_fit_is_refused_with_what_the_model_wants(shape: tuple[int, ...]) -> None:
    error = refused(IMAGE, shapes={"image": shape})
    assert error.message == f"image: --shape has the shape [{','.join(map(str, shape))}]"
    assert error.hint == "the model expects image float32[1,3,4,6]"


def test_a_shape_that_would_fill_the_memory_is_refused() -> None:
    assert "too large" in refused(DYNAMIC, shapes={"x": (999_999_999, 3, 999_999_999)}).message


def test_a_shape_of_ten_gigabytes_that_the_model_itself_names_is_refused_and_not_made() -> None:
    error = refused(Port("x", "float32", (50_000, 50_000)))
    assert "10,000,000,000 bytes" in error.message
    assert "--shape" in error.hint


def test_inputs_that_are_too_large_together_are_refused_by_the_largest() -> None:
    ports = [Port("a", "float32", (1 << 28,)), Port("b", "float32", (1 << 28, 2)), Port("c", "int8", (1,))]
    with pytest.raises(HettopError, match=r"^b: "):
        make_inputs(ports, InputOptions())


@pytest.mark.parametrize("option", [{"shapes": {"picture": (1,)}}, {"values": {"picture": "1"}}])
def test_an_input_the_model_has_not_is_refused_with_those_it_has(option: dict[str, dict[str, object]]) -> None:
    error = refused(IMAGE, **option)
    assert "'picture'" in error.message
    assert "image float32[1,3,4,6]" in error.hint


def test_names_in_messages_are_cleaned() -> None:
    error = refused(Port("in\x1b[31m", "float32", (1,)), shapes={"in\x1b[31m": (1, 1)})
    assert "\x1b" not in error.message + error.hint


# -- numbers ------------------------------------------------------------------------------------------------------


def test_a_number_fills_the_whole_input() -> None:
    white = make_inputs([IMAGE], InputOptions(values={"image": "1"}))["image"]
    assert white.dtype == np.float32
    assert white.shape == (1, 3, 4, 6)
    assert np.all(white == 1)


def test_a_number_fills_a_scalar_and_a_shape() -> None:
    assert make_inputs([Port("rate", "int64", ())], InputOptions(values={"rate": "16000"}))["rate"] == 16000
    feed = make_inputs([DYNAMIC], InputOptions(values={"x": "0.5"}, shapes={"x": (2, 3, 4)}))
    assert feed["x"].shape == (2, 3, 4)


def test_text_fills_an_input_of_text() -> None:
    feed = make_inputs([Port("text", "string", (2,))], InputOptions(values={"text": "cat=1"}))
    assert feed["text"].tolist() == ["cat=1", "cat=1"]


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("int64", "0.5"),
        ("int8", "128"),
        ("uint8", "-1"),
        ("bool", "2"),
        ("float16", "1e6"),
        ("float32", "much"),
        ("int64", str(2**64)),
        ("int32", str(2**40)),
    ],
)
def test_a_number_that_does_not_fit_the_type_is_refused(dtype: str, value: str) -> None:
    assert value in refused(Port("x", dtype, (2,)), values={"x": value}).message


# -- files --------------------------------------------------------------------------------------------------------


def saved(tmp_path: Path, array: object) -> str:
    np.save(tmp_path / "a.npy", np.asarray(array))
    return str(tmp_path / "a.npy")


def test_an_array_file_goes_in_and_sets_the_dynamic_axes(tmp_path: Path) -> None:
    wanted = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    ports = [DYNAMIC, Port("state", "float32", ("batch", 5))]
    feed = make_inputs(ports, InputOptions(values={"x": saved(tmp_path, wanted)}))
    assert np.array_equal(feed["x"], wanted)
    assert feed["state"].shape == (2, 5)


@pytest.mark.parametrize(
    ("array", "dtype"),
    [
        (np.array([0.5, 1.5]), "float32"),
        (np.array([1, 2]), "float32"),
        (np.array([1, 2]), "int32"),
        (np.array([1, 255]), "uint8"),
        (np.array([True, False]), "int64"),
        (np.array([np.nan, np.inf]), "float16"),
        (np.array(["a", "b"]), "string"),
    ],
)
def test_values_that_keep_their_meaning_are_converted(array: np.ndarray, dtype: str, tmp_path: Path) -> None:
    feed = make_inputs([Port("x", dtype, (2,))], InputOptions(values={"x": saved(tmp_path, array)}))
    assert np.array_equal(feed["x"], array, equal_nan=dtype == "float16")
    assert feed["x"].dtype == (object if dtype == "string" else dtype)


@pytest.mark.parametrize(
    ("array", "dtype"),
    [
        (np.array([0.5, 1.5]), "int64"),
        (np.array([1, 300]), "uint8"),
        (np.array([1, -1]), "uint64"),
        (np.array([1e6, 0]), "float16"),
        (np.array([1, 2j]), "float32"),
        (np.array(["1", "2"]), "int64"),
        (np.array([1, 2]), "string"),
    ],
)
def test_values_that_would_become_others_are_refused(array: np.ndarray, dtype: str, tmp_path: Path) -> None:
    assert "a.npy" in refused(Port("x", dtype, (2,)), values={"x": saved(tmp_path, array)}).message


def test_an_array_of_another_shape_is_refused(tmp_path: Path) -> None:
    error = refused(IMAGE, values={"image": saved(tmp_path, np.zeros((3, 4, 6)))})
    assert "[3,4,6]" in error.message


def test_a_file_and_a_shape_that_disagree_are_refused(tmp_path: Path) -> None:
    path = saved(tmp_path, np.zeros((2, 3, 4)))
    assert "contradicts --shape" in refused(DYNAMIC, values={"x": path}, shapes={"x": (2, 3, 5)}).message


def test_code_in_an_array_file_is_not_run(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([{"an": "object"}], dtype=object), allow_pickle=True)
    assert "cannot read" in refused(Port("x", "string", (1,)), values={"x": str(tmp_path / "a.npy")}).message


@pytest.mark.parametrize(
    "content", [None, b"", b"no array at all", b"\x93NUMPY\x01\x00", b"\x93NUMPY\x01\x00\x02\x00({"]
)
def test_a_file_that_is_missing_or_broken_is_refused(content: bytes | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "a.npy").write_bytes(content)
    assert "cannot read" in refused(IMAGE, values={"image": str(tmp_path / "a.npy")}).message


# -- pictures -----------------------------------------------------------------------------------------------------


@pytest.fixture
def picture(tmp_path: Path) -> str:
    """Two pixels wide, one high: red and blue."""
    image = pytest.importorskip("PIL.Image").new("RGB", (2, 1), (255, 0, 0))
    image.putpixel((1, 0), (0, 0, 255))
    image.save(tmp_path / "picture.png")
    return str(tmp_path / "picture.png")


def test_a_picture_becomes_channels_first_from_0_to_1(picture: str) -> None:
    image = make_inputs([Port("image", "float32", (1, 3, None, None))], InputOptions(values={"image": picture}))[
        "image"
    ]
    assert image.dtype == np.float32
    assert image.tolist() == [[[[1, 0]], [[0, 0]], [[0, 1]]]]


def test_a_picture_becomes_channels_last_and_keeps_whole_numbers(picture: str) -> None:
    image = make_inputs([Port("image", "uint8", (1, None, None, 3))], InputOptions(values={"image": picture}))["image"]
    assert image.tolist() == [[[[255, 0, 0], [0, 0, 255]]]]


def test_a_picture_is_scaled_to_the_ports_size_and_repeated_over_the_batch(picture: str) -> None:
    port = Port("image", "float32", ("batch", 3, 4, 6))
    image = make_inputs([port], InputOptions(values={"image": picture}, shapes={"image": (2, 3, 4, 6)}))["image"]
    assert image.shape == (2, 3, 4, 6)
    assert image.flags["C_CONTIGUOUS"]
    assert np.array_equal(image[0], image[1])
    assert image[0, :, 0, 0].tolist() == [1, 0, 0]


def test_an_images_picture_keeps_its_pixels_in_the_order_of_the_colours(picture: str) -> None:
    for color, pixels in (("RGB", [[255, 0], [0, 0], [0, 255]]), ("BGR", [[0, 255], [0, 0], [255, 0]])):
        port = Port("image", "float32", (1, 3, 1, 2), kind="image", color=color)
        image = make_inputs([port], InputOptions(values={"image": picture}))["image"]
        assert image[0, :, 0].tolist() == pixels


def test_an_image_of_flexible_size_gets_the_picture_at_the_usual_size_or_the_one_asked_for(picture: str) -> None:
    port = Port(
        "image",
        "float32",
        (1, 3, None, None),
        kind="image",
        usual=(1, 3, 4, 6),
        ranges=((1, 1), (3, 3), (2, 8), (2, 8)),
    )
    assert make_inputs([port], InputOptions(values={"image": picture}))["image"].shape == (1, 3, 4, 6)
    asked = InputOptions(values={"image": picture}, shapes={"image": (1, 3, 8, 2)})
    assert make_inputs([port], asked)["image"].shape == (1, 3, 8, 2)
    assert "3 2 to 8" in refused(port, values={"image": picture}, shapes={"image": (1, 3, 8, 9)}).hint


def test_a_picture_is_not_blown_up_to_a_shape_of_ten_gigabytes(picture: str) -> None:
    assert "too large" in refused(DYNAMIC, values={"x": picture}, shapes={"x": (1, 3, 900_000_000)}).message


def test_an_array_file_that_promises_more_than_it_holds_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "a.npy").open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (99_999, 3, 99_999)}
        np.lib.format.write_array_header_1_0(file, header)
        file.write(b"four")
    assert "cannot read" in refused(DYNAMIC, values={"x": str(tmp_path / "a.npy")}).message


def test_a_picture_becomes_grey_for_one_channel(picture: str) -> None:
    image = make_inputs([Port("image", "float32", (1, 1, 1, 2))], InputOptions(values={"image": picture}))["image"]
    # ITU-R 601 luma: .299 for red, .114 for blue.
    assert image.ravel() == pytest.approx([0.299, 0.114], abs=0.005)


@pytest.mark.parametrize("shape", [(1, 5), (1, 4, 4, 4), (1, 1, 3, 4, 4)])
def test_a_picture_for_an_input_that_is_none_is_refused(shape: tuple[int, ...], picture: str) -> None:
    assert "not an image" in refused(Port("x", "float32", shape), values={"x": picture}).message


def test_a_file_that_is_no_picture_is_refused(picture: str, tmp_path: Path) -> None:
    (tmp_path / "broken.png").write_bytes(Path(picture).read_bytes()[:40])
    for name in ("broken.png", "missing.png"):
        assert "cannot read" in refused(IMAGE, values={"image": str(tmp_path / name)}).message


def test_a_picture_without_pillow_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['PIL'] = None\n"
        "from hettop.sources.engine.backend import InputOptions, Port\n"
        "from hettop.models.inputs import make_inputs\n"
        "from hettop.errors import HettopError\n"
        "try: make_inputs([Port('image', 'float32', (1, 3, 4, 4))], InputOptions(values={'image': 'a.png'}))\n"
        "except HettopError as error: print(error.kind, '|', error.message, '|', error.hint)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "input | image: reading a.png needs Pillow | pip install 'hettop[images]'"


# -- options ------------------------------------------------------------------------------------------------------


def test_shapes_and_values_are_parsed() -> None:
    assert parse_shape("images=1,3,640,640") == ("images", (1, 3, 640, 640))
    assert parse_shape("serving:a=b=5") == ("serving:a=b", (5,))
    assert parse_value("image=photo=1.png") == ("image", "photo=1.png")


@pytest.mark.parametrize("text", ["", "x", "x=", "=1", "x=0", "x=1,", "x=-1", "x=1x3", "x=1.5", "x=1,0", "x=٣"])
def test_what_is_no_shape_is_refused(text: str) -> None:
    with pytest.raises(HettopError) as caught:
        parse_shape(text)
    assert caught.value.kind == "usage"
    assert "1,3,640,640" in caught.value.hint


@pytest.mark.parametrize("text", ["", "x", "x=", "=1"])
def test_what_is_no_input_is_refused(text: str) -> None:
    with pytest.raises(HettopError) as caught:
        parse_value(text)
    assert caught.value.kind == "usage"


@pytest.mark.parametrize("name", ["x.npy", "x.png"])
def test_a_pipe_as_an_input_is_refused_and_not_waited_for(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    port = Port("x", "float32", (1, 3, 4, 4))
    with pytest.raises(HettopError, match="not a regular file"):
        make_inputs([port], InputOptions(values={"x": str(tmp_path / name)}))
