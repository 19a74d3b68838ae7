"""Granularities in a report: sentences, bars, and a table for each load."""

from __future__ import annotations

from xml.etree import ElementTree

import msgspec
import pytest

from hettop.events import FoundGranularities
from hettop.report.page import Figure, Items, Paragraph, Table
from hettop.report.studies.granularities import blocks, speedups
from tests.session.planned import EMPTY_WAYS, HOSTILE_WAYS, ONE_WAY, WAYS


def bars(found: FoundGranularities) -> list[tuple[str | None, float]]:
    parts = ElementTree.fromstring(speedups(found)).iter()
    return [(each.get("fill"), float(each.get("width") or 0)) for each in parts if each.get("height") == "13"]


def test_it_says_what_is_best_and_what_failed() -> None:
    told = [block for block in blocks(WAYS) if isinstance(block, Paragraph)]
    assert told[0].text.startswith("Without load: for latency one thread alone")
    assert [block.text for block in told if block.warning] == [
        "Load memory:2: not measured: 1 load worker ended unasked"
    ]
    assert any(block.warning for block in blocks(ONE_WAY) if isinstance(block, Paragraph)), "it was interrupted"


def test_a_table_for_each_load_that_was_measured() -> None:
    quiet, busy = (block for block in blocks(WAYS) if isinstance(block, Table))
    assert quiet.rows[0] == ("single", "10.0", "12.0", "100", "1.00x", "", "300", "latency")
    assert quiet.rows[2] == ("task", "15.0", "19.0", "160", "1.60x", "1.50–1.75", "480", "rate")
    assert busy.rows[1][-1] == "latency and rate"


def test_bars_are_as_long_as_speedups_and_coloured_by_load() -> None:
    """0.8 and 1.2 of one thread for intra-operator, 1.6 for task."""
    found = bars(WAYS)
    assert [fill for fill, _ in found] == ["var(--c0)", "var(--c1)", "var(--c0)"]
    unit = found[2][1] / 1.6
    assert [width / unit for _, width in found] == pytest.approx([0.8, 1.2, 1.6], abs=1e-2)


def test_what_each_way_runs_is_told() -> None:
    (items,) = (block for block in blocks(WAYS) if isinstance(block, Items))
    assert "task: 2 inputs side by side, a thread each" in items.texts
    assert "a note" in items.texts


@pytest.mark.parametrize("found", [EMPTY_WAYS, ONE_WAY])
def test_without_anything_to_compare_there_is_no_figure(found: FoundGranularities) -> None:
    assert speedups(found) == ""
    assert not any(isinstance(block, Figure) for block in blocks(found))


def test_hostile_names_make_no_markup() -> None:
    rows = [msgspec.structs.replace(row, name="<script>\x1b") for row in HOSTILE_WAYS.rows]
    for found in (HOSTILE_WAYS, msgspec.structs.replace(HOSTILE_WAYS, rows=rows)):
        svg = speedups(found)
        ElementTree.fromstring(svg)
        assert "<script>" not in svg
        assert "\x1b" not in svg
