"""Models of the NeuralNetwork format are reported by their layers; pipelines by their stages."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hettop.errors import HettopError
from hettop.models.inspection.inspection import Inspection, Totals, document
from hettop.models.inspection.reading import inspect
from tests.models.mil.programs import ct, mb, program, spec

datatypes: Any = importlib.import_module("coremltools.models.datatypes")
neural: Any = importlib.import_module("coremltools.models.neural_network")
quantization: Any = importlib.import_module("coremltools.models.neural_network.quantization_utils")


def totals(inspection: Inspection) -> Totals:
    assert inspection.totals is not None
    return inspection.totals


def zeros(*shape: int) -> Any:
    return np.zeros(shape, np.float32)


def classic() -> Any:
    """3x32x32, convolved to 8x16x16, pooled to 8x8x8, normalised, flattened to 512, and 10 numbers of it."""
    builder = neural.NeuralNetworkBuilder(
        [("x", datatypes.Array(3, 32, 32))],
        [("y", datatypes.Array(10))],
    )
    builder.add_convolution(
        "conv", 3, 8, 3, 3, 2, 2, "same", 1, zeros(3, 3, 3, 8), zeros(8), True, input_name="x", output_name="c"
    )
    builder.add_pooling("pool", 2, 2, 2, 2, "MAX", "VALID", input_name="c", output_name="p")
    builder.add_batchnorm("norm", 8, zeros(8), zeros(8), zeros(8), zeros(8), input_name="p", output_name="n")
    builder.add_flatten("flat", 0, "n", "f")
    builder.add_inner_product("dense", zeros(10, 512), zeros(10), 512, 10, True, "f", "y")
    return builder.spec


def written(spec_: Any, path: Path) -> Path:
    path.write_bytes(spec_.SerializeToString())
    return path


def test_layers_parameters_and_macs_are_counted(tmp_path: Path) -> None:
    inspection = inspect(written(classic(), tmp_path / "m.mlmodel"), shapes={})
    assert inspection.format == "neuralnetwork"
    assert inspection.ops == {"convolution": 1, "batchnorm": 1, "pooling": 1, "flatten": 1, "innerProduct": 1}
    found = totals(inspection)
    assert found.macs == 8 * 16 * 16 * 27 + 512 * 10
    assert found.parameters == (216 + 8) + 16 + (5120 + 10)
    assert found.weight_bytes == 4 * (found.parameters + 16)
    assert found.activation_bytes == 4 * (2048 + 512 + 512 + 512 + 10)
    assert "counted as float32" in " ".join(found.notes)


@pytest.mark.parametrize(("bits", "dtype"), [(16, "float16"), (8, "uint8"), (4, "uint4")])
def test_quantised_weights_keep_their_number_and_lose_bytes(bits: int, dtype: str, tmp_path: Path) -> None:
    whole = totals(inspect(written(classic(), tmp_path / "m.mlmodel"), shapes={}))
    small = quantization.quantize_weights(ct.models.MLModel(classic(), skip_model_load=True), bits)
    model = small.get_spec() if hasattr(small, "get_spec") else small
    found = totals(inspect(written(model, tmp_path / "q.mlmodel"), shapes={}))
    assert (found.parameters, found.macs) == (whole.parameters, whole.macs)
    assert found.weight_bytes < whole.weight_bytes * bits / 32 * 1.1
    assert found.precision is not None
    assert dtype in found.precision


def test_a_converted_network_counts_as_its_program_does(tmp_path: Path) -> None:
    def build(x: Any) -> Any:
        value = mb.conv(x=x, weight=zeros(8, 3, 3, 3), strides=[2, 2], pad_type="custom", pad=[1, 1, 1, 1])
        value = mb.max_pool(x=mb.relu(x=value), kernel_sizes=[2, 2], strides=[2, 2], pad_type="valid")
        value = mb.concat(values=[value, value], axis=1)
        value = mb.conv_transpose(x=value, weight=zeros(16, 4, 2, 2), strides=[2, 2], pad_type="valid")
        value = mb.reshape(x=mb.transpose(x=value, perm=[0, 2, 3, 1]), shape=[1, 1024])
        return mb.softmax(x=mb.linear(x=value, weight=zeros(10, 1024), bias=zeros(10)), axis=-1)

    source = program(build, {"x": spec((1, 3, 32, 32))}, ct.target.iOS14)
    ct.convert(source, convert_to="neuralnetwork").save(str(tmp_path / "m.mlmodel"))
    found = totals(inspect(tmp_path / "m.mlmodel", shapes={}))
    assert found.macs == 8 * 256 * 27 + 16 * 64 * 4 * 4 + 10 * 1024
    assert found.parameters == 216 + 256 + 10_250


def test_a_recurrent_layer_is_counted_by_its_steps(tmp_path: Path) -> None:
    """One step of four gates: 4 values each from 8 inputs and a state of 4."""
    builder = neural.NeuralNetworkBuilder([("x", datatypes.Array(8))], [("y", datatypes.Array(4))])
    gates = [zeros(4, 8)] * 4
    again = [zeros(4, 4)] * 4
    builder.add_unilstm("lstm", again, gates, [zeros(4)] * 4, 4, 8, ["x"], ["y"])
    found = totals(inspect(written(builder.spec, tmp_path / "m.mlmodel"), shapes={}))
    assert found.macs == 4 * 4 * (8 + 4)
    assert found.parameters == 4 * (32 + 16 + 4)


@pytest.mark.parametrize("damage", ["input", "layer"])
def test_a_layer_without_inputs_or_without_a_kind_is_refused(damage: str, tmp_path: Path) -> None:
    network = classic()
    network.neuralNetwork.layers[0].ClearField(damage if damage == "input" else "convolution")
    with pytest.raises(HettopError, match="has invalid parameters") as caught:
        inspect(written(network, tmp_path / "m.mlmodel"), shapes={})
    assert caught.value.kind == "format"


def test_layers_and_stages_without_a_translation_are_listed(tmp_path: Path) -> None:
    network = classic()
    network.neuralNetwork.layers.add(name="mine", input=["y"], output=["z"]).custom.className = "Mine"
    found = inspect(written(network, tmp_path / "m.mlmodel"), shapes={})
    assert [(each.op, each.place) for each in found.missing_ops] == [("custom", "layer 'mine'")]
    assert totals(found).macs is None
    model = importlib.import_module("coremltools.proto.Model_pb2").Model()
    model.specificationVersion = 4
    model.description.CopyFrom(classic().description)
    model.pipeline.models.add().CopyFrom(classic())
    model.pipeline.models.add().nonMaximumSuppression.iouThreshold = 0.5
    model.pipeline.names.extend(["network", "boxes"])
    found = inspect(written(model, tmp_path / "p.mlmodel"), shapes={})
    assert [(each.op, each.place) for each in found.missing_ops] == [("nonMaximumSuppression", "stage 'boxes'")]


def test_a_pipeline_is_described_by_its_stages_and_not_counted(tmp_path: Path) -> None:
    model = importlib.import_module("coremltools.proto.Model_pb2").Model()
    model.specificationVersion = 4
    model.description.CopyFrom(classic().description)
    for name in ("first", "second"):
        model.pipeline.models.add().CopyFrom(classic())
        model.pipeline.names.append(name)
    inspection = inspect(written(model, tmp_path / "m.mlmodel"), shapes={})
    assert inspection.format == "pipeline"
    assert inspection.stages == (("first", "neuralnetwork"), ("second", "neuralnetwork"))
    told = document(inspection)
    assert (told["macs"], told["parameters"]) == (None, None)
    assert "not counted" in told["note"]


def test_an_updatable_model_says_so(tmp_path: Path) -> None:
    model = classic()
    model.isUpdatable = True
    inspection = inspect(written(model, tmp_path / "m.mlmodel"), shapes={})
    assert "updatable" in " ".join(inspection.notes)
    assert totals(inspection).macs is not None
