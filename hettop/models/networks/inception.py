"""Networks of parallel branches: GoogLeNet, Inception-v3 and -v4, Xception."""

from __future__ import annotations

from hettop.models.networks.builder import BRANCH_GAIN, Builder
from hettop.models.networks.classic import CLASSES
from hettop.models.networks.layers import Map

Kernel = int | tuple[int, int]
Step = tuple[int, Kernel]

ROW, COLUMN = (1, 7), (7, 1)
LONG, TALL = (1, 3), (3, 1)


def googlenet(net: Builder) -> None:
    """Szegedy et al. 2015, table 1; without its classifiers for training and local response normalisation."""
    x = net.pool(net.convolve(net.image, 64, 7, 2, bias="bias"), "max", 3, 2, ceil=True)
    x = net.convolve(net.convolve(x, 64, bias="bias"), 192, 3, bias="bias")
    x = net.pool(x, "max", 3, 2, ceil=True)
    for one, reduce3, three, reduce5, five, pooled, ends in (
        (64, 96, 128, 16, 32, 32, False), (128, 128, 192, 32, 96, 64, True), (192, 96, 208, 16, 48, 64, False),
        (160, 112, 224, 24, 64, 64, False), (128, 128, 256, 24, 64, 64, False), (112, 144, 288, 32, 64, 64, False),
        (256, 160, 320, 32, 128, 128, True), (256, 160, 320, 32, 128, 128, False), (384, 192, 384, 48, 128, 128, False),
    ):  # fmt: skip
        x = net.concat(
            net.convolve(x, one, bias="bias"),
            net.convolve(net.convolve(x, reduce3, bias="bias"), three, 3, bias="bias"),
            net.convolve(net.convolve(x, reduce5, bias="bias"), five, 5, bias="bias"),
            net.convolve(net.pool(x, "max", 3, 1, 1), pooled, bias="bias"),
        )
        if ends:
            x = net.pool(x, "max", 3, 2, ceil=True)
    net.dense(net.mean(x), CLASSES)


def _chain(net: Builder, x: Map, *steps: Step) -> Map:
    for channels, kernel in steps:
        x = net.convolve(x, channels, kernel)
    return x


def _down(net: Builder, x: Map, *steps: Step) -> Map:
    """The same, its last convolution with stride 2 and without padding."""
    channels, kernel = steps[-1]
    return net.convolve(_chain(net, x, *steps[:-1]), channels, kernel, 2, pad=0)


def _pooled(net: Builder, x: Map, channels: int) -> Map:
    return net.convolve(net.pool(x, "average", 3, 1, 1), channels)


def _both(net: Builder, x: Map, channels: int) -> tuple[Map, Map]:
    return net.convolve(x, channels, LONG), net.convolve(x, channels, TALL)


def inception_v3(net: Builder) -> None:
    """Szegedy et al. 2016 ("Rethinking"), without its classifier for training."""
    x = net.convolve(net.image, 32, 3, 2, pad=0)
    x = net.convolve(net.convolve(x, 32, 3, pad=0), 64, 3)
    x = net.convolve(net.convolve(net.pool(x, "max", 3, 2), 80), 192, 3, pad=0)
    x = net.pool(x, "max", 3, 2)
    for pooled in (32, 64, 64):
        doubled = _chain(net, x, (64, 1), (96, 3), (96, 3))
        x = net.concat(net.convolve(x, 64), _chain(net, x, (48, 1), (64, 5)), doubled, _pooled(net, x, pooled))
    x = net.concat(_down(net, x, (384, 3)), _down(net, x, (64, 1), (96, 3), (96, 3)), net.pool(x, "max", 3, 2))
    for c in (128, 160, 160, 192):
        seven = _chain(net, x, (c, 1), (c, ROW), (192, COLUMN))
        doubled = _chain(net, x, (c, 1), (c, COLUMN), (c, ROW), (c, COLUMN), (192, ROW))
        x = net.concat(net.convolve(x, 192), seven, doubled, _pooled(net, x, 192))
    seven = _down(net, x, (192, 1), (192, ROW), (192, COLUMN), (192, 3))
    x = net.concat(_down(net, x, (192, 1), (320, 3)), seven, net.pool(x, "max", 3, 2))
    for _ in range(2):
        three = _both(net, net.convolve(x, 384), 384)
        doubled_parts = _both(net, _chain(net, x, (448, 1), (384, 3)), 384)
        x = net.concat(net.convolve(x, 320), *three, *doubled_parts, _pooled(net, x, 192))
    net.dense(net.mean(x), CLASSES)


