"""Time by layer in a report: sentences, the stacked bar, a column and a row for each layer."""

from __future__ import annotations

import msgspec

from hettop.report.page import Bar, Columns, Items, Paragraph, Stack, Table, words_of
from hettop.report.terminal.blocks import block_text
from hettop.studies.layers.page import blocks
from hettop.studies.layers.result import LayersResult
from tests.report.sessions import widest
from tests.studies.inside import EMPTY, ESTIMATED, LAYERS
from tests.studies.layers.measured import CONV, measured


def tables(found: LayersResult) -> list[Table]:
    return [block for block in blocks(found) if isinstance(block, Table)]


def test_the_sentences_come_first() -> None:
    first, second = [block.text for block in blocks(LAYERS) if isinstance(block, Paragraph)]
    assert first == "Conv and Gemm take 96% of the time (80% and 16%)."
    assert second.startswith("3 of 4 layers take 96%")


def test_the_parts_of_the_bar_are_the_shares_of_types_of_operation() -> None:
    (stack,) = [block for block in blocks(LAYERS) if isinstance(block, Stack)]
    assert list(stack.parts) == [("Conv", 0.8), ("Gemm", 0.16), ("Pool", 0.04)]


def words(found: LayersResult) -> list[list[str]]:
    """The heading and the rows of the table of layers."""
    table = tables(found)[-1].shown()
    return [list(table.heading), *([words_of(cell) for cell in row] for row in table.rows)]


def test_a_row_reports_all_that_is_known_and_the_last_ones_the_sum() -> None:
    heading, *rows = words(LAYERS)
    assert heading == ["", "layer", "ms", "share", "time", "bound", "op", "MACs", "bytes", "MACs/B", "cache"]
    assert rows[0] == ["▸", "expand", "0.500", "40%", "", "compute", "Conv", "10.0M", "1.0 MB", "10.0", "fits"]
    assert rows[3][:10] == ["", "pool", "0.0500", "4.0%", "", "memory", "Pool", "0", "100 kB", ""]
    assert [row[:4] for row in rows[4:]] == [
        ["", "all 4 layers", "1.25", "100%"],
        ["", "a call end to end", "1.00", "80%"],
    ]
    assert [row[0] for row in rows] == ["▸", "▸", "▸", "", "", ""], "the three that take longest"


def test_a_bar_is_as_long_as_the_share_of_the_longest_time() -> None:
    bars = [cell for row in tables(LAYERS)[-1].rows for cell in row if isinstance(cell, Bar)]
    assert [(bar.share, bar.tone) for bar in bars] == [(1.0, "low"), (1.0, "mid"), (0.4, "mid"), (0.1, "mid")]


def test_a_row_says_what_runs_with_the_layer() -> None:
    heading, first, *_ = words(measured())
    assert first[heading.index("fused")] == "relu1, add1"


def test_at_80_columns_a_row_has_name_time_share_bar_and_bound() -> None:
    long = "a_name_of_some_forty_characters_as_many_have_it"
    found = measured(msgspec.structs.replace(CONV, name=long, device="Neural Engine", fallback=True))
    lines = block_text(list(blocks(found)), 80).splitlines()
    (row,) = [line.split() for line in lines if "a_name" in line and "█" in line]
    assert len(row[0]) == 44
    assert row[1:] == ["4.00", "50%", "██████", "compute"]
    short = block_text(list(blocks(measured())), 80).splitlines()
    (row,) = [line.split() for line in short if line.startswith("▸  conv1")]
    assert row[:4] == ["▸", "conv1", "4.00", "50%"]
    assert row[5] == "compute"


def test_the_page_fits_its_width() -> None:
    for width in (60, 80, 120):
        assert widest(block_text(list(blocks(measured())), width).splitlines()) <= width


def test_a_long_table_has_the_largest_layers_and_reports_of_the_rest() -> None:
    rows = words(measured(*[CONV] * 300))
    assert len(rows) == 1 + 200 + 3
    assert rows[201][:3] == ["", "100 smaller layers", "400"]


def test_an_estimate_is_marked_and_has_no_end_to_end_row() -> None:
    told = list(blocks(ESTIMATED))
    assert isinstance(told[0], Paragraph)
    assert told[0].warning
    assert told[0].text.startswith("ESTIMATED")
    assert all(block.caption.startswith("ESTIMATED: ") for block in told if isinstance(block, Stack | Columns))
    heading, *rows = words(ESTIMATED)
    assert heading == ["", "layer", "ms", "share", "time", "op", "MACs", "bytes", "device", "fallback"]
    assert (rows[1][0], rows[1][-2:]) == ("▸", ["CPU", "fallback"])
    assert rows[-1][1] == "all 2 layers"


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
    assert words(near)[1][5] == "ridge"
    drawn = profile(near)
    assert drawn.groups[drawn.columns[0].group][0] == "near the ridge"
    notes = [text for block in blocks(near) if isinstance(block, Items) for text in block.texts]
    assert any("too close to it for either limit to be certain" in text for text in notes)
