"""Precisions that a model can be written in, and the job of the process that writes one."""

from __future__ import annotations

import msgspec

FP32, FP16, INT8, INT8_DYNAMIC = "fp32", "fp16", "int8", "int8-dynamic"

PALETTE_BITS = {"palette8": 8, "palette6": 6, "palette4": 4}
"""Palettes of Core ML: so many bits a weight, each the number of one of 2^bits values."""

ONNX_PRECISIONS = (FP32, FP16, INT8, INT8_DYNAMIC)
CORE_ML_PRECISIONS = (FP32, FP16, INT8, *PALETTE_BITS)

OF_DTYPES = {"float32": FP32, "float16": FP16}
"""What a model is in already, by the type it computes in; other types have no name here."""

CALIBRATION_SETS = 16
"""Sets of inputs for the range of each activation; ranges of seeded noise hardly change after a few."""

_ONNX_NOTES = {
    FP16: "weights and operations in half precision; inputs and outputs stay float32",
    INT8: f"activations calibrated on {CALIBRATION_SETS} sets of random inputs, weights by channel (QDQ); "
    "for accurate results calibrate on real inputs",
    INT8_DYNAMIC: "weights by tensor, activations measured at each call",
}
_CORE_ML_NOTES = {
    FP32: "weights and operations in single precision",
    FP16: "weights and operations in half precision",
    INT8: "weights alone, linear, symmetric and by channel; computed in what the model computes in",
    **{name: f"weights alone, {bits} bits each by k-means" for name, bits in PALETTE_BITS.items()},
}


def note_of(precision: str, *, core_ml: bool) -> str:
    """What is to be known of a variant that was written in that precision."""
    notes = _CORE_ML_NOTES if core_ml else _ONNX_NOTES
    return f"{precision}: {notes.get(precision, '')}".removesuffix(": ")


class VariantJob(msgspec.Struct, frozen=True, kw_only=True):
    """Write `source`, an ONNX file or a Core ML package, at `target` in that precision.

    seed, shapes, values: of the inputs to calibrate with, as those that are measured with.
    """

    source: str
    target: str
    precision: str
    seed: int = 0
    shapes: dict[str, tuple[int, ...]] = {}
    values: dict[str, str] = {}
