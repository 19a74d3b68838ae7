"""Published roofs: what the file holds, where each figure comes from, and what follows from it."""

from __future__ import annotations

import pytest

from hettop.errors import HettopError
from hettop.studies.layers.published import PublishedRoof, Work, find_chip, least_ms, read_chips

CHIPS = read_chips()


def roof(chip: str, device: str) -> PublishedRoof:
    return find_chip(chip, CHIPS).device(device)


@pytest.mark.parametrize(
    ("device", "cores", "ghz", "operations"),
    [("A15", 4, 2.0, 4), ("A7", 4, 1.4, 4), ("Mali-T628 MP6", 6 * 2, 0.6, 8)],
)
def test_peaks_of_the_exynos_are_cores_by_clock_by_operations(
    device: str, cores: int, ghz: float, operations: int
) -> None:
    assert roof("Exynos 5422", device).gflops == pytest.approx(cores * ghz * operations)


def test_ridges_of_the_exynos_are_those_of_the_paper() -> None:
    """32 / 3.44, 22.4 / .49 and 57.6 / 6.15 FLOP per byte."""
    ridges = [roof("Exynos 5422", device).ridge for device in ("A15", "A7", "Mali-T628 MP6")]
    assert ridges == pytest.approx([9.302, 45.714, 9.366], abs=1e-3)


def test_the_kirin_has_peaks_and_no_bandwidths() -> None:
    kirin = find_chip("Kirin 970", CHIPS)
    assert [each.gflops for each in kirin.devices] == pytest.approx(
        [4 * 2.36 * 4, 4 * 1.8 * 4, 12 * 3 * 8 * 0.85, 1920]
    )
    assert {each.gbytes_per_s for each in kirin.devices} == {None}
    assert kirin.device("NPU").precision == "fp16"
    assert kirin.device("NPU").bound(1.0) is None
    assert kirin.device("NPU").attainable(1.0) is None


def test_every_figure_has_a_source_and_a_place_in_it() -> None:
    for chip in CHIPS:
        for each in chip.devices:
            assert each.source
            assert each.where
            assert each.precision in ("fp32", "fp16", "")


def test_a_figure_in_doubt_is_reported_and_not_used() -> None:
    """The report on the M2 gives figures of Apple silicon at large."""
    engine = roof("M2", "Neural Engine")
    assert engine.gflops == 11_000
    assert engine.doubt
    assert (engine.ridge, engine.bound(5.0), engine.attainable(5.0)) == (None, None, None)
    assert least_ms(engine, [Work("a", "Conv", 10**6, 10**6)]) is None


def test_the_gpu_of_an_m2_has_both_roofs_and_its_neural_engine_is_in_doubt() -> None:
    """1,280 units x 2 operations x 1.398 GHz = 3,579 GFLOP/s, and 35.79 FLOP per byte at 100 GB/s."""
    assert roof("M2", "GPU").gflops == pytest.approx(1280 * 2 * 1.398, abs=0.5)
    assert find_chip("M2", CHIPS).device(None).device == "GPU", "what can be judged by comes before what is faster"
    assert roof("M2", "GPU").ridge == pytest.approx(35.79)
    assert roof("M2", "Neural Engine, as announced").ridge is None


def test_the_least_time_is_what_both_roofs_allow() -> None:
    """At 10 GFLOP/s and 1 GB/s: 10^9 MACs on few bytes take 200 ms, 10^6 MACs on 10^8 bytes take 100 ms."""
    made = PublishedRoof("x", 10.0, 1.0, "fp32", "a source", "a place")
    heavy, wide = Work("heavy", "Conv", 10**9, 10**6), Work("wide", "Gemm", 10**6, 10**8)
    assert least_ms(made, [heavy]) == pytest.approx(200)
    assert least_ms(made, [wide]) == pytest.approx(100)
    assert least_ms(made, [heavy, wide]) == pytest.approx(300)
    assert (made.bound(heavy.oi), made.bound(wide.oi)) == ("compute", "memory")
    assert least_ms(made, [heavy, Work("untold", "Conv", 5, None)]) is None
    assert least_ms(made, []) is None


def test_chips_are_found_however_they_are_written() -> None:
    assert find_chip("exynos-5422", CHIPS).name == "Exynos 5422"
    assert find_chip("Apple M2", CHIPS).name == "M2"
    with pytest.raises(HettopError, match="unknown chip 'M9'") as refused:
        find_chip("M9", CHIPS)
    assert "Kirin 970" in refused.value.hint
    with pytest.raises(HettopError, match="'TPU' of M2"):
        find_chip("M2", CHIPS).device("TPU")


def test_without_a_name_the_fastest_device_with_both_roofs_is_meant() -> None:
    assert find_chip("Exynos 5422", CHIPS).device(None).device == "Mali-T628 MP6"
    assert find_chip("Kirin 970", CHIPS).device(None).device == "A73"
