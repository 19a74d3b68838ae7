"""Inputs for a model whose framework takes numpy arrays: generated from a seed, or read as the user asked."""

from __future__ import annotations

import re
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hettop.errors import HettopError
from hettop.models.ports import Feed, InputOptions, Port
from hettop.models.shapes import check_names, check_shape, choose_shapes
from hettop.text import clean

Array = npt.NDArray[np.generic]

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".webp")
IMAGE_CHANNELS = (1, 3)
IMAGE_RANKS = (3, 4)
SMALL_INTEGERS = 10
"""Random whole numbers are below this: they may index a table."""

FROM_KINDS = {"f": "fiub", "i": "iub", "u": "iub", "b": "biu"}
"""Kinds of numpy types that an input of each kind accepts; a value that does not fit is refused besides."""

WHITE = 255
"""The brightest pixel."""


def parse_shape(text: str) -> tuple[str, tuple[int, ...]]:
    """`NAME=1,3,640,640` as (name, shape). Raises HettopError: `usage`."""
    name, equals, axes = text.rpartition("=")
    if not (equals and name and re.fullmatch(r"[1-9][0-9]{0,8}(,[1-9][0-9]{0,8})*", axes)):
        raise HettopError("usage", f"invalid --shape {clean(text)}", "example: NAME=1,3,640,640")
    return name, tuple(int(axis) for axis in axes.split(","))


def parse_value(text: str) -> tuple[str, str]:
    """`NAME=file.npy`, `NAME=image.png` or `NAME=number` as (name, value). Raises HettopError: `usage`."""
    name, _, value = text.partition("=")
    if not (name and value):
        raise HettopError("usage", f"invalid --input {clean(text)}", "use NAME=file.npy, image.png or a number")
    return name, value


def make_inputs(ports: Sequence[Port], options: InputOptions) -> Feed:
    """One array for each port: its value if one was given, else numbers made from the seed.

    Shapes are those of `options.shapes` or of a file, else as `choose_shapes` finds them. Raises HettopError: `input`,
    naming the port and what it wants.
    """
    check_names(ports, options.shapes, "--shape")
    check_names(ports, options.values, "--input")
    choose_shapes(ports, options.shapes, {})  # what cannot be is refused before a file is read at that size
    feed: Feed = {port.name: _read(port, options) for port in ports if _names_file(options.values.get(port.name, ""))}
    shapes = choose_shapes(ports, options.shapes, {name: array.shape for name, array in feed.items()})
    for index, port in enumerate(ports):
        if port.name in feed:
            continue
        shape = shapes[port.name]
        if port.name in options.values:
            feed[port.name] = filled(port, shape, options.values[port.name])
        elif _is_left_out(port, options):
            feed[port.name] = np.full(shape, port.fill or 0, dtype=_dtype(port))
        else:
            feed[port.name] = _made_up(port, shape, np.random.default_rng([options.seed, index]))
    return feed


def _is_left_out(port: Port, options: InputOptions) -> bool:
    """A state begins as zeros; an optional input that is not set has the model's default value."""
    return port.kind == "state" or (port.optional and port.name not in options.shapes)


