"""Whole models of the older kinds: images, classifiers, quantised weights, pipelines, trees, and what is refused."""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hettop.errors import HettopError
from hettop.models.mil.package import open_package
from hettop.models.mil.translate import translate
from tests.models.mil.neuralnetwork.networks import (
    Array,
    Case,
    datatypes,
    floats,
    network,
    neural,
    run,
    translated,
    written,
)
from tests.models.mil.neuralnetwork.references import convolved, lstm, sigmoid, softmax
from tests.models.mil.programs import ct, mb, program, spec

quantization: Any = importlib.import_module("coremltools.models.neural_network.quantization_utils")
Model_pb2: Any = importlib.import_module("coremltools.proto.Model_pb2")

KERNEL, OFFSET = floats(4, 3, 3, 3), floats(4)
PICTURE = np.random.default_rng(3).integers(0, 256, (1, 3, 6, 5)).astype(np.float32)


def close(found: Array, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * max(1.0, np.abs(expected).max()))


def on_images(colours: str) -> Any:
    """A convolution of a picture of 6 x 5 pixels, scaled by 1/255 and shifted by colour."""
    builder = neural.NeuralNetworkBuilder([("x", datatypes.Array(3, 6, 5))], [("y", datatypes.Array(4, 4, 3))])
    builder.add_convolution(
        "c", 3, 4, 3, 3, 1, 1, "valid", 1, KERNEL.transpose(2, 3, 1, 0), OFFSET, True, input_name="x", output_name="y"
    )
    builder.set_pre_processing_parameters(
        image_input_names=["x"],
        is_bgr=colours == "BGR",
        red_bias=0.1,
        green_bias=0.2,
        blue_bias=0.3,
        image_scale=1 / 255,
    )
    return builder.spec


@pytest.mark.parametrize(("colours", "bias"), [("RGB", [0.1, 0.2, 0.3]), ("BGR", [0.3, 0.2, 0.1])])
def test_an_image_is_scaled_and_shifted_by_its_colours(colours: str, bias: list[float], tmp_path: Path) -> None:
    translation = translated(on_images(colours), tmp_path)
    assert (translation.inputs[0].dtype, translation.inputs[0].shape) == ("float32", (1, 3, 6, 5))
    assert translation.inputs[0].port.color == colours
    scaled = PICTURE[0] / 255 + np.array(bias)[:, None, None]
    close(run(translation.model, {"x": PICTURE})["y"], convolved(scaled, KERNEL, OFFSET))


def test_a_mean_image_is_subtracted(tmp_path: Path) -> None:
    model, mean = on_images("RGB"), floats(3, 6, 5)
    del model.neuralNetwork.preprocessing[:]
    model.neuralNetwork.preprocessing.add(featureName="x").meanImage.meanImage.extend(mean.ravel())
    close(run(translated(model, tmp_path).model, {"x": PICTURE})["y"], convolved(PICTURE[0] - mean, KERNEL, OFFSET))


def test_a_classifier_returns_its_probabilities_and_leaves_out_its_label(tmp_path: Path) -> None:
    builder = neural.NeuralNetworkBuilder([("x", datatypes.Array(3))], [("p", datatypes.Array(2))], mode="classifier")
    weights = floats(2, 3)
    builder.add_inner_product("d", weights, None, 3, 2, False, "x", "d")
    builder.add_softmax("s", "d", "p")
    builder.set_class_labels(["cat", "dog"], predicted_feature_name="animal", prediction_blob="p")
    translation = translated(builder.spec, tmp_path)
    x = floats(3)
    (found,) = run(translation.model, {"x": x}).values()
    close(found, softmax(weights @ x, 0))
    assert "animal is a label with Core ML; here it is left out" in translation.notes


