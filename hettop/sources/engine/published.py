"""What a unit answered, as its engine process publishes it: thinned to what can be compared, and as bytes."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

VALUES_LIMIT = 262_144
"""Values of all sets of inputs together: 2 MB at most, whatever the model returns."""

ROWS_LIMIT = 4096
"""Rows of scores whose largest entry is compared."""

FIVE = 5
"""How many places of a row count as near the top, as in ImageNet's top-5 accuracy."""

UNDECIDED = -1
"""Stands for the place of the largest entry in a row that has no single finite one."""

KINDS = "fiub"
WIDEST_BYTES = 8
POSITIONS_SEED = 20_260
"""Any number: what matters is that every unit is seen at the same positions."""

HEAD = struct.Struct("<I")  # bytes of the description that follows; the values stand behind it


@dataclass(frozen=True, slots=True, eq=False)
class PublishedOutput:
    """One output: its values, or those at seeded positions. `top`: index of the largest entry of each row of scores.

    A row without a single largest entry that is finite has `UNDECIDED` there. `top5`: the indices of the five largest
    entries of each row; None where a row has no more than five.
    """

    name: str
    shape: tuple[int, ...]
    values: npt.NDArray[Any]
    top: tuple[int, ...] | None = None
    top5: tuple[tuple[int, ...], ...] | None = None

    @property
    def sampled(self) -> bool:
        return len(self.values) < math.prod(self.shape)


OutputSet = tuple[PublishedOutput, ...]
"""The outputs for one set of inputs, by name."""


def thin(outputs: Mapping[str, Any], most: int) -> OutputSet:
    """What can be compared of `outputs`, at most `most` values in all; what is not an array of numbers is left out.

    Small outputs stay whole, large ones share the remaining space.
    """
    arrays = {name: outputs[name] for name in sorted(outputs) if _comparable(outputs[name])}
    room = share_room([array.size for array in arrays.values()], most)
    return tuple(
        PublishedOutput(name, array.shape, _values(array, n), _top(array), _top5(array))
        for (name, array), n in zip(arrays.items(), room, strict=True)
    )


def share_room(sizes: Sequence[int], most: int) -> list[int]:
    """How many values each of the arrays may have: no less than an even share, or all it has."""
    room = [0] * len(sizes)
    left = most
    for place, index in enumerate(sorted(range(len(sizes)), key=lambda index: sizes[index])):
        room[index] = min(sizes[index], left // (len(sizes) - place))
        left -= room[index]
    return room


def encode_outputs(sets: Sequence[OutputSet]) -> bytes:
    head = _encoder.encode(
        [
            [
                _Described(
                    name=output.name,
                    dtype=output.values.dtype.str,
                    n=len(output.values),
                    shape=output.shape,
                    top=output.top,
                    top5=output.top5,
                )
                for output in outputs
            ]
            for outputs in sets
        ]
    )
    values = [output.values.tobytes() for outputs in sets for output in outputs]
    return b"".join((HEAD.pack(len(head)), head, *values))


def decode_outputs(body: bytes) -> tuple[OutputSet, ...]:
    """Raises ValueError when the bytes are no outputs."""
    if len(body) < HEAD.size:
        raise ValueError("no description")
    (length,) = HEAD.unpack_from(body)
    described = _decoder.decode(body[HEAD.size : HEAD.size + length])
    place = HEAD.size + length
    sets = []
    for outputs in described:
        found = []
        for output in outputs:
            dtype = _dtype(output.dtype)
            end = place + output.n * dtype.itemsize
            if end > len(body):
                raise ValueError("values are missing")
            values = np.frombuffer(body[place:end], dtype=dtype)
            found.append(PublishedOutput(output.name, output.shape, values, output.top, output.top5))
            place = end
        sets.append(tuple(found))
    if place != len(body):
        raise ValueError("values without a description")
    return tuple(sets)


class _Described(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    dtype: str
    n: int
    shape: tuple[int, ...]
    top: tuple[int, ...] | None = None
    top5: tuple[tuple[int, ...], ...] | None = None

    def __post_init__(self) -> None:
        if self.n < 0:
            raise ValueError("a negative number of values")


def _comparable(value: Any) -> bool:
    if not isinstance(value, np.ndarray | np.generic):
        return False
    return value.dtype.kind in KINDS and value.dtype.itemsize <= WIDEST_BYTES


def _values(array: npt.NDArray[Any], n: int) -> npt.NDArray[Any]:
    """All values in one row, or `n` of them: one from each of as many equal stretches."""
    if n == array.size:
        return np.array(array).reshape(-1)
    within = np.random.default_rng([POSITIONS_SEED, array.size]).random(n)
    positions = ((np.arange(n) + within) * (array.size / n)).astype(np.int64)
    return np.take(array, np.minimum(positions, array.size - 1))


def _rows_of_scores(array: npt.NDArray[Any], more_than: int) -> npt.NDArray[Any] | None:
    """What looks like scores: floats in one or two axes, the last one of more than so many entries."""
    if array.dtype.kind != "f" or array.ndim not in (1, 2) or array.shape[-1] <= more_than:
        return None
    return np.atleast_2d(array)[:ROWS_LIMIT]


def _top(array: npt.NDArray[Any]) -> tuple[int, ...] | None:
    """`UNDECIDED` for a row whose largest entry is not finite, or not alone: its place says nothing."""
    rows = _rows_of_scores(array, 1)
    return None if rows is None else tuple(_place_of_largest(row) for row in rows)


def _top5(array: npt.NDArray[Any]) -> tuple[tuple[int, ...], ...] | None:
    rows = _rows_of_scores(array, FIVE)
    if rows is None:
        return None
    return tuple(tuple(places) for places in np.argpartition(rows, -FIVE, axis=1)[:, -FIVE:].tolist())


def _place_of_largest(row: npt.NDArray[Any]) -> int:
    place = int(row.argmax())  # the place of a NaN, where there is one
    single = np.isfinite(row[place]) and np.count_nonzero(row == row[place]) == 1
    return place if single else UNDECIDED


def _dtype(text: str) -> np.dtype[Any]:
    try:
        dtype = np.dtype(text)
    except TypeError as error:
        raise ValueError(f"invalid number type {text!r}") from error
    if dtype.kind not in KINDS or not 1 <= dtype.itemsize <= WIDEST_BYTES:
        raise ValueError(f"invalid number type {text!r}")
    return dtype


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(list[list[_Described]])
