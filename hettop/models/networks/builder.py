"""Grows a network layer by layer and works out the shape of each value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from hettop.models.networks.layers import (
    Activation,
    Add,
    Bias,
    Concat,
    Convolution,
    Dense,
    Layer,
    Map,
    Mean,
    Norm,
    Part,
    Pool,
    Rectify,
    Shift,
    Shuffle,
)

Pads = tuple[int, int, int, int]

RECTIFIED_GAIN, LINEAR_GAIN = 2.0, 1.0
"""He et al. 2015: variance 2 / fan-in before a rectifier, 1 / fan-in otherwise, keeps activations at one scale."""

BRANCH_GAIN = 0.1
"""For what is added to its own input dozens of times: half precision would overflow otherwise."""


class TooSmallError(ValueError):
    """The image has no pixels left at some layer."""


@dataclass(slots=True)
class Builder:
    """The layers so far, in the order they run; each method appends one and returns its output."""

    image: Map
    layers: list[Layer] = field(default_factory=list)
    _counts: dict[str, int] = field(default_factory=dict)

    def convolve(
        self,
        x: Map,
        channels: int,
        kernel: int | tuple[int, int] = 1,
        stride: int = 1,
        *,
        pad: int | None = None,
        groups: int = 1,
        activation: Activation = "relu",
        bias: Bias = "norm",
        gain: float | None = None,
        name: str = "",
    ) -> Map:
        """A convolution. pad: on all sides; None keeps the size at stride 1."""
        high, wide = (kernel, kernel) if isinstance(kernel, int) else kernel
        down, right = (high // 2, wide // 2) if pad is None else (pad, pad)
        height, width = _size(x.height, high, stride, 2 * down), _size(x.width, wide, stride, 2 * right)
        output = self._map(name or self._name("conv"), channels, height, width)
        usual = RECTIFIED_GAIN if activation else LINEAR_GAIN
        pads = (down, right, down, right)
        return self._put(
            Convolution(
                (x,), output, (high, wide), stride, pads, groups, activation, bias, usual if gain is None else gain
            )
        )

    def dense(self, x: Map, channels: int, activation: Activation = "", name: str = "") -> Map:
        output = self._map(name or self._name("fc"), channels, 1, 1)
        return self._put(Dense((x,), output, activation, RECTIFIED_GAIN if activation else LINEAR_GAIN))

    def pool(
        self,
        x: Map,
        kind: Literal["max", "average"],
        kernel: int,
        stride: int = 1,
        pad: int = 0,
        *,
        ceil: bool = False,
    ) -> Map:
        """ceil: also a last square that lies partly outside."""
        height, width = (_size(size, kernel, stride, 2 * pad, ceil=ceil) for size in (x.height, x.width))
        below, right = pad, pad
        if ceil:
            below = max(pad, (height - 1) * stride + kernel - x.height - pad)
            right = max(pad, (width - 1) * stride + kernel - x.width - pad)
        output = self._map(self._name(f"{kind}pool"), x.channels, height, width)
        return self._put(Pool((x,), output, kind, kernel, stride, (pad, pad, below, right)))

    def mean(self, x: Map) -> Map:
        return self._put(Mean((x,), self._map(self._name("mean"), x.channels, 1, 1)))

    def norm(self, x: Map) -> Map:
        """Batch norm and a rectifier."""
        return self._put(Norm((x,), self._like(x, "norm")))

    def rectify(self, x: Map) -> Map:
        return self._put(Rectify((x,), self._like(x, "relu")))

    def add(self, a: Map, b: Map, activation: Activation = "", name: str = "") -> Map:
        output = self._map(name or self._name("add"), a.channels, a.height, a.width)
        return self._put(Add((a, b), output, activation))

    def concat(self, *maps: Map) -> Map:
        first = maps[0]
        channels = sum(each.channels for each in maps)
        return self._put(Concat(maps, self._map(self._name("concat"), channels, first.height, first.width)))

    def part(self, x: Map, first: int, channels: int) -> Map:
        return self._put(Part((x,), self._map(self._name("part"), channels, x.height, x.width), first))

    def shuffle(self, x: Map, groups: int = 2) -> Map:
        return self._put(Shuffle((x,), self._like(x, "shuffle"), groups))

    def shift(self, x: Map) -> Map:
        return self._put(Shift((x,), self._like(x, "shift")))

    def _put(self, layer: Layer) -> Map:
        self.layers.append(layer)
        return layer.output

    def _like(self, x: Map, kind: str) -> Map:
        return self._map(self._name(kind), x.channels, x.height, x.width)

    def _map(self, name: str, channels: int, height: int, width: int) -> Map:
        if height < 1 or width < 1:
            raise TooSmallError
        return Map(name, channels, height, width)

    def _name(self, kind: str) -> str:
        self._counts[kind] = self._counts.get(kind, 0) + 1
        return f"{kind}{self._counts[kind]}"


def _size(size: int, kernel: int, stride: int, padded: int, *, ceil: bool = False) -> int:
    """Positions of a window along an axis; with `ceil` also one that ends outside, if it begins inside."""
    room = size + padded - kernel
    if not ceil:
        return room // stride + 1
    positions = -(-room // stride) + 1
    return positions - 1 if (positions - 1) * stride >= size + padded // 2 else positions
