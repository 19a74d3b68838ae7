"""A model as its costs see it, whatever format it came in: the weights it holds and the layers one call runs.

Format readers create it, `summary` adds it up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

Shape = tuple[int | None, ...]

BITS = {
    "float16": 16, "bfloat16": 16, "float32": 32, "float64": 64, "complex64": 64, "complex128": 128,
    "int8": 8, "int16": 16, "int32": 32, "int64": 64, "uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64, "bool": 8,
    "int2": 2, "int4": 4, "uint1": 1, "uint2": 2, "uint3": 3, "uint4": 4, "uint6": 6, "float4e2m1": 4,
    "float6e2m3": 6, "float6e3m2": 6, "float8e4m3fn": 8, "float8e4m3fnuz": 8, "float8e5m2": 8, "float8e5m2fnuz": 8,
    "float8e8m0": 8,
}  # fmt: skip
"""Bits of one element as stored. A type that is missing here (text, say) has no known size."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """A value of a known type; `shape` is None where even the rank is unknown, an axis None where its length is."""

    dtype: str
    shape: Shape | None

    @property
    def elements(self) -> int | None:
        """How many elements, None if an axis is unknown."""
        if self.shape is None:
            return None
        lengths = [axis for axis in self.shape if axis is not None]
        return math.prod(lengths) if len(lengths) == len(self.shape) else None

    @property
    def nbytes(self) -> int | None:
        """Bytes, packed as stored; None if the shape or the size of the type is unknown."""
        elements, bits = self.elements, BITS.get(self.dtype)
        return None if elements is None or bits is None else (elements * bits + 7) // 8


UNKNOWN = Tensor("unknown", None)


@dataclass(frozen=True, slots=True)
class Weight:
    """A constant that was learned, or that decodes one that was.

    elements: values as the model uses them, 0 for what is not a parameter itself (a running mean, a scale, a table).
    stored: bytes in the file, and `dtype` the type they have there.
    """

    name: str
    dtype: str
    elements: int
    stored: int


@dataclass(frozen=True, slots=True)
class Layer:
    """One operation of one call. Bytes count each input, weight and output once; None is unknown.

    macs: multiply-accumulates of convolutions, matrix products and recurrent cells; 0 for every other operation.
    dtype: of its first output.
    reads, writes: values with their bytes, weights aside; empty where the format does not report how values flow.
    """

    name: str
    op: str
    macs: int | None
    input_bytes: int | None
    weight_bytes: int
    output_bytes: int | None
    dtype: str
    reads: tuple[tuple[str, int | None], ...] = ()
    writes: tuple[tuple[str, int | None], ...] = ()

    @property
    def moved_bytes(self) -> int | None:
        if self.input_bytes is None or self.output_bytes is None:
            return None
        return self.input_bytes + self.weight_bytes + self.output_bytes


@dataclass(frozen=True, slots=True)
class Graph:
    """`ops` counts every operation in the file, `layers` holds those of one call: of two branches the costlier one.

    notes: what the reader had to leave out or assume, in words.
    """

    layers: tuple[Layer, ...]
    weights: tuple[Weight, ...]
    ops: Mapping[str, int]
    notes: tuple[str, ...] = field(default=())


def total_bytes(tensors: Iterable[Tensor]) -> int | None:
    """Bytes of all tensors together, None if one of them is unknown."""
    total = 0
    for tensor in tensors:
        nbytes = tensor.nbytes
        if nbytes is None:
            return None
        total += nbytes
    return total


def total_macs(layers: Iterable[Layer]) -> int | None:
    """Multiply-accumulates of all layers together, None if one is unknown."""
    total = 0
    for layer in layers:
        if layer.macs is None:
            return None
        total += layer.macs
    return total


def product(lengths: Iterable[int | None]) -> int | None:
    """The product of lengths, None if one is unknown."""
    total = 1
    for length in lengths:
        if length is None:
            return None
        total *= length
    return total


def repeated(layers: Iterable[Layer], times: int | None) -> list[Layer]:
    """The layers of a body that runs `times` times, one after the other; what is not zero is unknown for None.

    Each run reads its weights again. What flows between layers is that of a single run.
    """

    def whole(amount: int | None) -> int | None:
        return 0 if amount == 0 else None if amount is None or times is None else amount * times

    return [
        replace(
            layer,
            macs=whole(layer.macs),
            input_bytes=whole(layer.input_bytes),
            weight_bytes=layer.weight_bytes * (1 if times is None else times),
            output_bytes=whole(layer.output_bytes),
        )
        for layer in layers
    ]


def costlier(branches: Sequence[Sequence[Layer]]) -> Sequence[Layer]:
    """The branch with the most multiply-accumulates; a branch whose count is unknown comes before any other."""

    def cost(branch: Sequence[Layer]) -> float:
        macs = total_macs(branch)
        return math.inf if macs is None else macs

    return max(branches, key=cost, default=())