@pytest.mark.parametrize(
    ("bits", "mode"),
    [
        (8, "_linear_quantization"),
        (5, "_linear_quantization"),
        (8, "_linear_quantization_symmetric"),
        (3, "_lookup_table_quantization_linear"),
    ],
)
def test_quantised_weights_are_unpacked_as_coremltools_unpacks_them(bits: int, mode: str, tmp_path: Path) -> None:
    """A convolution and a dense layer; the second model has the weights that coremltools takes out of the first."""
    builder = neural.NeuralNetworkBuilder([("x", datatypes.Array(3, 6, 5))], [("y", datatypes.Array(7))])
    builder.add_convolution(
        "c", 3, 4, 3, 3, 1, 1, "valid", 1, KERNEL.transpose(2, 3, 1, 0), OFFSET, True, input_name="x", output_name="c"
    )
    builder.add_inner_product("d", floats(7, 48), floats(7), 48, 7, True, "c", "y")
    packed = quantization._quantize_spec_weights(builder.spec, bits, mode)
    weights = packed.neuralNetwork.layers[0].convolution.weights
    assert not weights.floatValue
    x = floats(3, 6, 5)
    found = run(translated(packed, tmp_path).model, {"x": x})["y"]
    plain = Model_pb2.Model()
    plain.CopyFrom(packed)
    quantization._dequantize_nn_spec(plain.neuralNetwork)
    assert plain.neuralNetwork.layers[0].convolution.weights.floatValue
    close(found, run(translated(plain, tmp_path).model, {"x": x})["y"])


def test_weights_in_half_precision_are_widened(tmp_path: Path) -> None:
    weights, x = floats(2, 3), floats(3)
    builder = neural.NeuralNetworkBuilder([("x", datatypes.Array(3))], [("y", datatypes.Array(2))])
    builder.add_inner_product("d", weights, None, 3, 2, False, "x", "y")
    stored = builder.spec.neuralNetwork.layers[0].innerProduct.weights
    del stored.floatValue[:]
    stored.float16Value = weights.astype(np.float16).tobytes()
    close(run(translated(builder.spec, tmp_path).model, {"x": x})["y"], weights.astype(np.float16) @ x)


def test_a_state_is_an_input_and_an_output(tmp_path: Path) -> None:
    """Two calls with the state handed over are a sequence of two."""
    gates = {gate: (floats(2, 3), floats(2, 2), floats(2)) for gate in "ifoz"}
    builder = neural.NeuralNetworkBuilder(
        [("x", datatypes.Array(3)), ("h", datatypes.Array(2)), ("c", datatypes.Array(2))],
        [("y", datatypes.Array(2)), ("h1", datatypes.Array(2)), ("c1", datatypes.Array(2))],
    )
    w, r, b = ([gates[gate][part] for gate in "ifoz"] for part in range(3))
    builder.add_unilstm("l", r, w, b, 2, 3, ["x", "h", "c"], ["y", "h1", "c1"])
    model = translated(builder.spec, tmp_path).model
    steps = floats(2, 3)
    first = run(model, {"x": steps[0], "h": np.zeros(2), "c": np.zeros(2)})
    second = run(model, {"x": steps[1], "h": first["h1"], "c": first["c1"]})
    weights, again, biases = ({gate: gates[gate][part] for gate in "ifoz"} for part in range(3))
    expected = lstm(steps, weights, again, biases, dict.fromkeys("ifo", np.zeros(2)))
    close(np.array([first["y"], second["y"]]), expected)


def test_both_forms_of_one_program_answer_alike(tmp_path: Path) -> None:
    """coremltools writes the same program as a NeuralNetwork and as an ML Program; their translations agree."""
    kernel, bias, dense = floats(8, 3, 3, 3), floats(8), floats(10, 8 * 16 * 16)

    def build(x: Any) -> Any:
        value = mb.conv(x=x, weight=kernel, bias=bias, strides=[2, 2], pad_type="same")
        value = mb.leaky_relu(x=value, alpha=0.1)
        value = mb.avg_pool(x=value, kernel_sizes=[3, 3], strides=[1, 1], pad_type="same")
        value = mb.add(x=value, y=mb.sigmoid(x=value))
        value = mb.reshape(x=mb.transpose(x=value, perm=[0, 2, 3, 1]), shape=[1, 2048])
        return mb.softmax(x=mb.linear(x=value, weight=dense, bias=dense[:, 0]), axis=-1)

    source = program(build, {"x": spec((1, 3, 32, 32))}, ct.target.iOS14)
    ct.convert(source, convert_to="neuralnetwork").save(str(tmp_path / "m.mlmodel"))
    modern = program(build, {"x": spec((1, 3, 32, 32))}, ct.target.iOS15)
    ct.convert(modern, convert_to="mlprogram", compute_precision=ct.precision.FLOAT32, skip_model_load=True).save(
        str(tmp_path / "m.mlpackage")
    )
    x = floats(1, 3, 32, 32)
    old, new = (run(translate(open_package(tmp_path / name)).model, {"x": x}) for name in ("m.mlmodel", "m.mlpackage"))
    close(*old.values(), *new.values())


