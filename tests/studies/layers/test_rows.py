"""The arithmetic of the roofline, on numbers worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hettop.studies.layers.rows import Kernel, LayerRow, Roofs
from tests.studies.layers.measured import CACHED, CONV, DEPTHWISE, POOL, ROOFS, UNKNOWN, measured


def test_intensity_is_in_macs_per_byte_and_rates_count_two_flop_for_a_mac() -> None:
    """10^8 MACs in 4 ms over 4 MB: 25 MACs a byte, 50 GFLOP/s, 1 GB/s."""
    assert (CONV.oi, CONV.gflops, CONV.gbytes_per_s) == (25, 50, 1)


def test_published_intensities_in_flop_per_byte_are_twice_the_macs_per_byte() -> None:
    """AlexNet's fc6 .4998 and conv2 226.66, MobileNetV2's depthwise of stride 2 .8995 (weights without biases)."""
    layers = {0.4998: (37_748_736, 151_064_576), 226.6615: (223_948_800, 1_976_064), 0.8995: (2_709_504, 6_024_576)}
    for published, (macs, nbytes) in layers.items():
        row = LayerRow("layer", "Conv", 1.0, 1.0, macs, nbytes)
        assert row.oi is not None
        assert 2 * row.oi == pytest.approx(published, abs=5e-5)


def test_the_best_kernel_of_each_kind_is_the_roof_and_they_meet_at_the_ridge() -> None:
    assert (ROOFS.gflops, ROOFS.gbytes_per_s, ROOFS.ridge) == (100, 20, 5)


def test_published_roofs_meet_where_the_paper_has_them() -> None:
    """Cortex-A15 cluster: 32 GFLOP/s and 3.44 GB/s; Mali-T628: 57.6 and 6.15."""
    for peak, bandwidth, ridge in ((32.0, 3.44, 9.3023), (57.6, 6.15, 9.3659)):
        roofs = Roofs(4, (Kernel("", peak, peak),), (Kernel("", bandwidth, bandwidth),), 1)
        assert roofs.ridge == pytest.approx(ridge, abs=5e-5)


@pytest.mark.parametrize(
    ("layer", "bound", "attainable"),
    [(CONV, "compute", 100), (DEPTHWISE, "memory", 40), (POOL, "memory", 0), (UNKNOWN, None, None)],
)
def test_a_layer_is_bound_by_the_lower_roof_at_its_intensity(
    layer: LayerRow, bound: str | None, attainable: float | None
) -> None:
    assert (ROOFS.bound(layer), ROOFS.attainable(layer)) == (bound, attainable)


@pytest.mark.parametrize(
    ("macs", "near"), [(2_240_000, False), (2_260_000, True), (2_500_000, True), (2_770_000, True), (2_790_000, False)]
)
def test_where_usual_and_best_calls_put_the_ridge_apart_either_roof_may_limit(macs: int, near: bool) -> None:
    """90 GFLOP/s by 20 GB/s to 100 by 18: 4.5 to 5.56 FLOP a byte, 2.25 to 2.78 MACs."""
    layer = LayerRow("layer", "Conv", 1.0, 1.0, macs, 1_000_000)
    assert ROOFS.near_ridge(layer) is near
    assert ROOFS.bound(layer) == ("compute" if macs > 2_500_000 else "memory")


def test_the_ridge_is_no_more_certain_than_a_tenth_however_steady_the_kernels_were() -> None:
    """5 FLOP a byte: from 4.55 to 5.5."""
    steady = Roofs(2, (Kernel("", 100.0, 100.0),), (Kernel("", 20.0, 20.0),), 1)
    assert steady.near == pytest.approx((5 / 1.1, 5.5))
    assert ROOFS.near_ridge(UNKNOWN) is None
    assert ROOFS.near_ridge(POOL) is False


def test_a_layer_fits_in_the_cache_with_all_that_it_moves() -> None:
    assert [ROOFS.cache_resident(layer) for layer in (CONV, CACHED, UNKNOWN)] == [False, True, None]
    assert replace(ROOFS, cache_bytes=None).cache_resident(CACHED) is None


def test_a_layer_exceeds_its_roof_only_beyond_a_tenth() -> None:
    """1 MAC a byte: attainable are 40 GFLOP/s, and 44 are a tenth more."""
    assert not ROOFS.exceeds(replace(DEPTHWISE, ms=0.1))  # 40
    assert not ROOFS.exceeds(replace(DEPTHWISE, ms=0.0915))  # 43.7
    assert ROOFS.exceeds(replace(DEPTHWISE, ms=0.09))  # 44.4
    assert not ROOFS.exceeds(UNKNOWN)


def test_what_cannot_be_divided_is_unknown() -> None:
    assert (POOL.gflops, UNKNOWN.oi, UNKNOWN.gflops, UNKNOWN.gbytes_per_s) == (None, None, None, None)
    assert LayerRow("empty", "Identity", 0.0, 0.0, 0, 0).oi is None


def test_shares_by_operation_add_up_the_largest_first() -> None:
    assert measured().by_op == {"Conv": 0.75, "Gemm": 0.125, "GlobalAveragePool": 0.125}
    assert next(iter(measured().by_op)) == "Conv"
    assert measured().total_ms == 8.0


def test_the_whole_model_has_the_time_of_a_call_and_is_unknown_where_a_layer_is() -> None:
    whole = measured().whole
    assert (whole.ms, whole.macs, whole.nbytes) == (10.0, 122_000_000, 7_500_000)
    assert measured(rows=(CONV, UNKNOWN)).whole.macs is None
