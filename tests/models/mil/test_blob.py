"""Weight files are read as coremltools' own writer writes them, in every element type."""

from __future__ import annotations

import importlib
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.errors import HettopError
from hettop.models.mil import dtypes
from hettop.models.mil.blob import WeightFile, Weights, unpack_bits

storage: Any = importlib.import_module("coremltools.libmilstoragepython")
helper: Any = importlib.import_module("coremltools.converters.mil.mil.types")

WHOLE = {
    "float16": dtypes.FLOAT16, "float32": dtypes.FLOAT32, "int8": dtypes.INT8, "uint8": dtypes.UINT8,
    "int16": dtypes.INT16, "uint16": dtypes.UINT16, "int32": dtypes.INT32, "uint32": dtypes.UINT32,
}  # fmt: skip
WRITERS = {"float32": "float", "float16": "fp16"}
PARTS = {
    "int4": dtypes.INT4, "uint1": dtypes.UINT1, "uint2": dtypes.UINT2, "uint3": dtypes.UINT3,
    "uint4": dtypes.UINT4, "uint6": dtypes.UINT6,
}  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
def test_whole_bytes_are_views_of_the_file(name: str, tmp_path: Path) -> None:
    values = np.arange(21).astype(name)
    writer = storage._BlobStorageWriter(str(tmp_path / "weight.bin"))
    raw = values.view(np.uint16) if name == "float16" else values
    offset = getattr(writer, f"write_{WRITERS.get(name, name)}_data")(raw)
    del writer
    got = WeightFile(tmp_path / "weight.bin").array(offset, WHOLE[name], (3, 7))
    np.testing.assert_array_equal(got, values.reshape(3, 7))
    assert not got.flags.writeable


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_bytes_are_unpacked(name: str, tmp_path: Path) -> None:
    element = PARTS[name]
    low = -(1 << (element.bits - 1)) if element.signed else 0
    values = (np.arange(35) % (1 << element.bits) + low).astype(element.numpy)
    typed = values.astype(helper.nptype_from_builtin(helper.string_to_builtin(name)))
    writer = storage._BlobStorageWriter(str(tmp_path / "weight.bin"))
    offset = getattr(writer, f"write_{name}_data")(typed)
    del writer
    got = WeightFile(tmp_path / "weight.bin").array(offset, element, (5, 7))
    np.testing.assert_array_equal(got, values.reshape(5, 7))


@given(st.lists(st.integers(-8, 7), min_size=1, max_size=40))
def test_four_bits_with_a_sign_survive_packing(values: list[int]) -> None:
    nibbles = [value & 15 for value in values] + [0]
    packed = np.array([low | high << 4 for low, high in zip(nibbles[::2], nibbles[1::2], strict=False)], np.uint8)
    assert unpack_bits(packed, dtypes.INT4, (len(values),)).tolist() == values


def _file(tmp_path: Path, *, sentinel: int = 0xDEADBEEF, kind: int = 2, size: int = 16, start: int = 64) -> WeightFile:
    path = tmp_path / "weight.bin"
    path.write_bytes(struct.pack("<IIQQ", sentinel, kind, size, start).ljust(64, b"\0") + bytes(16))
    return WeightFile(path)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        ({"sentinel": 1}, "entry marker"),
        ({"kind": 99}, "unknown element type 99"),
        ({"start": 1 << 60}, "of a file of 80"),
        ({"size": 17}, "of a file of 80"),
    ],
)
def test_an_entry_that_is_damaged(tmp_path: Path, damage: dict[str, int], words: str) -> None:
    with pytest.raises(HettopError, match=words) as caught:
        _file(tmp_path, **damage).array(0, dtypes.FLOAT32, (4,))
    assert caught.value.kind == "format"


def test_a_type_or_size_other_than_declared(tmp_path: Path) -> None:
    file = _file(tmp_path)
    with pytest.raises(HettopError, match="holds float32 where the program declares float16"):
        file.array(0, dtypes.FLOAT16, (8,))
    with pytest.raises(HettopError, match=r"holds 16 bytes; float32 \[2147483648, 4\] needs 34,359,738,368"):
        file.array(0, dtypes.FLOAT32, (1 << 31, 4))
    with pytest.raises(HettopError, match=r"holds 16 bytes; float32 \[3\] needs 12"):
        file.array(0, dtypes.FLOAT32, (3,))
    with pytest.raises(HettopError, match="outside the file"):
        file.array(60, dtypes.FLOAT32, (4,))


def test_a_file_is_opened_once(tmp_path: Path) -> None:
    _file(tmp_path)
    weights = Weights(tmp_path)
    assert weights.file("@model_path/weight.bin") is weights.file("@model_path/weight.bin")
    assert len(weights.files) == 1
