"""Recurrent layers: x is (sequence, batch, inputs, 1, 1), states are (1, batch, hidden, 1, 1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from hettop.models.mil.blob import Array
from hettop.models.mil.graph import FLOAT32, Tensor
from hettop.models.mil.neuralnetwork.layer import Layer, Message

_ACTIVATIONS = {"sigmoid": "sigmoid", "tanh": "tanh"}
_HARD_SIGMOID = (0.2, 0.5)
_CLIPPED = 50.0
"""Where Core ML limits a cell's state; a state that grows by less than 1 per step gets there after 50 steps."""


def _activation(layer: Layer, given: Message) -> Array:
    """The name that ML Programs give it. Others than these grow, so that Core ML's limit of 50 would matter."""
    kind = str(given.WhichOneof("NonlinearityType"))
    if kind == "sigmoidHard" and np.allclose((given.sigmoidHard.alpha, given.sigmoidHard.beta), _HARD_SIGMOID):
        return np.asarray("sigmoid_hard")
    if kind not in _ACTIVATIONS:
        raise layer.call.unsupported(f"has the activation {kind!r}")
    return np.asarray(_ACTIVATIONS[kind])


def _sizes(layer: Layer) -> tuple[int, int]:
    return int(layer.parameters.inputVectorSize), int(layer.parameters.outputVectorSize)


def _sequence(layer: Layer) -> Tensor:
    """(sequence, batch, inputs)."""
    x, inputs = layer.x, _sizes(layer)[0]
    if layer.folded:
        return layer.call.reshape(x, [-1, 1, inputs], (x.sizes[0], 1, inputs))
    return layer.call.squeeze(x, [-2, -1])


def _state(layer: Layer, places: Sequence[int]) -> Tensor:
    """(batch, hidden, of each direction), zeros where the layer is not given a state."""
    hidden = _sizes(layer)[1]
    batch = 1 if layer.folded else layer.x.sizes[1]
    given = [layer.inputs[place] for place in places if place < len(layer.inputs)]
    if not given:
        if batch is None:
            raise layer.call.unsupported("begins with a state whose batch is known at run time only")
        return layer.constant(np.zeros((batch, hidden * len(places)), np.float32))
    flat = [layer.call.reshape(each, [-1 if batch is None else batch, hidden], (batch, hidden)) for each in given]
    return flat[0] if len(flat) == 1 else layer.graph.emit("Concat", *flat, axis=1, shape=(batch, 2 * hidden))


def _stacked(layer: Layer, source: Message, names: Sequence[str], columns: int | None = None) -> Array:
    """One matrix (or vector) per gate, one below the other."""
    hidden = _sizes(layer)[1]
    shape = (hidden,) if columns is None else (hidden, columns)
    return np.concatenate([layer.weights(getattr(source, name), *shape) for name in names])


def _run(layer: Layer, op: str, directions: int = 1, **given: Any) -> tuple[Tensor, ...]:
    """The sequence (or its last step) and the states after it, with the axes that the format gives them."""
    x, width = _sequence(layer), directions * _sizes(layer)[1]
    steps, batch = x.sizes[:2]
    whole = bool(given["output_sequence"])
    count = 3 if op == "lstm" else 2
    shapes = [(steps if whole else 1, batch, width), *[(batch, width)] * (count - 1)]
    return layer.mil_outputs(op, shapes, x=x, **given)


