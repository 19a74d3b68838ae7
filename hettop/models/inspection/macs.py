"""Multiply-accumulates of single operations, from the shapes of what goes in and comes out.

One function per family, the same for every format; a count is None when a length it needs is unknown. A bias, an
activation or a sum of two tensors multiplies nothing and counts nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from hettop.models.inspection.graph import Shape, product

LSTM_GATES, GRU_GATES, RNN_GATES = 4, 3, 1


def convolution(output: Shape | None, weight: Shape | None) -> int | None:
    """Each output value is a sum over one filter. Weight: (out, in / groups, *kernel)."""
    if output is None or weight is None:
        return None
    return product((*output, *weight[1:]))


def transposed_convolution(data: Shape | None, weight: Shape | None) -> int | None:
    """Each input value is spread over one filter. Weight: (in, out / groups, *kernel)."""
    if data is None or weight is None:
        return None
    return product((*data, *weight[1:]))


def matrix_product(output: Shape | None, left: Shape | None, *, transposed: bool = False) -> int | None:
    """Each output value is a sum over the last axis of `left`, or the one before it if `left` is used transposed."""
    if output is None or not left:
        return None
    return product((*output, left[-2] if transposed and len(left) > 1 else left[-1]))


def contraction(equation: str, operands: Sequence[Shape | None]) -> int | None:
    """An einsum: the product of the lengths of all indices that occur, once for each operand beyond the first."""
    terms = equation.replace(" ", "").split("->")[0].split(",")
    if len(terms) != len(operands):
        return None
    if "..." in equation:
        return _broadcast_contraction(terms, operands)
    lengths: dict[str, int | None] = {}
    for term, shape in zip(terms, operands, strict=True):
        if shape is None or len(shape) != len(term):
            return None
        lengths |= {
            index: length for index, length in zip(term, shape, strict=True) if lengths.get(index, 1) in (1, None)
        }
    total = product(lengths.values())
    return None if total is None else total * (len(operands) - 1)


def _broadcast_contraction(terms: Sequence[str], operands: Sequence[Shape | None]) -> int | None:
    """`...` stands for as many axes as are left over, counted from the right."""
    named, shapes = [], []
    for term, shape in zip(terms, operands, strict=True):
        if shape is None:
            return None
        dots = len(shape) - len(term.replace("...", ""))
        if dots < 0:
            return None
        # Private names, numbered from the right as numpy aligns them; 52 letters are all that an equation can use.
        named.append(term.replace("...", "".join(chr(0x3B1 + dots - 1 - axis) for axis in range(dots))))
        shapes.append(shape)
    return contraction(",".join(named), shapes)


def recurrent(
    steps: int | None, batch: int | None, *, inputs: int, hidden: int, gates: int, directions: int
) -> int | None:
    """Per step and direction, each gate multiplies the input and the last state by a matrix each."""
    return product((steps, batch, directions, gates * hidden, inputs + hidden))


def attention(queries: Shape | None, keys: Shape | None, values: Shape | None) -> int | None:
    """Queries times keys, then the weights times values. Shapes: (…, length, width), heads before the length."""
    if queries is None or keys is None or values is None or min(len(queries), len(keys), len(values)) < 2:
        return None
    scores = product((*queries, keys[-2]))
    mixed = product((*queries[:-1], keys[-2], values[-1]))
    return None if scores is None or mixed is None else scores + mixed
