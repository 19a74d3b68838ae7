"""What a compiled Core ML model takes and gives, as the `metadata.json` inside it says.

The compiled form has no public format; this file of it is the one part that is text. Core ML writes every value in it
as a string: `"shape" : "[1, 3]"`, `"isOptional" : "0"`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hettop.errors import HettopError
from hettop.models.mil.package import FunctionPorts
from hettop.models.mil.ports import UNKNOWN, Color, Kind, Port
from hettop.text import clean

METADATA = "metadata.json"
LARGEST = 16 << 20
"""A list of ports has a few kilobytes."""

KINDS: Mapping[str, Kind] = {
    "MultiArray": "array",
    "Image": "image",
    "State": "state",
    "Double": "scalar",
    "Int64": "scalar",
    "String": "scalar",
    "Sequence": "sequence",
    "Dictionary": "dictionary",
}
SCALARS = {"Double": "float64", "Int64": "int64", "String": "string"}
DTYPES = {"Float32": "float32", "Float16": "float16", "Double": "float64", "Int32": "int32", "Int8": "int8"}

Ranges = tuple[tuple[int, int | None], ...]
Choices = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class CompiledDescription:
    """The functions of a compiled model, the default one first. `named`: whether it is loaded by a function's name."""

    functions: tuple[FunctionPorts, ...]
    named: bool

    def function(self, name: str | None, model: Path) -> FunctionPorts:
        """The ports of function `name`, or of the default one. Raises HettopError: `input`, naming those there are."""
        if name is None:
            return self.functions[0]
        for function in self.functions:
            if function.name == name:
                return function
        known = clean(", ".join(function.name for function in self.functions))
        raise HettopError("input", f"{clean(model.name)} has no function {clean(name)!r}", f"its functions: {known}")


def read_metadata(model: Path) -> CompiledDescription:
    """The description inside the folder `model`. Raises HettopError: `format` where there is none that makes sense."""
    document = _document(model)
    try:
        functions = [_function(each, each["name"]) for each in document.get("functions") or []]
        default = document.get("defaultFunctionName")
        functions.sort(key=lambda function: function.name != default)
        if functions:
            return CompiledDescription(tuple(functions), named=True)
        return CompiledDescription((_function(document, "main"),), named=False)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise _senseless(model, f"{type(error).__name__}: {error}") from error


def _document(model: Path) -> Any:
    path = model / METADATA
    try:
        if path.stat().st_size > LARGEST:
            raise _senseless(model, f"{path.stat().st_size:,} bytes")
        parsed = json.loads(path.read_bytes())
    except OSError as error:
        raise HettopError(
            "format",
            f"{clean(model.name)} has no {METADATA}, which describes the inputs",
            "pass the .mlpackage or .mlmodel it was compiled from",
        ) from error
    except (ValueError, RecursionError) as error:
        raise _senseless(model, str(error)) from error
    document = parsed[0] if isinstance(parsed, list) and parsed else parsed
    if not isinstance(document, dict):
        raise _senseless(model, "not an object")
    return document


def _senseless(model: Path, why: str) -> HettopError:
    return HettopError(
        "format",
        f"{clean(model.name)}: invalid {METADATA}: {clean(why)}",
        "compile the model again, or pass the package it was compiled from",
    )


def _function(schema: Any, name: str) -> FunctionPorts:
    inputs, outputs, states = (
        tuple(_port(each) for each in schema.get(part) or []) for part in ("inputSchema", "outputSchema", "stateSchema")
    )
    return FunctionPorts(str(name), inputs, outputs, states)


def _port(entry: Mapping[str, Any]) -> Port:
    kind = KINDS.get(entry["type"], "array")
    optional = entry.get("isOptional") == "1"
    name = str(entry["name"])
    if kind == "image":
        return _image(entry, name, optional)
    if kind in {"array", "state"}:
        shape = tuple(int(length) for length in _list(entry, "shape"))
        dtype = DTYPES.get(entry.get("dataType", ""), UNKNOWN)
        return Port(
            name, kind, dtype, shape, _ranges(entry, "shapeRange"), _choices(entry, "enumeratedShapes"), optional
        )
    dtype = SCALARS.get(entry["type"], DTYPES.get(entry.get("dataType", ""), UNKNOWN))
    return Port(name, kind, dtype, (), optional=optional)


def _image(entry: Mapping[str, Any], name: str, optional: bool) -> Port:
    """Sizes are written width first, an image of a port is (1, channels, height, width)."""
    color = _color(entry["colorspace"])
    channels = 3 if color in {"RGB", "BGR"} else 1
    sizes = tuple((1, channels, height, width) for width, height in _choices(entry, "enumeratedSizes"))
    ranges = _ranges(entry, "sizeRange")
    return Port(
        name,
        "image",
        "float16" if color == "GRAYSCALE_FLOAT16" else "uint8",
        (1, channels, int(entry["height"]), int(entry["width"])),
        ((1, 1), (channels, channels), ranges[1], ranges[0]) if ranges else (),
        sizes,
        optional,
        color=color,
    )


def _color(colorspace: str) -> Color:
    if colorspace.startswith("Grayscale"):
        return "GRAYSCALE_FLOAT16" if "16" in colorspace else "GRAYSCALE"
    return "BGR" if colorspace == "BGR" else "RGB"


def _list(entry: Mapping[str, Any], name: str) -> list[Any]:
    parsed = json.loads(entry[name]) if name in entry else []
    if not isinstance(parsed, list):
        raise TypeError(f"{name} is not a list")
    return parsed


def _ranges(entry: Mapping[str, Any], name: str) -> Ranges:
    # An upper bound of -1 is how Core ML writes "no limit".
    return tuple((int(low), int(high) if high >= 0 else None) for low, high in _list(entry, name))


def _choices(entry: Mapping[str, Any], name: str) -> Choices:
    parsed = _list({name: f"[{entry[name]}]"}, name) if name in entry else []
    # Some versions write the shapes side by side, without brackets around them all.
    shapes = parsed[0] if len(parsed) == 1 and parsed[0] and isinstance(parsed[0][0], list) else parsed
    return tuple(tuple(int(length) for length in shape) for shape in shapes)
