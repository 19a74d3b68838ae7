"""Pooling, in one to three dimensions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hettop.models.mil.call import Call
from hettop.models.mil.graph import Tensor
from hettop.models.mil.ops.windows import padding


def _window(call: Call) -> dict[str, Any]:
    kernel = call.integers("kernel_sizes")
    strides = call.integers("strides", [1] * len(kernel))
    return {
        "kernel_shape": kernel,
        "strides": strides,
        "ceil_mode": int(call.flag("ceil_mode", False)),
        **padding(call, call.tensor("x").sizes[2:], kernel, strides),
    }


def max_pool(call: Call) -> Tensor:
    return call.emit("MaxPool", call.tensor("x"), shape=call.shape, **_window(call))


def avg_pool(call: Call) -> Tensor:
    counted = int(not call.flag("exclude_padding_from_average", False))
    return call.emit("AveragePool", call.tensor("x"), shape=call.shape, count_include_pad=counted, **_window(call))


def l2_pool(call: Call) -> Tensor:
    return call.emit("LpPool", call.tensor("x"), shape=call.shape, p=2, **_window(call))


OPS: Mapping[str, Callable[[Call], Tensor]] = {"max_pool": max_pool, "avg_pool": avg_pool, "l2_pool": l2_pool}
