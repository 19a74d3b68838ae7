"""Parameters and MACs of published networks are the published ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from hettop.models.inspection.reading import inspect
from tests.models.inspection.networks import NETWORKS

# Parameters: torchvision's model pages (https://pytorch.org/vision/stable/models.html). MACs: counted by hand from the
# architectures, convolutions and fully connected layers without bias; they agree with fvcore and ptflops so counted.
PUBLISHED = {
    "AlexNet": (61_100_840, 714_188_480),
    "VGG 16": (138_357_544, 15_470_264_320),
    "ResNet 18": (11_689_512, 1_814_073_344),
    "ResNet 50": (25_557_032, 4_089_184_256),
    "SqueezeNet 1.1": (1_235_496, 349_151_936),
    "MobileNetV2": (3_504_872, 300_774_272),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_parameters_and_macs_are_the_published_ones(name: str, tmp_path: Path) -> None:
    totals = inspect(NETWORKS[name]().save(tmp_path / "net.onnx"), shapes={}).totals
    assert totals is not None
    assert (totals.parameters, totals.macs) == PUBLISHED[name]


def test_a_batch_multiplies_macs_and_activations_and_leaves_the_weights(tmp_path: Path) -> None:
    one, eight = (
        inspect(NETWORKS["SqueezeNet 1.1"]().save(tmp_path / f"{batch}.onnx", batch), shapes={}).totals
        for batch in (1, 8)
    )
    assert one is not None
    assert eight is not None
    assert one.macs is not None
    assert one.activation_bytes is not None
    assert (eight.macs, eight.activation_bytes) == (8 * one.macs, 8 * one.activation_bytes)
    assert (eight.parameters, eight.weight_bytes) == (one.parameters, one.weight_bytes)


def test_running_statistics_are_stored_and_no_parameters(tmp_path: Path) -> None:
    totals = inspect(NETWORKS["ResNet 18"]().save(tmp_path / "net.onnx"), shapes={}).totals
    assert totals is not None
    # 4,800 channels are normalised, with a mean and a variance each; everything is float32.
    assert totals.weight_bytes == 4 * (11_689_512 + 2 * 4_800)


def test_the_intensity_of_a_layer_is_its_macs_by_all_bytes_it_moves(tmp_path: Path) -> None:
    """AlexNet by hand, in float32: bytes of inputs, weights with biases, and outputs of its eight layers."""
    totals = inspect(NETWORKS["AlexNet"]().save(tmp_path / "net.onnx"), shapes={}).totals
    assert totals is not None
    moved = [1_469_696, 1_976_064, 3_045_120, 3_972_608, 2_706_432, 151_064_576, 67_158_016, 16_408_384]
    assert totals.intensity == pytest.approx(714_188_480 / sum(moved), rel=1e-12)
