"""`hettop inspect` prints one JSON document or a page, and refuses in a few lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper

from hettop.cli.main import run
from tests.sources.engine.backends.onnx_files import FLOAT, save

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def model(tmp_path: Path) -> str:
    """A batch of n vectors of 64 times a 64 x 32 matrix."""
    return save(
        tmp_path / "m.onnx",
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        [("x", FLOAT, ("n", 64))],
        [("y", FLOAT, ("n", 32))],
        initializers=[numpy_helper.from_array(np.zeros((64, 32), np.float32), "w")],
    )


def told(capsys: Capture, *arguments: str) -> Any:
    assert run(["inspect", *arguments, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return json.loads(out)


def test_the_document_has_every_key_with_unknown_as_null(model: str, capsys: Capture) -> None:
    document = told(capsys, model)
    assert {name: document[name] for name in ("format", "inputs", "outputs", "ops", "parameters", "macs")} == {
        "format": "onnx",
        "inputs": [{"name": "x", "kind": "array", "dtype": "float32", "shape": [None, 64], "counted_shape": [1, 64]}],
        "outputs": [{"name": "y", "kind": "array", "dtype": "float32", "shape": [None, 32]}],
        "ops": {"MatMul": 1},
        "parameters": 2048,
        "macs": 2048,
    }
    assert (document["weight_bytes"], document["activation_bytes"]) == (8192, 128)
    assert document["operational_intensity"] == pytest.approx(2048 / (256 + 8192 + 128))
    assert document["precision"] == "float32"
    assert (document["functions"], document["state"], document["missing_ops"]) == ([], [], [])
    assert document["requires"] == {"opset": 17}
    assert document["placement"] == dict.fromkeys(("CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE", "ALL"))
    assert "needs Core ML on a Mac" in document["note"]


def test_a_shape_is_counted_as_asked(model: str, capsys: Capture) -> None:
    assert told(capsys, model, "--shape", "x=7,64")["macs"] == 7 * 2048


def test_the_page_says_the_same_in_aligned_lines(model: str, capsys: Capture) -> None:
    assert run(["inspect", model, "--shape", "x=7,64"]) == 0
    page = capsys.readouterr().out
    assert page.splitlines()[:6] == [
        "m.onnx",
        "ONNX · opset 17",
        "",
        "takes        x  float32 [?, 64]  counted as [7, 64]",
        "gives        y  float32 [?, 32]",
        "",
    ]
    for line in (
        "parameters   2,048   8.2 kB stored",
        "MACs         14,336  per call",
        "placement    n/a: needs Core ML on a Mac",
    ):
        assert line in page.splitlines()
    assert all(line == line.rstrip() and len(line) <= 100 for line in page.splitlines())


def test_the_default_model_is_inspected_by_its_name_in_both_forms(capsys: Capture) -> None:
    onnx = told(capsys, "mobilenetv2:32x32")
    coreml = told(capsys, "mobilenetv2:32x32", "--format", "coreml")
    assert onnx["name"] == coreml["name"] == "mobilenetv2:32x32:b1"
    assert (onnx["format"], coreml["format"]) == ("onnx", "mlprogram")
    assert onnx["macs"] == coreml["macs"]
    assert onnx["parameters"] == coreml["parameters"] == 3_487_816
    assert (onnx["precision"], coreml["precision"]) == ("float32", "float16")
    assert coreml["functions"] == ["main"]
    assert coreml["requires"] == {"specification": 6, "deployment target": "iOS 15 / macOS 12"}
    assert coreml["inputs"][0] == {
        "name": "image",
        "kind": "image",
        "dtype": "uint8",
        "shape": [1, 3, 32, 32],
        "counted_shape": [1, 3, 32, 32],
        "color": "RGB",
    }
    assert "synthetic weights" in onnx["note"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["nowhere.onnx"],
        ["mobilenetv2:0x0"],
        ["{model}", "--shape", "x=1,2,3,4"],
        ["{model}", "--shape", "z=1"],
        ["{model}", "--shape", "x"],
        ["{model}", "--shape", "x=999999999,64"],
        ["{model}", "--function", "main"],
        ["{model}", "--format", "coreml"],
        ["{model}", "--format", "tflite"],
        ["{folder}"],
        ["{folder}/broken.mlpackage"],
        ["{folder}/text.mlmodel"],
    ],
    ids=" ".join,
)
def test_wrong_use_and_what_is_no_model_end_in_a_few_lines_and_2(
    arguments: list[str], model: str, tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "broken.mlpackage").mkdir()
    (tmp_path / "text.mlmodel").write_text("hello, I am no model")
    assert run(["inspect", *(text.format(model=model, folder=tmp_path) for text in arguments)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert 0 < len(err.splitlines()) <= 3
    assert "Traceback" not in err
