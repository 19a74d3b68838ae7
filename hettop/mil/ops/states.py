"""State that lives between predictions: an input with its value before, an output with its value after."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hettop.mil.call import Call
from hettop.mil.graph import Tensor


def _current(call: Call, parameter: str) -> tuple[str, Tensor]:
    name = call.tensor(parameter).name
    if name not in call.states:
        raise call.unsupported("uses a state inside a loop or a branch")
    return name, call.states[name]


def read_state(call: Call) -> Tensor:
    return _current(call, "input")[1]


def write_state(call: Call) -> tuple[Tensor, ...]:
    name, held = _current(call, "input")
    call.states[name] = call.cast(call.tensor("data"), held.dtype)
    return ()


def coreml_update_state(call: Call) -> Tensor:
    """A write and a read in one."""
    name, held = _current(call, "state")
    call.states[name] = call.cast(call.tensor("value"), held.dtype)
    return call.states[name]


OPS: Mapping[str, Callable[[Call], Tensor | tuple[Tensor, ...]]] = {
    "read_state": read_state,
    "write_state": write_state,
    "coreml_update_state": coreml_update_state,
}
