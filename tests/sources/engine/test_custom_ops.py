"""Libraries of custom operators reach every session of ONNX Runtime; onnxruntime-extensions by itself."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from onnx import helper

from hettop.errors import HettopError
from hettop.measurement.arguments import model_arguments
from hettop.measurement.options import ModelOptions
from hettop.measurement.setup import prepare
from hettop.models.cache import ModelCache
from hettop.sources.engine.backend import LoadOptions, RealClock
from hettop.sources.engine.backends.onnxruntime import OnnxRuntimeBackend
from hettop.sources.engine.custom_ops import check_libraries, register_custom_ops
from tests.cli.running import hettop
from tests.sources.engine.backends import onnx_files
from tests.sources.engine.backends.onnx_files import FLOAT

SOURCE = """
#include <cstdio>
#include <cstdlib>
/* Defines no operator, and notes that it was asked for some. */
extern "C" void* RegisterCustomOps(void*, const void*) {
  std::FILE* file = std::fopen(NOTES, "a");
  std::fputs("asked\\n", file);
  std::fclose(file);
  return nullptr;
}
"""


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A library that writes a line to `asked` for each session that registers it."""
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    source = tmp_path / "ops.cc"
    source.write_text(SOURCE)
    target = tmp_path / "ops.so"
    notes = f'-DNOTES="{tmp_path / "asked"}"'
    subprocess.run([compiler, "-shared", "-fPIC", notes, "-o", target, source], check=True)
    return target


def asked(folder: Path) -> int:
    notes = folder / "asked"
    return len(notes.read_text().splitlines()) if notes.exists() else 0


@pytest.mark.parametrize(
    ("command", "sessions"),
    [
        (("bench", "--units", "cpu@1", "-n", "3", "--warmup", "1", "--power", "none"), 1),
        (("layers", "--unit", "cpu@1", "-n", "3"), 2),
        (("coexec", "--units", "cpu@1,cpu@2", "--duration", "1s", "--power", "none"), 2),
    ],
)
def test_every_session_registers_the_library(
    library: Path, tmp_path: Path, command: tuple[str, ...], sessions: int
) -> None:
    model = onnx_files.relu(tmp_path / "m.onnx")
    done = hettop(command[0], model, *command[1:], "--custom-ops", str(library), cwd=tmp_path)
    assert done.returncode in (0, 4), done.stderr
    assert asked(tmp_path) >= sessions


def test_a_recording_names_the_library_and_its_content(library: Path, tmp_path: Path) -> None:
    model = onnx_files.relu(tmp_path / "m.onnx")
    arguments = ("--units", "cpu@1", "-n", "3", "--power", "none", "--record", "r.jsonl")
    hettop("bench", model, *arguments, "--custom-ops", str(library), cwd=tmp_path)
    header = json.loads((tmp_path / "r.jsonl").read_text().splitlines()[0])
    (found,) = header["settings"]["custom_ops"]
    assert found["name"] == "ops.so"
    assert len(found["sha256"]) == 64


def test_a_library_is_found_from_every_folder_and_must_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ops.so").write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    assert check_libraries(["ops.so"]) == (str(tmp_path / "ops.so"),)
    with pytest.raises(HettopError, match=r"no such library of custom operators: absent\.so"):
        check_libraries(["absent.so"])


def test_a_file_that_is_no_such_library_is_named(tmp_path: Path) -> None:
    (tmp_path / "ops.so").write_text("no library")
    model = Path(onnx_files.relu(tmp_path / "m.onnx"))
    with pytest.raises(HettopError) as caught:
        register_custom_ops(onnxruntime.SessionOptions(), model, [str(tmp_path / "ops.so")])
    assert caught.value.kind == "load"
    assert caught.value.message.startswith("cannot load the custom operators of ops.so: ")


def test_other_backends_refuse_libraries_and_the_option_is_handed_on(tmp_path: Path) -> None:
    options = ModelOptions(model=onnx_files.relu(tmp_path / "m.onnx"), backend="simulated", custom_ops=("ops.so",))
    with pytest.raises(HettopError, match="loads no libraries of custom operators"):
        prepare(options, None, 2)
    assert model_arguments(options)[-2:] == ["--custom-ops", "ops.so"]


def negative_and_positive(path: Path) -> str:
    """`NegPos` of onnxruntime-extensions: what is below zero, and what is above."""
    node = helper.make_node("NegPos", ["x"], ["negative", "positive"], domain="ai.onnx.contrib")
    outputs = [("negative", FLOAT, (3,)), ("positive", FLOAT, (3,))]
    return onnx_files.save(path, [node], [("x", FLOAT, (3,))], outputs, domains={"ai.onnx.contrib": 1})


def backend(folder: Path) -> OnnxRuntimeBackend:
    return OnnxRuntimeBackend(RealClock(), ModelCache(folder / "cache", folder / "fallback"))


def test_extensions_are_used_where_a_model_names_their_domain(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime_extensions", reason="needs onnxruntime-extensions")
    engine = backend(tmp_path)
    engine.load(negative_and_positive(tmp_path / "m.onnx"), "CPU_ONLY", LoadOptions())
    engine.predict({"x": np.array([-1, 0, 2], np.float32)})
    found = engine.outputs()
    assert (found["negative"].tolist(), found["positive"].tolist()) == ([-1, 0, 0], [0, 0, 2])


def test_extensions_that_are_not_installed_are_named_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(HettopError) as caught:
        backend(tmp_path).load(negative_and_positive(tmp_path / "m.onnx"), "CPU_ONLY", LoadOptions())
    assert caught.value.kind == "unsupported-op"
    assert caught.value.hint == "pip install 'hettop[ops]'"