def pipeline(*models: tuple[str, Any], inputs: Any, outputs: Any) -> Any:
    whole = Model_pb2.Model(specificationVersion=4)
    whole.description.input.extend(inputs)
    whole.description.output.extend(outputs)
    for name, model in models:
        whole.pipeline.models.add().CopyFrom(model)
        whole.pipeline.names.append(name)
    return whole


def test_a_pipeline_runs_its_models_one_after_the_other(tmp_path: Path) -> None:
    """The stages give the name `v` to different values of their own."""
    first, second, x = floats(4, 3), floats(2, 4), floats(3)
    stages = []
    for weights, ends in ((first, ("x", "m")), (second, ("m", "y"))):
        builder = neural.NeuralNetworkBuilder(
            [(ends[0], datatypes.Array(weights.shape[1]))], [(ends[1], datatypes.Array(weights.shape[0]))]
        )
        builder.add_inner_product("d", weights, None, weights.shape[1], weights.shape[0], False, ends[0], "v")
        builder.add_activation("a", "TANH", "v", ends[1])
        stages.append(builder.spec)
    whole = pipeline(
        ("one", stages[0]), ("two", stages[1]), inputs=stages[0].description.input, outputs=stages[1].description.output
    )
    close(run(translated(whole, tmp_path).model, {"x": x})["y"], np.tanh(second @ np.tanh(first @ x)))


# -- models of features --------------------------------------------------------------------------------------------


def of_features(kind: str, inputs: dict[str, int], output: str = "y", classes: int = 0) -> Any:
    """A model of `kind` without its parameters; an input of one feature is a number, a larger one an array."""
    model = Model_pb2.Model(specificationVersion=1)
    for name, size in inputs.items():
        feature = model.description.input.add(name=name)
        if size == 1:
            feature.type.doubleType.SetInParent()
        else:
            feature.type.multiArrayType.shape.append(size)
            feature.type.multiArrayType.dataType = 65600
    if classes:
        label = model.description.output.add(name="label")
        label.type.int64Type.SetInParent()
        probabilities = model.description.output.add(name=output)
        probabilities.type.dictionaryType.int64KeyType.SetInParent()
        model.description.predictedFeatureName, model.description.predictedProbabilitiesName = "label", output
        getattr(model, kind).int64ClassLabels.vector.extend(range(classes))
    else:
        model.description.output.add(name=output).type.doubleType.SetInParent()
    getattr(model, kind).SetInParent()
    return model


def answer(model: Any, folder: Path, **feed: Any) -> Array:
    return run(translated(model, folder).model, feed)["y"]


@pytest.mark.parametrize(
    ("link", "expected"), [(0, 3.0), (1, 1 / (1 + math.exp(-3))), (2, 0.5 * (1 + math.erf(3 / math.sqrt(2))))]
)
def test_a_linear_regressor_sums_weighted_features(link: int, expected: float, tmp_path: Path) -> None:
    """2 * 1 - 1 * 1 + 2 = 3, then its link function."""
    model = of_features("glmRegressor", {"x": 2})
    model.glmRegressor.weights.add(value=[2.0, -1.0])
    model.glmRegressor.offset.append(2.0)
    model.glmRegressor.postEvaluationTransform = link
    close(answer(model, tmp_path, x=np.ones(2)), [expected])


def test_a_linear_classifier_has_its_first_class_as_reference(tmp_path: Path) -> None:
    two = of_features("glmClassifier", {"x": 2}, classes=2)
    two.glmClassifier.weights.add(value=[1.0, 1.0])
    two.glmClassifier.offset.append(-1.0)
    p = sigmoid(np.array(1.0))
    close(answer(two, tmp_path, x=np.ones(2)), [1 - p, p])
    three = of_features("glmClassifier", {"x": 2}, classes=3)
    three.glmClassifier.weights.add(value=[1.0, 1.0])
    three.glmClassifier.weights.add(value=[0.0, 3.0])
    three.glmClassifier.offset.extend([0.0, 1.0])
    close(answer(three, tmp_path, x=np.ones(2)), softmax(np.array([0.0, 2.0, 4.0]), 0))
    three.glmClassifier.classEncoding = 1
    with pytest.raises(HettopError, match="the format does not define"):
        translated(three, tmp_path)


