"""What layers say together, on figures that were worked out by hand."""

from __future__ import annotations

import msgspec
import pytest

from hettop.format import percent
from hettop.studies.layers.page import furthest, largest, layers_headline, roofline_headline, under_roof
from hettop.studies.layers.result import LayerRow, LayersResult, Roofs
from tests.studies.inside import DEPTHWISE, EMPTY, ESTIMATED, EXPAND, LAYERS, LOGITS, POOL, ROOFLINE, ROOFS


@pytest.mark.parametrize(
    ("layer", "oi", "gflops", "attainable", "least_ms", "lost_ms"),
    [(EXPAND, 10, 40, 100, 0.2, 0.3), (DEPTHWISE, 1, 4, 20, 0.1, 0.4), (LOGITS, 0.25, 10, 5, 0.4, -0.2)],
)
def test_a_layer_under_the_roofs(
    layer: LayerRow, oi: float, gflops: float, attainable: float, least_ms: float, lost_ms: float
) -> None:
    placed = under_roof(ROOFS, layer)
    assert placed is not None
    assert [placed.oi, placed.gflops, placed.attainable] == pytest.approx([oi, gflops, attainable])
    assert [placed.least_ms, placed.lost_ms] == pytest.approx([least_ms, lost_ms])
    assert placed.of_roof == pytest.approx(gflops / attainable)


def test_a_layer_without_macs_stands_under_no_roof() -> None:
    assert under_roof(ROOFS, POOL) is None
    assert under_roof(Roofs(gflops=0.0, gbytes_per_s=0.0), EXPAND) is None


def test_what_loses_most_comes_first_and_what_is_at_its_roof_not_at_all() -> None:
    assert [each.layer.name for each in furthest(ROOFLINE)] == ["depthwise", "expand"]
    nearly = msgspec.structs.replace(ROOFLINE, layers=[LayerRow("near", "Conv", 0.22, 1.0, 10_000_000, 1_000_000)])
    assert furthest(nearly) == [], "91% of its roof"


def test_the_layers_in_sentences() -> None:
    assert layers_headline(LAYERS) == [
        "Conv and Gemm take 96% of the time (80% and 16%).",
        "3 of 4 layers take 96%: expand (40%), depthwise (40%), logits (16%).",
        "1 layer is bound by compute, 40% of the time, 3 by memory, 60%.",
    ]


def test_what_a_plan_estimated_is_said_to_be_estimated_and_what_falls_back_is_reported() -> None:
    assert layers_headline(ESTIMATED) == [
        "conv is estimated to take 100% of the time.",
        "By layer: stem (75%), odd (25%).",
        "1 layer falls back from the device that CPU_AND_NE is chosen for: 25%.",
    ]


def test_of_a_long_model_the_sentence_on_bounds_is_about_the_largest_layers() -> None:
    many = msgspec.structs.replace(LAYERS, rest_n=60, rest_ms=0.5)
    told = layers_headline(many)
    assert told[1].startswith("3 of 64 layers take")
    assert told[2].startswith("1 layer of the 4 largest is bound by compute")


def test_a_layer_near_the_ridge_is_counted_to_neither_side() -> None:
    first, *others = LAYERS.layers
    near = msgspec.structs.replace(LAYERS, layers=[msgspec.structs.replace(first, bound="ridge"), *others])
    (told,) = [sentence for sentence in layers_headline(near) if "bound" in sentence]
    assert f"1 near the ridge, {percent(first.share)}." in told
    alone = msgspec.structs.replace(LAYERS, layers=[msgspec.structs.replace(first, bound="ridge")])
    assert f"1 layer is near the ridge, {percent(first.share)} of the time." in layers_headline(alone)


def test_the_roofline_in_sentences() -> None:
    assert roofline_headline(ROOFLINE) == [
        "The whole model reaches 24.0 of 100 GFLOP/s (24%).",
        "2 layers would save 0.700 ms of 1.25 ms at their roofs; most is lost in depthwise (0.400 ms).",
        "1 layer is above the roof: its data fits in the cache.",
    ]


def test_a_model_that_memory_limits_is_held_against_what_memory_allows() -> None:
    whole = LayerRow("small", "model", 1.0, 1.0, 2_000_000, 1_000_000)  # 2 MACs/B: 40 GFLOP/s, and 4 reached
    found = msgspec.structs.replace(ROOFLINE, whole=whole)
    told = roofline_headline(found)[0]
    assert told == (
        "The whole model reaches 4.00 of 40.0 GFLOP/s attainable with its memory traffic (10%); the peak "
        "is 100 GFLOP/s."
    )


@pytest.mark.parametrize("found", [LAYERS, msgspec.structs.replace(LAYERS, layers=[POOL])])
def test_without_the_whole_model_the_roofs_are_reported(found: LayersResult) -> None:
    assert roofline_headline(found)[0] == "The roofs are 100 GFLOP/s and 10.0 GB/s, measured here."


def test_why_there_are_no_roofs() -> None:
    assert "estimated by a plan" in roofline_headline(ESTIMATED)[0]
    assert "not measured" in roofline_headline(EMPTY)[0]


def test_nothing_found_is_said() -> None:
    assert layers_headline(EMPTY) == ["No layer takes measurable time."]
    assert largest(EMPTY) == []
    assert largest(msgspec.structs.replace(LAYERS, layers=[POOL])) == [], "one alone is not the largest"


@pytest.mark.parametrize(
    ("call_ms", "words"),
    [
        (2.5, "The layers add up to 50% of a call's 2.50 ms: background activity interfered"),
        (1.6, None),
        (0.95, None),
        (0.625, "The layers add up to 200% of a call's 0.625 ms: they include the profiler's own time"),
    ],
)
def test_layers_that_do_not_add_up_to_a_call_say_so(call_ms: float, words: str | None) -> None:
    """1.25 ms of layers."""
    for found, headline in ((LAYERS, layers_headline), (ROOFLINE, roofline_headline)):
        told = [each for each in headline(msgspec.structs.replace(found, end_to_end_ms=call_ms)) if "add up" in each]
        assert [each.startswith(words or "") for each in told] == ([True] if words else [])


def test_of_an_estimate_nothing_has_to_add_up() -> None:
    apart = msgspec.structs.replace(ESTIMATED, end_to_end_ms=9.0)
    assert not any("add up" in each for each in layers_headline(apart))
