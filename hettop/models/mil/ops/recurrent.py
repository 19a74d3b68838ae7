"""Recurrent layers, loops and branches, and state that lives between predictions.

Gate orders, the reset gate and the order of a reversed sequence follow coremltools' own numerical tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hettop.models.mil.blob import Array
from hettop.models.mil.call import END, Call
from hettop.models.mil.graph import BOOL, INT64, DType, Subgraph, Tensor

# MIL's gate order -> ONNX's: LSTM i f o z -> i o f z; GRU r o z -> z r o; peepholes i f o -> i o f.
_LSTM_GATES, _GRU_GATES, _PEEPHOLES = (0, 2, 1, 3), (2, 0, 1), (0, 2, 1)
_ACTIVATIONS = {
    "tanh": "Tanh", "sigmoid": "Sigmoid", "relu": "Relu", "linear": "Affine", "scaled_tanh": "ScaledTanh",
    "hard_sigmoid": "HardSigmoid", "sigmoid_hard": "HardSigmoid",
}  # fmt: skip
# Core ML's defaults: with them scaled_tanh is tanh and linear passes through.
_ALPHA_BETA = {"Affine": (1.0, 0.0), "ScaledTanh": (1.0, 1.0), "HardSigmoid": (0.2, 0.5)}


@dataclass(frozen=True, slots=True)
class _Direction:
    """The parameters of one direction, each with a leading axis of one."""

    weight: Array
    recurrence: Array
    bias: Array
    peephole: Array | None


def _gates(values: Array, order: Sequence[int]) -> Array:
    return np.concatenate([np.split(values, len(order))[gate] for gate in order])[None]


def _direction(call: Call, suffix: str, order: Sequence[int]) -> _Direction:
    weight, recurrence = (_gates(call.constant(f"{name}{suffix}"), order) for name in ("weight_ih", "weight_hh"))
    given = call.known(f"bias{suffix}")
    bias = _gates(given, order) if given is not None else np.zeros(weight.shape[:2], weight.dtype)
    peephole = call.known(f"peephole{suffix}")
    both = np.concatenate([bias, np.zeros_like(bias)], axis=1)
    return _Direction(weight, recurrence, both, _gates(peephole, _PEEPHOLES) if peephole is not None else None)


def _activations(call: Call, names: Sequence[tuple[str, str]], directions: int) -> dict[str, Any]:
    """ONNX's activation attributes; each (parameter, default) names one activation of each direction."""
    words = [call.text(name, default).lower() for name, default in names]
    unknown = [word for word in words if word not in _ACTIVATIONS]
    if unknown:
        raise call.unsupported(f"has the activation {unknown[0]!r}")
    operators = [_ACTIVATIONS[word] for word in words] * directions
    pairs = [_ALPHA_BETA[operator] for operator in operators if operator in _ALPHA_BETA]
    if not pairs:
        return {"activations": operators}
    return {
        "activations": operators,
        "activation_alpha": [a for a, _ in pairs],
        "activation_beta": [b for _, b in pairs],
    }


def _sequence(call: Call) -> Tensor:
    """The input in the order it is processed: a reversed layer also gives its outputs in that order."""
    x, direction = call.tensor("x"), call.text("direction", "forward")
    if direction != "reverse":
        return x
    return call.emit("Slice", x, call.ints([-1]), call.ints([-END]), call.ints([0]), call.ints([-1]), shape=x.shape)


