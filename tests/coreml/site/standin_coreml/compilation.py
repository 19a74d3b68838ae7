"""Compiles a model to a folder: ONNX for each function, its source, and `metadata.json` as Core ML writes it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import faults
from .behaviour import settings

SOURCE = "standin-source"
DTYPES = {"float32": "Float32", "float16": "Float16", "float64": "Double", "int32": "Int32", "int8": "Int8"}
SCALARS = {"float64": "Double", "int64": "Int64", "string": "String"}


def compile_model(path: str) -> str:
    """The new folder, which ends in `.mlmodelc`. Compiling points fd 1 at /dev/null, as the real one does."""
    asked = settings()
    with _stdout_lost(for_good=asked.stdout_lost):
        faults.hold(asked.compile_ms)
        if asked.noise_in_compile:
            faults.shout("compiling")
        if asked.hang_in_compile:
            faults.hang()
        faults.die(asked.die_in_compile)
        faults.raise_as_framework(asked.raise_in_compile)
        source = Path(path)
        if not source.exists():
            raise RuntimeError(f"Error compiling model: {path} is not there")
        return str(_written(source))


def source_of(compiled: str) -> Path:
    return next((Path(compiled) / SOURCE).iterdir())


@contextlib.contextmanager
def _stdout_lost(*, for_good: bool) -> Iterator[None]:
    kept, nothing = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)
    try:
        yield
    finally:
        if not for_good:
            os.dup2(kept, 1)
        os.close(kept)


def _written(source: Path) -> Path:
    from hettop.models.mil.package import open_package
    from hettop.models.mil.translate import translate

    place = Path(tempfile.mkdtemp(prefix="standin-")) / f"{source.stem}.mlmodelc"
    (place / SOURCE).mkdir(parents=True)
    copy = shutil.copytree if source.is_dir() else shutil.copy
    copy(source, place / SOURCE / source.name)
    package = open_package(source)
    if package.kind == "mlprogram":
        for function in package.functions:
            translated = translate(package, function.name).model
            (place / f"{function.name}.onnx").write_bytes(translated.SerializeToString())
    (place / "coremldata.bin").write_bytes(package.spec.description.SerializeToString())
    (place / "metadata.json").write_text(json.dumps([_metadata(package)], indent=2))
    return place


def _metadata(package: Any) -> dict[str, Any]:
    functions = [_schema(function) for function in package.functions]
    named = bool(package.spec.description.functions)
    document = {
        "metadataOutputVersion": "3.0",
        "specificationVersion": package.specification,
        "isUpdatable": "0",
        "generatedClassName": package.path.stem,
        "method": "predict",
        **functions[0],
    }
    if named:
        document |= {"functions": functions, "defaultFunctionName": package.functions[0].name}
    return document


def _schema(function: Any) -> dict[str, Any]:
    return {
        "name": function.name,
        "inputSchema": [_port(port) for port in function.inputs],
        "outputSchema": [_port(port) for port in function.outputs],
        "stateSchema": [_port(port) for port in function.states],
    }


def _port(port: Any) -> dict[str, str]:
    """One entry with all values as text, in the order of letters that Core ML's own writer has."""
    entry = {"name": port.name, "isOptional": "01"[port.optional], "shortDescription": ""}
    if port.kind == "image":
        height, width = port.shape[2:]
        color = {"GRAYSCALE": "Grayscale", "GRAYSCALE_FLOAT16": "Grayscale16Half"}.get(port.color, port.color)
        entry |= {"type": "Image", "width": str(width), "height": str(height), "colorspace": color}
        if port.choices:
            entry["enumeratedSizes"] = _lists((width, height) for _, _, height, width in port.choices)
        if port.ranges:
            entry["sizeRange"] = f"[{_lists([_range(port.ranges[3]), _range(port.ranges[2])])}]"
        return entry
    if port.kind in {"array", "state"}:
        entry |= {
            "type": "State" if port.kind == "state" else "MultiArray",
            "dataType": DTYPES.get(port.dtype, "Invalid"),
        }
        entry["shape"] = str([length for length in port.shape if length is not None])
        if port.choices:
            entry["enumeratedShapes"] = f"[{_lists(port.choices)}]"
        if port.ranges:
            entry["shapeRange"] = f"[{_lists(map(_range, port.ranges))}]"
        return entry
    return entry | {"type": SCALARS.get(port.dtype, "Invalid") if port.kind == "scalar" else port.kind.capitalize()}


def _range(limits: Any) -> tuple[int, int]:
    low, high = limits
    return low, -1 if high is None else high


def _lists(shapes: Any) -> str:
    return ", ".join(str(list(shape)) for shape in shapes)
