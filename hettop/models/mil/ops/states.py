"""State that lives between predictions: an input with its value before, an output with its value after."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hettop.models.mil.call import Call
from hettop.models.mil.graph import Tensor


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
    "read_state": read_state,
    "write_state": write_state,
}
