"""Writes a network as an ML Program package: the layers and weights of the ONNX file, in half precision."""

from __future__ import annotations

import contextlib
import io
import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np

from hettop.models.networks.catalogue import Network
from hettop.models.networks.layers import (
    Activation,
    Add,
    Concat,
    Convolution,
    Dense,
    Layer,
    Mean,
    Norm,
    Part,
    Pool,
    Rectify,
    Shift,
    Shuffle,
)
from hettop.models.networks.onnx_file import INPUT, OUTPUT
from hettop.models.networks.weights import constants

Precision = Literal["float16", "float32"]

WHITE = 255


def write_package(net: Network, path: Path, precision: Precision = "float16") -> None:
    """Writes the network to the folder `path`, which must not exist and must end in `.mlpackage`. Raises OSError.

    Input `image`: an RGB image, scaled to 0..1 by the program. Core ML's images have no batch, so for more than one the
    input is a float32 array (batch, 3, height, width) of 0..1, as in ONNX. Output `logits`: float32 (batch, classes).
    """
    # coremltools makes a package of its own first, and removes it at Python's exit, which engine processes do without.
    with quiet(), tempfile.TemporaryDirectory(dir=path.parent) as folder:
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
        return _Writer(Builder, net, precision).write(image)

    return Builder.program(input_specs=[spec], opset_version=ct.target.iOS15)(program)


class _Writer:
    """Adds the operations of a network to a program; each layer's last one bears the layer's name."""

    def __init__(self, builder: Any, net: Network, precision: Precision) -> None:
        self._builder, self._net = builder, net
        self._dtype = np.dtype(precision).type
        self._weights: Iterator[tuple[str, Any]] = (
            (each.name, each.array(self._dtype)) for _, weights in constants(net) for each in weights
        )
        self._values: dict[str, Any] = {}

    def write(self, image: Any) -> Any:
        builder, half = self._builder, self._dtype is np.float16
        value = builder.cast(x=image, dtype="fp16", name="pixels") if half else image
        if self._net.variant.batch == 1:
            value = builder.mul(x=value, y=self._dtype(1 / WHITE), name="scaled")
        self._values[self._net.layers[0].source.name] = value
        for layer in self._net.layers:
            last = layer is self._net.layers[-1]
            value = self._layer(layer, OUTPUT if last and not half else layer.name)
            self._values[layer.name] = value
        return builder.cast(x=value, dtype="fp32", name=OUTPUT) if half else value

    def _layer(self, layer: Layer, name: str) -> Any:  # noqa: PLR0911 - a case for each kind of layer
        builder = self._builder
        x = self._values[layer.source.name]
        match layer:
            case Convolution():
                return self._convolution(layer, x, name)
            case Dense():
                return self._dense(layer, x, name)
            case Norm():
                scale, shift, mean, variance = (self._weight() for _ in range(4))
                normed = builder.batch_norm(
                    x=x, mean=mean, variance=variance, gamma=scale, beta=shift, epsilon=self._dtype(1e-5),
                    name=f"{name}_norm",
                )  # fmt: skip
                return builder.relu(x=normed, name=name)
            case Pool():
                return self._pool(layer, x, name)
            case Mean():
                return builder.reduce_mean(x=x, axes=[2, 3], keep_dims=False, name=name)
            case Rectify():
                return builder.relu(x=x, name=name)
            case Add():
                y = self._values[layer.sources[1].name]
                return self._activated(builder.add, layer.activation, name, x=x, y=y)
            case Concat():
                return builder.concat(values=[self._values[each.name] for each in layer.sources], axis=1, name=name)
        return self._moved(layer, x, name)

    def _moved(self, layer: Layer, x: Any, name: str) -> Any:
        """Layers that only move values."""
        builder, batch, source = self._builder, self._net.variant.batch, layer.source
        channels, height, width = source.channels, source.height, source.width
        match layer:
            case Part():
                size = [batch, layer.output.channels, height, width]
                return builder.slice_by_size(x=x, begin=[0, layer.first, 0, 0], size=size, name=name)
            case Shuffle():
                shape = [batch, layer.groups, channels // layer.groups, height, width]
                grouped = builder.reshape(x=x, shape=shape, name=f"{name}_grouped")
                turned = builder.transpose(x=grouped, perm=[0, 2, 1, 3, 4], name=f"{name}_turned")
                return builder.reshape(x=turned, shape=[batch, channels, height, width], name=name)
            case Shift():
                size = [batch, channels, height - 1, width - 1]
                cut = builder.slice_by_size(x=x, begin=[0, 0, 1, 1], size=size, name=f"{name}_cut")
                zero = self._dtype(0)
                return builder.pad(x=cut, pad=[0, 0, 0, 0, 0, 1, 0, 1], mode="constant", constant_val=zero, name=name)
        raise TypeError(type(layer).__name__)

    def _convolution(self, layer: Convolution, x: Any, name: str) -> Any:
        weights = dict(zip(("weight", "bias"), (self._weight() for _ in layer.weights), strict=False))
        top, left, bottom, right = layer.pads
        return self._activated(
            self._builder.conv,
            layer.activation,
            name,
            x=x,
            **weights,
            strides=[layer.stride] * 2,
            pad_type="custom",
            pad=[top, bottom, left, right],
            groups=layer.groups,
        )

    def _dense(self, layer: Dense, x: Any, name: str) -> Any:
        if layer.source.height * layer.source.width > 1:
            shape = [self._net.variant.batch, layer.fan_in]
            x = self._builder.reshape(x=x, shape=shape, name=f"{layer.name}_pixels")
        weight, bias = self._weight(), self._weight()
        return self._activated(self._builder.linear, layer.activation, name, x=x, weight=weight, bias=bias)

    def _pool(self, layer: Pool, x: Any, name: str) -> Any:
        top, left, bottom, right = layer.pads
        square = {
            "kernel_sizes": [layer.kernel] * 2,
            "strides": [layer.stride] * 2,
            "pad_type": "custom",
            "pad": [top, bottom, left, right],
        }
        if layer.kind == "max":
            return self._builder.max_pool(x=x, **square, name=name)
        return self._builder.avg_pool(x=x, **square, exclude_padding_from_average=True, name=name)

    def _activated(self, operation: Any, activation: Activation, name: str, **arguments: Any) -> Any:
        if not activation:
            return operation(**arguments, name=name)
        before = operation(**arguments, name=f"{name}_{operation.__name__}")
        return getattr(self._builder, activation)(x=before, name=name)

    def _weight(self) -> Any:
        """The next constant: layers ask in the order in which values are drawn."""
        return next(self._weights)[1]


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keeps coremltools' warnings about the system it runs on, and its progress bars, off the terminal."""
    logger, handler = logging.getLogger("coremltools"), logging.NullHandler()
    logger.addHandler(handler)
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        logger.removeHandler(handler)
