"""`hettop models` from outside."""

from __future__ import annotations

from pathlib import Path

from hettop.models.networks.catalogue import ARCHITECTURES
from tests.cli.running import called, one_document


def test_every_network_is_listed_with_its_counts(tmp_path: Path) -> None:
    document = one_document(called("models", "--json", cwd=tmp_path).stdout)
    assert [each["name"] for each in document["models"]] == list(ARCHITECTURES)
    resnet = next(each for each in document["models"] if each["name"] == "resnet50")
    # torchvision's counts; folded: a bias for each of the 26,560 channels of its 53 convolutions instead of two.
    assert (resnet["parameters"], resnet["macs"]) == (25_557_032, 4_089_184_256)
    assert resnet["stored_parameters"] == 25_557_032 - 26_560
    assert resnet["top1_percent"] == 76.13


def test_a_network_is_benched_by_its_name(tmp_path: Path) -> None:
    call = ("bench", "squeezenet1.1:64x64:b2", "--unit", "CPU_ONLY@1", "--runs", "5", "--warmup", "1", "--json")
    document = one_document(called(*call, cwd=tmp_path).stdout)
    assert document["model"]["name"] == "squeezenet1.1:64x64:b2"
    assert document["model"]["parameters"] == 1_235_496
    assert document["conditions"][0]["n"] == 5
