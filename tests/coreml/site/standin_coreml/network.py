"""A compiled model that computes: its ONNX translation, fed and read as Core ML feeds and reads a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from hettop.models.package_ports import package_port
from hettop.models.shapes import accepts

from .compilation import source_of
from .faults import framework_error

TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16, "tensor(int32)": np.int32}
MODES = {"RGB": "RGB", "BGR": "RGB", "GRAYSCALE": "L", "GRAYSCALE_FLOAT16": "F"}
TAKEN = ("float32", "float64", "int32", "int8")
"""What the binding takes as a multi-array; half precision must have become single before."""


class Network:
    """One function. What cannot be translated, a neural network for one, gives zeros of the described shapes."""

    def __init__(self, compiled: str, function: str) -> None:
        from hettop.models.mil.package import open_package

        package = open_package(source_of(compiled))
        if function and not package.spec.description.functions and function != "main":
            raise RuntimeError(f"no function {function}")
        self.ports = package.function(function or None)
        self.inputs = {port.name: port for port in self.ports.inputs}
        self.states = self.ports.states
        self.gives_images = any(port.kind == "image" for port in self.ports.outputs)
        onnx = Path(compiled) / f"{self.ports.name}.onnx"
        self.session = _session(onnx) if onnx.is_file() else None

    def new_state(self) -> dict[str, Any]:
        return {port.name: np.zeros(port.shape, port.dtype) for port in self.states}

    def feed(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """What the session takes. Raises RuntimeError in the framework's words for what it would refuse."""
        for name, port in self.inputs.items():
            if name not in inputs and not port.optional:
                raise framework_error(f"Feature {name} is required but not specified.")
        return {name: self._value(name, value) for name, value in inputs.items()}

    def run(self, values: dict[str, Any], states: dict[str, Any]) -> dict[str, Any]:
        """The outputs by name; `states` are taken and replaced."""
        if self.session is None:
            return {port.name: np.zeros(port.shape, np.float32) for port in self.ports.outputs}
        taken = {each.name: TYPES.get(each.type, np.float32) for each in self.session.get_inputs()}
        fed = {name: np.ascontiguousarray(value, taken[name]) for name, value in {**values, **states}.items()}
        given = [each.name for each in self.session.get_outputs()]
        results = dict(zip(given, self.session.run(given, fed), strict=True))
        visible = {port.name: port for port in self.ports.outputs}
        after = [name for name in given if name not in visible]
        for name, output in zip(states, after, strict=True):
            states[name] = results[output]
        return {name: _given(port, results[name]) for name, port in visible.items()}

    def _value(self, name: str, value: Any) -> Any:
        port = self.inputs.get(name)
        if port is None:
            raise framework_error(f"{name} is no feature of the model")
        if port.kind == "image":
            return _pixels(port, value)
        if port.kind == "array":
            if not isinstance(value, np.ndarray) or value.dtype.name not in TAKEN:
                raise TypeError(f"Unsupported array type: {getattr(value, 'dtype', type(value))}")
            if not accepts(package_port(port), value.shape):
                raise framework_error(f"MultiArray shape {list(value.shape)} does not match the shape of {name}")
        return value


def _pixels(port: Any, picture: Any) -> Any:
    """(1, channels, height, width) of 0..255 in the model's order of colours, from a PIL image."""
    if getattr(picture, "mode", None) != MODES[port.color]:
        raise framework_error(f"{port.name} is no image of mode {MODES[port.color]}")
    array = np.asarray(picture, np.float32)
    array = array[None, None] if array.ndim == 2 else np.moveaxis(array, -1, 0)[None]
    if not accepts(package_port(port), array.shape):
        raise framework_error("Image is not in allowed set of image sizes")
    return array[:, ::-1] if port.color == "BGR" else array


def _given(port: Any, value: Any) -> Any:
    """Half precision comes out as single, images as PIL images."""
    if port.kind != "image":
        return value.astype(np.float32) if value.dtype == np.float16 else value
    from PIL import Image

    if port.color == "GRAYSCALE_FLOAT16":
        return Image.fromarray(value[0, 0].astype(np.float32))
    pixels = np.clip(value[0], 0, 255).astype(np.uint8)
    pixels = pixels[::-1] if port.color == "BGR" else pixels
    return Image.fromarray(pixels[0] if len(pixels) == 1 else np.ascontiguousarray(np.moveaxis(pixels, 0, -1)))


def _session(onnx: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    return onnxruntime.InferenceSession(onnx, options, providers=["CPUExecutionProvider"])
