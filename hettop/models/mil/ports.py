"""Inputs, outputs and states of a Core ML model by its description: names, kinds, types, and shapes that it accepts.

Reads the description's messages.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from hettop.models.mil.dtypes import ARRAY_TYPES, FLOAT16, FLOAT64, INT64, STRING, UINT8
from hettop.models.mil.proto import Message

Kind = Literal["array", "image", "scalar", "sequence", "dictionary", "state"]
Color = Literal["RGB", "BGR", "GRAYSCALE", "GRAYSCALE_FLOAT16"]

_COLORS: dict[int, Color] = {10: "GRAYSCALE", 20: "RGB", 30: "BGR", 40: "GRAYSCALE_FLOAT16"}
UNKNOWN = "unknown"
_SCALARS = {"int64Type": INT64, "doubleType": FLOAT64, "stringType": STRING}
_NUMPY_BYTES = {"float16": 2, "float32": 4, "float64": 8, "int8": 1, "uint8": 1, "int32": 4, "int64": 8}


@dataclass(frozen=True, slots=True)
class Port:
    """One input, output or state.

    dtype: numpy's name, or `string`; of an image its pixels' (uint8, or float16); of a dictionary its keys'; of a
        sequence its elements'; `unknown` if the description does not say.
    shape: the default shape, () for a scalar, sequence or dictionary; None where the description gives no size. An
        image is (1, channels, height, width), as the program behind it sees it.
    ranges: per axis the least and greatest size (None: no limit), empty if the shape is not a range.
    choices: the enumerated shapes, empty if there are none.
    optional, default: whether it may be left out, and the value that then fills it.
    color: of an image, else None.
    """

    name: str
    kind: Kind
    dtype: str
    shape: tuple[int | None, ...]
    ranges: tuple[tuple[int, int | None], ...] = ()
    choices: tuple[tuple[int, ...], ...] = ()
    optional: bool = False
    default: float | None = None
    color: Color | None = None
    description: str = ""

    @property
    def flexible(self) -> bool:
        return bool(self.choices) or any(low != high for low, high in self.ranges) or None in self.shape

    @property
    def nbytes(self) -> int | None:
        """Bytes of one value of the default shape; None if a size or the type is unknown. Nothing is allocated."""
        item = _NUMPY_BYTES.get(self.dtype)
        sizes = [dim for dim in self.shape if dim is not None]
        return math.prod(sizes) * item if item is not None and len(sizes) == len(self.shape) else None


def read_port(feature: Message) -> Port:
    """The port a FeatureDescription describes."""
    port = _typed_port(feature.name, feature.type)
    return replace(port, optional=bool(feature.type.isOptional), description=feature.shortDescription)


def _typed_port(name: str, kind: Message) -> Port:
    match kind.WhichOneof("Type"):
        case "multiArrayType":
            port = _array_port(name, kind.multiArrayType, "array")
        case "stateType":
            port = _array_port(name, kind.stateType.arrayType, "state")
        case "imageType":
            port = _image_port(name, kind.imageType)
        case "sequenceType":
            element = STRING if kind.sequenceType.WhichOneof("Type") == "stringType" else INT64
            limits = (_range(kind.sequenceType.sizeRange),) if kind.sequenceType.HasField("sizeRange") else ()
            port = Port(name, "sequence", element.name, (), limits)
        case "dictionaryType":
            key = STRING if kind.dictionaryType.WhichOneof("KeyType") == "stringKeyType" else INT64
            port = Port(name, "dictionary", key.name, ())
        case scalar if scalar in _SCALARS:
            port = Port(name, "scalar", _SCALARS[scalar].name, ())
        case _:
            port = Port(name, "array", UNKNOWN, ())
    return port


def _array_port(name: str, array: Message, kind: Kind) -> Port:
    element = ARRAY_TYPES.get(array.dataType)
    ranges: tuple[tuple[int, int | None], ...] = ()
    choices: tuple[tuple[int, ...], ...] = ()
    if array.WhichOneof("ShapeFlexibility") == "enumeratedShapes":
        choices = tuple(tuple(int(size) for size in item.shape) for item in array.enumeratedShapes.shapes)
    elif array.WhichOneof("ShapeFlexibility") == "shapeRange":
        ranges = tuple(_range(item) for item in array.shapeRange.sizeRanges)
    shape: tuple[int | None, ...] = tuple(int(size) for size in array.shape)
    if not shape:
        shape = choices[0] if choices else tuple(low for low, _ in ranges)
    default = array.WhichOneof("defaultOptionalValue")
    return Port(
        name,
        kind,
        element.name if element is not None else UNKNOWN,
        shape,
        ranges,
        choices,
        default=float(getattr(array, default)) if default is not None else None,
    )


def _image_port(name: str, image: Message) -> Port:
    color = _COLORS.get(image.colorSpace)
    channels = 3 if color in {"RGB", "BGR"} else 1
    ranges: tuple[tuple[int, int | None], ...] = ()
    choices: tuple[tuple[int, ...], ...] = ()
    if image.WhichOneof("SizeFlexibility") == "enumeratedSizes":
        choices = tuple((1, channels, int(size.height), int(size.width)) for size in image.enumeratedSizes.sizes)
    elif image.WhichOneof("SizeFlexibility") == "imageSizeRange":
        sides = (_range(image.imageSizeRange.heightRange), _range(image.imageSizeRange.widthRange))
        ranges = ((1, 1), (channels, channels), *sides)
    dtype = FLOAT16.name if color == "GRAYSCALE_FLOAT16" else UINT8.name
    return Port(name, "image", dtype, (1, channels, int(image.height), int(image.width)), ranges, choices, color=color)


def _range(size: Message) -> tuple[int, int | None]:
    # an upper bound of -1 is how Core ML writes "no limit"
    return int(size.lowerBound), int(size.upperBound) if size.upperBound >= 0 else None
