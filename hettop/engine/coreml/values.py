"""Inputs as coremltools takes them, made once and kept; outputs as arrays.

Knows ports and the values of both sides, and neither models nor the framework.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hettop.engine.backend import Feed, Port
from hettop.errors import HettopError
from hettop.text import clean

Array = npt.NDArray[Any]

TAKEN_KINDS = frozenset({"array", "image", "scalar"})


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
    """The value of one input as coremltools takes it: a Python number or text, an image, an array.

    Half-precision arrays go in as float32: coremltools would make them so anew at each call.
    """
    if port.kind == "scalar":
        return np.asarray(array).item()
    if port.kind == "image":
        return _picture(port, array)
    return np.ascontiguousarray(array, dtype=np.float32 if array.dtype == np.float16 else array.dtype)


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
