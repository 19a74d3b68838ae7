"""The networks that can be measured by name, and what was published of them.

A name may end in the size and the batch: `resnet50`, `resnet50:320x320`, `resnet50:b8`, `resnet50:320x320:b8`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from hettop.errors import HettopError
from hettop.models.networks.builder import Builder, TooSmallError
from hettop.models.networks.classic import alexnet, densenet, resnet, resnet_v2, squeezenet, vgg
from hettop.models.networks.inception import googlenet, inception_v3, inception_v4, xception
from hettop.models.networks.layers import Layer, Map
from hettop.models.networks.mobile import MNASNET, MOBILENETV2, inverted, mobilenetv1, shufflenetv2
from hettop.models.networks.nasnet import nasnet, pnasnet
from hettop.text import clean

DEFAULT = "mobilenetv2"

RECIPE = "2"
"""Changes whenever the same name would give other layers or weights: part of a model's identity and its file name."""

SIZES = range(32, 2049)
"""Heights and widths: a smaller image has no pixels left after five halvings, a larger one needs gigabytes."""

BATCHES = range(1, 513)


@dataclass(frozen=True, slots=True)
class Published:
    """What EmBench's table 1 says of a network: operations and parameters in millions, accuracy in percent."""

    flops_m: float
    parameters_m: float
    top1_percent: float
    top5_percent: float


@dataclass(frozen=True, slots=True)
class Architecture:
    """A network by its title, the function that builds it, and its usual height and width.

    resizable: whether it takes images of another size; where a fully connected layer sees all pixels it does not.
    """

    title: str
    build: Callable[[Builder], None]
    size: int = 224
    resizable: bool = True
    published: Published | None = None


ARCHITECTURES: Mapping[str, Architecture] = {
    "alexnet": Architecture("AlexNet", alexnet, 224, False, Published(955.21, 61.10, 56.52, 79.07)),
    "vgg11": Architecture(
        "VGG 11", partial(vgg, repeats=(1, 1, 2, 2, 2)), 224, False, Published(8171.57, 132.86, 69.02, 88.63)
    ),
    "vgg13": Architecture(
        "VGG 13", partial(vgg, repeats=(2, 2, 2, 2, 2)), 224, False, Published(11895.04, 133.05, 69.93, 89.25)
    ),
    "vgg16": Architecture(
        "VGG 16", partial(vgg, repeats=(2, 2, 3, 3, 3)), 224, False, Published(16063.36, 138.36, 71.59, 90.38)
    ),
    "vgg19": Architecture(
        "VGG 19", partial(vgg, repeats=(2, 2, 4, 4, 4)), 224, False, Published(20231.68, 143.67, 72.38, 90.88)
    ),
    "resnet18": Architecture(
        "ResNet 18",
        partial(resnet, repeats=(2, 2, 2, 2), bottleneck=False),
        published=Published(1836.82, 11.69, 69.76, 89.08),
    ),
    "resnet34": Architecture(
        "ResNet 34",
        partial(resnet, repeats=(3, 4, 6, 3), bottleneck=False),
        published=Published(3692.78, 21.80, 73.31, 91.42),
    ),
    "resnet50": Architecture(
        "ResNet 50",
        partial(resnet, repeats=(3, 4, 6, 3), bottleneck=True),
        published=Published(4154.96, 25.56, 76.13, 92.86),
    ),
    "resnet101": Architecture(
        "ResNet 101",
        partial(resnet, repeats=(3, 4, 23, 3), bottleneck=True),
        published=Published(7892.77, 44.55, 77.37, 93.55),
    ),
    "resnet152": Architecture(
        "ResNet 152",
        partial(resnet, repeats=(3, 8, 36, 3), bottleneck=True),
        published=Published(11636.60, 60.19, 78.31, 94.05),
    ),
    "resnet152v2": Architecture("ResNet V2 152", partial(resnet_v2, repeats=(3, 8, 36, 3))),
    "googlenet": Architecture("GoogLeNet", googlenet),
    "inceptionv3": Architecture("Inception-v3", inception_v3, 299, published=Published(5730.17, 27.16, 75.64, 92.59)),
    "inceptionv4": Architecture("Inception-v4", inception_v4, 299, published=Published(12561.10, 42.68, 80.08, 94.89)),
    "xception": Architecture("Xception", xception, 299, published=Published(8494.59, 22.86, 78.89, 94.29)),
    "squeezenet1.0": Architecture(
        "SqueezeNet 1.0", partial(squeezenet, version="1.0"), published=Published(865.78, 1.25, 58.09, 80.42)
    ),
    "squeezenet1.1": Architecture(
        "SqueezeNet 1.1", partial(squeezenet, version="1.1"), published=Published(377.80, 1.24, 58.18, 80.62)
    ),
    "densenet121": Architecture(
        "DenseNet 121",
        partial(densenet, growth=32, blocks=(6, 12, 24, 16), channels=64),
        published=Published(2928.89, 7.98, 74.43, 91.97),
    ),
    "densenet161": Architecture(
        "DenseNet 161",
        partial(densenet, growth=48, blocks=(6, 12, 36, 24), channels=96),
        published=Published(7902.37, 28.68, 77.14, 93.56),
    ),
    "densenet169": Architecture(
        "DenseNet 169",
        partial(densenet, growth=32, blocks=(6, 12, 32, 32), channels=64),
        published=Published(3473.88, 14.15, 75.60, 92.81),
    ),
    "densenet201": Architecture(
        "DenseNet 201",
        partial(densenet, growth=32, blocks=(6, 12, 48, 32), channels=64),
        published=Published(4435.03, 20.01, 76.87, 93.37),
    ),
    "mobilenetv1": Architecture("MobileNetV1", mobilenetv1),
    "mobilenetv2": Architecture(
        "MobileNetV2",
        partial(inverted, stages=MOBILENETV2, width=1.0, activation="relu6"),
        published=Published(336.43, 3.50, 71.81, 90.42),
    ),
    "mobilenetv2-1.3": Architecture(
        "MobileNetV2 x1.3", partial(inverted, stages=MOBILENETV2, width=1.3, activation="relu6")
    ),
    "mobilenetv2-1.4": Architecture(
        "MobileNetV2 x1.4", partial(inverted, stages=MOBILENETV2, width=1.4, activation="relu6")
    ),
    "mnasnet-0.5": Architecture("MnasNet x0.5", partial(inverted, stages=MNASNET, width=0.5, activation="relu")),
    "mnasnet": Architecture(
        "MnasNet",
        partial(inverted, stages=MNASNET, width=1.0, activation="relu"),
        published=Published(649.51, 4.38, 61.95, 84.73),
    ),
    "mnasnet-1.3": Architecture("MnasNet x1.3", partial(inverted, stages=MNASNET, width=1.3, activation="relu")),
    "shufflenetv2-0.5": Architecture(
        "ShuffleNetV2 x0.5",
        partial(shufflenetv2, widths=(48, 96, 192, 1024)),
        published=Published(52.32, 1.37, 60.55, 81.75),
    ),
    "shufflenetv2": Architecture(
        "ShuffleNetV2 x1",
        partial(shufflenetv2, widths=(116, 232, 464, 1024)),
        published=Published(160.09, 2.28, 69.36, 88.32),
    ),
    "nasnet-mobile": Architecture(
        "NASNet mobile",
        partial(nasnet, stem=32, last=1056, repeats=4),
        published=Published(667.75, 5.29, 74.08, 91.74),
    ),
    "nasnet": Architecture(
        "NASNet",
        partial(nasnet, stem=96, last=4032, repeats=6),
        331,
        published=Published(24882.21, 88.75, 82.51, 96.02),
    ),
    "pnasnet": Architecture("PNASNet", pnasnet, 331, published=Published(25945.87, 86.06, 82.74, 95.99)),
}

