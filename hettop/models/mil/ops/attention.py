"""Softmax and attention."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from hettop.models.mil.call import Call
from hettop.models.mil.graph import BOOL, Tensor


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
    "softmax": softmax,
    "scaled_dot_product_attention": scaled_dot_product_attention,
}