def inception_v4(net: Builder) -> None:
    """Szegedy et al. 2017, figures 3 to 9."""
    x = net.convolve(net.convolve(net.image, 32, 3, 2, pad=0), 32, 3, pad=0)
    x = net.convolve(x, 64, 3)
    x = net.concat(net.pool(x, "max", 3, 2), net.convolve(x, 96, 3, 2, pad=0))
    seven = net.convolve(_chain(net, x, (64, 1), (64, ROW), (64, COLUMN)), 96, 3, pad=0)
    x = net.concat(net.convolve(net.convolve(x, 64), 96, 3, pad=0), seven)
    x = net.concat(net.convolve(x, 192, 3, 2, pad=0), net.pool(x, "max", 3, 2))
    for _ in range(4):
        doubled = _chain(net, x, (64, 1), (96, 3), (96, 3))
        x = net.concat(net.convolve(x, 96), _chain(net, x, (64, 1), (96, 3)), doubled, _pooled(net, x, 96))
    x = net.concat(_down(net, x, (384, 3)), _down(net, x, (192, 1), (224, 3), (256, 3)), net.pool(x, "max", 3, 2))
    for _ in range(7):
        seven = _chain(net, x, (192, 1), (224, ROW), (256, COLUMN))
        doubled = _chain(net, x, (192, 1), (192, COLUMN), (224, ROW), (224, COLUMN), (256, ROW))
        x = net.concat(net.convolve(x, 384), seven, doubled, _pooled(net, x, 128))
    seven = _down(net, x, (256, 1), (256, ROW), (320, COLUMN), (320, 3))
    x = net.concat(_down(net, x, (192, 1), (192, 3)), seven, net.pool(x, "max", 3, 2))
    for _ in range(3):
        three = _both(net, net.convolve(x, 384), 256)
        doubled_parts = _both(net, _chain(net, x, (384, 1), (448, TALL), (512, LONG)), 256)
        x = net.concat(net.convolve(x, 256), *three, *doubled_parts, _pooled(net, x, 256))
    net.dense(net.mean(x), CLASSES)


def xception(net: Builder) -> None:
    """Chollet 2017, figure 5."""
    x = net.convolve(net.convolve(net.image, 32, 3, 2, pad=0), 64, 3, pad=0)
    x = _block(net, x, (128, 128), rectified=False)
    for channels in (256, 728):
        x = _block(net, x, (channels, channels))
    for _ in range(8):
        x = _block(net, x, (728, 728, 728), stride=1)
    x = _block(net, x, (728, 1024))
    for channels in (1536, 2048):
        x = net.convolve(_depthwise(net, x), channels)
    net.dense(net.mean(x), CLASSES)


def _block(net: Builder, x: Map, widths: tuple[int, ...], stride: int = 2, *, rectified: bool = True) -> Map:
    inner = x
    for place, channels in enumerate(widths):
        inner = net.rectify(inner) if rectified or place else inner
        gain = BRANCH_GAIN if place == len(widths) - 1 else None
        inner = net.convolve(_depthwise(net, inner), channels, activation="", gain=gain)
    if stride != 1:
        inner = net.pool(inner, "max", 3, stride, 1)
        x = net.convolve(x, widths[-1], 1, stride, activation="")
    return net.add(inner, x)


def _depthwise(net: Builder, x: Map) -> Map:
    return net.convolve(x, x.channels, 3, groups=x.channels, activation="", bias="none")