def add_tree(
    ensemble: Any, tree: int, feature: int, behaviour: int, value: float, leaves: list[tuple[int, float]]
) -> None:
    """One branch and two leaves; leaves: (index, value) where it holds and where it does not."""
    root = ensemble.nodes.add(treeId=tree, nodeId=0, nodeBehavior=behaviour)
    root.branchFeatureIndex, root.branchFeatureValue = feature, value
    root.trueChildNodeId, root.falseChildNodeId = 1, 2
    for node, (index, worth) in enumerate(leaves, start=1):
        leaf = ensemble.nodes.add(treeId=tree, nodeId=node, nodeBehavior=6)
        leaf.evaluationInfo.add(evaluationIndex=index, evaluationValue=worth)


@pytest.mark.parametrize(
    ("x", "expected"), [([0.0, 0.0], 10 + 1 + 8), ([1.0, 0.0], 10 + 2 + 8), ([1.0, 5.0], 10 + 2 + 4)]
)
def test_trees_are_summed_with_the_base_value(x: list[float], expected: float, tmp_path: Path) -> None:
    """Tree 0: x0 <= 0.5 gives 1, else 2. Tree 1: x1 > 3 gives 4, else 8."""
    model = of_features("treeEnsembleRegressor", {"x": 2})
    ensemble = model.treeEnsembleRegressor.treeEnsemble
    ensemble.numPredictionDimensions = 1
    ensemble.basePredictionValue.append(10.0)
    add_tree(ensemble, 0, 0, 0, 0.5, [(0, 1.0), (0, 2.0)])
    add_tree(ensemble, 1, 1, 3, 3.0, [(0, 4.0), (0, 8.0)])
    close(answer(model, tmp_path, x=np.array(x)), [expected])


@pytest.mark.parametrize(("transform", "dimensions"), [(0, 2), (1, 2), (2, 1), (3, 1)])
def test_trees_give_probabilities_of_classes(transform: int, dimensions: int, tmp_path: Path) -> None:
    model = of_features("treeEnsembleClassifier", {"x": 2}, classes=2)
    model.treeEnsembleClassifier.postEvaluationTransform = transform
    ensemble = model.treeEnsembleClassifier.treeEnsemble
    ensemble.numPredictionDimensions = dimensions
    ensemble.basePredictionValue.extend([0.25] * dimensions)
    add_tree(ensemble, 0, 0, 1, 0.5, [(0, 3.0), (dimensions - 1, 0.75)])
    one = np.array([0.25] * (dimensions - 1) + [1.0])
    expected = {0: one, 1: softmax(one, 0), 2: np.array([1 - sigmoid(one[0]), sigmoid(one[0])])}
    expected[3] = softmax(np.array([0.0, 1.0]), 0)
    close(answer(model, tmp_path, x=np.array([0.5, 0.0])), expected[transform])


def test_features_are_joined_scaled_and_normalised_before_a_model(tmp_path: Path) -> None:
    """(a, b1, b2) = (1, 2, 3); (x + 1) * 2 = (4, 6, 8); over the largest = (0.5, 0.75, 1); sum 2.25."""
    vector = of_features("featureVectorizer", {"a": 1, "b": 2}, "v")
    vector.featureVectorizer.inputList.add(inputColumn="a", inputDimensions=1)
    vector.featureVectorizer.inputList.add(inputColumn="b", inputDimensions=2)
    scaler = of_features("scaler", {"v": 3}, "s")
    scaler.scaler.shiftValue.append(1.0)
    scaler.scaler.scaleValue.append(2.0)
    norm = of_features("normalizer", {"s": 3}, "n")
    norm.normalizer.normType = 0
    linear = of_features("glmRegressor", {"n": 3})
    linear.glmRegressor.weights.add(value=[1.0, 1.0, 1.0])
    linear.glmRegressor.offset.append(0.0)
    stages = [("vector", vector), ("scaler", scaler), ("norm", norm), ("linear", linear)]
    whole = pipeline(*stages, inputs=vector.description.input, outputs=linear.description.output)
    close(answer(whole, tmp_path, a=np.array(1.0), b=np.array([2.0, 3.0])), [2.25])


# -- what is refused -----------------------------------------------------------------------------------------------


def refused(model: Any, folder: Path) -> HettopError:
    with pytest.raises(HettopError) as caught:
        translated(model, folder)
    return caught.value


