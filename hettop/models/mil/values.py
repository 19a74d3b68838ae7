"""Constants of an ML Program as numpy arrays, whether written in the program or kept in a weight file."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hettop.errors import HettopError
from hettop.models.mil.blob import Array, Weights, unpack_bits
from hettop.models.mil.dtypes import PROGRAM_TYPES, STRING, ElementType
from hettop.models.mil.proto import Message

Shape = tuple[int | None, ...]

# A single activation beyond this is a damaged shape, not a model anyone runs.
MAX_TENSOR_BYTES = 4 << 30

_DAMAGED = "the program is damaged or newer than this reader"


def tensor_type(kind: Message, place: str) -> tuple[ElementType, Shape]:
    """Element type and shape of a ValueType that is a tensor (a state's is that of the tensor it holds).

    A dimension that is known only at run time is None. Raises HettopError("format") naming `place` for other types.
    """
    which = kind.WhichOneof("type")
    if which == "stateType":
        return tensor_type(kind.stateType.wrappedType, place)
    if which != "tensorType":
        raise HettopError(
            "format", f"{place} is a {which or 'value without type'}, where a tensor is expected", _DAMAGED
        )
    tensor = kind.tensorType
    element = PROGRAM_TYPES.get(tensor.dataType)
    if element is None:
        raise HettopError("format", f"{place} has the unknown element type {tensor.dataType}", _DAMAGED)
    if any(dim.WhichOneof("dimension") == "unknown" and dim.unknown.variadic for dim in tensor.dimensions):
        raise HettopError("format", f"{place} has a variable rank", "convert the model with fixed ranks")
    shape = tuple(
        int(dim.constant.size) if dim.WhichOneof("dimension") == "constant" else None for dim in tensor.dimensions
    )
    return element, shape


def constant_type(value: Message, place: str) -> tuple[ElementType, tuple[int, ...]]:
    """As `tensor_type`, for a constant: every dimension is known."""
    element, shape = tensor_type(value.type, place)
    known = tuple(dim for dim in shape if dim is not None)
    if len(known) != len(shape):
        raise HettopError("format", f"the constant {place} has a dimension without a size", _DAMAGED)
    return element, known


def read_value(value: Message, weights: Weights, place: str) -> Array:
    """The constant as an array of its declared type and shape; strings are arrays of `object`, lists are 1-D.

    Arrays from weight files are read-only views. Raises HettopError("format") naming `place` when the data does not
    have the size its type declares; nothing is allocated from a declared shape alone.
    """
    if value.WhichOneof("value") == "blobFileValue":
        element, shape = constant_type(value, place)
        return weights.file(value.blobFileValue.fileName).array(value.blobFileValue.offset, element, shape)
    immediate = value.immediateValue
    which = immediate.WhichOneof("value")
    if which == "list":
        items = [read_value(item, weights, place).item() for item in immediate.list.values]
        return np.array(items, dtype=object if any(isinstance(item, str) for item in items) else np.int64)
    if which != "tensor":
        raise HettopError("format", f"the constant {place} is a {which or 'value without data'}", _DAMAGED)
    element, shape = constant_type(value, place)
    return _immediate(immediate.tensor, element, shape, place)


def _immediate(tensor: Message, element: ElementType, shape: tuple[int, ...], place: str) -> Array:
    count = math.prod(shape)
    field = tensor.WhichOneof("value")
    if field == "bytes":
        packed = np.frombuffer(tensor.bytes.values, np.uint8)
        if packed.size != (count * element.bits + 7) // 8:
            raise _size_fault(place, element, shape, f"{packed.size} bytes")
        if element.bits < 8:
            return unpack_bits(packed, element, shape)
        return packed.view(element.numpy).reshape(shape)
    values: Any = getattr(tensor, field).values if field is not None else ()
    if len(values) != count:
        raise _size_fault(place, element, shape, f"{len(values)} values")
    if (field == "strings") != (element is STRING):
        raise HettopError("format", f"the constant {place} is declared {element.name} and written as {field}", _DAMAGED)
    if element is STRING:
        return np.array(list(values), dtype=object).reshape(shape)
    # uint32 is written in a signed field, so values wrap; numpy would refuse them one by one
    wide = np.array(values, dtype=np.int64) if field in {"ints", "longInts"} else np.array(values)
    return wide.astype(element.numpy).reshape(shape)


def _size_fault(place: str, element: ElementType, shape: tuple[int, ...], found: str) -> HettopError:
    return HettopError(
        "format", f"the constant {place} has {found}, not those of {element.name} {list(shape)}", _DAMAGED
    )
