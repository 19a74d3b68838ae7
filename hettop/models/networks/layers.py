"""The layers of a network as data: what goes in, what comes out, and what each costs.

Maps have no batch: one image's channels, height and width. Batch norm that follows a convolution is folded into it, as
converters do; `published_parameters` counts it as papers do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Activation = Literal["", "relu", "relu6"]

Bias = Literal["bias", "norm", "none"]
"""What a convolution adds: a bias, one that batch norm was folded into, or nothing."""


@dataclass(frozen=True, slots=True)
class Map:
    """A value of the graph. A vector is a map of one pixel."""

    name: str
    channels: int
    height: int
    width: int

    @property
    def elements(self) -> int:
        return self.channels * self.height * self.width


@dataclass(frozen=True, slots=True)
class Layer:
    """One operation; its name is its output's."""

    sources: tuple[Map, ...]
    output: Map

    @property
    def name(self) -> str:
        return self.output.name

    @property
    def source(self) -> Map:
        return self.sources[0]

    @property
    def weights(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Role and shape of each constant in the file."""
        return ()

    @property
    def parameters(self) -> int:
        """How many weights the file holds."""
        return sum(math.prod(shape) for _, shape in self.weights)

    @property
    def published_parameters(self) -> int:
        """As papers count: batch norm has a scale and a shift for each channel."""
        return self.parameters

    @property
    def macs(self) -> int:
        """Multiply-accumulates for one image, of convolutions and fully connected layers alone."""
        return 0


@dataclass(frozen=True, slots=True)
class Convolution(Layer):
    """`pads` are top, left, bottom, right. `gain` is the variance of the output over the input's mean square."""

    kernel: tuple[int, int]
    stride: int
    pads: tuple[int, int, int, int]
    groups: int
    activation: Activation
    bias: Bias
    gain: float

    @property
    def fan_in(self) -> int:
        return self.source.channels // self.groups * math.prod(self.kernel)

    @property
    def weights(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        weight = ("weight", (self.output.channels, self.source.channels // self.groups, *self.kernel))
        return (weight,) if self.bias == "none" else (weight, ("bias", (self.output.channels,)))

    @property
    def published_parameters(self) -> int:
        return self.parameters + (self.output.channels if self.bias == "norm" else 0)

    @property
    def macs(self) -> int:
        return self.output.elements * self.fan_in


@dataclass(frozen=True, slots=True)
class Dense(Layer):
    """A fully connected layer with bias over all that its source holds."""

    activation: Activation
    gain: float

    @property
    def fan_in(self) -> int:
        return self.source.elements

    @property
    def weights(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        return ("weight", (self.output.channels, self.fan_in)), ("bias", (self.output.channels,))

    @property
    def macs(self) -> int:
        return self.output.channels * self.fan_in


@dataclass(frozen=True, slots=True)
class Norm(Layer):
    """Batch norm that no convolution precedes, so that it stays, and the rectifier after it."""

    @property
    def weights(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        return tuple((role, (self.output.channels,)) for role in ("scale", "shift", "mean", "variance"))

    @property
    def published_parameters(self) -> int:
        return 2 * self.output.channels


@dataclass(frozen=True, slots=True)
class Pool(Layer):
    """Largest value or mean of a square; padding does not count."""

    kind: Literal["max", "average"]
    kernel: int
    stride: int
    pads: tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Mean(Layer):
    """The mean over all pixels."""


@dataclass(frozen=True, slots=True)
class Rectify(Layer):
    """A rectifier on its own."""


@dataclass(frozen=True, slots=True)
class Add(Layer):
    """The sum of two maps."""

    activation: Activation


@dataclass(frozen=True, slots=True)
class Concat(Layer):
    """Maps one after another along the channels."""


@dataclass(frozen=True, slots=True)
class Part(Layer):
    """Some channels, from `first` on."""

    first: int


@dataclass(frozen=True, slots=True)
class Shuffle(Layer):
    """Channels of `groups` groups in turn (ShuffleNet)."""

    groups: int


@dataclass(frozen=True, slots=True)
class Shift(Layer):
    """The map moved by one pixel up and left, with zeros at its end (NASNet's second path)."""
