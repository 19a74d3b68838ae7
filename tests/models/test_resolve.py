"""A model's name is understood before anything is started, or refused with a way out."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.models.cache import ModelCache, default_cache
from hettop.models.resolve import core_ml_file, model_file, model_package, resolve


@pytest.fixture
def cache(tmp_path: Path) -> ModelCache:
    return ModelCache(tmp_path / "cache", tmp_path / "fallback")


def refused(name: str, cache: ModelCache) -> HettopError:
    with pytest.raises(HettopError) as caught:
        resolve(name)
    with pytest.raises(HettopError) as again:
        model_file(name, cache)
    assert again.value.kind == caught.value.kind
    assert caught.value.hint
    return caught.value


def test_the_default_model_is_known_before_it_is_built() -> None:
    model = resolve("mobilenetv2")
    assert model.name == "mobilenetv2:224x224:b1"
    assert (model.path, model.source) == (None, model.name)
    assert (model.parameters, model.macs) == (3_487_816, 300_774_272)
    assert "synthetic weights" in model.note


@pytest.mark.parametrize("build", [model_file, model_package])
def test_building_the_default_model_changes_nothing_of_what_its_name_means(
    build: Callable[[str, ModelCache], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if build is model_package:
        pytest.importorskip("coremltools", reason="coremltools is not installed")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    before = resolve("mobilenetv2:32x32")
    assert build("mobilenetv2:32x32", default_cache()).exists()
    assert resolve("mobilenetv2:32x32:b1") == before


def test_the_file_of_the_default_model_holds_its_parameters(cache: ModelCache) -> None:
    parameters = resolve("mobilenetv2:32x32").parameters
    path = model_file("mobilenetv2:32x32", cache)
    assert path.stat().st_size == pytest.approx(4 * parameters if parameters else 0, rel=0.01)


def test_variants_have_identities_of_their_own() -> None:
    sums = {resolve(name).sha256 for name in ("mobilenetv2", "mobilenetv2:b2", "mobilenetv2:224x225")}
    assert len(sums) == 3


def test_a_file_is_known_by_its_content(cache: ModelCache, tmp_path: Path) -> None:
    path = tmp_path / "Net.ONNX"
    path.write_bytes(b"whatever")
    model = resolve(str(path))
    assert model.path == path == model_file(str(path), cache)
    assert model.sha256 == hashlib.sha256(b"whatever").hexdigest()
    assert (model.name, model.source) == ("Net.ONNX", str(path))
    assert (model.parameters, model.macs) == (None, None)


def test_a_link_to_a_file_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "net.onnx").write_bytes(b"whatever")
    (tmp_path / "link.onnx").symlink_to(tmp_path / "net.onnx")
    assert resolve(str(tmp_path / "link.onnx")).path == tmp_path / "link.onnx"


@pytest.mark.parametrize("name", ["nowhere.onnx", "mobilenet", "MobileNetV2", "", "a\0b.onnx", "nowhere.mlpackage"])
def test_what_is_not_there_is_missing(name: str, cache: ModelCache) -> None:
    error = refused(name, cache)
    assert error.kind == "missing"
    assert "mobilenetv2" in error.hint


def test_a_path_through_a_file_is_missing(cache: ModelCache, tmp_path: Path) -> None:
    (tmp_path / "net.onnx").write_bytes(b"whatever")
    assert refused(str(tmp_path / "net.onnx" / "x.onnx"), cache).kind == "missing"


def classifier(path: Path) -> Path:
    """The smallest file that is a Core ML model, of a kind without weights."""
    model = importlib.import_module("coremltools.proto.Model_pb2").Model(specificationVersion=4)
    model.description.input.add(name="x").type.doubleType.SetInParent()
    model.glmClassifier.weights.add(value=[1.0])
    path.write_bytes(model.SerializeToString())
    return path


def test_a_core_ml_file_is_known_by_its_content_and_says_how_it_would_run(cache: ModelCache, tmp_path: Path) -> None:
    path = classifier(tmp_path / "net.mlmodel")
    model = resolve(str(path))
    assert (model.path, model.parameters) == (path, None)
    assert model.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert model.note == "feature model translated to ONNX"
    assert resolve(str(path), translated=False).note == ""
    assert model_file(str(path), cache) == path


def test_a_package_is_known_by_all_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "net.mlpackage"
    (folder / "Data").mkdir(parents=True)
    classifier(folder / "Data" / "model.mlmodel")
    manifest = {"rootModelIdentifier": "a", "itemInfoEntries": {"a": {"path": "model.mlmodel"}}}
    (folder / "Manifest.json").write_text(json.dumps(manifest))
    before = resolve(str(folder))
    assert before.path == folder
    (folder / "Data" / "readme.txt").write_text("new")
    assert resolve(str(folder)).sha256 != before.sha256


def test_a_compiled_model_has_no_public_format(cache: ModelCache, tmp_path: Path) -> None:
    (tmp_path / "net.mlmodelc").mkdir()
    error = refused(str(tmp_path / "net.mlmodelc"), cache)
    assert (error.kind, "compiled" in error.message) == ("format", True)
    assert ".mlpackage" in error.hint


def test_a_compiled_model_is_taken_where_core_ml_itself_runs_it(tmp_path: Path, cache: ModelCache) -> None:
    folder = tmp_path / "net.mlmodelc"
    folder.mkdir()
    for look in (lambda: resolve(str(folder), translated=False), lambda: core_ml_file(str(folder), cache)):
        with pytest.raises(HettopError, match="not a compiled model"):
            look()
    (folder / "coremldata.bin").write_bytes(b"compiled")
    model = resolve(str(folder), translated=False)
    assert (model.path, model.note) == (folder, "")
    assert core_ml_file(str(folder), cache) == folder
    assert "--backend coreml" in refused(str(folder), cache).hint


@pytest.mark.parametrize("suffix", [".mlpackage", ".mlmodel"])
def test_a_core_ml_file_that_is_none_is_refused(suffix: str, cache: ModelCache, tmp_path: Path) -> None:
    (tmp_path / f"folder{suffix}").mkdir()
    (tmp_path / f"empty{suffix}").touch()
    (tmp_path / f"text{suffix}").write_bytes(b"hello, I am no model " * 20)
    (tmp_path / f"zip{suffix}").write_bytes(b"PK\x03\x04" + bytes(100))
    os.mkfifo(tmp_path / f"pipe{suffix}")
    for name in ("folder", "empty", "text", "zip", "pipe"):
        assert refused(str(tmp_path / f"{name}{suffix}"), cache).kind in ("format", "missing"), name


def test_a_folder_an_empty_file_and_an_unknown_kind_are_refused(cache: ModelCache, tmp_path: Path) -> None:
    (tmp_path / "folder.onnx").mkdir()
    (tmp_path / "empty.onnx").touch()
    (tmp_path / "net.tflite").write_bytes(b"whatever")
    (tmp_path / "net.ort").write_bytes(b"whatever")
    for name, why in (
        ("folder.onnx", "folder"),
        ("empty.onnx", "empty"),
        ("net.tflite", "unknown model format"),
        ("net.ort", "ONNX Runtime's own format"),
    ):
        error = refused(str(tmp_path / name), cache)
        assert error.kind == "format"
        assert why in error.message


def test_a_recording_is_named_one_whatever_its_suffix(cache: ModelCache, tmp_path: Path) -> None:
    (tmp_path / "m2.txt").write_bytes(b'{"k":"header","t":0}\n')
    (tmp_path / "m2.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    for name in ("m2.txt", "m2.jsonl.zst"):
        assert "this is a recording: hettop replay" in refused(str(tmp_path / name), cache).hint


def test_a_pipe_is_refused_without_waiting_for_it(cache: ModelCache, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.onnx")
    assert "regular file" in refused(str(tmp_path / "pipe.onnx"), cache).message


def test_a_name_that_is_too_long_is_an_error_in_words(cache: ModelCache) -> None:
    assert refused("x" * 5000 + ".onnx", cache).kind == "io"


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_says_so(tmp_path: Path) -> None:
    (tmp_path / "net.onnx").write_bytes(b"whatever")
    (tmp_path / "net.onnx").chmod(0)
    with pytest.raises(HettopError) as caught:
        resolve(str(tmp_path / "net.onnx"))
    assert caught.value.kind == "io"


def test_a_malformed_default_name_is_wrong_use(cache: ModelCache) -> None:
    assert refused("mobilenetv2:0x0", cache).kind == "usage"


def test_names_cannot_reach_the_terminal_as_commands(cache: ModelCache) -> None:
    assert "\x1b" not in refused("evil\x1b]0;title\x07.onnx", cache).message


def test_resolving_imports_no_framework() -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "from hettop.models.resolve import resolve\n"
        "resolve('mobilenetv2')\n"
        "print({'onnx', 'onnxruntime', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
