"""MobileNetV2 as data: its layers in order, from which writers make files and from which its costs are counted.

Architecture: Sandler et al., "MobileNetV2: Inverted Residuals and Linear Bottlenecks", CVPR 2018, table 2, width 1.0,
batch norm folded into the convolutions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hettop.errors import HettopError
from hettop.text import clean

FAMILY = "mobilenetv2"

STEM_CHANNELS = 32
HEAD_CHANNELS = 1280
CLASSES = 1000

RECIPE = "1"
"""Changes whenever the same name would give other layers or weights: part of the model's identity and its file name."""

SIZES = range(32, 2049)
"""Heights and widths: a smaller image has no pixels left after five halvings, a larger one needs gigabytes."""

BATCHES = range(1, 257)

_NAME = re.compile(rf"{FAMILY}(?::(?P<height>\d{{1,6}})x(?P<width>\d{{1,6}}))?(?::b(?P<batch>\d{{1,6}}))?")


@dataclass(frozen=True, slots=True)
class Stage:
    """`repeats` bottlenecks of the same width; the first one has the `stride`."""

    expansion: int
    channels: int
    repeats: int
    stride: int


STAGES = (
    Stage(expansion=1, channels=16, repeats=1, stride=1),
    Stage(expansion=6, channels=24, repeats=2, stride=2),
    Stage(expansion=6, channels=32, repeats=3, stride=2),
    Stage(expansion=6, channels=64, repeats=4, stride=2),
    Stage(expansion=6, channels=96, repeats=3, stride=1),
    Stage(expansion=6, channels=160, repeats=3, stride=2),
    Stage(expansion=6, channels=320, repeats=1, stride=1),
)


@dataclass(frozen=True, slots=True)
class InputVariant:
    """A size of input and a batch."""

    height: int = 224
    width: int = 224
    batch: int = 1

    @property
    def name(self) -> str:
        return f"{FAMILY}:{self.height}x{self.width}:b{self.batch}"

    @property
    def input_shape(self) -> tuple[int, int, int, int]:
        return (self.batch, 3, self.height, self.width)


@dataclass(frozen=True, slots=True)
class Convolution:
    """A square convolution with bias, padded to keep the size at stride 1.

    `relu6` says whether its output is clipped to 0..6; `adds` names the layer whose output is added after it.
    `height` and `width` are those of its output.
    """

    name: str
    inputs: int
    outputs: int
    kernel: int
    stride: int
    groups: int
    relu6: bool
    height: int
    width: int
    adds: str | None = None

    @property
    def weight_shape(self) -> tuple[int, int, int, int]:
        return (self.outputs, self.inputs // self.groups, self.kernel, self.kernel)

    @property
    def fan_in(self) -> int:
        return self.inputs // self.groups * self.kernel * self.kernel

    @property
    def parameters(self) -> int:
        return self.outputs * (self.fan_in + 1)

    @property
    def macs(self) -> int:
        """Multiply-accumulates for one image."""
        return self.outputs * self.height * self.width * self.fan_in


@dataclass(frozen=True, slots=True)
class Classifier:
    """Mean over all pixels, then a fully connected layer with bias."""

    name: str
    inputs: int
    outputs: int

    @property
    def weight_shape(self) -> tuple[int, int]:
        return (self.outputs, self.inputs)

    @property
    def fan_in(self) -> int:
        return self.inputs

    @property
    def parameters(self) -> int:
        return self.outputs * (self.inputs + 1)

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the fully connected layer for one image."""
        return self.outputs * self.inputs


@dataclass(frozen=True, slots=True)
class Network:
    """The layers for one variant: each convolution's input is the output of the one before it."""

    variant: InputVariant
    convolutions: tuple[Convolution, ...]
    classifier: Classifier

    @property
    def parameters(self) -> int:
        """Weights and biases the file holds: 3,487,816, batch norm being folded (3,504,872 before that)."""
        return sum(layer.parameters for layer in self.convolutions) + self.classifier.parameters

    @property
    def macs(self) -> int:
        """Multiply-accumulates of convolutions and classifier for one call, that is for the whole batch."""
        return self.variant.batch * (sum(layer.macs for layer in self.convolutions) + self.classifier.macs)


def is_default_name(name: str) -> bool:
    """Whether a name means this model, well formed or not."""
    return name == FAMILY or name.startswith(FAMILY + ":")


def parse_variant(name: str) -> InputVariant:
    """The variant that `mobilenetv2`, `mobilenetv2:HxW`, `mobilenetv2:bN` or `mobilenetv2:HxW:bN` names.

    Raises HettopError: `usage` for anything else, and for sizes out of range.
    """
    found = _NAME.fullmatch(name)
    if found is None or not found[0].isascii():
        raise _bad_name(name, "the name is malformed")
    variant = InputVariant(**{part: int(digits) for part, digits in found.groupdict().items() if digits})
    if variant.height not in SIZES or variant.width not in SIZES:
        raise _bad_name(name, f"height and width must be {SIZES[0]} to {SIZES[-1]}")
    if variant.batch not in BATCHES:
        raise _bad_name(name, f"the batch must be {BATCHES[0]} to {BATCHES[-1]}")
    return variant


def network(variant: InputVariant) -> Network:
    """All layers of a variant, in the order they run."""
    height, width = _halved(variant.height), _halved(variant.width)
    layers = [Convolution("stem", 3, STEM_CHANNELS, 3, 2, 1, True, height, width)]
    block = 0
    for stage in STAGES:
        for repeat in range(stage.repeats):
            block += 1
            layers += _bottleneck(f"block{block}", layers[-1], stage, stage.stride if repeat == 0 else 1)
    last = layers[-1]
    layers.append(Convolution("head", last.outputs, HEAD_CHANNELS, 1, 1, 1, True, last.height, last.width))
    return Network(variant, tuple(layers), Classifier("classifier", HEAD_CHANNELS, CLASSES))


def _bottleneck(name: str, before: Convolution, stage: Stage, stride: int) -> list[Convolution]:
    """Expand, filter by channel, project; the input is added if the shape is unchanged."""
    height, width = before.height, before.width
    hidden = before.outputs * stage.expansion
    layers = []
    if stage.expansion != 1:
        layers.append(Convolution(f"{name}_expand", before.outputs, hidden, 1, 1, 1, True, height, width))
    if stride == 2:
        height, width = _halved(height), _halved(width)
    adds = before.name if stride == 1 and before.outputs == stage.channels else None
    layers.append(Convolution(f"{name}_depthwise", hidden, hidden, 3, stride, hidden, True, height, width))
    layers.append(Convolution(f"{name}_project", hidden, stage.channels, 1, 1, 1, False, height, width, adds))
    return layers


def _halved(size: int) -> int:
    """Output size of a 3x3 convolution with stride 2 and padding 1."""
    return (size + 1) // 2


def _bad_name(name: str, why: str) -> HettopError:
    return HettopError(
        "usage", f"{clean(name)}: {why}", f"use {FAMILY}, or {FAMILY}:HxW:bN such as {InputVariant(320, 320, 4).name}"
    )
