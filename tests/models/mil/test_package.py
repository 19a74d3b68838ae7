"""Packages are opened and described, and every way they can be damaged is answered in words."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hettop.errors import HettopError
from hettop.models.mil.package import Package, open_package
from hettop.models.mil.translate import translate
from tests.models.mil.programs import convert, ct, mb, program, run, spec

WEIGHT = np.arange(48, dtype=np.float32).reshape(4, 12)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small package with weights in a file: y = W x."""
    path = tmp_path_factory.mktemp("package") / "small.mlpackage"
    convert(program(lambda x: mb.linear(x=x, weight=WEIGHT, name="y"), {"x": spec((1, 12))})).save(str(path))
    return path


@pytest.fixture
def package(good: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    return Path(shutil.copytree(good, tmp_path / "small.mlpackage"))


def _model_file(package: Path) -> Path:
    return package / "Data" / "com.apple.CoreML" / "model.mlmodel"


def _weight_file(package: Path) -> Path:
    return package / "Data" / "com.apple.CoreML" / "weights" / "weight.bin"


def _refused(path: Path, kind: str, *words: str) -> HettopError:
    """The refusal, which is of this kind, names the file and says these words."""
    with pytest.raises(HettopError) as caught:
        translate(open_package(path))
    assert caught.value.kind == kind
    for word in (path.name, *words):
        assert word in caught.value.message
    assert caught.value.hint
    return caught.value


def _edited(package: Path, edit: Callable[[Any], None]) -> Path:
    """The package with its specification changed."""
    spec_message = ct.proto.Model_pb2.Model()
    spec_message.ParseFromString(_model_file(package).read_bytes())
    edit(spec_message)
    _model_file(package).write_bytes(spec_message.SerializeToString())
    return package


def test_a_package_is_described(good: Path) -> None:
    package = open_package(good)
    assert (package.kind, package.specification, package.updatable) == ("mlprogram", 9, False)
    assert package.deployment_target == "iOS 18 / macOS 15"
    (ports,) = package.functions
    assert ports.name == "main"
    assert [(port.name, port.dtype, port.shape) for port in ports.inputs] == [("x", "float32", (1, 12))]
    assert [(port.name, port.shape) for port in ports.outputs] == [("y", (1, 4))]
    assert [file.path.name for file in package.weights.files] == ["weight.bin"]
    x = np.ones((1, 12), np.float32)
    np.testing.assert_allclose(run(translate(package), {"x": x})[0], x @ WEIGHT.T)


def test_a_path_may_be_a_string(good: Path) -> None:
    assert open_package(str(good)).name == "small.mlpackage"


def test_nothing_there(tmp_path: Path) -> None:
    _refused(tmp_path / "absent.mlpackage", "missing", "no such file")


def test_a_package_without_its_manifest(package: Path) -> None:
    (package / "Manifest.json").unlink()
    _refused(package, "missing", "Manifest.json")


def test_a_folder_that_is_no_package(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    _refused(tmp_path / "folder", "format", "not a Core ML package")


def test_a_compiled_model(tmp_path: Path) -> None:
    (tmp_path / "small.mlmodelc").mkdir()
    assert "mlpackage" in _refused(tmp_path / "small.mlmodelc", "format", "compiled").hint


def test_a_zip(good: Path, tmp_path: Path) -> None:
    archive = tmp_path / "small.mlpackage.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.write(good / "Manifest.json", "Manifest.json")
    assert "unzip" in _refused(archive, "format", "zip").hint


def test_a_file_called_package(tmp_path: Path) -> None:
    (tmp_path / "small.mlpackage").write_bytes(b"hello, world")
    _refused(tmp_path / "small.mlpackage", "format", "is a folder")


def test_a_text_file(tmp_path: Path) -> None:
    (tmp_path / "notes.mlmodel").write_text("just some notes", encoding="utf-8")
    _refused(tmp_path / "notes.mlmodel", "format", "not a valid Core ML model")


def test_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "empty.mlmodel").touch()
    _refused(tmp_path / "empty.mlmodel", "format", "not a valid Core ML model")


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ("not json", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ("[]", "names no root"),
        ("{}", "names no root"),
        (json.dumps({"rootModelIdentifier": "a", "itemInfoEntries": {}}), "names no root"),
        (json.dumps({"rootModelIdentifier": "a", "itemInfoEntries": {"a": {"path": 7}}}), "names no root"),
        (json.dumps({"rootModelIdentifier": "a", "itemInfoEntries": {"a": {"path": "../../x"}}}), "outside"),
        (json.dumps({"rootModelIdentifier": "a", "itemInfoEntries": {"a": {"path": "/etc/passwd"}}}), "outside"),
    ],
)
def test_a_manifest_that_names_nothing_or_too_much(package: Path, manifest: str, words: str) -> None:
    (package / "Manifest.json").write_text(manifest, encoding="utf-8")
    _refused(package, "format", "Manifest.json", words)


