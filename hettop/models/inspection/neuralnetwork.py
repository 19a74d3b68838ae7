"""Reads the older NeuralNetwork format for inspection: weights, layers, and the shapes that it does not write down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hettop.errors import HettopError
from hettop.models.inspection import macs
from hettop.models.inspection.graph import Graph, Layer, Shape, Tensor, Weight, total_bytes
from hettop.models.mil.call import DAMAGED, PARAMETER_ERRORS
from hettop.models.mil.neuralnetwork.shapes import convolution_weight, input_shape, output_shapes, steps_and_batch
from hettop.models.mil.package import Package
from hettop.text import clean

Message = Any

FLOAT = "float32"
PRECISION_NOTE = "the NeuralNetwork format has no compute type: activations are counted as float32"

_COMPANIONS = {"batchnorm": ("mean", "variance")}
_GATES = {
    "simpleRecurrent": macs.RNN_GATES,
    "gru": macs.GRU_GATES,
    "uniDirectionalLSTM": macs.LSTM_GATES,
    "biDirectionalLSTM": macs.LSTM_GATES,
}
_NESTED = frozenset({"branch", "loop"})


def read_network(package: Package, shapes: Mapping[str, Shape] | None = None) -> Graph:
    """Weights and layers of the network; `shapes` of inputs replace those that the description gives."""
    network = getattr(package.spec, str(package.spec.WhichOneof("Type")))
    known: dict[str, Shape | None] = {
        port.name: input_shape(network, port.kind, (shapes or {}).get(port.name, port.shape))
        for port in package.function().inputs
    }
    ops: Counter[str] = Counter()
    layers: list[Layer] = []
    weights: list[Weight] = []
    for layer in network.layers:
        kind = clean(str(layer.WhichOneof("layer")))
        ops[kind] += 1
        inputs = [known.get(name) for name in layer.input]
        try:
            outputs = output_shapes(layer, inputs)
            known |= dict(zip(layer.output, outputs, strict=True))
            own = list(_weights(layer, kind))
            layers.append(_layer(layer, kind, inputs, outputs, own))
        except PARAMETER_ERRORS as error:
            place = f"{package.name}: layer {clean(layer.name)} ({kind})"
            raise HettopError("format", f"{place} has invalid parameters: {error}", DAMAGED) from error
        weights += own
    return Graph(tuple(layers), tuple(weights), ops, (PRECISION_NOTE,))


def _layer(
    layer: Message, kind: str, inputs: list[Shape | None], outputs: Sequence[Shape | None], weights: list[Weight]
) -> Layer:
    return Layer(
        name=clean(layer.name),
        op=kind,
        macs=_macs(layer, kind, inputs, outputs[0] if outputs else None),
        input_bytes=total_bytes(Tensor(FLOAT, shape) for shape in inputs),
        weight_bytes=sum(weight.stored for weight in weights),
        output_bytes=total_bytes(Tensor(FLOAT, shape) for shape in outputs),
        dtype=FLOAT,
    )


def _macs(layer: Message, kind: str, inputs: list[Shape | None], output: Shape | None) -> int | None:
    """Nested networks are not counted: None."""
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
        return macs.matrix_product(output, first, transposed=len(inputs) > 1 and bool(parameters.transposeA))
    if kind in _GATES:
        steps, batch = steps_and_batch(first) if first else (None, None)
        return macs.recurrent(
            steps,
            batch,
            inputs=int(parameters.inputVectorSize),
            hidden=int(parameters.outputVectorSize),
            gates=_GATES[kind],
            directions=1 + (kind == "biDirectionalLSTM"),
        )
    return None if kind in _NESTED or kind == "custom" else 0


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
        # protobuf reports repeated fields by their container
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
