"""Matrix products, softmax and attention."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from hettop.models.mil.call import Call
from hettop.models.mil.graph import BOOL, Tensor


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


def softmax(call: Call) -> Tensor:
    return call.emit("Softmax", call.tensor("x"), axis=call.integer("axis", -1), shape=call.shape)


def scaled_dot_product_attention(call: Call) -> Tensor:
    """softmax(Q K^T / sqrt(E) + mask) V; Q is scaled first, which keeps float16 in range."""
    query, key, value = (call.tensor(name) for name in ("query", "key", "value"))
    width = query.sizes[-1] if query.sizes[-1] is not None else key.sizes[-1]
    if width is None:
        raise call.unsupported("has an embedding size known at run time only")
    scaled = call.emit("Mul", query, call.like(query, 1 / math.sqrt(width)), shape=query.shape)
    turned = call.transpose(key, [*range(key.rank - 2), key.rank - 1, key.rank - 2])
    scores = call.emit("MatMul", scaled, turned)
    mask = call.optional("attn_mask")
    if mask is not None and mask.dtype == BOOL:
        masked_out = call.like(query, -math.inf)
        mask = call.emit("Where", mask, call.like(query, 0), masked_out, dtype=query.dtype)
    if mask is not None:
        scores = call.emit("Add", scores, call.cast(mask, query.dtype))
    return call.emit("MatMul", call.emit("Softmax", scores, axis=-1), value, shape=call.shape)


OPS: Mapping[str, Callable[[Call], Tensor]] = {
    "linear": linear,
    "matmul": matmul,
    "einsum": einsum,
    "softmax": softmax,
    "scaled_dot_product_attention": scaled_dot_product_attention,
}
