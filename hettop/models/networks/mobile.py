"""Networks for phones, of depthwise convolutions: MobileNetV1 and V2, MnasNet, ShuffleNetV2."""

from __future__ import annotations

from dataclasses import dataclass

from hettop.models.networks.builder import Builder
from hettop.models.networks.classic import CLASSES
from hettop.models.networks.layers import Activation, Map


def mobilenetv1(net: Builder) -> None:
    """Howard et al. 2017, table 1, width 1.0."""
    x = net.convolve(net.image, 32, 3, 2)
    for channels, stride in ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *((512, 1),) * 5, (1024, 2),
                             (1024, 1)):  # fmt: skip
        x = net.convolve(net.convolve(x, x.channels, 3, stride, groups=x.channels), channels)
    net.dense(net.mean(x), CLASSES)


@dataclass(frozen=True, slots=True)
class Stage:
    """`repeats` inverted bottlenecks of the same width; the first one has the `stride`."""

    expansion: int
    channels: int
    repeats: int
    stride: int
    kernel: int = 3


MOBILENETV2 = (
    Stage(1, 16, 1, 1),
    Stage(6, 24, 2, 2),
    Stage(6, 32, 3, 2),
    Stage(6, 64, 4, 2),
    Stage(6, 96, 3, 1),
    Stage(6, 160, 3, 2),
    Stage(6, 320, 1, 1),
)
MNASNET = (
    Stage(1, 16, 1, 1),
    Stage(3, 24, 3, 2),
    Stage(3, 40, 3, 2, 5),
    Stage(6, 80, 3, 2, 5),
    Stage(6, 96, 2, 1),
    Stage(6, 192, 4, 2, 5),
    Stage(6, 320, 1, 1),
)
HEAD_CHANNELS = 1280


def inverted(net: Builder, stages: tuple[Stage, ...], width: float, activation: Activation) -> None:
    """MobileNetV2 (Sandler et al. 2018, table 2) and MnasNet-B1 (Tan et al. 2018, figure 7): the same blocks.

    width: multiplies the channels, in multiples of eight; MobileNetV2's head only grows.
    """
    head = HEAD_CHANNELS if activation == "relu" else max(HEAD_CHANNELS, _eights(HEAD_CHANNELS * width))
    x = net.convolve(net.image, _eights(32 * width), 3, 2, activation=activation, name="stem")
    block = 0
    for stage in stages:
        for repeat in range(stage.repeats):
            block += 1
            stride = 1 if repeat else stage.stride
            channels = _eights(stage.channels * width)
            x = _bottleneck(net, x, stage, stride, channels, name=f"block{block}", activation=activation)
    x = net.convolve(x, head, activation=activation, name="head")
    net.dense(net.mean(x), CLASSES, name="classifier")


def _bottleneck(
    net: Builder, x: Map, stage: Stage, stride: int, channels: int, *, name: str, activation: Activation
) -> Map:
    """Expand, filter by channel, project; the input is added if the shape is unchanged."""
    hidden = x.channels * stage.expansion
    inner = x
    if stage.expansion != 1:
        inner = net.convolve(x, hidden, activation=activation, name=f"{name}_expand")
    inner = net.convolve(
        inner, hidden, stage.kernel, stride, groups=hidden, activation=activation, name=f"{name}_depthwise"
    )
    adds = stride == 1 and x.channels == channels
    inner = net.convolve(inner, channels, activation="", name=f"{name}_project" + ("_conv" if adds else ""))
    return net.add(inner, x, name=f"{name}_project") if adds else inner


def _eights(channels: float) -> int:
    """The nearest multiple of eight, which takes away at most a tenth."""
    rounded = max(8, int(channels + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * channels else rounded


def shufflenetv2(net: Builder, widths: tuple[int, ...]) -> None:
    """Ma et al. 2018, table 5."""
    x = net.pool(net.convolve(net.image, 24, 3, 2), "max", 3, 2, 1)
    for channels, repeats in zip(widths, (4, 8, 4), strict=False):
        half = channels // 2
        side = net.convolve(_depthwise(net, x, 2), half)
        x = net.shuffle(net.concat(side, _branch(net, x, half, 2)))
        for _ in range(repeats - 1):
            kept, rest = net.part(x, 0, half), net.part(x, half, half)
            x = net.shuffle(net.concat(kept, _branch(net, rest, half, 1)))
    net.dense(net.mean(net.convolve(x, widths[-1])), CLASSES)


def _branch(net: Builder, x: Map, channels: int, stride: int) -> Map:
    return net.convolve(_depthwise(net, net.convolve(x, channels), stride), channels)


def _depthwise(net: Builder, x: Map, stride: int) -> Map:
    return net.convolve(x, x.channels, 3, stride, groups=x.channels, activation="")
