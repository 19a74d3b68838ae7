"""A compiled model's own description gives the ports that its package had."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hettop.errors import HettopError
from hettop.models.mil.package import FunctionPorts
from hettop.models.mil.ports import Port
from hettop.sources.engine.coreml.metadata import read_metadata

IMAGE = {
    "height": "16",
    "colorspace": "BGR",
    "isOptional": "0",
    "width": "8",
    "isColor": "1",
    "formattedType": "Image (Color 8 × 16)",
    "hasSizeFlexibility": "1",
    "type": "Image",
    "shortDescription": "",
    "name": "picture",
}
ARRAY = {
    "hasShapeFlexibility": "1",
    "isOptional": "1",
    "dataType": "Float16",
    "formattedType": "MultiArray (Float16 1 × 3)",
    "shape": "[1, 3]",
    "name": "x",
    "type": "MultiArray",
}


def compiled(folder: Path, document: Any) -> Path:
    model = folder / "m.mlmodelc"
    model.mkdir(exist_ok=True)
    (model / "metadata.json").write_text(document if isinstance(document, str) else json.dumps(document))
    return model


def only(folder: Path, entry: dict[str, Any]) -> Port:
    document = [{"inputSchema": [entry], "outputSchema": [], "generatedClassName": "m"}]
    return read_metadata(compiled(folder, document)).functions[0].inputs[0]


def test_a_range_of_shapes_and_of_sizes_is_read(tmp_path: Path) -> None:
    port = only(tmp_path, {**ARRAY, "shapeFlexibility": "1 × 2...", "shapeRange": "[[1, 1], [2, -1]]"})
    assert port == Port("x", "array", "float16", (1, 3), ranges=((1, 1), (2, None)), optional=True)
    port = only(tmp_path, {**IMAGE, "sizeRange": "[[8, 32], [16, 64]]"})
    assert port == Port(
        "picture", "image", "uint8", (1, 3, 16, 8), ranges=((1, 1), (3, 3), (16, 64), (8, 32)), color="BGR"
    )


@pytest.mark.parametrize("outer", ["[[1, 3], [5, 7]]", "[1, 3], [5, 7]"])
def test_enumerated_shapes_are_read_with_and_without_brackets_around_them(outer: str, tmp_path: Path) -> None:
    assert only(tmp_path, {**ARRAY, "enumeratedShapes": outer}).choices == ((1, 3), (5, 7))
    assert only(tmp_path, {**IMAGE, "enumeratedSizes": outer}).choices == ((1, 3, 3, 1), (1, 3, 7, 5))


@pytest.mark.parametrize(
    ("word", "color", "dtype"),
    [("RGB", "RGB", "uint8"), ("Grayscale", "GRAYSCALE", "uint8"), ("Grayscale16Half", "GRAYSCALE_FLOAT16", "float16")],
)
def test_colours_are_read(word: str, color: str, dtype: str, tmp_path: Path) -> None:
    port = only(tmp_path, {**IMAGE, "colorspace": word})
    assert (port.color, port.dtype) == (color, dtype)


def test_scalars_and_states_are_read(tmp_path: Path) -> None:
    assert only(tmp_path, {"name": "n", "type": "Int64"}) == Port("n", "scalar", "int64", ())
    state = {"name": "memory", "type": "State", "dataType": "Float16", "shape": "[4]"}
    document = [{"inputSchema": [], "outputSchema": [], "stateSchema": [state]}]
    (function,) = read_metadata(compiled(tmp_path, document)).functions
    assert function.states == (Port("memory", "state", "float16", (4,)),)


def test_the_default_function_comes_first_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    functions: list[dict[str, object]] = [
        {"name": name, "inputSchema": [], "outputSchema": []} for name in ("one", "two")
    ]
    found = read_metadata(compiled(tmp_path, [{"functions": functions, "defaultFunctionName": "two"}]))
    assert found.named
    assert found.function(None, tmp_path) == FunctionPorts("two", (), (), ())
    assert found.function("one", tmp_path).name == "one"
    with pytest.raises(HettopError) as caught:
        found.function("three", tmp_path)
    assert (caught.value.kind, caught.value.hint) == ("input", "its functions: two, one")


@pytest.mark.parametrize(
    "document",
    [
        "{",
        "[]",
        "7",
        [{"inputSchema": [{"name": "x"}]}],
        [{"inputSchema": 7}],
        [{"inputSchema": [{**ARRAY, "shape": "x"}]}],
    ],
)
def test_a_description_that_makes_no_sense_is_refused_with_what_to_do(document: Any, tmp_path: Path) -> None:
    with pytest.raises(HettopError) as caught:
        read_metadata(compiled(tmp_path, document))
    assert caught.value.kind == "format"
    assert "invalid metadata.json" in caught.value.message


def test_a_model_without_a_description_asks_for_its_package(tmp_path: Path) -> None:
    (tmp_path / "m.mlmodelc").mkdir()
    with pytest.raises(HettopError) as caught:
        read_metadata(tmp_path / "m.mlmodelc")
    assert (caught.value.kind, "package" in caught.value.hint) == ("format", True)
