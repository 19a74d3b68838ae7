"""Matrix products."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hettop.models.mil.call import Call
from hettop.models.mil.graph import Tensor


def linear(call: Call) -> Tensor:
    """x W^T + b; the weight keeps its layout in a Gemm where x is a matrix."""
    x = call.tensor("x")
    weight = call.cast(call.tensor("weight"), x.dtype)
    bias = call.optional("bias")
    bias = call.cast(bias, x.dtype) if bias is not None else None
    if x.rank == 2 and x.dtype.kind == "f":
        return call.emit("Gemm", *(item for item in (x, weight, bias) if item is not None), transB=1, shape=call.shape)
    product = call.emit("MatMul", x, call.transpose(weight, [1, 0]), shape=call.shape)
    return call.emit("Add", product, bias, shape=call.shape) if bias is not None else product


def matmul(call: Call) -> Tensor:
    x, y = (_flipped(call, name) for name in ("x", "y"))
    common = call.dtype
    return call.emit("MatMul", call.cast(x, common), call.cast(y, common), shape=call.shape)


def _flipped(call: Call, name: str) -> Tensor:
    tensor = call.tensor(name)
    if tensor.rank < 2 or not call.flag(f"transpose_{name}", False):
        return tensor
    order = [*range(tensor.rank - 2), tensor.rank - 1, tensor.rank - 2]
    return call.transpose(tensor, order)


def einsum(call: Call) -> Tensor:
    return call.emit("Einsum", *call.tensors("values"), equation=call.text("equation"), shape=call.shape)


OPS: Mapping[str, Callable[[Call], Tensor]] = {"linear": linear, "matmul": matmul, "einsum": einsum}
