"""Shapes through layers of the NeuralNetwork format are those that NeuralNetwork.proto defines."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest

from hettop.models.mil.neuralnetwork.shapes import output_shape
from hettop.models.mil.values import Shape

NeuralNetwork_pb2: Any = importlib.import_module("coremltools.proto.NeuralNetwork_pb2")


def shape_of(fill: Callable[[Any], object], *inputs: Shape | None) -> Shape | None:
    """The output's shape of a layer that `fill` has filled in."""
    layer = NeuralNetwork_pb2.NeuralNetworkLayer()
    fill(layer)
    return output_shape(layer, inputs)


def padded(amounts: Any, before: int, after: int) -> None:
    for _ in range(2):
        amounts.borderAmounts.add(startEdgeSize=before, endEdgeSize=after)


def convolved(layer: Any, *, stride: int = 1, same: bool = False, pad: int = 0, deconvolution: bool = False) -> None:
    parameters = layer.convolution
    parameters.outputChannels, parameters.kernelChannels = 8, 3
    parameters.kernelSize.extend([3, 3])
    parameters.stride.extend([stride, stride])
    parameters.isDeconvolution = deconvolution
    if same:
        parameters.same.SetInParent()
    else:
        padded(parameters.valid.paddingAmounts, pad, pad)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, 7),
        ({"stride": 2}, 4),
        ({"pad": 1}, 9),
        ({"pad": 1, "stride": 2}, 5),
        ({"same": True, "stride": 2}, 5),
        ({"deconvolution": True, "stride": 2}, 19),
        ({"deconvolution": True, "stride": 2, "pad": 1}, 17),
        ({"deconvolution": True, "stride": 2, "same": True}, 18),
    ],
)
def test_a_convolution_of_nine_by_nine(options: dict[str, Any], expected: int) -> None:
    assert shape_of(lambda layer: convolved(layer, **options), (3, 9, 9)) == (8, expected, expected)
    assert shape_of(lambda layer: convolved(layer, **options), (2, 3, 9, 9)) == (2, 8, expected, expected)


def pooled(layer: Any, *, kernel: int, pad: int = 0, last: bool = False, whole: bool = False) -> None:
    parameters = layer.pooling
    parameters.kernelSize.extend([kernel, kernel])
    parameters.stride.extend([2, 2])
    parameters.globalPooling = whole
    if last:
        parameters.includeLastPixel.paddingAmounts.extend([pad, pad])
    else:
        padded(parameters.valid.paddingAmounts, pad, pad)


@pytest.mark.parametrize(
    ("length", "options", "expected"),
    [
        (5, {"kernel": 2}, 2),
        (5, {"kernel": 2, "last": True}, 3),
        (6, {"kernel": 3, "last": True}, 3),
        # Caffe's rule: a last window that would begin in the trailing border is left out.
        (3, {"kernel": 2, "pad": 1, "last": True}, 2),
        (5, {"kernel": 3, "pad": 1}, 3),
        (5, {"kernel": 2, "whole": True}, 1),
    ],
)
def test_pooling_by_two(length: int, options: dict[str, Any], expected: int) -> None:
    found = shape_of(lambda layer: pooled(layer, **options), (4, length, length))
    assert found == (4, expected, expected)


def inner(layer: Any) -> None:
    layer.innerProduct.inputChannels, layer.innerProduct.outputChannels = 12, 5


def test_an_inner_product_is_over_the_last_axis_or_over_the_three_older_ones() -> None:
    assert shape_of(inner, (7, 12)) == (7, 5)
    assert shape_of(inner, (3, 2, 2)) == (5, 1, 1)
    assert shape_of(inner, (7, 11)) is None


def matmul(layer: Any, *, first: bool = False, second: bool = False) -> None:
    layer.batchedMatmul.transposeA, layer.batchedMatmul.transposeB = first, second


def test_a_matrix_product_broadcasts_its_leading_axes() -> None:
    assert shape_of(matmul, (4, 1, 2, 3), (5, 3, 7)) == (4, 5, 2, 7)
    assert shape_of(lambda layer: matmul(layer, first=True, second=True), (3, 2), (7, 3)) == (2, 7)


def test_axes_are_joined_moved_dropped_and_added() -> None:
    def permute(layer: Any) -> None:
        layer.transpose.axes.extend([0, 2, 3, 1])

    def squeeze(layer: Any) -> None:
        layer.squeeze.axes.extend([-1])

    def expand(layer: Any) -> None:
        layer.expandDims.axes.extend([0, -1])

    def mean(layer: Any) -> None:
        layer.reduceMean.axes.extend([-2, -1])
        layer.reduceMean.keepDims = False

    assert shape_of(lambda layer: layer.concat.SetInParent(), (3, 2, 2), (5, 2, 2)) == (8, 2, 2)
    assert shape_of(lambda layer: layer.concatND.MergeFromString(b"\x08\x01"), (3, 2), (3, 5)) == (3, 7)
    assert shape_of(permute, (1, 3, 4, 5)) == (1, 4, 5, 3)
    assert shape_of(squeeze, (2, 3, 1)) == (2, 3)
    assert shape_of(expand, (2, 3)) == (1, 2, 3, 1)
    assert shape_of(mean, (2, 3, 4)) == (2,)
    assert shape_of(lambda layer: layer.flatten.SetInParent(), (3, 4, 5)) == (60, 1, 1)


def test_what_is_not_known_stays_unknown() -> None:
    assert shape_of(convolved, None) is None
    assert shape_of(lambda layer: layer.NonMaximumSuppression.SetInParent(), (1, 4, 4)) is None
    assert shape_of(lambda layer: layer.add.SetInParent(), (3, 4), None) is None
