"""Networks that are chains, and residual ones: AlexNet, VGG, SqueezeNet, ResNet, DenseNet."""

from __future__ import annotations

from hettop.models.networks.builder import BRANCH_GAIN, Builder
from hettop.models.networks.layers import Map

CLASSES = 1000


def alexnet(net: Builder) -> None:
    """Krizhevsky 2014 ("One weird trick"), one tower, without local response normalisation."""
    x = net.convolve(net.image, 64, 11, 4, pad=2, bias="bias")
    x = net.pool(x, "max", 3, 2)
    x = net.pool(net.convolve(x, 192, 5, bias="bias"), "max", 3, 2)
    for channels in (384, 256, 256):
        x = net.convolve(x, channels, 3, bias="bias")
    x = net.pool(x, "max", 3, 2)
    x = net.dense(net.dense(x, 4096, "relu"), 4096, "relu")
    net.dense(x, CLASSES)


VGG_WIDTHS = (64, 128, 256, 512, 512)


def vgg(net: Builder, repeats: tuple[int, ...]) -> None:
    """Simonyan and Zisserman 2015, table 1, without batch norm."""
    x = net.image
    for channels, number in zip(VGG_WIDTHS, repeats, strict=True):
        for _ in range(number):
            x = net.convolve(x, channels, 3, bias="bias")
        x = net.pool(x, "max", 2, 2)
    x = net.dense(net.dense(x, 4096, "relu"), 4096, "relu")
    net.dense(x, CLASSES)


def squeezenet(net: Builder, version: str) -> None:
    """Iandola et al. 2016; 1.1 has a smaller first layer and pools earlier. Its classifier is a convolution."""
    channels, kernel, pools = (96, 7, (0, 3, 7)) if version == "1.0" else (64, 3, (0, 2, 4))
    x = net.convolve(net.image, channels, kernel, 2, pad=0, bias="bias")
    for fire, narrow in enumerate((16, 16, 32, 32, 48, 48, 64, 64)):
        if fire in pools:
            x = net.pool(x, "max", 3, 2, ceil=True)
        squeezed = net.convolve(x, narrow, bias="bias")
        wide = [net.convolve(squeezed, 4 * narrow, kernel, bias="bias") for kernel in (1, 3)]
        x = net.concat(*wide)
    net.mean(net.convolve(x, CLASSES, bias="bias"))


def resnet(net: Builder, repeats: tuple[int, ...], *, bottleneck: bool) -> None:
    """He et al. 2016, with the stride of a bottleneck in its 3x3 convolution, as is usual since."""
    x = net.pool(net.convolve(net.image, 64, 7, 2), "max", 3, 2, 1)
    for stage, number in enumerate(repeats):
        for block in range(number):
            x = _residual(net, x, 64 << stage, 2 if stage and not block else 1, bottleneck=bottleneck)
    net.dense(net.mean(x), CLASSES)


def _residual(net: Builder, x: Map, channels: int, stride: int, *, bottleneck: bool) -> Map:
    out = 4 * channels if bottleneck else channels
    if bottleneck:
        inner = net.convolve(net.convolve(x, channels), channels, 3, stride)
        branch = net.convolve(inner, out, activation="", gain=BRANCH_GAIN)
    else:
        branch = net.convolve(net.convolve(x, channels, 3, stride), out, 3, activation="", gain=BRANCH_GAIN)
    if stride != 1 or x.channels != out:
        x = net.convolve(x, out, 1, stride, activation="")
    return net.add(branch, x, "relu")


def resnet_v2(net: Builder, repeats: tuple[int, ...]) -> None:
    """He et al. 2016, "Identity mappings", as Keras builds it: the stride is in the last block of a stage."""
    x = net.pool(net.convolve(net.image, 64, 7, 2, activation="", bias="bias"), "max", 3, 2, 1)
    for stage, number in enumerate(repeats):
        for block in range(number):
            halves = block == number - 1 and stage < len(repeats) - 1
            x = _preactivated(net, x, 64 << stage, 2 if halves else 1, widens=not block)
    net.dense(net.mean(net.norm(x)), CLASSES)


def _preactivated(net: Builder, x: Map, channels: int, stride: int, *, widens: bool) -> Map:
    active = net.norm(x)
    inner = net.convolve(net.convolve(active, channels), channels, 3, stride)
    branch = net.convolve(inner, 4 * channels, activation="", bias="bias", gain=BRANCH_GAIN)
    if widens:
        x = net.convolve(active, 4 * channels, 1, stride, activation="", bias="bias")
    elif stride > 1:
        x = net.pool(x, "max", 1, stride)
    return net.add(branch, x)


def densenet(net: Builder, growth: int, blocks: tuple[int, ...], channels: int) -> None:
    """Huang et al. 2017: each layer's output is appended to all before it; between blocks channels are halved."""
    x = net.pool(net.convolve(net.image, channels, 7, 2), "max", 3, 2, 1)
    for block, layers in enumerate(blocks):
        for _ in range(layers):
            narrow = net.convolve(net.norm(x), 4 * growth)
            x = net.concat(x, net.convolve(narrow, growth, 3, activation="", bias="none"))
        if block < len(blocks) - 1:
            halved = net.convolve(net.norm(x), x.channels // 2, activation="", bias="none")
            x = net.pool(halved, "average", 2, 2)
    net.dense(net.mean(net.norm(x)), CLASSES)
