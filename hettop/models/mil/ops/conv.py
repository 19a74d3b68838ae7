"""Convolution, transposed convolution and pooling, in one to three dimensions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hettop.models.mil.call import Call
from hettop.models.mil.graph import Tensor
from hettop.models.mil.ops.windows import onnx_pads, padding


@dataclass(frozen=True, slots=True)
class _Window:
    kernel: list[int]
    strides: list[int]
    dilations: list[int]

    @property
    def reach(self) -> list[int]:
        """The kernel's size including dilation."""
        return [(size - 1) * step + 1 for size, step in zip(self.kernel, self.dilations, strict=True)]


def _window(call: Call) -> _Window:
    kernel = [size for size in call.tensor("weight").sizes[2:] if size is not None]
    if len(kernel) != call.tensor("x").rank - 2:
        raise call.unsupported("has a kernel whose size is known at run time only")
    ones = [1] * len(kernel)
    return _Window(kernel, call.integers("strides", ones), call.integers("dilations", ones))


def _operands(call: Call) -> list[Tensor]:
    x = call.tensor("x")
    bias = call.optional("bias")
    given = [call.tensor("weight")] if bias is None else [call.tensor("weight"), bias]
    return [x, *(call.cast(item, x.dtype) for item in given)]


def conv(call: Call) -> Tensor:
    window = _window(call)
    return call.emit(
        "Conv",
        *_operands(call),
        shape=call.shape,
        kernel_shape=window.kernel,
        strides=window.strides,
        dilations=window.dilations,
        group=call.integer("groups", 1),
        **padding(call, call.tensor("x").sizes[2:], window.reach, window.strides),
    )


def conv_transpose(call: Call) -> Tensor:
    window = _window(call)
    pairs, extra = _transposed_padding(call, window)
    return call.emit(
        "ConvTranspose",
        *_operands(call),
        shape=call.shape,
        kernel_shape=window.kernel,
        strides=window.strides,
        dilations=window.dilations,
        group=call.integer("groups", 1),
        pads=onnx_pads(pairs),
        output_padding=extra,
    )


def _transposed_padding(call: Call, window: _Window) -> tuple[list[int], list[int]]:
    """[before, after] pairs to crop, and what to add at the end, so that the output has its declared size."""
    kind = call.text("pad_type", "valid")
    given = call.integers("pad", [0] * (2 * len(window.kernel))) if kind == "custom" else [0] * (2 * len(window.kernel))
    wanted = call.integers("output_shape")[2:] if call.has("output_shape") else None
    pairs: list[int] = []
    extra: list[int] = []
    for axis, size in enumerate(call.tensor("x").sizes[2:]):
        reach, stride = window.reach[axis], window.strides[axis]
        before, after = given[2 * axis : 2 * axis + 2]
        # by how much the full transposed convolution is larger than the output
        surplus = before + after
        if wanted is not None:
            if size is None:
                raise call.unsupported("has an output_shape but an input whose size is known at run time only")
            surplus = stride * (size - 1) + reach - wanted[axis]
        elif kind == "same":
            surplus = reach - stride
        if kind == "same":
            before, after = max(surplus, 0) // 2, max(surplus, 0) - max(surplus, 0) // 2
        missing = before + after - surplus
        if not 0 <= missing < max(stride, window.dilations[axis], 1):
            raise call.unsupported(f"asks for an output {missing} elements larger than its kernel and strides give")
        pairs += [before, after]
        extra.append(missing)
    return pairs, extra


def _pool_window(call: Call) -> dict[str, Any]:
    kernel = call.integers("kernel_sizes")
    strides = call.integers("strides", [1] * len(kernel))
    return {
        "kernel_shape": kernel,
        "strides": strides,
        "ceil_mode": int(call.flag("ceil_mode", False)),
        **padding(call, call.tensor("x").sizes[2:], kernel, strides),
    }


def max_pool(call: Call) -> Tensor:
    return call.emit("MaxPool", call.tensor("x"), shape=call.shape, **_pool_window(call))


def avg_pool(call: Call) -> Tensor:
    counted = int(not call.flag("exclude_padding_from_average", False))
    return call.emit("AveragePool", call.tensor("x"), shape=call.shape, count_include_pad=counted, **_pool_window(call))


def l2_pool(call: Call) -> Tensor:
    return call.emit("LpPool", call.tensor("x"), shape=call.shape, p=2, **_pool_window(call))


OPS: Mapping[str, Callable[[Call], Tensor]] = {
    "conv": conv,
    "conv_transpose": conv_transpose,
    "max_pool": max_pool,
    "avg_pool": avg_pool,
    "l2_pool": l2_pool,
}
