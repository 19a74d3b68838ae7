"""The networks are the published ones: their parameters and operations are counted from what is built."""

from __future__ import annotations

import math

import numpy as np
import onnxruntime
import pytest
from onnx import shape_inference

from hettop.errors import HettopError
from hettop.models.networks.catalogue import ARCHITECTURES, is_built_in, network, parse_variant
from hettop.models.networks.layers import Convolution, Dense
from hettop.models.networks.onnx_file import WEIGHTS_FILE, build_model, is_split, write_onnx

COUNTS = {
    # Parameters as the authors' or torchvision's released models have them (batch norm: scale and shift).
    "alexnet": 61_100_840,
    "vgg11": 132_863_336,
    "vgg13": 133_047_848,
    "vgg16": 138_357_544,
    "vgg19": 143_667_240,
    "resnet18": 11_689_512,
    "resnet34": 21_797_672,
    "resnet50": 25_557_032,
    "resnet101": 44_549_160,
    "resnet152": 60_192_808,
    "resnet152v2": 60_236_904,  # trainable parameters in Keras
    "googlenet": 6_998_552,  # of Caffe's model zoo, without the classifiers for training
    "inceptionv3": 23_834_568,  # 27,161,264 with the classifier for training
    "inceptionv4": 42_679_816,
    "xception": 22_855_952,
    "squeezenet1.0": 1_248_424,
    "squeezenet1.1": 1_235_496,
    "densenet121": 7_978_856,
    "densenet161": 28_681_000,
    "densenet169": 14_149_480,
    "densenet201": 20_013_928,
    "mobilenetv1": 4_231_976,
    "mobilenetv2": 3_504_872,
    "mobilenetv2-1.4": 6_108_776,
    "mnasnet-0.5": 2_218_512,
    "mnasnet": 4_383_312,
    "mnasnet-1.3": 6_282_256,
    "shufflenetv2-0.5": 1_366_792,
    "shufflenetv2": 2_278_604,
    "nasnet-mobile": 5_289_978,
    "nasnet": 88_753_150,
    "pnasnet": 86_057_668,
}


@pytest.mark.parametrize("name", COUNTS)
def test_parameters_are_those_of_the_released_models(name: str) -> None:
    assert network(parse_variant(name)).published_parameters == COUNTS[name]


@pytest.mark.parametrize("name", ["resnet18:64x64", "resnet152v2:64x64", "googlenet:64x64", "densenet121:32x32",
                                  "shufflenetv2-0.5:64x64:b2",
                                  "nasnet-mobile:64x64", "xception:96x64", "inceptionv3:128x128"])  # fmt: skip
def test_the_file_has_the_shapes_and_counts_of_the_description(name: str) -> None:
    """Shapes by ONNX's own inference; multiply-accumulates from these, and not from the description."""
    net = network(parse_variant(name))
    graph = shape_inference.infer_shapes(build_model(net), strict_mode=True).graph
    weights = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    shapes = {
        value.name: [axis.dim_value for axis in value.type.tensor_type.shape.dim]
        for value in [*graph.value_info, *graph.output]
    }
    for layer in net.layers[:-1]:
        output = layer.output
        assert math.prod(shapes[layer.name]) == net.variant.batch * output.elements, layer.name
    convolutions = [node for node in graph.node if node.op_type == "Conv"]
    macs = sum(math.prod(shapes[node.output[0]]) * math.prod(weights[node.input[1]][1:]) for node in convolutions)
    dense = [node for node in graph.node if node.op_type == "Gemm"]
    macs += sum(math.prod(shapes[node.output[0]]) * weights[node.input[1]][1] for node in dense)
    assert macs == net.macs
    own = {name for layer in net.layers for name in (f"{layer.name}_{role}" for role, _ in layer.weights)}
    assert sum(math.prod(weights[name]) for name in own) == net.parameters


def test_maximum_pooling_with_a_square_at_the_edge_has_the_papers_sizes() -> None:
    """GoogLeNet's table 1: 112, 56, 28, 14, 7."""
    pools = [layer for layer in network(parse_variant("googlenet")).layers if layer.name.startswith("maxpool")]
    assert [pool.output.height for pool in pools if pool.output.height != pool.source.height] == [56, 28, 14, 7]


@pytest.mark.parametrize(
    "name", ["mnasnet:64x64", "resnet34:64x64", "densenet169:32x32", "nasnet-mobile:64x64", "resnet152v2:64x64"]
)
def test_activations_stay_in_the_range_of_half_precision(name: str) -> None:
    net = network(parse_variant(name))
    model = build_model(net)
    last = [layer.name for layer in net.layers if isinstance(layer, Convolution | Dense)][:-1]
    model.graph.output.extend(type(model.graph.output[0])(name=each) for each in last)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    image = np.random.default_rng(0).random(net.variant.input_shape, dtype=np.float32)
    values = dict(zip([each.name for each in session.get_outputs()], session.run(None, {"image": image}), strict=True))
    assert np.ptp(values["logits"]) > 0.01
    assert max(float(np.abs(value).max()) for value in values.values()) < 6_000
    assert all(float(value.std()) > 1e-3 for value in values.values())


def test_large_weights_lie_beside_the_graph_and_are_those_drawn_at_once(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pathlib import Path

    net = network(parse_variant("mobilenetv1:32x32"))
    folder = Path(str(tmp_path))
    assert not is_split(net)
    assert is_split(network(parse_variant("vgg16")))
    whole = onnxruntime.InferenceSession(build_model(net).SerializeToString(), providers=["CPUExecutionProvider"])
    monkeypatch.setattr("hettop.models.networks.onnx_file.LARGEST_INSIDE", 1_000_000)
    monkeypatch.setattr("hettop.models.networks.weights.CHUNK", 1_000)
    write_onnx(net, folder / "m.onnx")
    assert (folder / WEIGHTS_FILE).stat().st_size == 4 * net.parameters
    assert (folder / "m.onnx").stat().st_size < 100_000
    split = onnxruntime.InferenceSession(str(folder / "m.onnx"), providers=["CPUExecutionProvider"])
    image = np.ones((1, 3, 32, 32), dtype=np.float32)
    (a,), (b,) = (session.run(None, {"image": image}) for session in (whole, split))
    assert np.array_equal(a, b)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("vgg16:256x256", "takes 224x224 pixels"),
        ("inceptionv4:32x32", "too small"),
        ("resnet50:b0", "the batch must be"),
        ("resnet50:b", "malformed"),
    ],
)
def test_what_cannot_be_built_is_refused_with_the_reason(name: str, words: str) -> None:
    with pytest.raises(HettopError, match=words) as caught:
        network(parse_variant(name))
    assert caught.value.kind == "usage"


def test_only_names_of_networks_are_built() -> None:
    assert all(map(is_built_in, ARCHITECTURES))
    assert is_built_in("resnet50:anything")
    assert not any(map(is_built_in, ("resnet51", "resnet50.onnx", "./resnet50", "")))
