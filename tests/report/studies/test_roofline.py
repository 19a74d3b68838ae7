"""The roofline in a report: sentences, the plot with both roofs, and the layers that lose most."""

from __future__ import annotations

import re

import msgspec
import pytest

from hettop.events import FoundLayer, FoundLayers, FoundRoofs
from hettop.report.html_page import html_page
from hettop.report.layer_figures import roofline
from hettop.report.page import Items, Page, Paragraph, Section, Table
from hettop.report.studies.roofline import blocks
from tests.session.inside import EMPTY, ESTIMATED, LAYERS, ROOFLINE


def table(found: FoundLayers) -> Table:
    return next(block for block in blocks(found) if isinstance(block, Table))


def test_the_sentence_comes_first() -> None:
    first = next(blocks(ROOFLINE))
    assert isinstance(first, Paragraph)
    assert first.text.startswith("The whole model reaches 24.0 of 100 GFLOP/s (24%).")


def test_layers_that_lose_most_come_first_with_what_they_reach() -> None:
    found = table(ROOFLINE)
    assert found.heading == [
        *("", "layer", "op", "ms", "lost ms", "MACs/B", "GFLOP/s", "roof", "of roof", "bound", "cache")
    ]
    assert found.rows == [
        ["1", "depthwise", "Conv", "0.500", "0.400", "1.00", "4.00", "20.0", "20%", "memory", "fits"],
        ["2", "expand", "Conv", "0.500", "0.300", "10.0", "40.0", "100", "40%", "compute", "fits"],
    ]


def test_what_is_left_out_is_told() -> None:
    slow = [FoundLayer(f"l{i}", "Conv", 1.0, 0.02, 10_000_000, 1_000_000) for i in range(40)]
    found = msgspec.structs.replace(ROOFLINE, layers=slow, rest_n=2, rest_ms=0.03)
    assert len(table(found).rows) == 30
    notes = next(block for block in blocks(found) if isinstance(block, Items)).texts
    assert "10 more layers lose 8.00 ms together" in notes, "each takes 1 ms where .2 would do"
    assert "2 smaller layers, 0.0300 ms, are not in the plot" in notes
    pools = next(block for block in blocks(ROOFLINE) if isinstance(block, Items)).texts
    assert "1 layers without MACs, 0.0500 ms, are not in the plot" in pools


def test_layers_stand_where_intensity_and_rate_say() -> None:
    svg = roofline(ROOFLINE)
    (disc,) = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', svg)
    squares = [
        (float(x) + float(side) / 2, float(y) + float(side) / 2)
        for x, y, side in re.findall(
            r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="\3" fill="var\(--c1\)" f', svg
        )
    ]
    # From .25/1.5 to 10*1.5 MACs/B (log 90 wide) over 880 pixels from 64 on: 10 stands at log 60 / log 90.
    assert float(disc[0]) == pytest.approx(64 + 880 * 4.0943 / 4.4998, abs=0.2)
    # depthwise at log 6, logits at log 1.5 of it.
    assert sorted(x for x, _ in squares) == pytest.approx(
        [64 + 880 * 0.4055 / 4.4998, 64 + 880 * 1.7918 / 4.4998], abs=0.2
    )
    # Upwards from 4/1.5 to 100*1.5 GFLOP/s (log 56.25): 40 stands at log 15, between 430 and 42 pixels.
    assert float(disc[1]) == pytest.approx(430 - 388 * 2.7081 / 4.0298, abs=0.2)


def test_both_roofs_and_the_ridge_are_named() -> None:
    svg = roofline(ROOFLINE)
    for text in ("memory 10.0 GB/s", "compute 100 GFLOP/s", "ridge 5.00 MACs a byte", "whole model", "GFLOP/s"):
        assert text in svg


@pytest.mark.parametrize("found", [ESTIMATED, EMPTY])
def test_without_roofs_it_says_why(found: FoundLayers) -> None:
    told = list(blocks(found))
    assert isinstance(told[0], Paragraph)
    assert told[0].text.startswith("There are no roofs")
    assert roofline(found) == ""


def test_published_roofs_are_marked() -> None:
    published = FoundRoofs(gflops=100.0, gbytes_per_s=10.0, measured=False, source="a paper, table 2")
    told = list(blocks(msgspec.structs.replace(ROOFLINE, roofs=published)))
    assert isinstance(told[0], Paragraph)
    assert told[0].warning
    assert told[0].text.startswith("PUBLISHED")
    notes = next(block for block in told if isinstance(block, Items)).texts
    assert any("as published (a paper, table 2)" in note for note in notes)


def test_hostile_names_are_text_on_the_page() -> None:
    evil = "</svg><script>alert(1)</script>\x1b[31m"
    layers = [FoundLayer(evil, evil, 1.0, 1.0, 10**6, 10**6, bound=evil)]
    found = msgspec.structs.replace(ROOFLINE, layers=layers, whole=layers[0], notes=[evil])
    page = html_page(Page("p", False, [Section("Roofline", list(blocks(found)))]))
    assert "<script" not in page
    assert "\x1b" not in page
    assert roofline(LAYERS), "without the whole model it is drawn, too"
