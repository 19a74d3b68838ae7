"""Branches and loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hettop.models.mil.call import Call
from hettop.models.mil.graph import BOOL, INT64, DType, Subgraph, Tensor


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
    """A subgraph may only give out what its own nodes make."""
    return call.emit("Identity", tensor, shape=tensor.shape)


def _types(call: Call) -> list[DType]:
    return [output.dtype for output in call.outputs if output.dtype is not None]


OPS: Mapping[str, Callable[[Call], tuple[Tensor, ...]]] = {"cond": cond, "while_loop": while_loop}
