"""Translates a NeuralNetwork, layer by layer, into a graph that is being written."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from hettop.errors import HettopError
from hettop.models.mil.call import DAMAGED, Call
from hettop.models.mil.graph import FLOAT32, Graph, Tensor
from hettop.models.mil.neuralnetwork import elementwise, images, recurrent, shaping
from hettop.models.mil.neuralnetwork.layer import Layer
from hettop.models.mil.neuralnetwork.shapes import input_shape, is_folded, output_shapes
from hettop.models.mil.ports import Port
from hettop.models.mil.values import MAX_TENSOR_BYTES, Shape

Message = Any
Translate = Callable[[Layer], Tensor | tuple[Tensor, ...]]

LAYERS: Mapping[str, Translate] = {
    **images.LAYERS,
    **elementwise.LAYERS,
    **shaping.LAYERS,
    **recurrent.LAYERS,
}

# What a layer's parameters raise that do not fit each other.
SENSELESS = (ValueError, TypeError, LookupError, ArithmeticError, RuntimeError, StopIteration, MemoryError)


def translate_network(
    graph: Graph,
    network: Message,
    ports: Sequence[Port],
    given: Mapping[str, Tensor],
    *,
    owner: str,
    named: Callable[[str], str],
) -> dict[str, Tensor]:
    """Adds the layers of `network` to `graph`; returns every value by its name.

    ports, given: the inputs, described and as tensors. owner: the model's name, for errors. named: the name in the
    graph of a value. Raises HettopError: `unsupported-op` naming the first layer without a translation, `format` for
    one whose parameters are invalid.
    """
    values = {port.name: _entered(graph, network, port, given[port.name], owner) for port in ports}
    for layer in network.layers:
        kind = str(layer.WhichOneof("layer"))
        place = f"{owner}: the {kind!r} layer {layer.name!r}"
        how = LAYERS.get(kind)
        if how is None:
            raise HettopError(
                "unsupported-op", f"{place} has no translation", "use hettop inspect to list all missing layers"
            )
        unknown = [name for name in layer.input if name not in values]
        if unknown:
            raise HettopError("format", f"{place} uses {unknown[0]!r} before its definition", DAMAGED)
        inputs = [values[name] for name in layer.input]
        # a name with two slashes, so that it is none that the network gives
        graph.start(f"{named(layer.output[0] if layer.output else layer.name)}/")
        before = len(graph.nodes)
        try:
            shapes = output_shapes(layer, [each.shape for each in inputs])
            for shape in shapes:
                _check_size(shape, place)
            results = how(Layer(graph, getattr(layer, kind), inputs, shapes, is_folded(network), place))
        except SENSELESS as error:
            raise HettopError("format", f"{place} has invalid parameters: {error}", DAMAGED) from error
        made = results if isinstance(results, tuple) else (results,)
        for name, tensor, shape in zip(layer.output, made, shapes, strict=False):
            values[name] = _renamed(graph, tensor, named(name), shape, before)
    return values


def _check_size(shape: Shape | None, place: str) -> None:
    size = math.prod(length or 1 for length in shape or ()) * FLOAT32.itemsize
    if size > MAX_TENSOR_BYTES:
        raise HettopError("format", f"{place} makes {list(shape or ())}, which needs {size / 1e9:.0f} GB", DAMAGED)


def _renamed(graph: Graph, tensor: Tensor, name: str, shape: Shape | None, before: int) -> Tensor:
    """The result of a layer under the name that the network gives it."""
    known = tensor.shape if shape is None else shape
    if tensor.value is None and graph.rename(tensor, name, before):
        return Tensor(name, tensor.dtype, known)
    return Tensor(tensor.name, tensor.dtype, known, tensor.value)


def _entered(graph: Graph, network: Message, port: Port, tensor: Tensor, owner: str) -> Tensor:
    """An input as the layers see it: float32, an image after its preprocessing, with the axes that they have."""
    graph.start(f"{port.name}/")
    call = Call(graph, {}, [], f"{owner}: the input {port.name!r}", lambda _index, _given: [], {})
    value = graph.cast(tensor, FLOAT32)
    for step in network.preprocessing:
        if step.featureName == port.name or (not step.featureName and port.kind == "image"):
            value = _prepared(graph, step, port, value, call)
    shape = input_shape(network, port.kind, tensor.sizes)
    if is_folded(network) and len(shape) != 4:
        raise call.unsupported(f"has {tensor.rank} axes, where the network knows one or three")
    lead = [0] if len(shape) > tensor.rank else []
    tail = [2, 3] if len(shape) == tensor.rank + 3 else []
    return call.unsqueeze(value, lead + tail) if lead else value


def _prepared(graph: Graph, step: Message, port: Port, value: Tensor, call: Call) -> Tensor:
    """y = scale * x + bias by colour, or x less a mean image."""
    if step.WhichOneof("preprocessor") == "meanImage":
        sizes = [size for size in value.sizes[-3:] if size is not None]
        mean = np.asarray(step.meanImage.meanImage, np.float32)
        return graph.emit("Sub", value, graph.constant(mean.reshape(sizes)), shape=value.shape)
    given = step.scaler
    colours = {
        "RGB": [given.redBias, given.greenBias, given.blueBias],
        "BGR": [given.blueBias, given.greenBias, given.redBias],
        "GRAYSCALE": [given.grayBias],
        "GRAYSCALE_FLOAT16": [given.grayBias],
    }
    if port.color is None:
        raise call.unsupported("is scaled as an image, but is none")
    bias = np.asarray(colours[port.color], np.float32).reshape(-1, 1, 1)
    if given.channelScale != 1:
        value = graph.emit("Mul", value, graph.constant(given.channelScale, FLOAT32), shape=value.shape)
    return graph.emit("Add", value, graph.constant(bias), shape=value.shape) if bias.any() else value
