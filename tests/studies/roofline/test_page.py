"""The roofline in a report: sentences, the plot with both roofs, and the layers that lose most."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from hettop.report.page import Items, Paragraph, Plot, Spot, Table
from hettop.report.terminal.blocks import block_text
from hettop.studies.layers.result import CacheUse, LayerRow, LayersResult, Roofs
from hettop.studies.roofline.page import blocks
from tests.studies.inside import EMPTY, ESTIMATED, FULL, LAYERS, ROOFLINE
from tests.studies.layers.measured import CONV, DEPTHWISE, ROOFS, measured


def table(found: LayersResult) -> Table:
    return next(block for block in blocks(found) if isinstance(block, Table))


def test_the_sentence_comes_first() -> None:
    first = next(blocks(ROOFLINE))
    assert isinstance(first, Paragraph)
    assert first.text.startswith("The whole model reaches 24.0 of 100 GFLOP/s (24%).")


def test_layers_that_lose_most_come_first_with_what_they_reach() -> None:
    found = table(ROOFLINE)
    assert found.heading == (
        *("", "layer", "op", "ms", "lost ms", "MACs/B", "GFLOP/s", "roof", "of roof", "bound", "cache"),
    )
    assert found.rows == [
        ["1", "depthwise", "Conv", "0.500", "0.400", "1.00", "4.00", "20.0", "20%", "memory", "fits"],
        ["2", "expand", "Conv", "0.500", "0.300", "10.0", "40.0", "100", "40%", "compute", "fits"],
        ["3", "logits", "Gemm", "0.200", "", "0.250", "10.0", "5.00", "200%", "memory", "fits"],
        ["4", "pool", "Pool", "0.0500", "", "", "", "", "", "memory", "fits"],
        ["", "whole model", "model", "1.00", "0.760", "10.0", "24.0", "100", "24%", "compute", "fits"],
    ]


def test_what_is_left_out_is_reported() -> None:
    slow = [LayerRow(f"l{i}", "Conv", 1.0, 0.004, 10_000_000, 1_000_000) for i in range(210)]
    found = msgspec.structs.replace(ROOFLINE, layers=slow, rest_n=2, rest_ms=0.03)
    assert len(table(found).rows) == 201, "two hundred layers and the model"
    notes = next(block for block in blocks(found) if isinstance(block, Items)).texts
    assert "10 more layers lose 8.00 ms in total" in notes, "each takes 1 ms where .2 would do"
    assert "2 smaller layers, 0.0300 ms, are not in the plot" in notes
    pools = next(block for block in blocks(ROOFLINE) if isinstance(block, Items)).texts
    assert "layers without MACs are not in the plot: 1, 0.0500 ms in total" in pools


def plot(found: LayersResult) -> Plot:
    (drawn,) = [block for block in blocks(found) if isinstance(block, Plot)]
    return drawn


def test_layers_stand_where_intensity_and_rate_say() -> None:
    """expand: 10 MACs per byte and 2 x 10 million FLOP in .5 ms; depthwise 1 and 4; logits .25 and 10."""
    drawn = {each.name: each for each in plot(ROOFLINE).series}
    (expand,) = drawn["bound by compute"].spots
    assert (expand.x, round(expand.y, 6), expand.mark) == (10.0, 40.0, "2")
    memory = {(spot.x, round(spot.y, 6), spot.mark) for spot in drawn["bound by memory"].spots}
    assert memory == {(1.0, 4.0, "1"), (0.25, 10.0, "")}
    (whole,) = drawn["whole model"].spots
    assert (whole.x, round(whole.y, 6)) == (10.0, 24.0)


def test_both_roofs_meet_at_the_ridge_and_are_named() -> None:
    memory, compute = (each for each in plot(ROOFLINE).series if not each.dots)
    assert (memory.spots[-1].x, memory.spots[-1].y) == (5.0, 100.0)
    assert compute.spots[0] == Spot(5.0, 100.0)
    labels = {spot.label for each in (memory, compute) for spot in each.spots}
    assert labels >= {"memory 10.0 GB/s", "compute 100 GFLOP/s", "ridge 5.00 MACs per byte"}
    for each in memory.spots:
        assert each.y == pytest.approx(2 * each.x * 10.0), "two FLOP for each MAC"


def test_without_the_whole_model_it_is_drawn_too() -> None:
    assert not any(each.name == "whole model" for each in plot(LAYERS).series)


@pytest.mark.parametrize("found", [ESTIMATED, EMPTY])
def test_without_roofs_it_says_why(found: LayersResult) -> None:
    told = list(blocks(found))
    assert isinstance(told[0], Paragraph)
    assert told[0].text.startswith("No roofs")
    assert not any(isinstance(block, Plot) for block in told)


def test_published_roofs_are_marked() -> None:
    published = Roofs(gflops=100.0, gbytes_per_s=10.0, measured=False, source="a paper, table 2")
    told = list(blocks(msgspec.structs.replace(ROOFLINE, roofs=published)))
    assert isinstance(told[0], Paragraph)
    assert told[0].warning
    assert told[0].text.startswith("PUBLISHED")
    notes = next(block for block in told if isinstance(block, Items)).texts
    assert any("as published (a paper, table 2)" in note for note in notes)


def test_the_kernels_that_the_roofs_are_the_best_of_are_reported() -> None:
    found = measured().with_whole("net")
    kernels = [block for block in blocks(found) if isinstance(block, Table)][-1]
    assert kernels.rows[0] == ("compute", "convolution (GFLOP/s)", "100", "90.0")
    assert [row[0] for row in kernels.rows] == ["compute", "compute", "memory", "memory"]
    notes = next(block for block in blocks(found) if isinstance(block, Items)).texts
    assert "method: docs/method/layers.md" in notes
    depthwise = next(row for row in table(found).rows if row[1] == "depthwise")
    assert depthwise[3:] == ["2.00", "1.90", "1.00", "2.00", "40.0", "5.0%", "memory", ""]


@pytest.mark.parametrize("width", [40, 60, 100, 200])
def test_the_page_fits(width: int) -> None:
    for found in (FULL, ROOFLINE, measured(roofs=None)):
        assert max(map(len, block_text(list(blocks(found)), width).splitlines())) <= width


def headline(*layers: LayerRow, roofs: Roofs = ROOFS) -> str:
    return " ".join(block.text for block in blocks(measured(*layers, roofs=roofs)) if isinstance(block, Paragraph))


def test_layers_above_the_roof_are_explained_by_the_cache_or_not_at_all() -> None:
    fast = replace(DEPTHWISE, ms=0.05)  # 80 GFLOP/s where 40 are attainable, and 2 MB that do not fit
    assert "1 layer is above the roof: no cache explains it." in headline(fast)
    cached = replace(ROOFS, cache_bytes=8_000_000)
    assert "2 layers are above the roof: its data fits in the cache." in headline(fast, fast, roofs=cached)
    assert "above the roof" not in headline(CONV)


def test_the_numbers_of_the_plot_are_named() -> None:
    text = block_text(list(blocks(ROOFLINE)), 300)
    assert "Point size: share of the time; numbers: rows of the table (1 depthwise, 2 expand)." in text


def test_the_legend_shows_what_is_drawn() -> None:
    """Three layers that lose most are numbers; without numbers, points by their share of the time."""
    legend = block_text(list(blocks(measured().with_whole("net"))), 80).splitlines()[4]
    assert legend == "1 3 bound by compute  2 bound by memory  ▲ whole model"
    at_roofs = [replace(CONV, ms=2.0, share=share) for share in (0.5, 0.02, 0.001)]
    lines = block_text(list(blocks(measured(*at_roofs))), 80).splitlines()
    assert "● 5% or more  • 1% or more  · less" in lines


def test_the_empirical_intensity_is_a_sentence_and_a_point_beside_the_theoretical_one() -> None:
    """12 million MACs in 1 ms; 300 kB missed of 3 MB: 40 MACs per byte where the layers' bytes say 10."""
    cache = CacheUse.of_counts(50_000, 5_000, 60, 12_000_000)
    found = replace(ROOFLINE, cache=cache)
    text = block_text(list(blocks(found)), 300)
    assert (
        "By the processor's counters the last-level cache had 90% of its accesses; a call read 300 kB: "
        "empirical intensity 40.0 MACs per byte."
    ) in text
    (spot,) = next(each for each in plot(found).series if each.name == "whole model, empirical").spots
    assert (spot.x, spot.y) == (40, 24)
    assert all(each.name != "whole model, empirical" for each in plot(ROOFLINE).series)


def test_without_counters_the_reason_is_a_note() -> None:
    notes = next(block for block in blocks(replace(ROOFLINE, cache_why="none")) if isinstance(block, Items)).texts
    assert "cache hits and empirical intensity: n/a: none" in notes


def test_intensity_is_unknown_where_nothing_missed_or_macs_are() -> None:
    assert CacheUse.of_counts(0, 0, 64, 5) == CacheUse(references=0, misses=0, nbytes=0)
    assert CacheUse.of_counts(10, 5, 64, None).oi is None


def test_of_a_quantized_model_it_is_said_what_the_roof_is_of() -> None:
    def noted(*by_op: str) -> bool:
        found = replace(ROOFLINE, by_op=dict.fromkeys(by_op, 0.1))
        notes = next(block for block in blocks(found) if isinstance(block, Items)).texts
        return any("the compute roof is that of float32" in note for note in notes)

    assert noted("Conv", "QuantizeLinear")
    assert noted("QLinearConcat")
    assert not noted("Conv", "Gemm")