def _initial(call: Call, name: str, directions: int) -> Tensor:
    """(batch, directions x hidden) -> (directions, batch, hidden)."""
    given = call.tensor(name)
    if directions == 1:
        return call.unsqueeze(given, [0])
    width = given.sizes[1]
    if width is None:
        raise call.unsupported("has a hidden size known at run time only")
    split = call.reshape(given, [call.size(given, 0), directions, width // directions])
    return call.transpose(split, [1, 0, 2])


def _final(call: Call, state: Tensor, directions: int, shape: tuple[int | None, ...]) -> Tensor:
    """(directions, batch, hidden) -> (batch, directions x hidden)."""
    if directions == 1:
        return call.emit("Squeeze", state, call.ints([0]), shape=shape)
    turned = call.emit("Transpose", state, perm=[1, 0, 2])
    return call.emit("Reshape", turned, call.ints([0, -1]), shape=shape)


def _outputs(call: Call, results: Sequence[Tensor], directions: int) -> tuple[Tensor, ...]:
    """ONNX's (sequence, directions, batch, hidden) and final states as MIL gives them."""
    shapes = [output.shape or () for output in call.outputs]
    finals = [_final(call, state, directions, shapes[1]) for state in results[1:]]
    if not call.flag("output_sequence", False):
        return call.emit("Unsqueeze", finals[0], call.ints([0]), shape=shapes[0]), *finals
    turned = call.emit("Transpose", results[0], perm=[0, 2, 1, 3])
    return call.emit("Reshape", turned, call.ints([0, 0, -1]), shape=shapes[0]), *finals


def lstm(call: Call) -> tuple[Tensor, ...]:
    if call.has("clip"):
        raise call.unsupported("clips its cell state, which ONNX's LSTM cannot")
    both = call.text("direction", "forward") == "bidirectional"
    sides = [_direction(call, suffix, _LSTM_GATES) for suffix in (("", "_back") if both else ("",))]
    x = _sequence(call)
    peephole = None
    if any(side.peephole is not None for side in sides):
        hidden = sides[0].recurrence.shape[2]
        rows = [side.peephole if side.peephole is not None else np.zeros((1, 3 * hidden)) for side in sides]
        peephole = call.graph.constant(np.concatenate(rows), x.dtype)
    names = (("recurrent_activation", "sigmoid"), ("cell_activation", "tanh"), ("activation", "tanh"))
    results = call.graph.emit_many(
        "LSTM",
        [
            x,
            *(call.graph.constant(np.concatenate(part), x.dtype) for part in _stacked(sides)),
            None,
            _initial(call, "initial_h", len(sides)),
            _initial(call, "initial_c", len(sides)),
            peephole,
        ],
        [x.dtype] * 3,
        hidden_size=sides[0].recurrence.shape[2],
        direction="bidirectional" if both else "forward",
        **_activations(call, names, len(sides)),
    )
    return _outputs(call, results, len(sides))


def _stacked(sides: Sequence[_Direction]) -> tuple[list[Array], list[Array], list[Array]]:
    return [side.weight for side in sides], [side.recurrence for side in sides], [side.bias for side in sides]


def gru(call: Call) -> tuple[Tensor, ...]:
    """The reset gate is applied to the state before its product with the weight, or after it with `reset_after`."""
    side = _direction(call, "", _GRU_GATES)
    after = call.flag("reset_after", False)
    size = side.weight.shape[1]
    given = call.known("input_bias")
    at_input = _gates(given, _GRU_GATES) if given is not None else np.zeros((1, size), side.bias.dtype)
    # `bias` belongs to the state's product; where the reset gate comes first the two biases simply add up
    bias = np.concatenate([at_input, side.bias[:, :size]], axis=1)
    x = _sequence(call)
    results = call.graph.emit_many(
        "GRU",
        [
            x,
            *(call.graph.constant(part, x.dtype) for part in (side.weight, side.recurrence, bias)),
            None,
            _initial(call, "initial_h", 1),
        ],
        [x.dtype] * 2,
        hidden_size=size // 3,
        linear_before_reset=int(after),
        **_activations(call, (("recurrent_activation", "sigmoid"), ("activation", "tanh")), 1),
    )
    return _outputs(call, results, 1)


def rnn(call: Call) -> tuple[Tensor, ...]:
    side, x = _direction(call, "", (0,)), _sequence(call)
    results = call.graph.emit_many(
        "RNN",
        [
            x,
            *(call.graph.constant(part, x.dtype) for part in (side.weight, side.recurrence, side.bias)),
            None,
            _initial(call, "initial_h", 1),
        ],
        [x.dtype] * 2,
        hidden_size=side.weight.shape[1],
        **_activations(call, (("activation", "tanh"),), 1),
    )
    return _outputs(call, results, 1)


def cond(call: Call) -> tuple[Tensor, ...]:
    predicate = call.cast(call.tensor("pred"), BOOL)
    chosen, other = (_branch(call, index) for index in (0, 1))
    return tuple(call.graph.emit_many("If", [predicate], _types(call), then_branch=chosen, else_branch=other))


def _branch(call: Call, index: int) -> Subgraph:
    with call.graph.inside([]) as branch:
        branch.outputs = [_own(call, item) for item in call.inline(index, [])]
    return branch


def while_loop(call: Call) -> tuple[Tensor, ...]:
    """ONNX checks its condition after the body: it is computed once before the loop and again at each body's end."""
    variables = call.tensors("loop_vars")
    first = call.inline(0, variables)[0]
    counter, going = Tensor(call.graph.fresh(), INT64, ()), Tensor(call.graph.fresh(), BOOL, ())
    carried = [Tensor(call.graph.fresh(), item.dtype, item.shape) for item in variables]
    with call.graph.inside([counter, going, *carried]) as body:
        results = call.inline(1, carried)
        again = call.inline(0, results)[0]
        body.outputs = [_own(call, item) for item in (again, *results)]
    return tuple(call.graph.emit_many("Loop", [None, first, *variables], _types(call), body=body))


def _own(call: Call, tensor: Tensor) -> Tensor:
    """Copy a tensor inside a subgraph: ONNX lets it return only what its own nodes compute."""
    return call.emit("Identity", tensor, shape=tensor.shape)


def _types(call: Call) -> list[DType]:
    return [output.dtype for output in call.outputs if output.dtype is not None]


def _current(call: Call) -> tuple[str, Tensor]:
    name = call.tensor("input").name
    if name not in call.states:
        raise call.unsupported("uses a state inside a loop or a branch")
    return name, call.states[name]


def read_state(call: Call) -> Tensor:
    return _current(call)[1]


def write_state(call: Call) -> tuple[Tensor, ...]:
    name, held = _current(call)
    call.states[name] = call.cast(call.tensor("data"), held.dtype)
    return ()


OPS: Mapping[str, Callable[[Call], Tensor | tuple[Tensor, ...]]] = {
    "lstm": lstm,
    "gru": gru,
    "rnn": rnn,
    "cond": cond,
    "while_loop": while_loop,
    "read_state": read_state,
    "write_state": write_state,
}
