"""EmBench's table 1, and what its text says of batches, recomputed."""

from __future__ import annotations

import pytest

from hettop.models.mobilenetv2 import network, parse_variant
from tests.papers.data import nets, rounds_to

NETS = nets()["nets"]


@pytest.mark.parametrize("name", NETS)
def test_parameters_of_the_architectures_are_those_of_table_1(name: str) -> None:
    assert rounds_to(NETS[name]["params"] / 1e6, NETS[name]["table1_params_M"], 2)


def test_its_flops_are_neither_macs_nor_twice_that() -> None:
    ratios = {name: net["table1_flops_M"] * 1e6 / net["macs"] for name, net in NETS.items()}
    assert min(ratios.values()) == pytest.approx(1.008, abs=5e-4)
    assert max(ratios.values()) == pytest.approx(1.337, abs=5e-4)
    assert min(ratios, key=ratios.__getitem__) == "ResNet 34"
    assert max(ratios, key=ratios.__getitem__) == "AlexNet"


def test_hettops_mobilenetv2_has_the_macs_of_the_architecture() -> None:
    assert network(parse_variant("mobilenetv2")).macs == NETS["MobileNetV2"]["macs"] == 300_774_272
