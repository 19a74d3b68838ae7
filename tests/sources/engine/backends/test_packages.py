"""Core ML packages run on ONNX Runtime by their translation, with every kind of input, and say that they do."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hettop.errors import HettopError
from hettop.models.cache import ModelCache
from hettop.models.ports import InputOptions, Port
from hettop.sources.engine.backend import Loaded, LoadOptions, RealClock
from hettop.sources.engine.backends.onnxruntime import OnnxRuntimeBackend
from tests.models.mil.programs import convert, ct, mb, mil, program, spec, types
from tests.sources.engine.backends import onnx_files
from tests.sources.engine.backends.contract import BackendContract

Model_pb2: Any = importlib.import_module("coremltools.proto.Model_pb2")


def new_backend(folder: Path) -> OnnxRuntimeBackend:
    return OnnxRuntimeBackend(RealClock(), ModelCache(folder / "cache", folder / "fallback"))


def saved(path: Path, build: Callable[..., Any], specs: dict[str, Any], **options: Any) -> Path:
    convert(program(build, specs), **options).save(str(path))
    return path


def relu(path: Path) -> Path:
    return saved(path, lambda x: mb.relu(x=x, name="y"), {"x": spec((1, 4))})


def load(path: Path, folder: Path, function: str | None = None) -> tuple[OnnxRuntimeBackend, Loaded]:
    backend = new_backend(folder)
    return backend, backend.load(str(path), "CPU_ONLY", LoadOptions(function=function))


def failure(path: Path, folder: Path, function: str | None = None) -> HettopError:
    with pytest.raises(HettopError) as caught:
        load(path, folder, function)
    return caught.value


class TestPackageContract(BackendContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def new_backend(self) -> OnnxRuntimeBackend:
        return new_backend(self.folder)

    def model(self) -> str:
        return str(relu(self.folder / "relu.mlpackage"))


def test_where_it_runs_and_how_is_said(tmp_path: Path) -> None:
    _, loaded = load(relu(tmp_path / "m.mlpackage"), tmp_path)
    assert loaded.placed == "CPU (ONNX Runtime CPUExecutionProvider)"
    assert loaded.note.startswith("ML Program translated to ONNX, CPU; ONNX Runtime default: ")


def test_the_default_model_as_a_package_takes_pixels(tmp_path: Path) -> None:
    from hettop.models.resolve import model_package

    path = model_package("mobilenetv2:32x32", ModelCache(tmp_path / "cache", tmp_path / "fallback"))
    backend, loaded = load(path, tmp_path)
    (port,) = loaded.inputs
    assert (port.kind, port.color, port.shape) == ("image", "RGB", (1, 3, 32, 32))
    feed = backend.make_inputs(loaded.inputs, InputOptions())
    assert feed["image"].max() == 255
    backend.predict(feed)


@pytest.mark.parametrize("layout", ["RGB", "BGR", "GRAYSCALE", "GRAYSCALE_FLOAT16"])
def test_images_of_every_layout_are_fed_in_their_order_of_colours(layout: str, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    image.new("RGB", (6, 4), (255, 0, 0)).save(tmp_path / "red.png")
    channels, dtype = (1 if "GRAY" in layout else 3), np.float16 if "16" in layout else np.float32
    path = saved(
        tmp_path / "m.mlpackage",
        lambda x: mb.relu(x=x, name="y"),
        {"x": spec((1, channels, 4, 6), dtype)},
        inputs=[ct.ImageType(name="x", shape=(1, channels, 4, 6), color_layout=getattr(ct.colorlayout, layout))],
    )
    backend, loaded = load(path, tmp_path)
    feed = backend.make_inputs(loaded.inputs, InputOptions(values={"x": str(tmp_path / "red.png")}))
    expected = {"RGB": [255, 0, 0], "BGR": [0, 0, 255]}.get(layout, [76])  # luma of red: .299 of 255
    assert feed["x"][0, :, 2, 3].tolist() == expected
    backend.predict(feed)


def test_arrays_of_every_type_and_optional_ones_go_in(tmp_path: Path) -> None:
    kinds = {"single": np.float32, "half": np.float16, "whole": np.int32}
    tensors = [ct.TensorType(name=name, shape=(2,), dtype=kind) for name, kind in kinds.items()]
    gain = ct.TensorType(name="gain", shape=(2,), default_value=np.array([2.5, 2.5], np.float32))

    def build(*values: Any) -> Any:
        return [mb.add(x=value, y=value, name=f"y{index}") for index, value in enumerate(values)]

    specs = {name: spec((2,), kind) for name, kind in {**kinds, "gain": np.float32}.items()}
    backend, loaded = load(saved(tmp_path / "m.mlpackage", build, specs, inputs=[*tensors, gain]), tmp_path)
    ports = {port.name: port for port in loaded.inputs}
    assert {name: port.dtype for name, port in ports.items()} == {
        "single": "float32",
        "half": "float16",
        "whole": "int32",
        "gain": "float32",
    }
    assert (ports["gain"].optional, ports["gain"].fill) == (True, 2.5)
    feed = backend.make_inputs(loaded.inputs, InputOptions())
    assert feed["gain"].tolist() == [2.5, 2.5]
    backend.predict(feed)


def test_a_flexible_shape_runs_as_proposed_and_within_its_range_only(tmp_path: Path) -> None:
    path = saved(
        tmp_path / "m.mlpackage",
        lambda x: mb.relu(x=x, name="y"),
        {"x": spec((mil.get_new_symbol(), 4))},
        inputs=[ct.TensorType(name="x", shape=(ct.RangeDim(2, 8, default=3), 4))],
    )
    backend, loaded = load(path, tmp_path)
    for shapes, expected in (({}, (3, 4)), ({"x": (8, 4)}, (8, 4))):
        feed = backend.make_inputs(loaded.inputs, InputOptions(shapes=shapes))
        assert feed["x"].shape == expected
        backend.predict(feed)
    for shape in ((9, 4), (1, 4), (3, 5)):
        with pytest.raises(HettopError, match="--shape has the shape"):
            backend.make_inputs(loaded.inputs, InputOptions(shapes={"x": shape}))


def test_enumerated_shapes_run_and_no_other(tmp_path: Path) -> None:
    shapes = ct.EnumeratedShapes([(1, 3, 8, 8), (1, 3, 16, 8)], default=(1, 3, 16, 8))
    path = saved(
        tmp_path / "m.mlpackage",
        lambda x: mb.relu(x=x, name="y"),
        {"x": spec((1, 3, mil.get_new_symbol(), mil.get_new_symbol()))},
        inputs=[ct.ImageType(name="x", shape=shapes)],
    )
    backend, loaded = load(path, tmp_path)
    assert backend.make_inputs(loaded.inputs, InputOptions())["x"].shape == (1, 3, 16, 8)
    feed = backend.make_inputs(loaded.inputs, InputOptions(shapes={"x": (1, 3, 8, 8)}))
    backend.predict(feed)
    with pytest.raises(HettopError) as caught:
        backend.make_inputs(loaded.inputs, InputOptions(shapes={"x": (1, 3, 12, 8)}))
    assert "one of [1,3,8,8] [1,3,16,8]" in caught.value.hint


@pytest.mark.parametrize("fresh", [False, True])
def test_a_state_is_carried_from_call_to_call_unless_it_is_renewed(tmp_path: Path, fresh: bool) -> None:
    def build(x: Any, memory: Any) -> Any:
        value = mb.add(x=mb.read_state(input=memory), y=x)
        mb.coreml_update_state(state=memory, value=value)
        return mb.identity(x=value, name="y")

    specs = {"x": spec((4,), np.float16), "memory": mb.StateTensorSpec((4,), dtype=types.fp16)}
    backend = new_backend(tmp_path)
    path = saved(tmp_path / "m.mlpackage", build, specs)
    loaded = backend.load(str(path), "CPU_ONLY", LoadOptions(fresh_state=fresh))
    kept = "created before each call" if fresh else "created once when loading and kept between calls"
    assert kept in loaded.note
    feed = backend.make_inputs(loaded.inputs, InputOptions(values={"x": "2"}))
    sums = []
    for _ in range(4):
        if fresh:
            backend.renew_state()
        backend.predict(feed)
        sums.append(backend.outputs()["y"].tolist()[0])
    assert sums == ([2, 2, 2, 2] if fresh else [2, 4, 6, 8])
    assert feed["memory"].tolist() == [0, 0, 0, 0], "inputs are left alone"


def test_a_function_is_run_by_its_name(tmp_path: Path) -> None:
    for name, width in (("small", 3), ("large", 7)):
        weight = np.zeros((width, 4), np.float32)
        saved(
            tmp_path / f"{name}.mlpackage", lambda x, w=weight: mb.linear(x=x, weight=w, name="y"), {"x": spec((1, 4))}
        )
    both = ct.utils.MultiFunctionDescriptor()
    for name in ("small", "large"):
        both.add_function(str(tmp_path / f"{name}.mlpackage"), "main", name)
    both.default_function_name = "small"
    ct.utils.save_multifunction(both, str(tmp_path / "both.mlpackage"))
    for function, width in ((None, 3), ("large", 7)):
        _, loaded = load(tmp_path / "both.mlpackage", tmp_path, function)
        assert [port.shape for port in loaded.outputs] == [(1, width)]
    error = failure(tmp_path / "both.mlpackage", tmp_path, "huge")
    assert (error.kind, "small, large" in error.hint) == ("input", True)


def test_an_onnx_model_has_no_functions(tmp_path: Path) -> None:
    error = failure(Path(onnx_files.relu(tmp_path / "m.onnx")), tmp_path, "main")
    assert (error.kind, "no functions" in error.message) == ("input", True)


# -- what cannot be run -------------------------------------------------------------------------------------------


def network() -> Any:
    """The smallest NeuralNetwork: y = max(x, 0)."""
    model = Model_pb2.Model(specificationVersion=4)
    for feature in (model.description.input.add(name="x"), model.description.output.add(name="y")):
        feature.type.multiArrayType.shape.append(4)
        feature.type.multiArrayType.dataType = 65568
    layer = model.neuralNetwork.layers.add(name="relu", input=["x"], output=["y"])
    layer.activation.ReLU.SetInParent()
    return model


def refused(model: Any, tmp_path: Path) -> HettopError:
    (tmp_path / "m.mlmodel").write_bytes(model.SerializeToString())
    error = failure(tmp_path / "m.mlmodel", tmp_path)
    assert (error.kind, bool(error.hint)) == ("format", True)
    return error


def test_a_neural_network_runs_and_says_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "m.mlmodel"
    path.write_bytes(network().SerializeToString())
    backend, loaded = load(path, tmp_path)
    assert loaded.note.startswith("NeuralNetwork translated to ONNX, CPU; ONNX Runtime default: ")
    backend.predict({"x": np.array([-1, 2, -3, 4], np.float32)})
    assert backend.outputs()["y"].tolist() == [0, 2, 0, 4]


def test_a_pipeline_is_refused_with_its_stage(tmp_path: Path) -> None:
    model = Model_pb2.Model(specificationVersion=4)
    model.description.CopyFrom(network().description)
    model.pipeline.models.add().CopyFrom(network())
    model.pipeline.models.add().nonMaximumSuppression.iouThreshold = 0.5
    model.pipeline.names.extend(["first", "second"])
    (tmp_path / "m.mlmodel").write_bytes(model.SerializeToString())
    error = failure(tmp_path / "m.mlmodel", tmp_path)
    assert error.kind == "unsupported-op"
    assert error.message == "m.mlmodel, second: a nonMaximumSuppression model has no translation"


def test_an_updatable_model_is_refused(tmp_path: Path) -> None:
    model = network()
    model.isUpdatable = True
    assert refused(model, tmp_path)


def test_an_operation_without_translation_is_named_with_its_place(tmp_path: Path) -> None:
    path = relu(tmp_path / "m.mlpackage")
    specification = path / "Data" / "com.apple.CoreML" / "model.mlmodel"
    content = specification.read_bytes()
    assert content.count(b"\x04relu") == 1
    specification.write_bytes(content.replace(b"\x04relu", b"\x04rulo"))
    error = failure(path, tmp_path)
    assert error.kind == "unsupported-op"
    assert "rulo" in error.message
    assert "'y' of function 'main'" in error.message


def damaged(tmp_path: Path, name: str) -> Path:
    """A copy of a package with weights, damaged in the way of that name."""
    weight = np.zeros((64, 64), np.float32)
    path = saved(tmp_path / "m.mlpackage", lambda x: mb.linear(x=x, weight=weight, name="y"), {"x": spec((1, 64))})
    specification = path / "Data" / "com.apple.CoreML" / "model.mlmodel"
    weights = path / "Data" / "com.apple.CoreML" / "weights" / "weight.bin"
    match name:
        case "cut model":
            specification.write_bytes(specification.read_bytes()[:100])
        case "no model":
            specification.unlink()
        case "no weights":
            weights.unlink()
        case "cut weights":
            weights.write_bytes(weights.read_bytes()[:200])
        case "no manifest":
            (path / "Manifest.json").unlink()
        case "empty manifest":
            (path / "Manifest.json").write_text("{}")
        case "broken manifest":
            (path / "Manifest.json").write_text("{")
        case "manifest that leads outside":
            text = (path / "Manifest.json").read_text()
            (path / "Manifest.json").write_text(text.replace("com.apple.CoreML/model.mlmodel", "../../../etc/passwd"))
        case "newer than the framework":
            model = Model_pb2.Model()
            model.ParseFromString(specification.read_bytes())
            model.specificationVersion = 99
            specification.write_bytes(model.SerializeToString())
    return path


@pytest.mark.parametrize(
    "name",
    [
        "cut model", "no model", "no weights", "cut weights", "no manifest", "empty manifest", "broken manifest",
        "manifest that leads outside", "newer than the framework",
    ],
)  # fmt: skip
def test_a_damaged_package_is_refused_in_words(name: str, tmp_path: Path) -> None:
    error = failure(damaged(tmp_path, name), tmp_path)
    assert error.kind in ("format", "missing")
    assert "m.mlpackage" in error.message
    assert error.hint


def test_a_program_of_ten_gigabytes_is_refused_and_not_made(tmp_path: Path) -> None:
    path = saved(tmp_path / "m.mlpackage", lambda x: mb.relu(x=x, name="y"), {"x": spec((50_000, 50_000))})
    backend = new_backend(tmp_path)
    with pytest.raises(HettopError, match="10 GB") as caught:
        backend.load(str(path), "CPU_ONLY", LoadOptions())
    assert caught.value.kind == "format"


def test_ports_that_nobody_described_are_plain(tmp_path: Path) -> None:
    _, loaded = load(Path(onnx_files.relu(tmp_path / "m.onnx")), tmp_path)
    assert loaded.inputs == (Port("x", "float32", (1, 4)),)