def _outputs(layer: Layer, found: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """As many as the layer has outputs, each in its shape."""
    made = []
    for tensor, shape in zip(found, layer.shapes, strict=False):
        if shape is None or shape.count(None) > 1:
            raise layer.call.unsupported("has lengths known at run time only")
        target = layer.call.ints([-1 if length is None else length for length in shape])
        made.append(layer.graph.emit("Reshape", tensor, target, dtype=FLOAT32, shape=shape))
    return tuple(made)


def _direction(layer: Layer) -> Array:
    return np.asarray("reverse" if layer.parameters.reverseInput else "forward")


def simple(layer: Layer) -> tuple[Tensor, ...]:
    given, (inputs, hidden) = layer.parameters, _sizes(layer)
    found = _run(
        layer,
        "rnn",
        initial_h=_state(layer, [1]),
        weight_ih=layer.weights(given.weightMatrix, hidden, inputs),
        weight_hh=layer.weights(given.recursionMatrix, hidden, hidden),
        bias=layer.weights(given.biasVector, hidden) if given.hasBiasVector else None,
        activation=_activation(layer, given.activation),
        direction=_direction(layer),
        output_sequence=bool(given.sequenceOutput),
    )
    return _outputs(layer, found)


_GRU_GATES = ("reset", "output", "update")
"""In the order of ML Programs."""


def gru(layer: Layer) -> tuple[Tensor, ...]:
    given, (inputs, hidden) = layer.parameters, _sizes(layer)
    found = _run(
        layer,
        "gru",
        initial_h=_state(layer, [1]),
        weight_ih=_stacked(layer, given, [f"{gate}GateWeightMatrix" for gate in _GRU_GATES], inputs),
        weight_hh=_stacked(layer, given, [f"{gate}GateRecursionMatrix" for gate in _GRU_GATES], hidden),
        bias=_stacked(layer, given, [f"{gate}GateBiasVector" for gate in _GRU_GATES]) if given.hasBiasVectors else None,
        recurrent_activation=_activation(layer, given.activations[0]),
        activation=_activation(layer, given.activations[1]),
        direction=_direction(layer),
        output_sequence=bool(given.sequenceOutput),
    )
    return _outputs(layer, found)


_LSTM_GATES = ("inputGate", "forgetGate", "outputGate", "blockInput")
_PEEPHOLES = ("inputGate", "forgetGate", "outputGate")
_FORGET = 1
"""The forget gate's place among the gates."""


def lstm(layer: Layer) -> tuple[Tensor, ...]:
    given = layer.parameters
    options = _cell(layer, given.weightParams, "") | _shared(layer, given.activations)
    found = _run(
        layer,
        "lstm",
        initial_h=_state(layer, [1]),
        initial_c=_state(layer, [2]),
        direction=_direction(layer),
        **options,
    )
    return _outputs(layer, found)


def both_ways(layer: Layer) -> tuple[Tensor, ...]:
    """Outputs: the sequence, then state and cell of the forward direction, then those of the backward one."""
    given, hidden = layer.parameters, _sizes(layer)[1]
    options = _cell(layer, given.weightParams[0], "") | _cell(layer, given.weightParams[1], "_back")
    options |= _shared(layer, given.activationsForwardLSTM)
    found = _run(
        layer,
        "lstm",
        directions=2,
        initial_h=_state(layer, [1, 3]),
        initial_c=_state(layer, [2, 4]),
        direction=np.asarray("bidirectional"),
        **options,
    )
    halves = [
        layer.mil_outputs("split", [(each.sizes[0], hidden)] * 2, x=each, axis=1, split_sizes=[hidden] * 2)
        for each in found[1:]
    ]
    return _outputs(layer, (found[0], halves[0][0], halves[1][0], halves[0][1], halves[1][1]))


def _cell(layer: Layer, weights: Message, suffix: str) -> dict[str, Any]:
    """The parameters of one direction."""
    how, (inputs, hidden) = layer.parameters.params, _sizes(layer)
    bias = np.zeros(len(_LSTM_GATES) * hidden, np.float32)
    if how.hasBiasVectors:
        bias = _stacked(layer, weights, [f"{gate}BiasVector" for gate in _LSTM_GATES])
    if how.forgetBias:
        bias[_FORGET * hidden : (_FORGET + 1) * hidden] += 1
    named = {
        "weight_ih": _stacked(layer, weights, [f"{gate}WeightMatrix" for gate in _LSTM_GATES], inputs),
        "weight_hh": _stacked(layer, weights, [f"{gate}RecursionMatrix" for gate in _LSTM_GATES], hidden),
        "bias": bias,
    }
    if how.hasPeepholeVectors:
        named["peephole"] = _stacked(layer, weights, [f"{gate}PeepholeVector" for gate in _PEEPHOLES])
    return {f"{name}{suffix}": value for name, value in named.items()}


def _shared(layer: Layer, activations: Sequence[Message]) -> dict[str, Any]:
    how = layer.parameters.params
    if how.coupledInputAndForgetGate:
        raise layer.call.unsupported("couples its input gate with its forget gate")
    if 0 < how.cellClipThreshold < _CLIPPED:
        raise layer.call.unsupported(f"limits its cell to {how.cellClipThreshold:g}")
    names = ("recurrent_activation", "cell_activation", "activation")
    return {
        "output_sequence": bool(how.sequenceOutput),
        **{name: _activation(layer, each) for name, each in zip(names, activations, strict=True)},
    }


LAYERS: Mapping[str, Callable[[Layer], tuple[Tensor, ...]]] = {
    "simpleRecurrent": simple,
    "gru": gru,
    "uniDirectionalLSTM": lstm,
    "biDirectionalLSTM": both_ways,
}
