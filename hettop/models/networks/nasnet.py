"""Networks whose cells were searched for: NASNet-A (Zoph et al. 2018, figure 4) and PNASNet-5 (Liu et al. 2018).

The paths by which a cell takes the output of the cell before the last one are those of the authors' released models.
"""

from __future__ import annotations

from hettop.models.networks.builder import Builder
from hettop.models.networks.classic import CLASSES
from hettop.models.networks.layers import Map

HALF_GAIN = 0.5
"""Two such branches are added in each of dozens of cells: their sum keeps its scale."""


def _separable(net: Builder, x: Map, channels: int, kernel: int, stride: int = 1, *, stem: bool = False) -> Map:
    """Rectifier, depthwise and pointwise convolution, twice. stem: the first one changes the channels."""
    middle = channels if stem else x.channels
    x = net.rectify(x)
    x = net.convolve(x, x.channels, kernel, stride, groups=x.channels, activation="", bias="none")
    x = net.convolve(x, middle)
    x = net.convolve(x, middle, kernel, groups=middle, activation="", bias="none")
    return net.convolve(x, channels, activation="", gain=HALF_GAIN)


def _squeeze(net: Builder, x: Map, channels: int, stride: int = 1) -> Map:
    return net.convolve(net.rectify(x), channels, 1, stride, activation="")


def _halve(net: Builder, x: Map, channels: int) -> Map:
    """Half the size: every other pixel, and every other one of the map moved by one."""
    x = net.rectify(x)
    every = [net.pool(each, "average", 1, 2) for each in (x, net.shift(x))]
    return net.concat(*(net.convolve(each, channels // 2, activation="") for each in every))


def _average(net: Builder, x: Map, stride: int = 1) -> Map:
    return net.pool(x, "average", 3, stride, 1)


def _largest(net: Builder, x: Map, stride: int) -> Map:
    return net.pool(x, "max", 3, stride, 1)


def nasnet(net: Builder, stem: int, last: int, repeats: int) -> None:
    """NASNet-A: `stem` channels at first, `last` at the end, `repeats` normal cells in each of three stages."""
    f = last // 24
    first = net.convolve(net.image, stem, 3, 2, pad=0, activation="")
    before = _stem(net, first, f // 4)
    x = _reduction(net, _halve(net, first, f // 2), _squeeze(net, before, f // 2), f // 2)
    for stage in range(3):
        channels = f << stage
        if stage:
            reduced = _reduction(net, _squeeze(net, before, channels), _squeeze(net, x, channels), channels)
            before, x = x, reduced
        before, x = x, _normal(net, _halve(net, before, channels), _squeeze(net, x, channels), channels)
        for _ in range(repeats - 1):
            before, x = x, _normal(net, _squeeze(net, before, channels), _squeeze(net, x, channels), channels)
    net.dense(net.mean(net.rectify(x)), CLASSES)


def _stem(net: Builder, first: Map, channels: int) -> Map:
    x = _squeeze(net, first, channels)
    zero = net.add(_separable(net, x, channels, 5, 2), _separable(net, first, channels, 7, 2, stem=True))
    one = net.add(_largest(net, x, 2), _separable(net, first, channels, 7, 2, stem=True))
    two = net.add(_average(net, x, 2), _separable(net, first, channels, 5, 2, stem=True))
    three = net.add(_average(net, zero), one)
    return net.concat(one, two, three, net.add(_separable(net, zero, channels, 3), _largest(net, x, 2)))


def _normal(net: Builder, before: Map, x: Map, channels: int) -> Map:
    zero = net.add(_separable(net, x, channels, 5), _separable(net, before, channels, 3))
    one = net.add(_separable(net, before, channels, 5), _separable(net, before, channels, 3))
    two = net.add(_average(net, x), before)
    three = net.add(_average(net, before), _average(net, before))
    return net.concat(before, zero, one, two, three, net.add(_separable(net, x, channels, 3), x))


def _reduction(net: Builder, before: Map, x: Map, channels: int) -> Map:
    zero = net.add(_separable(net, x, channels, 5, 2), _separable(net, before, channels, 7, 2))
    one = net.add(_largest(net, x, 2), _separable(net, before, channels, 7, 2))
    two = net.add(_average(net, x, 2), _separable(net, before, channels, 5, 2))
    three = net.add(_average(net, zero), one)
    return net.concat(one, two, three, net.add(_separable(net, zero, channels, 3), _largest(net, x, 2)))


def pnasnet(net: Builder) -> None:
    """PNASNet-5-Large: 96 channels at first, four cells in each of three stages."""
    first = net.convolve(net.image, 96, 3, 2, pad=0, activation="")
    before = _progressive(net, first, _squeeze(net, first, 54), 54, 2, stem=True)
    x = _progressive(net, _halve(net, first, 108), _squeeze(net, before, 108), 108, 2)
    for stage, channels in enumerate((216, 432, 864)):
        for cell in range(4):
            reduces = bool(stage) and cell == 0
            # The map before the last one has twice the size after each reduction, and after the second stem cell.
            halves = cell == (1 if stage else 0)
            older = _halve(net, before, channels) if halves else _squeeze(net, before, channels)
            stride = 2 if reduces else 1
            before, x = x, _progressive(net, older, _squeeze(net, x, channels), channels, stride)
    net.dense(net.mean(net.rectify(x)), CLASSES)


def _progressive(net: Builder, before: Map, x: Map, channels: int, stride: int, *, stem: bool = False) -> Map:
    pooled = _largest(net, before, stride)
    if stem:
        pooled = net.convolve(pooled, channels, activation="")
    zero = net.add(_separable(net, before, channels, 5, stride, stem=stem), pooled)
    one = net.add(_separable(net, x, channels, 7, stride), _largest(net, x, stride))
    two = net.add(_separable(net, x, channels, 5, stride), _separable(net, x, channels, 3, stride))
    three = net.add(_separable(net, two, channels, 3), _largest(net, x, stride))
    right = _squeeze(net, x, channels, stride) if stride != 1 else x
    return net.concat(zero, one, two, three, net.add(_separable(net, before, channels, 3, stride, stem=stem), right))
