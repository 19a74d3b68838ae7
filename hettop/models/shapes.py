"""Which shape each input gets: the one asked for, that of a file, or what the model proposes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from hettop.errors import HettopError
from hettop.models.ports import Port
from hettop.text import clean

Shape = tuple[int, ...]

MAX_BYTES = 1 << 31
"""All inputs together: 2 GiB is more than any device takes, and a typing error is to be refused before it hurts."""

ITEM_BYTES = {
    "bool": 1,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "float16": 2,
    "int32": 4,
    "uint32": 4,
    "float32": 4,
}
"""Of the types narrower than 8 bytes."""

TEXT_BYTES = 64
"""A short text as a Python object."""


def choose_shapes(ports: Sequence[Port], shapes: Mapping[str, Shape], given: Mapping[str, Shape]) -> dict[str, Shape]:
    """The shape of every port. `shapes` are those of `--shape`, `given` those of values that are there already.

    A dynamic axis that neither settles has the model's own proposal, else the length of an axis of the same name in
    another input, else 1. Raises HettopError: `input`, naming the port and what it wants.
    """
    known = {**given, **shapes}
    for port in ports:
        if port.name in known:
            check_shape(port, known[port.name], "--shape")
    lengths = _named_lengths(ports, known)
    chosen = {port.name: known.get(port.name) or _proposed(port, lengths) for port in ports}
    _check_size(ports, chosen)
    return chosen


def check_names(ports: Sequence[Port], names: Iterable[str], option: str) -> None:
    """Raises HettopError: `input`, if a name is none of the ports'; `option` names where it comes from."""
    known = {port.name for port in ports}
    for name in names:
        if name not in known:
            takes = clean(", ".join(port.describe() for port in ports))
            raise HettopError("input", f"{option}: the model has no input {clean(name)!r}", f"its inputs are {takes}")


def check_shape(port: Port, shape: Shape, whose: str) -> None:
    """Raises HettopError: `input`, if the port does not take the shape; `whose` names where it comes from."""
    if accepts(port, shape):
        return
    message = f"{clean(port.name)}: {whose} has the shape [{','.join(map(str, shape))}]"
    raise HettopError("input", message, f"the model expects {clean(port.describe())}{_limits(port)}")


def accepts(port: Port, shape: Shape) -> bool:
    """Whether the model takes an input of this shape, as far as its description states."""
    if port.choices and not port.ranges:
        return shape in port.choices or shape == port.usual
    if len(shape) != len(port.shape):
        return False
    if port.ranges:
        return all(
            low <= length and (high is None or length <= high)
            for length, (low, high) in zip(shape, port.ranges, strict=True)
        )
    return all(axis == length for axis, length in zip(port.shape, shape, strict=True) if isinstance(axis, int))


def _limits(port: Port) -> str:
    """What the question marks of a description may stand for."""
    if port.choices and not port.ranges:
        return ", one of " + " ".join(f"[{','.join(map(str, choice))}]" for choice in port.choices)
    free = [
        f"axis {axis} {f'at least {low}' if high is None else f'{low} to {high}'}"
        for axis, (low, high) in enumerate(port.ranges)
        if low != high
    ]
    return f", {', '.join(free)}" if free else ""


def _named_lengths(ports: Sequence[Port], known: Mapping[str, Shape]) -> dict[str, int]:
    """Lengths of named dynamic axes, from the inputs whose shape is known.

    A name that has two lengths means nothing: exporters call unrelated axes "?".
    """
    lengths: dict[str, set[int]] = {}
    for port in ports:
        for axis, length in zip(port.shape, known.get(port.name, ()), strict=False):
            if isinstance(axis, str):
                lengths.setdefault(axis, set()).add(length)
    return {axis: found.pop() for axis, found in lengths.items() if len(found) == 1}


def _proposed(port: Port, lengths: Mapping[str, int]) -> Shape:
    if port.usual is not None:
        return port.usual
    return tuple(_length(axis, lengths) for axis in port.shape)


def _length(axis: int | str | None, lengths: Mapping[str, int]) -> int:
    if isinstance(axis, int):
        return axis
    return lengths.get(axis, 1) if axis is not None else 1


def _check_size(ports: Sequence[Port], shapes: Mapping[str, Shape]) -> None:
    sizes = {port.name: math.prod(shapes[port.name]) * _item_bytes(port) for port in ports}
    if sum(sizes.values()) <= MAX_BYTES:
        return
    port = max(ports, key=lambda each: sizes[each.name])
    shape = ",".join(map(str, shapes[port.name]))
    raise HettopError(
        "input",
        f"{clean(port.name)}: {port.dtype}[{shape}] takes {sizes[port.name]:,} bytes, which is too large",
        f"the limit for all inputs is {MAX_BYTES >> 30} GiB; use a smaller --shape",
    )


def _item_bytes(port: Port) -> int:
    return TEXT_BYTES if port.dtype == "string" else ITEM_BYTES.get(port.dtype, 8)
