"""Translates NeuralNetworks, linear models, tree ensembles and pipelines of these to ONNX models."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hettop.errors import HettopError
from hettop.models.mil.call import DAMAGED, Call
from hettop.models.mil.graph import FLOAT32, Graph, Tensor
from hettop.models.mil.neuralnetwork.features import FLOAT64
from hettop.models.mil.neuralnetwork.features import KINDS as FEATURE_KINDS
from hettop.models.mil.neuralnetwork.network import LAYERS, SENSELESS, translate_network
from hettop.models.mil.package import NEURAL_NETWORKS, PIPELINES, Package, model_kind, pipeline_models
from hettop.models.mil.ports import Port, read_port
from hettop.models.mil.values import Shape

Message = Any

RUNS_ON_A_MAC = "the model runs on a Mac"

Naming = Callable[[str], str]
"""The name in the graph of a value that a model calls by another."""


@dataclass(frozen=True, slots=True)
class Translated:
    """The graph of a model, its inputs and outputs, what the outputs are, and what is not as on a Mac."""

    graph: Graph
    inputs: list[Tensor]
    outputs: list[Tensor]
    ports: tuple[Port, ...]
    notes: tuple[str, ...]


def translate_model(package: Package) -> Translated:
    """The graph of a model that is not an ML Program.

    Raises HettopError: `unsupported-op` naming the first layer, or stage of a pipeline, without a translation;
    `format` for a damaged model.
    """
    graph, described = Graph(), package.function()
    inputs = [_input(port, package.name) for port in described.inputs]
    ends = {port.name for port in described.outputs} | {port.name for port in described.inputs}
    given = {tensor.name: tensor for tensor in inputs}
    found = _translated(graph, package.spec, given, package.name, lambda name: f"{name}//" if name in ends else name)
    outputs, ports, notes = [], [], []
    for port in described.outputs:
        if port.name not in found:
            notes.append(f"{port.name} is a label with Core ML; here it is left out")
            continue
        if port.kind == "dictionary":
            notes.append(f"{port.name} is a dictionary with Core ML; here its values are an array")
        tensor = _output(graph, port, found[port.name])
        outputs.append(tensor)
        ports.append(port if port.kind != "dictionary" else replace(port, kind="array", shape=tensor.sizes))
    if not outputs:
        raise HettopError("unsupported-op", f"{package.name} has no output that is an array", RUNS_ON_A_MAC)
    return Translated(graph, inputs, outputs, tuple(ports), tuple(notes))


def missing_parts(spec: Message, place: str = "the model") -> Iterator[tuple[str, str]]:
    """(kind, place) of each layer, or model of a pipeline, that has no translation, in order."""
    which = str(spec.WhichOneof("Type"))
    if which in PIPELINES:
        for name, model in pipeline_models(spec):
            yield from missing_parts(model, f"stage {name!r}")
    elif which in NEURAL_NETWORKS:
        network = getattr(spec, which)
        for layer in network.layers:
            if layer.WhichOneof("layer") not in LAYERS:
                yield str(layer.WhichOneof("layer")), f"layer {layer.name!r}"
    elif which not in FEATURE_KINDS:
        yield which, place


def _input(port: Port, owner: str) -> Tensor:
    """An input as it is fed: in its described type and shape, None where a length is free; an image in float32."""
    if port.kind not in {"array", "image", "scalar"} or port.dtype in {"unknown", "string"}:
        raise HettopError(
            "unsupported-op", f"{owner}: the input {port.name!r} is a {port.kind} of {port.dtype}", RUNS_ON_A_MAC
        )
    fixed = [low == high for low, high in port.ranges] or [
        all(len(choice) == len(port.shape) and choice[axis] == size for choice in port.choices)
        for axis, size in enumerate(port.shape)
    ]
    shape = tuple(size if kept else None for size, kept in zip(port.shape, fixed, strict=True))
    dtype = FLOAT32 if port.dtype == "uint8" else np.dtype(port.dtype)
    return Tensor(port.name, dtype, shape)


def _translated(
    graph: Graph, spec: Message, given: Mapping[str, Tensor], owner: str, named: Naming
) -> dict[str, Tensor]:
    """The outputs of one model by their names, labels left out."""
    which = str(spec.WhichOneof("Type"))
    if which in PIPELINES:
        return _pipeline(graph, spec, given, owner)
    ports = [read_port(feature) for feature in spec.description.input]
    missing = [port.name for port in ports if port.name not in given]
    if missing:
        raise HettopError("format", f"{owner} uses {missing[0]!r} before its definition", DAMAGED)
    if which in NEURAL_NETWORKS:
        made = translate_network(graph, getattr(spec, which), ports, given, owner=owner, named=named)
        return _network_outputs(spec, getattr(spec, which), made)
    if which not in FEATURE_KINDS:
        raise HettopError("unsupported-op", f"{owner}: a {model_kind(spec)} model has no translation", RUNS_ON_A_MAC)
    call = Call(graph, {}, [], f"{owner}: the {which!r} model", lambda _index, _given: [], {})
    graph.start(f"{named(which)}/")
    try:
        rows = {port.name: _row(call, given[port.name]) for port in ports}
        value = FEATURE_KINDS[which](call, getattr(spec, which), rows)
    except SENSELESS as error:
        raise HettopError("format", f"{call.place} has invalid parameters: {error}", DAMAGED) from error
    # a classifier's probabilities, or the one output of any other model
    return {spec.description.predictedProbabilitiesName or spec.description.output[0].name: value}


def _pipeline(graph: Graph, spec: Message, given: Mapping[str, Tensor], owner: str) -> dict[str, Tensor]:
    """Its models in order, each with what those before it made."""
    values = dict(given)
    for name, model in pipeline_models(spec):
        # stages may give one name to different values, which a graph may not
        values |= _translated(graph, model, values, f"{owner}, {name}", lambda value, name=name: f"{name}:{value}")  # type: ignore[misc]
    return values


def _network_outputs(spec: Message, network: Message, made: Mapping[str, Tensor]) -> dict[str, Tensor]:
    outputs = {feature.name: made[feature.name] for feature in spec.description.output if feature.name in made}
    probabilities = spec.description.predictedProbabilitiesName
    if probabilities and probabilities not in outputs and network.layers:
        outputs[probabilities] = made[_probability_layer(network) or network.layers[-1].output[0]]
    return outputs


def _probability_layer(network: Message) -> str:
    """The value with the probabilities of the classes: named by itself or by its layer."""
    named = getattr(network, "labelProbabilityLayerName", "")
    by_layer = {layer.name: layer.output[0] for layer in network.layers if layer.output}
    by_value = {output: output for layer in network.layers for output in layer.output}
    return str(by_value.get(named) or by_layer.get(named, ""))


def _row(call: Call, tensor: Tensor) -> Tensor:
    """Features as a matrix of one row."""
    return call.reshape(call.cast(tensor, FLOAT64), [1, -1], (1, _count(tensor.sizes)))


def _count(shape: Shape) -> int | None:
    known = [size for size in shape if size is not None]
    return math.prod(known) if len(known) == len(shape) else None


def _output(graph: Graph, port: Port, tensor: Tensor) -> Tensor:
    """A value under the output's name, in the type and, if the elements are as many, the shape that is described."""
    graph.start(f"{port.name}//")
    call = Call(graph, {}, [], port.name, lambda _index, _given: [], {})
    sizes = [size for size in port.shape if size is not None]
    described = port.kind in {"array", "image"} and sizes and _count(tensor.sizes) in (None, math.prod(sizes))
    if port.kind in {"dictionary", "scalar"}:
        value = call.reshape(tensor, [-1], (_count(tensor.sizes),))
    elif described and len(sizes) == len(port.shape) and not port.flexible and tensor.sizes != tuple(sizes):
        value = call.reshape(tensor, sizes)
    else:
        value = tensor
    known = {"float16", "float32", "float64", "int32"}
    dtype = np.dtype(port.dtype) if port.kind == "array" and port.dtype in known else FLOAT32
    value = graph.cast(value, dtype)
    graph.identity(value, port.name)
    return Tensor(port.name, value.dtype, value.shape)