_NAME = re.compile(r"(?P<family>[a-z0-9.-]+)(?::(?P<height>\d{1,6})x(?P<width>\d{1,6}))?(?::b(?P<batch>\d{1,6}))?")


@dataclass(frozen=True, slots=True)
class Variant:
    """A network by name, with a size of input and a batch."""

    height: int = 224
    width: int = 224
    batch: int = 1
    family: str = DEFAULT

    @property
    def name(self) -> str:
        return f"{self.family}:{self.height}x{self.width}:b{self.batch}"

    @property
    def input_shape(self) -> tuple[int, int, int, int]:
        return (self.batch, 3, self.height, self.width)


@dataclass(frozen=True, slots=True)
class Network:
    """The layers of a variant, in the order they run; the last one's output is the network's."""

    variant: Variant
    layers: tuple[Layer, ...]

    @property
    def parameters(self) -> int:
        """Weights and biases that the file holds, batch norm being folded where a convolution precedes it."""
        return sum(layer.parameters for layer in self.layers)

    @property
    def published_parameters(self) -> int:
        """As papers count them: a scale and a shift for each channel of a batch norm."""
        return sum(layer.published_parameters for layer in self.layers)

    @property
    def macs(self) -> int:
        """Multiply-accumulates of convolutions and fully connected layers for one call, that is for the whole batch."""
        return self.variant.batch * sum(layer.macs for layer in self.layers)

    @property
    def sha256(self) -> str:
        """Of the recipe: the same in each file format."""
        return hashlib.sha256(f"{RECIPE} {self}".encode()).hexdigest()


def is_built_in(name: str) -> bool:
    """Whether a name means one of these networks, well formed or not."""
    return name.partition(":")[0] in ARCHITECTURES


def parse_variant(name: str) -> Variant:
    """The variant that a name means. Raises HettopError: `usage` for a malformed one, and for sizes out of range."""
    found = _NAME.fullmatch(name)
    if found is None or not found[0].isascii() or found["family"] not in ARCHITECTURES:
        raise _bad_name(name, "the name is malformed")
    family = found["family"]
    architecture = ARCHITECTURES[family]
    numbers = {part: int(digits) for part, digits in found.groupdict().items() if digits and part != "family"}
    variant = Variant(**{"height": architecture.size, "width": architecture.size, **numbers}, family=family)
    if variant.height not in SIZES or variant.width not in SIZES:
        raise _bad_name(name, f"height and width must be {SIZES[0]} to {SIZES[-1]}")
    if variant.batch not in BATCHES:
        raise _bad_name(name, f"the batch must be {BATCHES[0]} to {BATCHES[-1]}")
    if not architecture.resizable and (variant.height, variant.width) != (architecture.size,) * 2:
        size = architecture.size
        raise _bad_name(
            name, f"{architecture.title} takes {size}x{size} pixels: its fully connected layer sees them all"
        )
    return variant


def network(variant: Variant) -> Network:
    """All layers of a variant. Raises HettopError: `usage` where the image is too small for it."""
    builder = Builder(Map("image", 3, variant.height, variant.width))
    try:
        ARCHITECTURES[variant.family].build(builder)
    except TooSmallError as error:
        raise _bad_name(variant.name, "the image is too small for this network") from error
    return Network(variant, tuple(builder.layers))


def _bad_name(name: str, why: str) -> HettopError:
    example = Variant(320, 320, 4).name
    return HettopError(
        "usage", f"{clean(name)}: {why}", f"use NAME or NAME:HxW:bN such as {example}; hettop models lists them"
    )