def _made_up(port: Port, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Pixels are 0..255; floats uniform in 0..1, as a normalised image's; whole numbers small; text a few digits."""
    if port.dtype == "string":
        return rng.integers(0, SMALL_INTEGERS, shape).astype(str).astype(object)
    dtype = _dtype(port)
    if port.kind == "image":
        return rng.integers(0, WHITE, shape, endpoint=True, dtype=np.uint8).astype(dtype)
    if dtype.kind == "f":
        return rng.random(shape, dtype=np.float32).astype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    return rng.integers(0, SMALL_INTEGERS, shape).astype(dtype)


def filled(port: Port, shape: tuple[int, ...], value: str) -> Array:
    """An array full of one number (or text, for a port of strings)."""
    if port.dtype == "string":
        return np.full(shape, value, dtype=object)
    dtype = _dtype(port)
    try:
        number = float(value) if dtype.kind == "f" else int(value)
    except ValueError as error:
        raise _refused(
            port, f"invalid --input {clean(value)}: not a number of that type, and not a .npy or image file"
        ) from error
    return np.full(shape, _cast(port, np.asarray(number), f"--input {clean(value)}"))


def _names_file(value: str) -> bool:
    return Path(value).suffix.lower() in (".npy", *IMAGE_SUFFIXES)


def _read(port: Port, options: InputOptions) -> Array:
    """The array in the file that the option names."""
    path = Path(options.values[port.name])
    whose = f"--input {clean(str(path))}"
    if path.exists() and not path.is_file():  # opening a pipe would wait for whoever may write to it
        raise _refused(port, f"{whose} is not a regular file")
    array = _read_npy(port, path) if path.suffix.lower() == ".npy" else _read_image(port, path, options)
    if options.shapes.get(port.name, array.shape) != array.shape:
        raise _refused(port, f"{whose} contradicts --shape")
    return array


def _read_npy(port: Port, path: Path) -> Array:
    try:
        # Mapped: the header may promise more than the file has, or than the memory holds.
        array = np.load(path, allow_pickle=False, mmap_mode="r")
    except (
        OSError,
        ValueError,
        EOFError,
        SyntaxError,
        tokenize.TokenError,
        OverflowError,
        MemoryError,
        RecursionError,
    ) as error:
        raise _unreadable(port, path, error) from error
    if not isinstance(array, np.ndarray):
        raise _refused(port, f"--input {clean(str(path))} is not one array")
    whose = f"--input {clean(str(path))}"
    check_shape(port, array.shape, whose)
    return _cast(port, array, whose)


def _cast(port: Port, array: Array, whose: str) -> Array:
    """The array with the port's type, refused if a value would become another one by more than rounding."""
    if port.dtype == "string":
        if array.dtype.kind == "U":
            return array.astype(object)
        raise _refused(port, f"{whose} holds {array.dtype}")
    dtype = _dtype(port)
    if array.dtype.kind not in FROM_KINDS[dtype.kind]:
        raise _refused(port, f"{whose} holds {array.dtype}")
    with np.errstate(over="ignore"):
        cast = np.ascontiguousarray(array, dtype=dtype).reshape(array.shape)
    kept = np.isfinite(cast) == np.isfinite(array) if dtype.kind == "f" else cast == array
    if not np.all(kept):
        raise _refused(port, f"{whose} has values out of range")
    return cast


@dataclass(frozen=True, slots=True)
class _ImageLayout:
    """How a port of three or four axes holds pictures; None for a length that is the picture's own."""

    channels_first: bool
    channels: int
    rows: int | None
    columns: int | None
    batch: tuple[int, ...]

    def arrange(self, pixels: Array) -> Array:
        """From (rows, columns, channels) to the port's axes, repeated over the batch."""
        picture = np.moveaxis(pixels, -1, 0) if self.channels_first else pixels
        return np.broadcast_to(picture, (*self.batch, *picture.shape))


def _image_layout(port: Port, shape: Sequence[int | str | None]) -> _ImageLayout:
    if len(shape) in IMAGE_RANKS and port.dtype != "string":
        lengths = [axis if isinstance(axis, int) else None for axis in shape]
        batch = tuple(length or 1 for length in lengths[:-3])
        first, second, third = lengths[-3:]
        if first in IMAGE_CHANNELS:
            return _ImageLayout(True, first or 1, second, third, batch)
        if third in IMAGE_CHANNELS:
            return _ImageLayout(False, third or 1, first, second, batch)
    raise _refused(port, "not an image")


def _read_image(port: Port, path: Path, options: InputOptions) -> Array:
    """The picture, scaled to the port's height and width: 0..255 for images and whole numbers, 0..1 for floats."""
    layout = _image_layout(port, options.shapes.get(port.name) or port.usual or port.shape)
    pixels = _pixels(port, path, layout)
    if port.color == "BGR":
        pixels = pixels[..., ::-1]
    dtype = _dtype(port)
    scaled = pixels / np.float32(WHITE) if dtype.kind == "f" and port.kind != "image" else pixels
    array = np.ascontiguousarray(layout.arrange(scaled), dtype=dtype)
    check_shape(port, array.shape, f"--input {clean(str(path))}")
    return array


def _pixels(port: Port, path: Path, layout: _ImageLayout) -> npt.NDArray[np.uint8]:
    """Shape (rows, columns, channels)."""
    try:
        from PIL import Image
    except ImportError as error:
        raise HettopError(
            "input", f"{clean(port.name)}: reading {clean(str(path))} needs Pillow", "pip install 'hettop[images]'"
        ) from error
    try:
        with Image.open(path) as picture:
            size = (layout.columns or picture.width, layout.rows or picture.height)
            resized = picture.convert("L" if layout.channels == 1 else "RGB").resize(size)
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise _unreadable(port, path, error) from error
    return np.asarray(resized, dtype=np.uint8).reshape(size[1], size[0], layout.channels)


def _dtype(port: Port) -> np.dtype[Any]:
    try:
        dtype = np.dtype(port.dtype)
    except TypeError:
        dtype = np.dtype(np.void)
    if dtype.kind not in FROM_KINDS:  # bfloat16 and its kin exist once some package has registered them
        raise _refused(port, f"cannot generate values of type {clean(port.dtype)}")
    return dtype


def _unreadable(port: Port, path: Path, error: Exception) -> HettopError:
    return _refused(port, f"cannot read --input {clean(str(path))}: {clean(str(error))}")


def _refused(port: Port, why: str) -> HettopError:
    return HettopError("input", f"{clean(port.name)}: {why}", f"the model expects {clean(port.describe())}")
