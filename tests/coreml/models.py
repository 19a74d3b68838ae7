"""Small Core ML models, each with something of its own that a backend has to get right."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.models.mil.programs import convert, ct, mb, mil, program, spec, types

WEIGHT = np.arange(12, dtype=np.float32).reshape(3, 4) - 5


def saved(path: Path, build: Callable[..., Any], specs: dict[str, Any], **options: Any) -> Path:
    convert(program(build, specs), **options).save(str(path))
    return path


def linear(path: Path) -> Path:
    """y = WEIGHT x, from x float32[1,4]."""
    return saved(path, lambda x: mb.linear(x=x, weight=WEIGHT, name="y"), {"x": spec((1, 4))})


def half(path: Path) -> Path:
    """y = x + x in half precision, described so on both sides: float16[1,4]."""
    build = lambda x: mb.add(x=x, y=x, name="y")  # noqa: E731
    tensor = ct.TensorType(name="x", shape=(1, 4), dtype=np.float16)
    return saved(path, build, {"x": spec((1, 4), np.float16)}, inputs=[tensor])


def picture(path: Path, layout: str) -> Path:
    """y = relu(x) of an image 6 wide and 4 high."""
    channels, dtype = (1 if "GRAY" in layout else 3), np.float16 if "16" in layout else np.float32
    shape = (1, channels, 4, 6)
    image = ct.ImageType(name="x", shape=shape, color_layout=getattr(ct.colorlayout, layout))
    return saved(path, lambda x: mb.relu(x=x, name="y"), {"x": spec(shape, dtype)}, inputs=[image])


def picture_to_picture(path: Path) -> Path:
    """An RGB image in and the same image out."""
    specification = picture(path, "RGB") / "Data" / "com.apple.CoreML" / "model.mlmodel"
    model = importlib.import_module("coremltools.proto.Model_pb2").Model()
    model.ParseFromString(specification.read_bytes())
    model.description.output[0].type.CopyFrom(model.description.input[0].type)
    specification.write_bytes(model.SerializeToString())
    return path


def ranged(path: Path) -> Path:
    """x float32[2..8, 4], 3 by default."""
    return saved(
        path,
        lambda x: mb.relu(x=x, name="y"),
        {"x": spec((mil.get_new_symbol(), 4))},
        inputs=[ct.TensorType(name="x", shape=(ct.RangeDim(2, 8, default=3), 4))],
    )


def enumerated(path: Path) -> Path:
    """An image 8 wide and 8 or 16 high, 16 by default."""
    shapes = ct.EnumeratedShapes([(1, 3, 8, 8), (1, 3, 16, 8)], default=(1, 3, 16, 8))
    specs = {"x": spec((1, 3, mil.get_new_symbol(), mil.get_new_symbol()))}
    return saved(path, lambda x: mb.relu(x=x, name="y"), specs, inputs=[ct.ImageType(name="x", shape=shapes)])


def counter(path: Path) -> Path:
    """y = the sum of all x so far, float16[4], in the state `memory`."""

    def build(x: Any, memory: Any) -> Any:
        value = mb.add(x=mb.read_state(input=memory), y=x)
        mb.coreml_update_state(state=memory, value=value)
        return mb.identity(x=value, name="y")

    specs = {"x": spec((4,), np.float16), "memory": mb.StateTensorSpec((4,), dtype=types.fp16)}
    return saved(path, build, specs)


def two_functions(folder: Path) -> Path:
    """Function `small` (the default) gives three numbers, `large` seven."""
    both = ct.utils.MultiFunctionDescriptor()
    for name, width in (("small", 3), ("large", 7)):
        weight = np.ones((width, 4), np.float32)
        part = saved(
            folder / f"{name}.mlpackage", lambda x, w=weight: mb.linear(x=x, weight=w, name="y"), {"x": spec((1, 4))}
        )
        both.add_function(str(part), "main", name)
    both.default_function_name = "small"
    path = folder / "both.mlpackage"
    ct.utils.save_multifunction(both, str(path))
    return path


def neural_network(path: Path) -> Path:
    """A `.mlmodel` of the NeuralNetwork format: y = relu(x), of four numbers."""
    model = importlib.import_module("coremltools.proto.Model_pb2").Model(specificationVersion=4)
    for feature in (model.description.input.add(name="x"), model.description.output.add(name="y")):
        feature.type.multiArrayType.shape.append(4)
        feature.type.multiArrayType.dataType = 65568  # FLOAT32
    layer = model.neuralNetwork.layers.add(name="relu", input=["x"], output=["y"])
    layer.activation.ReLU.SetInParent()
    path.write_bytes(model.SerializeToString())
    return path


def regressor(path: Path) -> Path:
    """A `.mlmodel` that takes a number and gives a number."""
    model = importlib.import_module("coremltools.proto.Model_pb2").Model(specificationVersion=1)
    for feature in (model.description.input.add(name="x"), model.description.output.add(name="y")):
        feature.type.doubleType.MergeFromString(b"")
    model.description.predictedFeatureName = "y"
    model.glmRegressor.offset.append(0.1)
    model.glmRegressor.weights.add().value.append(2.0)
    path.write_bytes(model.SerializeToString())
    return path


def token_by_token(path: Path, longest: int = 128) -> Path:
    """y float16[1,4]: a sum over all tokens int32[1,1..longest] read so far, in a state."""
    length = mil.get_new_symbol()
    specs = {
        "tokens": spec((1, length), np.int32),
        "memory": mb.StateTensorSpec((1, 4), dtype=types.fp16),
    }
    tokens = ct.TensorType(name="tokens", shape=(1, ct.RangeDim(1, longest, default=1)), dtype=np.int32)
    return saved(path, _reading, specs, inputs=[tokens])


def prefill_and_decode(folder: Path, prompt: int = 16) -> Path:
    """The same as two functions: `prefill` of `prompt` tokens a call, and `decode` (the default) of one."""
    both = ct.utils.MultiFunctionDescriptor()
    for name, length in (("prefill", prompt), ("decode", 1)):
        specs = {"tokens": spec((1, length), np.int32), "memory": mb.StateTensorSpec((1, 4), dtype=types.fp16)}
        part = saved(folder / f"{name}.mlpackage", _reading, specs)
        both.add_function(str(part), "main", name)
    both.default_function_name = "decode"
    path = folder / "llm.mlpackage"
    ct.utils.save_multifunction(both, str(path))
    return path


def _reading(tokens: Any, memory: Any) -> Any:
    """Looks the tokens up in a table of ten, and adds them to what was read before."""
    table = np.arange(40, dtype=np.float16).reshape(10, 4) / np.float16(8)
    found = mb.gather(x=table, indices=tokens, axis=0)
    value = mb.add(x=mb.read_state(input=memory), y=mb.reduce_sum(x=found, axes=[1]))
    mb.coreml_update_state(state=memory, value=value)
    return mb.identity(x=value, name="y")
