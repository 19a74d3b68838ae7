"""Published networks as ONNX graphs that have the shapes of their weights alone, so that VGG costs nothing.

Architectures as in torchvision 0.20 (AlexNet, VGG-16, ResNet-18 and -50, SqueezeNet 1.1, MobileNetV2), which are those
of the papers up to the strides of ResNet's bottlenecks; batch norm is an operator of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onnx import TensorProto, helper

from hettop.models.networks.catalogue import Variant, network
from hettop.models.networks.layers import Add, Convolution, Layer


@dataclass
class Net:
    """A chain of operators that grows from `value`, whose number of channels is `channels`."""

    channels: int
    value: str = "x"
    nodes: list[Any] = field(default_factory=list)
    weights: list[Any] = field(default_factory=list)

    def op(self, kind: str, inputs: list[str], **attributes: Any) -> Net:
        self.value = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [self.value], **attributes))
        return self

    def weight(self, *dims: int) -> str:
        """A weight that lies in a file which is not there."""
        tensor = TensorProto(name=f"w{len(self.weights)}", dims=dims, data_type=TensorProto.FLOAT)
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="nowhere.bin")
        self.weights.append(tensor)
        return str(tensor.name)

    def conv(self, out: int, kernel: int, stride: int = 1, pad: int = 0, groups: int = 1, bias: bool = True) -> Net:
        inputs = [self.value, self.weight(out, self.channels // groups, kernel, kernel), *([self.weight(out)] * bias)]
        self.channels = out
        return self.op("Conv", inputs, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4, group=groups)

    def norm(self) -> Net:
        return self.op("BatchNormalization", [self.value, *(self.weight(self.channels) for _ in range(4))])

    def relu(self) -> Net:
        return self.op("Relu", [self.value])

    def pool(self, kernel: int, stride: int, pad: int = 0, ceil: int = 0) -> Net:
        return self.op(
            "MaxPool",
            [self.value],
            kernel_shape=[kernel] * 2,
            strides=[stride] * 2,
            pads=[pad] * 4,
            ceil_mode=ceil,
        )

    def average(self) -> Net:
        return self.op("GlobalAveragePool", [self.value])

    def flatten(self, pixels: int = 1) -> Net:
        self.channels *= pixels
        return self.op("Flatten", [self.value], axis=1)

    def dense(self, out: int) -> Net:
        inputs = [self.value, self.weight(out, self.channels), self.weight(out)]
        self.channels = out
        return self.op("Gemm", inputs, transB=1)

    def add(self, other: str) -> Net:
        return self.op("Add", [self.value, other])

    def save(self, path: Path, batch: int = 1) -> Path:
        graph = helper.make_graph(
            self.nodes,
            "net",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, (batch, 3, 224, 224))],
            [helper.make_tensor_value_info(self.value, TensorProto.FLOAT, None)],
            self.weights,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        path.write_bytes(model.SerializeToString())
        return path


def alexnet() -> Net:
    net = Net(3).conv(64, 11, 4, 2).relu().pool(3, 2).conv(192, 5, pad=2).relu().pool(3, 2)
    net.conv(384, 3, pad=1).relu().conv(256, 3, pad=1).relu().conv(256, 3, pad=1).relu().pool(3, 2)
    return net.flatten(6 * 6).dense(4096).relu().dense(4096).relu().dense(1000)


def vgg16() -> Net:
    net = Net(3)
    for width, repeats in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(repeats):
            net.conv(width, 3, pad=1).relu()
        net.pool(2, 2)
    return net.flatten(7 * 7).dense(4096).relu().dense(4096).relu().dense(1000)


def resnet(repeats: tuple[int, ...], *, bottleneck: bool) -> Net:
    net = Net(3).conv(64, 7, 2, 3, bias=False).norm().relu().pool(3, 2, 1)
    for stage, number in enumerate(repeats):
        for block in range(number):
            _residual(net, 64 << stage, 2 if stage and not block else 1, bottleneck=bottleneck)
    return net.average().flatten().dense(1000)


def _residual(net: Net, width: int, stride: int, *, bottleneck: bool) -> None:
    before, channels, out = net.value, net.channels, width * 4 if bottleneck else width
    if bottleneck:
        net.conv(width, 1, bias=False).norm().relu().conv(width, 3, stride, 1, bias=False).norm().relu()
        net.conv(out, 1, bias=False).norm()
    else:
        net.conv(width, 3, stride, 1, bias=False).norm().relu().conv(out, 3, pad=1, bias=False).norm()
    after = net.value
    if stride != 1 or channels != out:
        net.value, net.channels = before, channels
        net.conv(out, 1, stride, bias=False).norm()
        before = net.value
    net.value = after
    net.add(before).relu()


def squeezenet11() -> Net:
    net = Net(3).conv(64, 3, 2).relu().pool(3, 2, ceil=1)
    for squeeze, expand, pooled in (
        (16, 64, False), (16, 64, True), (32, 128, False), (32, 128, True), (48, 192, False), (48, 192, False),
        (64, 256, False), (64, 256, False),
    ):  # fmt: skip
        net.conv(squeeze, 1).relu()
        narrow = net.value
        left = net.conv(expand, 1).relu().value
        net.value, net.channels = narrow, squeeze
        right = net.conv(expand, 3, pad=1).relu().value
        net.op("Concat", [left, right], axis=1).channels = 2 * expand
        if pooled:
            net.pool(3, 2, ceil=1)
    return net.conv(1000, 1).relu().average().flatten()


def mobilenetv2() -> Net:
    """With batch norm after each convolution, as published."""
    net, values = Net(3), {"image": "x"}
    layers = network(Variant()).layers
    for layer in layers[:-2]:  # all but the mean and the classifier
        _mobile(net, layer, values)
        values[layer.name] = net.value
    return net.average().flatten().dense(layers[-1].output.channels)


def _mobile(net: Net, layer: Layer, values: dict[str, str]) -> None:
    net.value, net.channels = values[layer.source.name], layer.source.channels
    if isinstance(layer, Convolution):
        net.conv(layer.output.channels, layer.kernel[0], layer.stride, layer.pads[0], layer.groups, bias=False).norm()
        if layer.activation:
            net.relu()
    else:
        assert isinstance(layer, Add)
        net.add(values[layer.sources[1].name])


NETWORKS: dict[str, Callable[[], Net]] = {
    "AlexNet": alexnet,
    "VGG 16": vgg16,
    "ResNet 18": lambda: resnet((2, 2, 2, 2), bottleneck=False),
    "ResNet 50": lambda: resnet((3, 4, 6, 3), bottleneck=True),
    "SqueezeNet 1.1": squeezenet11,
    "MobileNetV2": mobilenetv2,
}
