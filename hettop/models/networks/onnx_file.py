"""Writes a network as an ONNX model: static shapes, float32, synthetic weights."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
from hettop.models.networks.weights import constants

OPSET = 17
IR_VERSION = 8
"""The IR that came with opset 17; the onnx package's newest would be refused by an older runtime."""

INPUT, OUTPUT = "image", "logits"

WEIGHTS_FILE = "weights.bin"
LARGEST_INSIDE = 64_000_000
"""Parameters. Weights of larger networks lie in a file beside the graph, which a runtime maps instead of copying it."""


def is_split(net: Network) -> bool:
    """Whether the weights lie in a file of their own."""
    return net.parameters > LARGEST_INSIDE


def write_onnx(net: Network, path: Path) -> None:
    """Writes the network to `path`, and large weights to `WEIGHTS_FILE` beside it. Raises OSError."""
    if is_split(net):
        with (path.parent / WEIGHTS_FILE).open("wb") as file:
            tensors = list(_outside(net, file))
    else:
        tensors = list(_inside(net))
    path.write_bytes(_model(net, tensors).SerializeToString(deterministic=True))


def build_model(net: Network) -> Any:
    """The `onnx.ModelProto`: input `image` (batch, 3, height, width), output `logits` (batch, classes)."""
    return _model(net, list(_inside(net)))


def _model(net: Network, tensors: list[Any]) -> Any:
    from onnx import TensorProto, helper

    nodes, constants_used = [], dict[str, Any]()
    for layer in net.layers:
        output = OUTPUT if layer is net.layers[-1] else layer.name
        nodes += _nodes(layer, output, net.variant.batch, constants_used)
    graph = helper.make_graph(
        nodes,
        net.variant.family,
        [helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, net.variant.input_shape)],
        [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, (net.variant.batch, net.layers[-1].output.channels))],
        [*(_tensor(name, value) for name, value in constants_used.items()), *tensors],
    )
    return helper.make_model(
        graph,
        producer_name="hettop",
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        doc_string="Synthetic weights: for measuring speed, not for classifying anything.",
    )


def _inside(net: Network) -> Iterator[Any]:
    for _, weights in constants(net):
        for each in weights:
            yield _tensor(each.name, each.array())


def _outside(net: Network, file: Any) -> Iterator[Any]:
    """Tensors that refer to `file`, to which the values are written as they are drawn."""
    from onnx import TensorProto

    for _, weights in constants(net):
        for each in weights:
            offset = file.tell()
            for chunk in each.chunks():
                file.write(chunk.astype("<f4").tobytes())
            tensor = TensorProto(name=each.name, dims=each.shape, data_type=TensorProto.FLOAT)
            tensor.data_location = TensorProto.EXTERNAL
            length = 4 * math.prod(each.shape)
            for key, value in (("location", WEIGHTS_FILE), ("offset", str(offset)), ("length", str(length))):
                tensor.external_data.add(key=key, value=value)
            yield tensor


