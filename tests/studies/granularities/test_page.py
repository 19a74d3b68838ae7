"""Granularities in a report: sentences, bars, and a table for each load."""

from __future__ import annotations

from hettop.report.page import Bar, Items, Paragraph, Table
from hettop.studies.granularities.page import blocks
from tests.studies.planned import ONE_WAY, WAYS


def test_it_says_what_is_best_and_what_failed() -> None:
    told = [block for block in blocks(WAYS) if isinstance(block, Paragraph)]
    assert told[0].text.startswith("Without load: best latency: one thread alone")
    assert [block.text for block in told if block.warning] == [
        "Load memory:2: not measured: 1 load worker ended unasked"
    ]
    assert any(block.warning for block in blocks(ONE_WAY) if isinstance(block, Paragraph)), "it was interrupted"


def test_a_table_for_each_load_that_was_measured() -> None:
    quiet, busy = (block for block in blocks(WAYS) if isinstance(block, Table))
    assert quiet.rows[0][:5] == ("single", "10.0", "12.0", "100", "1.00x")
    assert quiet.rows[0][-2:] == ("300", "latency")
    assert [cell for cell in quiet.rows[2] if not isinstance(cell, Bar)] == [
        *("task", "15.0", "19.0", "160", "1.60x", "1.50–1.75", "480", "rate")
    ]
    assert busy.rows[1][-1] == "latency and rate"


def test_bars_of_all_loads_have_one_scale_and_a_line_at_one_thread() -> None:
    """0.8 and 1.2 of one thread for intra-operator, 1.6 for task: the longest."""
    tables = [block for block in blocks(WAYS) if isinstance(block, Table)]
    bars = [cell for table in tables for row in table.rows for cell in row if isinstance(cell, Bar)]
    assert sorted({round(bar.share * 1.6, 6) for bar in bars}) == [0.8, 1.0, 1.2, 1.6]
    assert {bar.mark for bar in bars} == {1 / 1.6}


def test_what_each_way_runs_is_reported() -> None:
    (items,) = (block for block in blocks(WAYS) if isinstance(block, Items))
    assert "task: 2 inputs in parallel, one thread each" in items.texts
    assert "a note" in items.texts
