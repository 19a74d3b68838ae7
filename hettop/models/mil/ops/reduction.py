"""Reductions over axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hettop.models.mil.call import Call
from hettop.models.mil.graph import INT64, Tensor

_OPERATORS = {
    "mean": "ReduceMean",
    "sum": "ReduceSum",
    "max": "ReduceMax",
    "min": "ReduceMin",
    "prod": "ReduceProd",
    "l1_norm": "ReduceL1",
    "l2_norm": "ReduceL2",
    "sum_square": "ReduceSumSquare",
    "log_sum": "ReduceLogSum",
    "log_sum_exp": "ReduceLogSumExp",
}


def _reduce(operator: str) -> Callable[[Call], Tensor]:
    def translate(call: Call) -> Tensor:
        axes = call.ints(call.integers("axes")) if call.has("axes") else None
        return call.emit(
            operator, call.tensor("x"), axes, keepdims=int(call.flag("keep_dims", False)), shape=call.shape
        )

    return translate


def _index_of(operator: str) -> Callable[[Call], Tensor]:
    def translate(call: Call) -> Tensor:
        axis, kept = call.integer("axis", -1), int(call.flag("keep_dims", False))
        return call.emit(operator, call.tensor("x"), axis=axis, keepdims=kept, dtype=INT64, shape=call.shape)

    return translate


OPS: Mapping[str, Callable[[Call], Tensor]] = {
    **{f"reduce_{name}": _reduce(operator) for name, operator in _OPERATORS.items()},
    "reduce_argmax": _index_of("ArgMax"),
    "reduce_argmin": _index_of("ArgMin"),
}