def _nodes(  # noqa: PLR0911 - a case for each kind of layer
    layer: Layer, output: str, batch: int, used: dict[str, Any]
) -> list[Any]:
    """The nodes of a layer, the last of which gives `output`; constants that are no weights are added to `used`."""
    source = layer.source.name
    match layer:
        case Convolution():
            return _convolution(layer, output, used)
        case Dense():
            return _dense(layer, output, used)
        case Norm():
            names = [f"{layer.name}_{role}" for role, _ in layer.weights]
            return [
                _node("BatchNormalization", [source, *names], f"{output}_norm"),
                _node("Relu", [f"{output}_norm"], output),
            ]
        case Pool():
            square = {"kernel_shape": [layer.kernel] * 2, "strides": [layer.stride] * 2, "pads": list(layer.pads)}
            return [_node("MaxPool" if layer.kind == "max" else "AveragePool", [source], output, **square)]
        case Mean():
            pooled = f"{output}_pooled"
            return [_node("GlobalAveragePool", [source], pooled), _node("Flatten", [pooled], output, axis=1)]
        case Rectify():
            return [_node("Relu", [source], output)]
        case Add():
            return _activated("Add", [each.name for each in layer.sources], output, layer.activation, used)
        case Concat():
            return [_node("Concat", [each.name for each in layer.sources], output, axis=1)]
        case Part():
            ends = {"starts": [layer.first], "ends": [layer.first + layer.output.channels], "axes": [1]}
            return [_node("Slice", [source, *_indices(layer.name, ends, used)], output)]
        case Shuffle():
            return _shuffle(layer, output, batch, used)
        case Shift():
            ends = {"starts": [1, 1], "ends": [layer.source.height, layer.source.width], "axes": [2, 3]}
            cut = _node("Slice", [source, *_indices(layer.name, ends, used)], f"{output}_cut")
            pads = _indices(layer.name, {"pads": [0, 0, 0, 0, 0, 0, 1, 1]}, used)
            return [cut, _node("Pad", [f"{output}_cut", *pads], output)]
    raise TypeError(type(layer).__name__)


def _convolution(layer: Convolution, output: str, used: dict[str, Any]) -> list[Any]:
    return _activated(
        "Conv",
        [layer.source.name, *(f"{layer.name}_{role}" for role, _ in layer.weights)],
        output,
        layer.activation,
        used,
        kernel_shape=list(layer.kernel),
        strides=[layer.stride] * 2,
        pads=list(layer.pads),
        group=layer.groups,
    )


def _dense(layer: Dense, output: str, used: dict[str, Any]) -> list[Any]:
    source, before = layer.source.name, []
    if layer.source.height * layer.source.width > 1:
        source = f"{layer.name}_pixels"
        before = [_node("Flatten", [layer.source.name], source, axis=1)]
    weights = [f"{layer.name}_{role}" for role, _ in layer.weights]
    return before + _activated("Gemm", [source, *weights], output, layer.activation, used, transB=1)


def _shuffle(layer: Shuffle, output: str, batch: int, used: dict[str, Any]) -> list[Any]:
    channels, height, width = layer.source.channels, layer.source.height, layer.source.width
    apart = _indices(layer.name, {"apart": [batch, layer.groups, channels // layer.groups, height, width]}, used)
    together = _indices(layer.name, {"together": [batch, channels, height, width]}, used)
    grouped, turned = f"{output}_grouped", f"{output}_turned"
    return [
        _node("Reshape", [layer.source.name, *apart], grouped),
        _node("Transpose", [grouped], turned, perm=[0, 2, 1, 3, 4]),
        _node("Reshape", [turned, *together], output),
    ]


def _activated(
    op: str, inputs: list[str], output: str, activation: Activation, used: dict[str, Any], **attributes: Any
) -> list[Any]:
    if not activation:
        return [_node(op, inputs, output, **attributes)]
    before = f"{output}_{op.lower()}"
    first = _node(op, inputs, before, **attributes)
    if activation == "relu":
        return [first, _node("Relu", [before], output)]
    bounds = {"relu6_low": np.float32(0), "relu6_high": np.float32(6)}
    used.update(bounds)
    return [first, _node("Clip", [before, *bounds], output)]


def _indices(name: str, values: dict[str, list[int]], used: dict[str, Any]) -> list[str]:
    """Adds constants of a layer to `used`; returns their names."""
    added = {f"{name}_{role}": np.array(numbers, dtype=np.int64) for role, numbers in values.items()}
    used.update(added)
    return list(added)


def _node(op: str, inputs: list[str], output: str, **attributes: Any) -> Any:
    from onnx import helper

    return helper.make_node(op, inputs, [output], name=f"{output}_{op}", **attributes)


def _tensor(name: str, value: Any) -> Any:
    from onnx import numpy_helper

    return numpy_helper.from_array(np.asarray(value), name)
