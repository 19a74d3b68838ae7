"""The default model is MobileNetV2 by the published counts, and its file computes what the description says."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import numpy_helper, shape_inference

from hettop.errors import HettopError
from hettop.models.networks.catalogue import BATCHES, SIZES, Variant, network, parse_variant
from hettop.models.networks.layers import Add, Convolution
from hettop.models.networks.onnx_file import build_model, write_onnx
from hettop.models.networks.weights import constants

SMALLEST_NORMAL = np.finfo(np.float32).smallest_normal


def test_there_are_52_convolutions_in_17_bottlenecks() -> None:
    layers = network(Variant()).layers
    assert sum(isinstance(layer, Convolution) for layer in layers) == 52
    assert len({layer.name.split("_")[0] for layer in layers if layer.name.startswith("block")}) == 17
    assert sum(isinstance(layer, Add) for layer in layers) == 10


def test_parameters_and_macs_are_the_published_ones() -> None:
    net = network(Variant())
    assert net.parameters == 3_487_816
    assert net.macs == 300_774_272


def test_with_batch_norm_unfolded_the_parameters_are_the_published_ones() -> None:
    assert network(Variant()).published_parameters == 3_504_872


def test_macs_grow_with_the_batch_and_parameters_do_not() -> None:
    one, eight = network(Variant()), network(Variant(batch=8))
    assert eight.macs == 8 * one.macs
    assert eight.parameters == one.parameters


@pytest.mark.parametrize("variant", [Variant(), Variant(97, 160, 3), Variant(32, 33, 1)])
def test_the_file_has_the_parameters_and_macs_of_the_description(variant: Variant) -> None:
    net = network(variant)
    graph = shape_inference.infer_shapes(build_model(net), strict_mode=True).graph
    weights = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    shapes = {
        value.name: [axis.dim_value for axis in value.type.tensor_type.shape.dim]
        for value in [*graph.value_info, *graph.output]
    }
    macs = 0
    for node in graph.node:
        if node.op_type == "Conv":
            macs += math.prod(shapes[node.output[0]]) * math.prod(weights[node.input[1]][1:])
        elif node.op_type == "Gemm":
            macs += math.prod(shapes[node.output[0]]) * weights[node.input[1]][1]
    assert macs == net.macs
    assert sum(math.prod(dims) for dims in weights.values()) - 2 == net.parameters  # less the two bounds of ReLU6


def test_the_file_is_valid_static_and_readable_by_older_runtimes(tmp_path: Path) -> None:
    write_onnx(network(Variant(64, 96, 2)), tmp_path / "m.onnx")
    model = onnx.load(tmp_path / "m.onnx")
    onnx.checker.check_model(model, full_check=True)
    assert (model.ir_version, model.opset_import[0].version) == (8, 17)
    (image,), (logits,) = model.graph.input, model.graph.output
    assert [axis.dim_value for axis in image.type.tensor_type.shape.dim] == [2, 3, 64, 96]
    assert [axis.dim_value for axis in logits.type.tensor_type.shape.dim] == [2, 1000]
    assert (image.name, logits.name) == ("image", "logits")


def test_the_same_variant_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_onnx(network(Variant(32, 32)), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_weights_are_the_same_on_every_machine() -> None:
    layer, (weight, bias) = next(constants(network(Variant())))
    assert (layer.name, weight.name, bias.name) == ("stem", "stem_weight", "stem_bias")
    # Worked out from numpy's documented PCG64(224): (raw >> 40) / 2**23 - 1, times sqrt(3 * 2 / 27).
    first = np.random.PCG64(224).random_raw()
    expected = ((first >> 40) / 2**23 - 1) * math.sqrt(6 / 27)
    assert float(weight.array()[0, 0, 0, 0]) == pytest.approx(expected, rel=1e-6)
    assert bias.shape == (32,)


def test_weights_do_not_depend_on_size_or_batch() -> None:
    small, large = (constants(network(variant)) for variant in (Variant(32, 32), Variant(448, 448, 8)))
    for (_, few), (_, many) in zip(small, large, strict=True):
        assert all(np.array_equal(a.array(), b.array()) for a, b in zip(few, many, strict=True))


def activations(image: np.ndarray) -> dict[str, Any]:
    """All values in the graph for an input, by name."""
    model = build_model(network(Variant()))
    named = [name for node in model.graph.node for name in node.output]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in named if name != "logits")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"image": image}), strict=True))


@pytest.mark.parametrize("image", ["white", "random"])
def test_no_activation_overflows_dies_or_saturates(image: str) -> None:
    shape = (1, 3, 224, 224)
    pixels = np.ones(shape) if image == "white" else np.random.default_rng(0).random(shape)
    values = activations(pixels.astype(np.float32))
    assert np.ptp(values["logits"]) > 0.1
    for name, value in values.items():
        assert np.all(np.isfinite(value)), name
        assert not np.any((value != 0) & (np.abs(value) < SMALLEST_NORMAL)), name
    for layer in network(Variant()).layers:
        if isinstance(layer, Convolution) and layer.activation:
            value = values[layer.name]
            assert np.mean((value > 0) & (value < 6)) > 0.2, layer.name


def test_no_weight_is_denormal() -> None:
    model = build_model(network(Variant(32, 32)))
    for tensor in model.graph.initializer:
        value = numpy_helper.to_array(tensor)
        assert not np.any((value != 0) & (np.abs(value) < SMALLEST_NORMAL))


# -- names --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        ("mobilenetv2", Variant(224, 224, 1)),
        ("mobilenetv2:224x224:b1", Variant(224, 224, 1)),
        ("mobilenetv2:320x480", Variant(320, 480, 1)),
        ("mobilenetv2:b16", Variant(224, 224, 16)),
        ("mobilenetv2:448x320:b32", Variant(448, 320, 32)),
    ],
)
def test_a_name_means_a_size_and_a_batch(name: str, variant: Variant) -> None:
    assert parse_variant(name) == variant


@given(
    st.builds(
        Variant,
        st.integers(SIZES[0], SIZES[-1]),
        st.integers(SIZES[0], SIZES[-1]),
        st.integers(BATCHES[0], BATCHES[-1]),
    )
)
def test_the_full_name_of_a_variant_means_that_variant(variant: Variant) -> None:
    assert parse_variant(variant.name) == variant


@pytest.mark.parametrize(
    "name",
    [
        "mobilenetv2:",
        "mobilenetv2:0x0",
        "mobilenetv2:224",
        "mobilenetv2:224x",
        "mobilenetv2:224x224:",
        "mobilenetv2:224x224:b0",
        "mobilenetv2:224x224:1",
        "mobilenetv2:b1:224x224",
        "mobilenetv2:-224x224",
        "mobilenetv2:31x224",
        "mobilenetv2:99999999x224",
        "mobilenetv2:٢٢٤x224",
        "mobilenetv2:224x224:b1\n",
    ],
)
def test_a_malformed_name_is_refused_with_the_right_form(name: str) -> None:
    with pytest.raises(HettopError) as caught:
        parse_variant(name)
    assert caught.value.kind == "usage"
    assert "NAME:HxW:bN" in caught.value.hint
