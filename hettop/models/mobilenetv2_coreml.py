"""Writes MobileNetV2 as an ML Program package: the layers and weights of the ONNX file, in half precision."""

from __future__ import annotations

import contextlib
import io
import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np

from hettop.models.mobilenetv2 import Convolution, Network
from hettop.models.mobilenetv2_onnx import INPUT, OUTPUT
from hettop.models.weights import parameters

Precision = Literal["float16", "float32"]

WHITE = 255


def write_package(net: Network, path: Path, precision: Precision = "float16") -> None:
    """Writes the network to the folder `path`, which must not exist and must end in `.mlpackage`. Raises OSError.

    Input `image`: an RGB image, scaled to 0..1 by the program. Core ML's images have no batch, so for more than one the
    input is a float32 array (batch, 3, height, width) of 0..1, as in ONNX. Output `logits`: float32 (batch, 1000).
    """
    # coremltools makes a package of its own first, and removes it at Python's exit, which engine processes do without.
    with _quiet(), tempfile.TemporaryDirectory(dir=path.parent) as folder:
        import coremltools as ct

        image = ct.ImageType(name=INPUT, shape=net.variant.input_shape, color_layout=ct.colorlayout.RGB)
        model = ct.convert(
            _program(net, precision),
            convert_to="mlprogram",
            inputs=[image] if net.variant.batch == 1 else None,
            minimum_deployment_target=ct.target.iOS15,
            compute_precision=ct.precision.FLOAT32,  # leaves the types as they are written
            pass_pipeline=ct.PassPipeline.EMPTY,
            skip_model_load=True,
            package_dir=str(Path(folder) / path.name),
        )
        model.short_description = "Synthetic weights: for measuring speed, not for classifying anything."
        model.save(str(path))


def _program(net: Network, precision: Precision) -> Any:
    import coremltools as ct
    from coremltools.converters.mil import Builder
    from coremltools.converters.mil.mil import types

    spec = Builder.TensorSpec(shape=net.variant.input_shape, dtype=types.fp32)

    # The builder takes the names of the program's inputs from those of the function.
    def program(image: Any) -> Any:
        return _layers(Builder, net, image, precision)

    return Builder.program(input_specs=[spec], opset_version=ct.target.iOS15)(program)


def _layers(builder: Any, net: Network, image: Any, precision: Precision) -> Any:
    """All operations from the image to the logits; each layer's last one bears its name."""
    dtype = np.dtype(precision).type
    weights = {name: (weight.astype(dtype), bias.astype(dtype)) for name, weight, bias in parameters(net)}
    value = image if precision == "float32" else builder.cast(x=image, dtype="fp16", name="pixels")
    if net.variant.batch == 1:
        value = builder.mul(x=value, y=dtype(1 / WHITE), name="scaled")
    values: dict[str, Any] = {}
    for layer in net.convolutions:
        value = _convolution(builder, layer, value, weights[layer.name], values)
        values[layer.name] = value
    value = builder.reduce_mean(x=value, axes=[2, 3], keep_dims=False, name="features")
    weight, bias = weights[net.classifier.name]
    if precision == "float32":
        return builder.linear(x=value, weight=weight, bias=bias, name=OUTPUT)
    value = builder.linear(x=value, weight=weight, bias=bias, name=net.classifier.name)
    return builder.cast(x=value, dtype="fp32", name=OUTPUT)


def _convolution(builder: Any, layer: Convolution, value: Any, weights: tuple[Any, Any], values: dict[str, Any]) -> Any:
    follows = layer.relu6 or layer.adds is not None
    convolved = builder.conv(
        x=value,
        weight=weights[0],
        bias=weights[1],
        strides=[layer.stride] * 2,
        pad_type="custom",
        pad=[layer.kernel // 2] * 4,
        groups=layer.groups,
        name=f"{layer.name}_conv" if follows else layer.name,
    )
    if layer.relu6:
        return builder.relu6(x=convolved, name=layer.name)
    if layer.adds is not None:
        return builder.add(x=convolved, y=values[layer.adds], name=layer.name)
    return convolved


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keeps coremltools' warnings about the system it runs on, and its progress bars, off the terminal."""
    logger, handler = logging.getLogger("coremltools"), logging.NullHandler()
    logger.addHandler(handler)
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        logger.removeHandler(handler)
