"""Tables I to III of Neural Network Inference on Mobile SoCs, and its intensities, recomputed."""

from __future__ import annotations

from statistics import fmean

import pytest

from hettop.studies.coexec.rates import gain
from hettop.studies.layers.published import Work, find_chip, read_chips
from tests.papers.data import nets, tables

TABLES = tables()["coexecution"]
A7, A15, T628, A53, A73, G72, NPU = range(7)


def possible(together: float, alone: float) -> tuple[float, float]:
    """The gains in percent that rates rounded to .1 leave possible."""
    return 100 * ((together - 0.05) / (alone + 0.05) - 1), 100 * ((together + 0.05) / (alone - 0.05) - 1)


def faster(new: int, old: int) -> float:
    rows = [row for row in TABLES["T1"].values() if row[new] is not None]
    return fmean(row[new] / row[old] for row in rows)


def test_the_big_and_the_small_clusters_progress_are_interchanged() -> None:
    """The text: big 4.4x, small 2.6x, GPU 4.2x. By table I the big one is 2.59x, the small one 4.34x."""
    assert faster(A73, A15) == pytest.approx(2.59, abs=0.005)
    assert faster(A53, A7) == pytest.approx(4.34, abs=0.005)
    assert faster(G72, T628) == pytest.approx(4.2, abs=0.05)


def test_the_npu_is_1_6_times_the_gpu() -> None:
    assert faster(NPU, G72) == pytest.approx(1.6, abs=0.03)


@pytest.mark.parametrize("net", TABLES["T2"])
def test_gains_of_table_2_are_what_its_rates_allow(net: str) -> None:
    exynos, exynos_both, exynos_gain, kirin, kirin_both, kirin_gain = TABLES["T2"][net]
    for both, alone, printed, exact in (
        (exynos_both, exynos, exynos_gain, TABLES["gains2"][net][0]),
        (kirin_both, kirin, kirin_gain, TABLES["gains2"][net][1]),
    ):
        low, high = possible(both, alone)
        assert low <= printed <= high
        found = gain(both, alone)
        assert found is not None
        assert 100 * found == pytest.approx(exact)


def test_the_average_gain_is_half_as_much_again() -> None:
    gains = [value for pair in TABLES["gains2"].values() for value in pair]
    assert fmean(gains) == pytest.approx(48.1, abs=0.05)


@pytest.mark.parametrize("net", TABLES["T3"])
def test_gains_of_table_3_are_what_its_rates_allow(net: str) -> None:
    alone, both, printed = TABLES["T3"][net][:3]
    low, high = possible(both, alone)
    assert low <= printed <= high
    assert TABLES["gains3"][net] == pytest.approx(100 * (gain(both, alone) or 0))


def test_shares_of_table_3_add_up_to_all_frames() -> None:
    for row in TABLES["T3"].values():
        assert sum(row[3:]) == pytest.approx(100, abs=0.011)


def test_googlenets_share_of_the_npu_is_more_than_the_npu_can_do() -> None:
    """61.90% of 59.3 images a second are 36.7; alone it does 34.4. All other shares are within what devices do."""
    beyond = {
        (net, place)
        for net, row in TABLES["T3"].items()
        for place, share in enumerate(row[3:])
        if row[1] * share / 100 > TABLES["T1"][net][A53 if place == 1 else A73 if place == 0 else place + 3] + 0.1
    }
    assert beyond == {("GoogLeNet", 3)}
    both, npu_share = TABLES["T3"]["GoogLeNet"][1], TABLES["T3"]["GoogLeNet"][6]
    assert both * npu_share / 100 == pytest.approx(36.7, abs=0.05)


def test_ridges_of_the_exynos_are_peak_by_bandwidth() -> None:
    exynos = find_chip("Exynos 5422", read_chips())
    for name, device in (("A15", "A15"), ("A7", "A7"), ("T628", "Mali-T628 MP6")):
        printed, found = tables()["roofs"][name], exynos.device(device)
        assert (found.gflops, found.gbytes_per_s) == pytest.approx((printed["peak"], printed["bw"]))
        assert found.ridge == pytest.approx(printed["ridge"])


@pytest.mark.parametrize(("net", "layer", "oi"), [("AlexNet", "fc6", 0.4998), ("AlexNet", "conv2", 226.66)])
def test_intensities_count_two_operations_for_each_mac(net: str, layer: str, oi: float) -> None:
    entry = nets()["operational_intensity_fp32"][net][layer]
    work = Work(layer, "", entry["macs"], entry["bytes"])
    assert work.oi is not None
    assert 2 * work.oi == pytest.approx(entry["oi"], abs=1e-4)
    assert 2 * work.oi == pytest.approx(oi, abs=0.01)


def test_a_depthwise_layer_of_mobilenetv2_reads_as_much_as_it_computes() -> None:
    """96 channels of 112 x 112 to 56 x 56 by 3 x 3, in single precision."""
    work = Work("depthwise", "", 56 * 56 * 96 * 9, 4 * (112 * 112 * 96 + 56 * 56 * 96 + 9 * 96))
    assert work.oi is not None
    assert 2 * work.oi == pytest.approx(0.899, abs=5e-4)


def test_fully_connected_layers_of_alexnet_are_bound_by_memory_and_the_others_by_computing() -> None:
    a15 = find_chip("Exynos 5422", read_chips()).device("A15")
    layers = nets()["operational_intensity_fp32"]["AlexNet"]
    bounds = {name: a15.bound(entry["macs"] / entry["bytes"]) for name, entry in layers.items()}
    assert {name for name, bound in bounds.items() if bound == "memory"} == {"fc6", "fc7", "fc8"}
    assert {name for name, bound in bounds.items() if bound == "compute"} == {f"conv{n}" for n in range(1, 6)}
