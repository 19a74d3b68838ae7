"""Weight files (`weight.bin`) of ML Programs: entries found by offset and mapped, never read past the end."""

from __future__ import annotations

import math
import mmap
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hettop.errors import HettopError
from hettop.models.mil.dtypes import BLOB_TYPES, ElementType

Array = NDArray[Any]

# One entry begins with: sentinel, element type, size in bytes, offset of the data (MILBlob/Blob/StorageFormat.hpp).
_ENTRY = struct.Struct("<IIQQ")
_SENTINEL = 0xDEADBEEF
# The record has 64 bytes, the last of which are reserved; data begin at multiples of 64, as does each record.
RECORD_BYTES = 64
_START = struct.Struct("<Q")
_START_AT = 16
# A file begins with the number of its entries and the version of the format, in 64 bytes as well.
_HEADER = struct.Struct("<II")
_VERSION = 2
_DAMAGED = "the file is incomplete or belongs to another package: copy or convert the package again"


class WeightFile:
    """One mapped weight file."""

    def __init__(self, path: Path, owner: str = "") -> None:
        """owner: the name of the package. Raises HettopError: `missing` for no such file, `format` for an empty one."""
        self.path = path
        self._place = f"{owner}: the weight file {path.parent.name}/{path.name}".removeprefix(": ")
        if not path.is_file():
            raise HettopError("missing", f"{self._place} is missing: {path}", "copy the complete package")
        self.size = path.stat().st_size
        if self.size == 0:
            raise HettopError("format", f"{self._place} is empty", _DAMAGED)
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def entry(self, offset: int) -> tuple[ElementType, int, int]:
        """The entry at `offset`: its element type, where its data starts and how many bytes it has."""
        if offset + _ENTRY.size > self.size:
            raise self._fault(offset, f"lies outside the file of {self.size:,} bytes")
        sentinel, kind, size, start = _ENTRY.unpack_from(self._map, offset)
        if sentinel != _SENTINEL:
            raise self._fault(offset, "does not start with an entry marker")
        if kind not in BLOB_TYPES:
            raise self._fault(offset, f"has the unknown element type {kind}")
        if start + size > self.size:
            raise self._fault(offset, f"needs bytes {start:,} to {start + size:,} of a file of {self.size:,}")
        return BLOB_TYPES[kind], start, size

    def stored(self, offset: int) -> tuple[bytes, bytes]:
        """The record and the data of the entry at `offset`, as they lie in the file. Raises as `entry`."""
        _, start, size = self.entry(offset)
        return self._map[offset : offset + RECORD_BYTES].ljust(RECORD_BYTES, b"\0"), self._map[start : start + size]

    def check(self, offset: int, element: ElementType, shape: tuple[int, ...]) -> tuple[int, int]:
        """Where the data of the constant at `offset` starts and its number of elements; nothing of it is read.

        Raises HettopError("format") if the file holds another type or another number of bytes.
        """
        stored, start, size = self.entry(offset)
        if stored.name != element.name:
            raise self._fault(offset, f"holds {stored.name} where the program declares {element.name}")
        count = math.prod(shape)
        needed = (count * element.bits + 7) // 8
        if needed != size:
            raise self._fault(offset, f"holds {size:,} bytes; {element.name} {list(shape)} needs {needed:,}")
        return start, count

    def array(self, offset: int, element: ElementType, shape: tuple[int, ...]) -> Array:
        """The constant at `offset`, read-only; whole-byte types are views of the mapped file. Raises as `check`."""
        start, count = self.check(offset, element, shape)
        if element.bits >= 8:
            return np.frombuffer(self._map, element.numpy, count=count, offset=start).reshape(shape)
        size = (count * element.bits + 7) // 8
        return unpack_bits(np.frombuffer(self._map, np.uint8, count=size, offset=start), element, shape)

    def _fault(self, offset: int, what: str) -> HettopError:
        return HettopError("format", f"{self._place}: the entry at offset {offset:,} {what}", _DAMAGED)


class WeightWriter:
    """Writes entries of other weight files, as they are, to a new one; each once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._entries: dict[tuple[Path, int], tuple[int, bytes, bytes]] = {}
        self._end = RECORD_BYTES

    @property
    def entries(self) -> int:
        return len(self._entries)

    def add(self, source: WeightFile, offset: int) -> int:
        """Where the entry at `offset` of `source` is in the new file. Raises as `WeightFile.entry`."""
        key = (source.path, offset)
        if key not in self._entries:
            record, data = source.stored(offset)
            place, start = self._end, self._end + RECORD_BYTES
            moved = record[:_START_AT] + _START.pack(start) + record[_START_AT + _START.size :]
            self._entries[key] = (place, moved, data)
            self._end = -(-(start + len(data)) // RECORD_BYTES) * RECORD_BYTES
        return self._entries[key][0]

    def write(self) -> None:
        """Raises OSError."""
        with self._path.open("wb") as file:
            file.write(_HEADER.pack(len(self._entries), _VERSION).ljust(RECORD_BYTES, b"\0"))
            for place, record, data in self._entries.values():
                file.write(b"\0" * (place - file.tell()))
                file.write(record)
                file.write(data)


def unpack_bits(packed: Array, element: ElementType, shape: tuple[int, ...]) -> Array:
    """Elements of fewer than 8 bits, stored one after another from each byte's lowest bit upward, one per byte."""
    count = math.prod(shape)
    bits = np.unpackbits(packed, count=count * element.bits, bitorder="little").reshape(count, element.bits)
    values = np.packbits(bits, axis=-1, bitorder="little").reshape(shape)
    if not element.signed:
        return values
    sign = 1 << (element.bits - 1)
    return ((values ^ sign).astype(np.int8) - np.int8(sign)).astype(np.int8)


class Weights:
    """The weight files beside one program, opened on first use and kept open; names are confined to one folder."""

    def __init__(self, model_folder: Path | None, owner: str = "") -> None:
        """model_folder: what `@model_path` stands for; None for a single-file model. owner: its name, for errors."""
        self._folder = model_folder
        self._owner = owner
        self._files: dict[str, WeightFile] = {}

    def file(self, name: str) -> WeightFile:
        """The file a program calls `name`. Raises HettopError("format") if it lies outside the package."""
        if name not in self._files:
            self._files[name] = WeightFile(self._resolve(name), self._owner)
        return self._files[name]

    @property
    def files(self) -> tuple[WeightFile, ...]:
        """The files opened so far."""
        return tuple(self._files.values())

    def _resolve(self, name: str) -> Path:
        said = f"{self._owner}: its weights are in {name!r}".removeprefix(": ")
        if self._folder is None:
            raise HettopError("format", f"{said}, but a single-file model has no folder", "use the .mlpackage")
        try:
            root = self._folder.resolve()
            path = (root / name.removeprefix("@model_path/")).resolve()
        except (OSError, RuntimeError, ValueError):  # links that lead to themselves, names that no file can have
            raise HettopError("format", f"{said}, which does not exist", "copy the complete package") from None
        if not path.is_relative_to(root):
            raise HettopError("format", f"{said}, outside the package", "the package may be malicious")
        return path
