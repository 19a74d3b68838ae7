"""Time by layer in a report: sentences, the stacked bar, a column and a row for each layer."""

from __future__ import annotations

import re

import msgspec

from hettop.events import FoundLayer, FoundLayers
from hettop.report.html_page import html_page
from hettop.report.layer_figures import columns, stacked_bar
from hettop.report.page import Figure, Items, Page, Paragraph, Section, Table
from hettop.report.studies.layers import blocks
from tests.session.inside import EMPTY, ESTIMATED, LAYERS


def tables(found: FoundLayers) -> list[Table]:
    return [block for block in blocks(found) if isinstance(block, Table)]


def widths(svg: str) -> list[float]:
    """Of the parts of the bar, without its legend."""
    return [float(each) for each in re.findall(r'y="8" width="([\d.]+)"', svg)]


def test_the_sentences_come_first() -> None:
    first = next(blocks(LAYERS))
    assert isinstance(first, Paragraph)
    assert first.text.startswith("Conv and Gemm take 96% of the time (80% and 16%). 3 of 4 layers take 96%")


def test_the_parts_of_the_bar_are_as_wide_as_their_shares() -> None:
    svg = stacked_bar([("Conv", 0.8), ("Gemm", 0.2)])
    # 880 pixels between the margins, and half of one between the parts.
    assert widths(svg) == [703.5, 175.5]
    assert "Conv 80%" in svg


def test_a_row_tells_all_that_is_known_and_the_last_ones_the_sum() -> None:
    table = tables(LAYERS)[-1]
    assert table.heading == ["layer", "op", "ms", "share", "MACs", "bytes", "MACs/B", "bound", "cache", "largest"]
    assert table.rows[0] == ["expand", "Conv", "0.500", "40%", "10.0M", "1.0 MB", "10.0", "compute", "fits", "yes"]
    assert table.rows[3][:8] == ["pool", "Pool", "0.0500", "4.0%", "0", "100 kB", "", "memory"]
    assert [row[:4] for row in table.rows[4:]] == [
        ["all 4 layers", "", "1.25", "100%"],
        ["a call end to end", "", "1.00", "80%"],
    ]


def test_an_estimate_is_marked_and_has_no_end_to_end_row() -> None:
    told = list(blocks(ESTIMATED))
    assert isinstance(told[0], Paragraph)
    assert told[0].warning
    assert told[0].text.startswith("ESTIMATED")
    assert all(block.caption.startswith("ESTIMATED: ") for block in told if isinstance(block, Figure))
    table = tables(ESTIMATED)[-1]
    assert table.heading == ["layer", "op", "ms", "share", "MACs", "bytes", "device", "fallback", "largest"]
    assert table.rows[1][-3:] == ["CPU", "fallback", "yes"]
    assert table.rows[-1][0] == "all 2 layers"


def test_types_beyond_the_sixth_are_one_part() -> None:
    found = msgspec.structs.replace(LAYERS, by_op={f"Op{i}": 0.125 for i in range(8)})
    assert tables(found)[0].rows[-1] == ("2 others", "25%")


def test_a_column_is_as_high_as_its_time_and_has_the_colour_of_its_bound() -> None:
    svg = columns(LAYERS)
    heights = [float(each) for each in re.findall(r'height="([\d.]+)" fill="var\(--c[01]\)"><title>', svg)]
    # .5, .5, .2 and .05 ms, where .525 are 138 pixels.
    assert heights == [131.4, 131.4, 52.6, 13.1]
    assert re.findall(r'fill="var\(--c(\d)\)"><title>', svg) == ["0", "1", "1", "1"]


def test_nothing_found_is_said_and_nothing_drawn() -> None:
    told = list(blocks(EMPTY))
    assert [type(block) for block in told] == [Paragraph]
    assert columns(EMPTY) == ""


def test_hostile_names_are_text_on_the_page() -> None:
    evil = "</svg><script>alert(1)</script>\x1b[31m"
    found = msgspec.structs.replace(
        LAYERS, by_op={evil: 1.0}, layers=[FoundLayer(evil, evil, 1.0, 1.0, bound=evil)], notes=[evil]
    )
    page = html_page(Page("p", False, [Section("Layers", list(blocks(found)))]))
    assert "<script" not in page
    assert "\x1b" not in page


def test_near_the_ridge_has_a_colour_of_its_own_and_a_note() -> None:
    first, *rest = LAYERS.layers
    near = msgspec.structs.replace(LAYERS, layers=[msgspec.structs.replace(first, bound="ridge"), *rest])
    assert tables(near)[-1].rows[0][7] == "ridge"
    assert "near the ridge" in columns(near)
    assert "near the ridge" not in columns(LAYERS)
    notes = [text for block in blocks(near) if isinstance(block, Items) for text in block.texts]
    assert any("too near it to say which of the two limits" in text for text in notes)
