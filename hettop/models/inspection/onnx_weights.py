"""Which constants of an ONNX graph are parameters: what was learned, not what says how (shapes, bounds, factors).

Knows the operators' inputs by position; a constant that is only read as a setting counts nothing.
"""

from __future__ import annotations

import math

from hettop.models.inspection.graph import BITS, Tensor, Weight

# Inputs that are settings: a constant there is no parameter and takes part in no product.
_SETTINGS = {
    "Clip": (1, 2), "Pad": (1, 2, 3), "Resize": (1, 2, 3), "Upsample": (1,), "Range": (0, 1, 2), "OneHot": (1, 2),
    "Dropout": (1, 2), "ConstantOfShape": (0,), "Where": (0,), "NonMaxSuppression": (2, 3, 4), "STFT": (2,),
}  # fmt: skip

# Inputs that decode a parameter or accompany it without having been trained: stored, and no parameters.
_COMPANIONS = {
    "BatchNormalization": (3, 4), "DequantizeLinear": (1, 2), "QuantizeLinear": (1, 2),
    "QLinearConv": (1, 2, 4, 5, 6, 7), "QLinearMatMul": (1, 2, 4, 5, 6, 7),
    "MatMulInteger": (2, 3), "ConvInteger": (2, 3),
    "com.microsoft:MatMulNBits": (2, 3, 4), "com.microsoft:DynamicQuantizeMatMul": (2, 3),
    "com.microsoft:GatherBlockQuantized": (2, 3), "com.microsoft:DynamicQuantizeLSTM": (8, 9, 10, 11),
}  # fmt: skip

# Whole numbers are parameters only where an operator takes them for quantised ones; elsewhere they are indices.
_QUANTISED = {
    "DequantizeLinear": (0,), "QLinearConv": (3, 8), "QLinearMatMul": (0, 3), "MatMulInteger": (0, 1),
    "ConvInteger": (1,),
    "com.microsoft:MatMulNBits": (1,), "com.microsoft:DynamicQuantizeMatMul": (1,), "com.microsoft:QGemm": (3, 6),
    "com.microsoft:GatherBlockQuantized": (0,), "com.microsoft:DynamicQuantizeLSTM": (1, 2),
    "com.microsoft:MatMulIntegerToFloat": (1,),
}  # fmt: skip

# Inputs where a single number is a parameter, too; elsewhere a lone number is a factor of some formula.
_WEIGHTS = {
    "Conv": (1, 2), "ConvTranspose": (1, 2), "Gemm": (1, 2), "MatMul": (0, 1), "BatchNormalization": (1, 2),
    "InstanceNormalization": (1, 2), "LayerNormalization": (1, 2), "GroupNormalization": (1, 2), "PRelu": (1,),
}  # fmt: skip

_FLOATS = ("float", "bfloat", "complex")


def read_weight(op: str, position: int, name: str, tensor: Tensor, *, packed: int | None = None) -> Weight | None:
    """The constant read by `op` at input `position` as a weight, None if it is a setting there.

    packed: how many parameters it holds where several share one element, else None.
    """
    if position in _SETTINGS.get(op, ()):
        return None
    elements, stored = _elements(tensor), tensor.nbytes or 0
    if position in _COMPANIONS.get(op, ()):
        return Weight(name, tensor.dtype, 0, stored)
    if position in _QUANTISED.get(op, ()):
        return Weight(name, tensor.dtype, elements if packed is None else packed, stored)
    if not tensor.dtype.startswith(_FLOATS) or (elements <= 1 and position not in _WEIGHTS.get(op, ())):
        return None
    return Weight(name, tensor.dtype, elements, stored)


def _elements(tensor: Tensor) -> int:
    """Constants have a shape; one of a type without a known size (text) has no parameters."""
    return math.prod(axis or 0 for axis in tensor.shape or ()) if tensor.dtype in BITS else 0
