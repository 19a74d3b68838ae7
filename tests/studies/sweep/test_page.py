"""A sweep in a report."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from hettop.report.html_page import html_page
from hettop.report.page import Beside, Block, Items, Page, Paragraph, Plot, Section, Table
from hettop.studies.sweep import page
from hettop.studies.sweep.result import SweepResult
from tests.studies.swept import (
    HOSTILE_LOADS,
    HOSTILE_SWEEP,
    LOADS,
    NOTHING,
    ONE_POINT,
    PLANTED,
    SIZES,
    TWO_UNITS,
)


def blocks(found: SweepResult) -> list[Block]:
    return list(page.blocks(found))


def tables(found: Iterable[Block]) -> list[Table]:
    return [block for block in found if isinstance(block, Table)]


def plots(found: Iterable[Block]) -> list[Plot]:
    beside = [each for block in found if isinstance(block, Beside) for each in (block.left, block.right)]
    return [*beside, *(block for block in found if isinstance(block, Plot))]


def test_the_headline_is_first_then_both_curves_then_the_tables() -> None:
    document = blocks(PLANTED)
    assert document[0] == Paragraph(
        "Batch 32 has the highest throughput on CPU_ONLY: 800 items/s, 7.20x batch 1.", "strong"
    )
    assert document[2] == Paragraph("Batch 64 224x224 on CPU_ONLY failed: bad allocation.", "error")
    rate, time = plots(document)
    assert rate.caption == "Items per second by batch. The knee is labelled."
    assert time.caption == "Mean time per call by batch."
    assert [spot.x for spot in rate.series[0].spots if spot.label == "knee"] == [8.0]
    assert list(time.failed) == [(64.0, "failed")]
    curve, points = tables(document)
    assert curve.shown().rows == [
        ["CPU_ONLY", "batch, 224x224", "8.00 + 1.00 B", "1.0000", "8.00", "8", "batch 32", "batch 1"]
    ]
    assert [list(row)[-1] for row in points.rows] == ["", "", "", "knee", "", "", "bad allocation"]


def test_units_share_the_figures_and_sizes_have_one_of_time() -> None:
    rate, _ = plots(blocks(TWO_UNITS))
    assert [each.name for each in rate.series] == ["CPU_ONLY", "ALL"]
    (time,) = plots(blocks(SIZES))
    assert time.caption == "Mean time per call by size."
    assert list(time.across.ticks) == [200.0, 400.0]


def test_loads_are_a_table_with_the_change_and_notes() -> None:
    document = blocks(LOADS)
    ratios, usage, table = tables(document)
    assert ratios.rows == [
        ("ALL", "memory:1", "2.40", "2.20 to 2.60", "2.50", "2.10 to 2.90", "100"),
        ("CPU_ONLY", "cpu:1", "1.25", "n/a", "n/a", "n/a", "30"),
    ]
    assert usage.rows == [
        ("ALL", "none", "25%", "6", "600", "1.0%"),
        ("ALL", "memory:1", "75%", "540", "600", "90%"),
        ("CPU_ONLY", "none", "50%", "n/a", "n/a", "n/a"),
    ]
    (plot,) = plots(document)
    assert [(spot.x, spot.y, spot.label) for spot in plot.series[0].spots] == [(25, 1, "none"), (75, 90, "memory:1")]
    assert any("P90 needs 64 calls, an interval 25 independent ones" in getattr(each, "text", "") for each in document)
    assert [row[5] for row in table.rows] == ["", "+5.0%", "+150%", "", "+25%", ""]
    assert table.rows[-1][-1] == "gone"
    assert document[-1] == Items(["load gpu:1: no GPU"])


def test_nothing_says_nothing_and_one_point_has_no_curve() -> None:
    assert blocks(NOTHING) == []
    assert plots(blocks(ONE_POINT)) == []
    assert len(tables(blocks(ONE_POINT))) == 1


@pytest.mark.parametrize("found", [HOSTILE_SWEEP, HOSTILE_LOADS])
def test_nothing_hostile_reaches_the_page(found: SweepResult) -> None:
    text = html_page(Page("t", False, [Section("Sweep", blocks(found))]))
    assert not any(character in text for character in "\x1b\u202e")
