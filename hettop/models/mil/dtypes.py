"""The element types of ML Programs, of weight files and of Core ML's interface, and their numpy counterparts.

A table and look-ups.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class ElementType:
    """One element type: `bits` as stored, `numpy` as held in memory (integers below 8 bits are held as 8)."""

    name: str
    bits: int
    numpy: np.dtype[Any]

    @property
    def signed(self) -> bool:
        return self.numpy.kind == "i"


def _plain(dtype: type[np.generic]) -> ElementType:
    held = np.dtype(dtype)
    return ElementType(held.name, held.itemsize * 8, held)


BOOL = ElementType("bool", 8, np.dtype(np.bool_))
STRING = ElementType("string", 0, np.dtype(object))
FLOAT16, FLOAT32, FLOAT64 = _plain(np.float16), _plain(np.float32), _plain(np.float64)
INT8, INT16, INT32, INT64 = _plain(np.int8), _plain(np.int16), _plain(np.int32), _plain(np.int64)
UINT8, UINT16, UINT32, UINT64 = _plain(np.uint8), _plain(np.uint16), _plain(np.uint32), _plain(np.uint64)
INT4 = ElementType("int4", 4, np.dtype(np.int8))
UINT1, UINT2, UINT3, UINT4, UINT6 = (ElementType(f"uint{bits}", bits, np.dtype(np.uint8)) for bits in (1, 2, 3, 4, 6))

# MIL.proto, enum DataType. bfloat16 (13) and the two float8 (40, 41) are reserved there; no published op takes them.
PROGRAM_TYPES = {
    1: BOOL, 2: STRING,
    10: FLOAT16, 11: FLOAT32, 12: FLOAT64,
    21: INT8, 22: INT16, 23: INT32, 24: INT64, 25: INT4,
    31: UINT8, 32: UINT16, 33: UINT32, 34: UINT64, 35: UINT4, 36: UINT2, 37: UINT1, 38: UINT6, 39: UINT3,
}  # fmt: skip

# The `mil_dtype` word of an entry in a weight file (MILBlob/Blob/BlobDataType.hpp of coremltools).
BLOB_TYPES = {
    1: FLOAT16, 2: FLOAT32, 3: UINT8, 4: INT8, 6: INT16, 7: UINT16, 8: INT4, 9: UINT1, 10: UINT2, 11: UINT4, 12: UINT3,
    13: UINT6, 14: INT32, 15: UINT32,
}  # fmt: skip

# FeatureTypes.proto, enum ArrayDataType.
ARRAY_TYPES = {65552: FLOAT16, 65568: FLOAT32, 65600: FLOAT64, 131104: INT32, 131080: INT8}

# The words a `cast`, `quantize` or `dequantize` op uses.
NAMED_TYPES = {
    "bool": BOOL, "fp16": FLOAT16, "fp32": FLOAT32, "fp64": FLOAT64, "int8": INT8, "int16": INT16, "int32": INT32,
    "int64": INT64, "int4": INT4, "uint8": UINT8, "uint16": UINT16, "uint32": UINT32, "uint64": UINT64, "uint4": UINT4,
}  # fmt: skip