def test_what_has_no_translation_is_named(tmp_path: Path) -> None:
    model = network(Case(lambda b: b.add_flatten("f", 0, "x", "y"), {"x": floats(2, 3, 4)}, floats(24)))
    model.neuralNetwork.layers.add(name="mine", input=["y"], output=["z"]).custom.className = "Mine"
    error = refused(model, tmp_path)
    assert error.kind == "unsupported-op"
    assert error.message == "model.mlmodel: the 'custom' layer 'mine' has no translation"
    boxes = Model_pb2.Model(specificationVersion=4)
    boxes.description.input.add(name="x").type.multiArrayType.shape.extend([3])
    boxes.description.input[0].type.multiArrayType.dataType = 65568
    boxes.description.output.add(name="y").type.multiArrayType.shape.extend([3])
    boxes.nonMaximumSuppression.iouThreshold = 0.5
    assert refused(boxes, tmp_path).message == "model.mlmodel: a nonMaximumSuppression model has no translation"


def test_damaged_layers_are_named_and_nothing_is_allocated_for_them(tmp_path: Path) -> None:
    case = Case(lambda b: b.add_bias("shift", floats(3), "x", "y", [3]), {"x": floats(3, 2, 2)}, floats(3, 2, 2))
    short = network(case)
    del short.neuralNetwork.layers[0].bias.bias.floatValue[1:]
    assert refused(short, tmp_path).message == "model.mlmodel: the 'bias' layer 'shift' has 1 weights instead of 3"
    absent = network(case)
    absent.neuralNetwork.layers[0].input[0] = "nobody"
    assert "uses 'nobody' before its definition" in refused(absent, tmp_path).message
    huge = network(Case(lambda b: b.add_upsample("u", 2, 2, "x", "y"), {"x": floats(3, 2, 2)}, floats(3, 4, 4)))
    huge.neuralNetwork.layers[0].upsample.scalingFactor[:] = [1 << 20, 1 << 20]
    assert "GB" in refused(huge, tmp_path).message


def leads_back(ensemble: Any) -> None:
    ensemble.nodes[0].trueChildNodeId = 0


def leads_nowhere(ensemble: Any) -> None:
    ensemble.nodes[0].trueChildNodeId = 9


def asks_for_a_third_feature(ensemble: Any) -> None:
    ensemble.nodes[0].branchFeatureIndex = 2


def has_a_number_twice(ensemble: Any) -> None:
    ensemble.nodes[2].nodeId = ensemble.nodes[1].nodeId


def has_no_nodes(ensemble: Any) -> None:
    del ensemble.nodes[:]


def has_a_second_value(ensemble: Any) -> None:
    ensemble.nodes[1].evaluationInfo[0].evaluationIndex = 1


def is_deep(ensemble: Any) -> None:
    """Each second node is a leaf."""
    del ensemble.nodes[:]
    for node in range(0, 2_400, 2):
        ensemble.nodes.add(treeId=0, nodeId=node, nodeBehavior=0, trueChildNodeId=node + 1, falseChildNodeId=node + 2)
        ensemble.nodes.add(treeId=0, nodeId=node + 1, nodeBehavior=6).evaluationInfo.add(evaluationIndex=0)
    ensemble.nodes.add(treeId=0, nodeId=2_400, nodeBehavior=6).evaluationInfo.add(evaluationIndex=0)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (leads_back, "a tree has a loop"),
        (leads_nowhere, "tree 0 has no node 9"),
        (asks_for_a_third_feature, "a tree asks for feature 2 of 2"),
        (has_a_number_twice, "two nodes of a tree have one number"),
        (has_no_nodes, "it has no trees"),
        (has_a_second_value, "its leaves have other values than the 1 that it computes"),
        (is_deep, "a tree is deeper than 1,000 nodes"),
    ],
)
def test_damaged_trees_are_named(damage: Any, words: str, tmp_path: Path) -> None:
    model = of_features("treeEnsembleRegressor", {"x": 2})
    ensemble = model.treeEnsembleRegressor.treeEnsemble
    ensemble.numPredictionDimensions = 1
    ensemble.basePredictionValue.append(0.0)
    add_tree(ensemble, 0, 0, 0, 0.5, [(0, 1.0), (0, 2.0)])
    damage(ensemble)
    error = refused(model, tmp_path)
    assert error.kind == "format"
    assert words in error.message


def test_a_network_is_opened_from_a_written_file_whose_name_tells_its_kind(tmp_path: Path) -> None:
    from hettop.models.resolve import resolve

    path = written(on_images("RGB"), tmp_path)
    assert resolve(str(path)).note == "NeuralNetwork translated to ONNX"
