"""Writes MobileNetV2 as an ONNX model: static shapes, float32, synthetic weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hettop.models.mobilenetv2 import FAMILY, Classifier, Convolution, Network
from hettop.models.weights import parameters

OPSET = 17
IR_VERSION = 8
"""The IR that came with opset 17; the onnx package's newest would be refused by an older runtime."""

INPUT, OUTPUT = "image", "logits"


def write_onnx(net: Network, path: Path) -> None:
    """Writes the network to `path`. Raises OSError."""
    path.write_bytes(build_model(net).SerializeToString(deterministic=True))


def build_model(net: Network) -> Any:
    """The `onnx.ModelProto`: input `image` (batch, 3, height, width), output `logits` (batch, 1000)."""
    from onnx import TensorProto, helper

    graph = helper.make_graph(
        _nodes(net),
        FAMILY,
        [helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, net.variant.input_shape)],
        [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, (net.variant.batch, net.classifier.outputs))],
        _initializers(net),
    )
    return helper.make_model(
        graph,
        producer_name="hettop",
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        doc_string="Synthetic weights: for measuring speed, not for classifying anything.",
    )


def _initializers(net: Network) -> list[Any]:
    tensors = [_tensor("relu6_low", np.float32(0)), _tensor("relu6_high", np.float32(6))]
    for name, weight, bias in parameters(net):
        tensors += [_tensor(f"{name}_weight", weight), _tensor(f"{name}_bias", bias)]
    return tensors


def _nodes(net: Network) -> list[Any]:
    nodes, value = [], INPUT
    for layer in net.convolutions:
        nodes += _convolution(layer, value)
        value = layer.name
    return nodes + _classifier(net.classifier, value)


def _convolution(layer: Convolution, value: str) -> list[Any]:
    """The convolution and what follows it; the last node's output bears the layer's name."""
    follows = layer.relu6 or layer.adds is not None
    convolved = f"{layer.name}_conv" if follows else layer.name
    nodes = [
        _node(
            "Conv",
            [value, f"{layer.name}_weight", f"{layer.name}_bias"],
            convolved,
            kernel_shape=[layer.kernel] * 2,
            strides=[layer.stride] * 2,
            pads=[layer.kernel // 2] * 4,
            group=layer.groups,
        )
    ]
    if layer.relu6:
        nodes.append(_node("Clip", [convolved, "relu6_low", "relu6_high"], layer.name))
    elif layer.adds is not None:
        nodes.append(_node("Add", [convolved, layer.adds], layer.name))
    return nodes


def _classifier(layer: Classifier, value: str) -> list[Any]:
    return [
        _node("GlobalAveragePool", [value], "pooled"),
        _node("Flatten", ["pooled"], "features", axis=1),
        _node("Gemm", ["features", f"{layer.name}_weight", f"{layer.name}_bias"], OUTPUT, transB=1),
    ]


def _node(op: str, inputs: list[str], output: str, **attributes: Any) -> Any:
    from onnx import helper

    return helper.make_node(op, inputs, [output], name=f"{output}_{op}", **attributes)


def _tensor(name: str, value: npt.ArrayLike) -> Any:
    from onnx import numpy_helper

    return numpy_helper.from_array(np.asarray(value, dtype=np.float32), name)
