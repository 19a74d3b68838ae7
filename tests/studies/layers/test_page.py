"""Time by layer in a report: sentences, the stacked bar, a column and a row for each layer."""

from __future__ import annotations

import msgspec

from hettop.report.page import Columns, Items, Paragraph, Stack, Table
from hettop.studies.layers.page import blocks
from hettop.studies.layers.result import LayersResult
from tests.studies.inside import EMPTY, ESTIMATED, LAYERS


def tables(found: LayersResult) -> list[Table]:
    return [block for block in blocks(found) if isinstance(block, Table)]


def test_the_sentences_come_first() -> None:
    first, second = [block.text for block in blocks(LAYERS) if isinstance(block, Paragraph)]
    assert first == "Conv and Gemm take 96% of the time (80% and 16%)."
    assert second.startswith("3 of 4 layers take 96%")


def test_the_parts_of_the_bar_are_the_shares_of_types_of_operation() -> None:
    (stack,) = [block for block in blocks(LAYERS) if isinstance(block, Stack)]
    assert list(stack.parts) == [("Conv", 0.8), ("Gemm", 0.16), ("Pool", 0.04)]


def test_a_row_tells_all_that_is_known_and_the_last_ones_the_sum() -> None:
    table = tables(LAYERS)[-1].shown()
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
    assert all(block.caption.startswith("ESTIMATED: ") for block in told if isinstance(block, Stack | Columns))
    table = tables(ESTIMATED)[-1].shown()
    assert table.heading == ["layer", "op", "ms", "share", "MACs", "bytes", "device", "fallback", "largest"]
    assert table.rows[1][-3:] == ["CPU", "fallback", "yes"]
    assert table.rows[-1][0] == "all 2 layers"


def test_types_beyond_the_sixth_are_one_part() -> None:
    found = msgspec.structs.replace(LAYERS, by_op={f"Op{i}": 0.125 for i in range(8)})
    assert tables(found)[0].rows[-1] == ("2 others", "25%")


def profile(found: LayersResult) -> Columns:
    (drawn,) = [block for block in blocks(found) if isinstance(block, Columns)]
    return drawn


def test_a_column_is_as_high_as_its_time_and_of_the_group_of_its_bound() -> None:
    drawn = profile(LAYERS)
    assert [column.height for column in drawn.columns] == [0.5, 0.5, 0.2, 0.05]
    groups = [drawn.groups[column.group][0] for column in drawn.columns]
    assert groups == ["bound by compute", *["bound by memory"] * 3]


def test_nothing_found_is_said_and_nothing_drawn() -> None:
    told = list(blocks(EMPTY))
    assert [type(block) for block in told] == [Paragraph]


def test_near_the_ridge_has_a_colour_of_its_own_and_a_note() -> None:
    first, *rest = LAYERS.layers
    near = msgspec.structs.replace(LAYERS, layers=[msgspec.structs.replace(first, bound="ridge"), *rest])
    assert tables(near)[-1].shown().rows[0][7] == "ridge"
    drawn = profile(near)
    assert drawn.groups[drawn.columns[0].group][0] == "near the ridge"
    notes = [text for block in blocks(near) if isinstance(block, Items) for text in block.texts]
    assert any("too near it to say which of the two limits" in text for text in notes)
