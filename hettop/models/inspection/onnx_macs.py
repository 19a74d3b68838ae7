"""Which counter of `macs` goes with which ONNX operator, and which of its inputs and attributes the counter takes.

Knows the operators of ONNX and those of ONNX Runtime that multiply; an operator of any other origin is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hettop.models.inspection import macs
from hettop.models.inspection.graph import UNKNOWN, Shape, Tensor


@dataclass(frozen=True, slots=True)
class Node:
    """An operator with what is known of its inputs and outputs; attributes by name, as plain Python values."""

    op: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    attributes: Mapping[str, Any]

    def input(self, index: int) -> Shape | None:
        return (self.inputs[index] if index < len(self.inputs) else UNKNOWN).shape

    def output(self, index: int = 0) -> Shape | None:
        return (self.outputs[index] if index < len(self.outputs) else UNKNOWN).shape


Counter = Callable[[Node], int | None]

MICROSOFT = "com.microsoft:"

# ONNX Runtime's own operators without a product in them; every other one of a foreign domain is unknown.
_HARMLESS = frozenset(
    MICROSOFT + name
    for name in (
        "BiasGelu", "BiasSoftmax", "BiasSplitGelu", "DequantizeLinear", "EmbedLayerNormalization", "FastGelu", "Gelu",
        "GatherBlockQuantized", "GroupNorm", "QLinearAdd", "QLinearAveragePool", "QLinearConcat",
        "QLinearGlobalAveragePool", "QLinearLeakyRelu", "QLinearMul", "QLinearSigmoid", "QLinearSoftmax",
        "QuantizeLinear", "QuickGelu", "RotaryEmbedding", "SimplifiedLayerNormalization", "SkipLayerNormalization",
        "SkipSimplifiedLayerNormalization",
    )
)  # fmt: skip


def count(node: Node) -> int | None:
    """Multiply-accumulates of one call; None if a length is unknown or the operator is."""
    counter = _COUNTERS.get(node.op)
    if counter is not None:
        return counter(node)
    return 0 if ":" not in node.op or node.op in _HARMLESS else None


def _convolution(weight: int) -> Counter:
    return lambda node: macs.convolution(node.output(), node.input(weight))


def _product(node: Node) -> int | None:
    return macs.matrix_product(node.output(), node.input(0), transposed=bool(node.attributes.get("transA", 0)))


def _recurrent(gates: int) -> Counter:
    """Weights are (directions, gates * hidden, inputs) and (directions, gates * hidden, hidden)."""

    def counted(node: Node) -> int | None:
        data, weight, again = node.input(0), node.input(1), node.input(2)
        if data is None or weight is None or again is None or len(data) != 3:
            return None
        directions, inputs, hidden = weight[0], weight[-1], again[-1]
        if directions is None or inputs is None or hidden is None:
            return None
        return macs.recurrent(data[0], data[1], inputs=inputs, hidden=hidden, gates=gates, directions=directions)

    return counted


def _attention(node: Node) -> int | None:
    """Keys and values seen earlier count, too: the operator hands them on with the new ones."""
    queries, keys, values = node.input(0), node.input(1), node.input(2)
    if queries is None or keys is None or values is None:
        return None
    # Heads folded into the last axis: fewer of keys and values than of queries means that each is used several times.
    heads = node.attributes.get("q_num_heads", node.attributes.get("num_heads", 1))
    shared = heads // node.attributes.get("kv_num_heads", heads) if len(values) == 3 else 1
    width = None if values[-1] is None else values[-1] * shared
    present = node.output(1)
    length = present[-2] if present is not None else keys[-2]
    return macs.attention(queries, (length, keys[-1]), (length, width))


def _packed_attention(node: Node) -> int | None:
    """Queries, keys and values come from one matrix product. Input (batch, length, in), weight (in, 3 * width)."""
    data, weight, output = node.input(0), node.input(1), node.output()
    if data is None or weight is None or len(data) != 3:
        return None
    projected = macs.matrix_product((*data[:-1], weight[-1]), data)
    width = output[-1] if output is not None else None if weight[-1] is None else weight[-1] // 3
    mixed = macs.attention((*data[:-1], width), (data[1], width), (data[1], width))
    return None if projected is None or mixed is None else projected + mixed


_COUNTERS: dict[str, Counter] = {
    "Conv": _convolution(1),
    "ConvInteger": _convolution(1),
    "DeformConv": _convolution(1),
    "QLinearConv": _convolution(3),
    MICROSOFT + "FusedConv": _convolution(1),
    "ConvTranspose": lambda node: macs.transposed_convolution(node.input(0), node.input(1)),
    "Gemm": _product,
    "MatMul": _product,
    "MatMulInteger": _product,
    "QLinearMatMul": _product,
    MICROSOFT + "FusedGemm": _product,
    MICROSOFT + "FusedMatMul": _product,
    MICROSOFT + "QGemm": _product,
    MICROSOFT + "MatMulNBits": _product,
    MICROSOFT + "MatMulIntegerToFloat": _product,
    MICROSOFT + "DynamicQuantizeMatMul": _product,
    "Einsum": lambda node: macs.contraction(node.attributes.get("equation", ""), [each.shape for each in node.inputs]),
    "LSTM": _recurrent(macs.LSTM_GATES),
    "GRU": _recurrent(macs.GRU_GATES),
    "RNN": _recurrent(macs.RNN_GATES),
    MICROSOFT + "DynamicQuantizeLSTM": _recurrent(macs.LSTM_GATES),
    "Attention": _attention,
    MICROSOFT + "Attention": _packed_attention,
    MICROSOFT + "MultiHeadAttention": _attention,
}
