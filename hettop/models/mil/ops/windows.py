"""The padding of sliding windows, as convolutions and pools share it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hettop.models.mil.call import Call
from hettop.models.mil.values import Shape

_AUTOMATIC = {"same": "SAME_UPPER", "same_lower": "SAME_LOWER"}


def onnx_pads(pairs: Sequence[int]) -> list[int]:
    """[before, after] pairs, axis by axis, in ONNX's order: all befores, then all afters."""
    return [*pairs[0::2], *pairs[1::2]]


def padding(call: Call, spatial: Shape, kernel: Sequence[int], strides: Sequence[int]) -> dict[str, Any]:
    """The ONNX attributes for `pad_type` and `pad`; kernel: sizes with dilation.

    `same` pads so that the output has ceil(size / stride) elements, the odd element after (`same`) or before
    (`same_lower`); it is left to ONNX where a size is known at run time only.
    """
    kind = call.text("pad_type", "valid")
    if kind == "custom":
        return {"pads": onnx_pads(call.integers("pad", [0] * (2 * len(kernel))))}
    if kind not in _AUTOMATIC:
        return {"pads": [0] * (2 * len(kernel))}
    pairs: list[int] = []
    for size, window, stride in zip(spatial, kernel, strides, strict=True):
        if size is None:
            return {"auto_pad": _AUTOMATIC[kind]}
        total = max(0, (-(-size // stride) - 1) * stride + window - size)
        less, more = total // 2, total - total // 2
        pairs += [less, more] if kind == "same" else [more, less]
    return {"pads": onnx_pads(pairs)}
