"""Reads models of the older NeuralNetwork format for inspection: their weights, and their layers in order.

Knows the layers' messages; what shapes they make is in `neural_shapes`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from hettop.models.inspection import macs
from hettop.models.inspection.graph import Graph, Layer, Shape, Tensor, Weight, total_bytes
from hettop.models.inspection.neural_shapes import convolution_weight, output_shape
from hettop.models.mil.package import Package
from hettop.text import clean

Message = Any

FLOAT = "float32"
PRECISION_NOTE = "the NeuralNetwork format names no type to compute in: activations are counted as float32"

_COMPANIONS = {"batchnorm": ("mean", "variance")}
_RECURRENT = frozenset({"simpleRecurrent", "gru", "uniDirectionalLSTM", "biDirectionalLSTM"})
_NESTED = frozenset({"branch", "loop"})


def read_network(package: Package, shapes: Mapping[str, Shape] | None = None) -> Graph:
    """Weights and layers of the network; `shapes` of inputs replace those that the description gives."""
    network = getattr(package.spec, str(package.spec.WhichOneof("Type")))
    known: dict[str, Shape | None] = {port.name: port.shape for port in package.function().inputs}
    known |= dict(shapes or {})
    ops: Counter[str] = Counter()
    layers: list[Layer] = []
    weights: list[Weight] = []
    for layer in network.layers:
        kind = clean(str(layer.WhichOneof("layer")))
        ops[kind] += 1
        inputs = [known.get(name) for name in layer.input]
        output = output_shape(layer, inputs)
        known |= dict.fromkeys(layer.output, output)
        own = list(_weights(layer, kind))
        weights += own
        layers.append(
            Layer(
                name=clean(layer.name),
                op=kind,
                macs=_macs(layer, kind, inputs, output),
                input_bytes=total_bytes(Tensor(FLOAT, shape) for shape in inputs),
                weight_bytes=sum(weight.stored for weight in own),
                output_bytes=total_bytes([Tensor(FLOAT, output)] * len(layer.output)),
                dtype=FLOAT,
            )
        )
    return Graph(tuple(layers), tuple(weights), ops, (PRECISION_NOTE,))


def _macs(layer: Message, kind: str, inputs: list[Shape | None], output: Shape | None) -> int | None:
    """Recurrent layers and nested networks are not counted: None."""
    parameters = getattr(layer, kind)
    first = inputs[0] if inputs else None
    if kind == "convolution":
        weight = convolution_weight(parameters)
        if parameters.isDeconvolution:
            return macs.transposed_convolution(first, weight)
        return macs.convolution(output, weight)
    if kind == "innerProduct":
        return macs.matrix_product(output, (int(parameters.inputChannels),))
    if kind == "batchedMatmul":
        return macs.matrix_product(output, first, transposed=bool(parameters.transposeA))
    return None if kind in _RECURRENT or kind in _NESTED or kind == "custom" else 0


def _weights(layer: Message, kind: str) -> Iterator[Weight]:
    """Every set of weights in the layer's message, wherever it stands."""
    for field, values in _weight_messages(getattr(layer, kind)):
        dtype, elements, stored = _stored(values)
        if not elements:
            continue
        trained = field not in _COMPANIONS.get(kind, ())
        yield Weight(clean(f"{layer.name}.{field}"), dtype, elements if trained else 0, stored)


def _weight_messages(message: Message) -> Iterator[tuple[str, Message]]:
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        # protobuf tells repeated fields by their container
        for each in value if hasattr(value, "add") else [value]:
            if field.message_type.name == "WeightParams":
                yield field.name, each
            else:
                yield from _weight_messages(each)


def _stored(values: Message) -> tuple[str, int, int]:
    """Type, number of elements, and bytes of one set of weights."""
    if values.floatValue:
        return FLOAT, len(values.floatValue), 4 * len(values.floatValue)
    if values.float16Value:
        return "float16", len(values.float16Value) // 2, len(values.float16Value)
    if values.int8RawValue:
        return "int8", len(values.int8RawValue), len(values.int8RawValue)
    bits = int(values.quantization.numberOfBits) or 8
    return f"uint{bits}", len(values.rawValue) * 8 // bits, len(values.rawValue)