def test_a_manifest_of_megabytes(package: Path) -> None:
    (package / "Manifest.json").write_bytes(b" " * (2 << 20))
    _refused(package, "format", "Manifest.json is too large")


def test_a_manifest_that_names_what_is_not_there(package: Path) -> None:
    _model_file(package).unlink()
    _refused(package, "missing", "model.mlmodel")


def test_a_link_out_of_the_package(package: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.mlmodel"
    shutil.move(_model_file(package), outside)
    _model_file(package).symlink_to(outside)
    _refused(package, "format", "outside")


@pytest.mark.parametrize("size", [1, 100, 700])
def test_a_specification_that_is_cut(package: Path, size: int) -> None:
    whole = _model_file(package).read_bytes()
    assert size < len(whole)
    _model_file(package).write_bytes(whole[:size])
    _refused(package, "format", "incomplete")


def test_a_specification_from_the_future(package: Path) -> None:
    _edited(package, lambda model: setattr(model, "specificationVersion", 11))
    assert "update" in _refused(package, "format", "version 11", "10").hint


def test_missing_weights(package: Path) -> None:
    _weight_file(package).unlink()
    _refused(package, "missing", f"weights/weight.bin is missing: {_weight_file(package)}")


def test_weights_that_are_cut(package: Path) -> None:
    whole = _weight_file(package).read_bytes()
    _weight_file(package).write_bytes(whole[: len(whole) - 100])
    _refused(package, "format", "weight.bin", "bytes")


def test_no_weights_in_the_file(package: Path) -> None:
    _weight_file(package).write_bytes(b"")
    _refused(package, "format", "weight.bin", "empty")


def test_weights_of_another_model(package: Path) -> None:
    _weight_file(package).write_bytes(bytes(10_000))
    _refused(package, "format", "weight.bin", "entry marker")


def _blob(model: Any) -> Any:
    """The first constant that is kept in the weight file."""
    block = next(iter(next(iter(model.mlProgram.functions.values())).block_specializations.values()))
    return next(
        operation.attributes["val"]
        for operation in block.operations
        if operation.attributes["val"].WhichOneof("value") == "blobFileValue"
    )


def test_weights_beyond_the_end_of_the_file(package: Path) -> None:
    _edited(package, lambda model: setattr(_blob(model).blobFileValue, "offset", 1 << 40))
    _refused(package, "format", "outside the file")


@pytest.mark.parametrize("name", ["@model_path/../../../../etc/hostname", "/etc/hostname"])
def test_weights_outside_the_package(package: Path, name: str) -> None:
    _edited(package, lambda model: setattr(_blob(model).blobFileValue, "fileName", name))
    _refused(package, "format", "outside the package")


def test_a_constant_of_petabytes_is_refused_before_it_is_made(package: Path) -> None:
    def enlarge(model: Any) -> None:
        dimensions = _blob(model).type.tensorType.dimensions
        dimensions[0].constant.size = 1 << 31
        dimensions[1].constant.size = 1 << 20

    _edited(package, enlarge)
    _refused(package, "format", "needs")


def test_an_activation_of_ten_gigabytes_is_refused_before_it_is_made(package: Path) -> None:
    def enlarge(model: Any) -> None:
        block = next(iter(next(iter(model.mlProgram.functions.values())).block_specializations.values()))
        dimensions = block.operations[-1].outputs[0].type.tensorType.dimensions
        dimensions[0].constant.size = 3_000_000_000

    _edited(package, enlarge)
    _refused(package, "format", "'y'", "48 GB")


def test_a_model_in_one_file(good: Path, tmp_path: Path) -> None:
    def build(x: Any) -> Any:
        return mb.mul(x=x, y=2.0)

    whole = tmp_path / "whole.mlpackage"
    convert(program(build, {"x": spec((3,))})).save(str(whole))
    single = tmp_path / "single.mlmodel"
    shutil.copy(_model_file(whole), single)
    np.testing.assert_array_equal(
        run(translate(open_package(single)), {"x": np.array([1, 2, 3], np.float32)})[0], [2, 4, 6]
    )
    lonely = tmp_path / "lonely.mlmodel"
    shutil.copy(_model_file(good), lonely)
    _refused(lonely, "format", "single-file")


def _old(kind: str) -> Any:
    model = ct.proto.Model_pb2.Model(specificationVersion=4)
    getattr(model, kind).SetInParent()
    return model


def _written(model: Any, path: Path) -> Path:
    path.write_bytes(model.SerializeToString())
    return path


def test_a_neural_network_is_described_and_has_no_program(tmp_path: Path) -> None:
    package = open_package(_written(_old("neuralNetwork"), tmp_path / "old.mlmodel"))
    assert package.kind == "neuralnetwork"
    with pytest.raises(HettopError, match="in the NeuralNetwork format, not an ML Program"):
        package.program()


def test_a_pipeline_is_described_and_refused_for_a_stage_that_has_no_translation(tmp_path: Path) -> None:
    model = _old("pipeline")
    model.pipeline.names.append("boxes")
    for kind in ("nonMaximumSuppression", "neuralNetwork"):
        model.pipeline.models.add().CopyFrom(_old(kind))
    path = _written(model, tmp_path / "chain.mlmodel")
    package = open_package(path)
    assert package.kind == "pipeline"
    assert package.stages == (("boxes", "nonMaximumSuppression"), ("model 2", "neuralnetwork"))
    _refused(path, "unsupported-op", "boxes", "nonMaximumSuppression")


def test_another_kind_of_model_is_named(tmp_path: Path) -> None:
    _refused(
        _written(_old("supportVectorRegressor"), tmp_path / "m.mlmodel"), "unsupported-op", "supportVectorRegressor"
    )


def test_an_updatable_model_is_described_but_not_run(package: Path) -> None:
    _edited(package, lambda model: setattr(model, "isUpdatable", True))
    assert open_package(package).updatable
    _refused(package, "format", "updatable")


def test_a_described_function_that_is_not_there(package: Path) -> None:
    _edited(package, lambda model: model.description.functions.add(name="ghost"))
    _refused(package, "format", "'ghost'")


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory, good: Path) -> Path:
    return Path(shutil.copytree(good, tmp_path_factory.mktemp("scratch") / "small.mlpackage"))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_whatever_bytes_are_changed_the_answer_is_in_words(good: Path, scratch: Path, data: Any) -> None:
    original = _model_file(good).read_bytes()
    damaged = bytearray(original)
    for place in data.draw(st.lists(st.integers(0, len(original) - 1), min_size=1, max_size=4)):
        damaged[place] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(original)) | st.just(len(original)))
    _model_file(scratch).write_bytes(bytes(damaged[:cut]))
    with contextlib.suppress(HettopError):
        translate(open_package(scratch))


def _in_a_process(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_reading_imports_neither_coremltools_nor_onnx(good: Path) -> None:
    code = f"""
import sys
from hettop.models.mil.package import open_package
from hettop.models.mil.table import missing_ops
package = open_package({str(good)!r})
assert missing_ops(package) == ()
print(sorted(name for name in ("coremltools", "onnx", "onnxruntime") if name in sys.modules))
"""
    assert _in_a_process(code) == "[]"


def test_coremltools_can_still_be_imported_after_reading(good: Path) -> None:
    code = f"""
import logging, sys
from hettop.models.mil.package import open_package
package = open_package({str(good)!r})
logging.getLogger("coremltools").addHandler(logging.NullHandler())
import coremltools
spec = coremltools.utils.load_spec({str(good)!r})
theirs, ours = (each.SerializeToString(deterministic=True) for each in (spec, package.spec))
print(theirs == ours, spec.description.input[0].name)
"""
    assert _in_a_process(code) == "True x"


def test_two_readings_share_one_schema(good: Path) -> None:
    first, second = open_package(good), open_package(good)
    assert isinstance(first, Package)
    assert type(first.spec) is type(second.spec)
