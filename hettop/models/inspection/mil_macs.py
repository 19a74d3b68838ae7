"""Which counter of `macs` goes with which operation of an ML Program, by the names of its parameters.

Knows the operations that multiply; every other one counts nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hettop.models.inspection import macs
from hettop.models.inspection.graph import UNKNOWN, Shape, Tensor


@dataclass(frozen=True, slots=True)
class Bound:
    """An operation with the tensors bound to its parameters; `words` are those parameters that are text or a flag."""

    op: str
    parameters: Mapping[str, Sequence[Tensor]]
    outputs: tuple[Tensor, ...]
    words: Mapping[str, str | bool]

    def shape(self, name: str) -> Shape | None:
        bound = self.parameters.get(name)
        return bound[0].shape if bound else None

    def output(self) -> Shape | None:
        return (self.outputs[0] if self.outputs else UNKNOWN).shape


Counter = Callable[[Bound], int | None]


def count(bound: Bound) -> int | None:
    """Multiply-accumulates of one call; None if a length is unknown."""
    counter = _COUNTERS.get(bound.op)
    return 0 if counter is None else counter(bound)


def _product(bound: Bound) -> int | None:
    return macs.matrix_product(
        bound.output(), bound.shape("x"), transposed=bound.words.get("transpose_x", False) is True
    )


def _einsum(bound: Bound) -> int | None:
    operands = [tensor.shape for tensor in bound.parameters.get("values", ())]
    return macs.contraction(str(bound.words.get("equation", "")), operands)


def _recurrent(gates: int) -> Counter:
    """x is (steps, batch, inputs), the weights (gates * hidden, inputs) and (gates * hidden, hidden)."""

    def counted(bound: Bound) -> int | None:
        data, weight, again = bound.shape("x"), bound.shape("weight_ih"), bound.shape("weight_hh")
        if data is None or weight is None or again is None or len(data) != 3:
            return None
        inputs, hidden = weight[-1], again[-1]
        if inputs is None or hidden is None:
            return None
        directions = 2 if bound.parameters.get("weight_ih_back") else 1
        return macs.recurrent(data[0], data[1], inputs=inputs, hidden=hidden, gates=gates, directions=directions)

    return counted


_COUNTERS: dict[str, Counter] = {
    "conv": lambda bound: macs.convolution(bound.output(), bound.shape("weight")),
    "conv_transpose": lambda bound: macs.transposed_convolution(bound.shape("x"), bound.shape("weight")),
    "linear": _product,
    "matmul": _product,
    "einsum": _einsum,
    "lstm": _recurrent(macs.LSTM_GATES),
    "gru": _recurrent(macs.GRU_GATES),
    "rnn": _recurrent(macs.RNN_GATES),
    "scaled_dot_product_attention": lambda bound: macs.attention(
        bound.shape("query"), bound.shape("key"), bound.shape("value")
    ),
}
