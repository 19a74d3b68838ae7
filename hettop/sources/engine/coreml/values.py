"""Inputs as coremltools' binding takes them, made once and kept; outputs as arrays.

Knows ports and the values of both sides, and neither models nor the framework.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hettop.errors import HettopError
from hettop.models.ports import Feed, Port
from hettop.text import clean

Array = npt.NDArray[Any]

TAKEN_KINDS = frozenset({"array", "image", "scalar"})

ARRAY_DTYPES = {"float16": "float32", "float32": "float32", "float64": "float64", "int32": "int32", "int8": "int8"}
"""As what arrays are handed to Core ML: the binding takes no others, and reads any order of bytes as the machine's own.

Half precision goes in as float32: coremltools would make it so anew at each call."""


class NativeFeed(Feed):
    """Arrays by name, as every backend's, and in `native` the same values as Core ML takes them.

    Core ML releases inputs on a thread of its own, up to a second after a call: what `native` holds must outlive that.
    """

    __slots__ = ("native",)

    def __init__(self, feed: Mapping[str, Any], ports: Sequence[Port]) -> None:
        super().__init__(feed)
        self.native = {port.name: native_value(port, feed[port.name]) for port in ports if port.name in feed}


def check_kinds(ports: Sequence[Port], model: str) -> None:
    """Raises HettopError: `format`, for an input of a kind that no values are made for."""
    for port in ports:
        if port.kind not in TAKEN_KINDS:
            raise HettopError(
                "format", f"{model}: input {clean(port.name)} is a {port.kind}; only arrays and images can be made up"
            )


def native_value(port: Port, array: Array) -> Any:
    """The value of one input as the binding takes it: a Python number or text, an image, an array.

    Raises HettopError: `input`, for an array of a type that Core ML has not.
    """
    if port.kind == "scalar":
        return np.asarray(array).item()
    if port.kind == "image":
        return _picture(port, array)
    if array.dtype.name not in ARRAY_DTYPES:
        raise HettopError("input", f"{clean(port.name)}: Core ML has no arrays of type {array.dtype.name}")
    # The binding asks for memory it may write to, and refuses a mapped file or a view of an image without saying why.
    return np.require(np.atleast_1d(array), ARRAY_DTYPES[array.dtype.name], ["C", "A", "W", "E"])


def output_array(value: Any) -> Array:
    """What a prediction gave as an array: an image's pixels, a number, a dictionary's values sorted by its keys."""
    if isinstance(value, Mapping):
        return np.array([value[key] for key in sorted(value)])
    return np.asarray(value)


def _picture(port: Port, array: Array) -> Any:
    """A PIL image: `RGB` for both orders of colours (coremltools turns it round for BGR), `L`, or `F`."""
    try:
        from PIL import Image
    except ImportError as error:
        raise HettopError(
            "input", f"{clean(port.name)}: Core ML takes images through Pillow", "pip install pillow"
        ) from error
    pixels = array[0]
    if port.color == "GRAYSCALE_FLOAT16":
        return Image.fromarray(np.ascontiguousarray(pixels[0], np.float32))
    if port.color == "GRAYSCALE":
        return Image.fromarray(np.ascontiguousarray(pixels[0]))
    ordered = pixels[::-1] if port.color == "BGR" else pixels
    return Image.fromarray(np.ascontiguousarray(np.moveaxis(ordered, 0, -1)))
