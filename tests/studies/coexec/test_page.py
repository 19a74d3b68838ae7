"""A co-execution in a report: the verdict, rates by round as a figure, units, notes."""

from __future__ import annotations

from hettop.report.page import Columns, Items, Paragraph, Table
from hettop.studies.coexec.page import blocks
from hettop.studies.coexec.result import CoexecResult
from tests.studies.coexecuted import BEGUN, DIED, LONG, POWERED, UNEVEN, UNTRUE, WELL


def test_it_begins_with_the_verdict() -> None:
    first = next(iter(blocks(WELL)))
    assert isinstance(first, Paragraph)
    assert first.text.startswith("Together 120/s: +20% over CPU_AND_NE alone")
    assert not first.warning


def test_a_verdict_that_is_not_to_be_trusted_is_a_warning() -> None:
    first = next(iter(blocks(UNTRUE)))
    assert isinstance(first, Paragraph)
    assert first.warning
    assert "measure again" in first.text


def test_a_death_is_a_warning() -> None:
    told = [block.text for block in blocks(DIED) if isinstance(block, Paragraph) and block.warning]
    assert told == ["CPU_AND_NE: worker process killed by SIGKILL; 2 numbers that were completed by the others"]


def test_the_table_has_a_row_for_each_unit() -> None:
    (table,) = [block for block in blocks(WELL) if isinstance(block, Table)]
    assert list(table.rows) == [
        ("CPU_ONLY", "50.0", "30.0", "60%", "25%", "0", "CPU"),
        ("CPU_AND_NE", "100", "90.0", "90%", "75%", "0", "NE"),
    ]


def test_order_energy_and_how_it_was_measured_are_reported() -> None:
    (items,) = [block for block in blocks(POWERED) if isinstance(block, Items)]
    assert items.texts[0].endswith("reorder buffer held at most 7 of 64; 3 stolen")
    assert items.texts[1].startswith("energy 20.0 mJ/inference")
    assert items.texts[2] == "measured in 3 rounds of 250 ms blocks: each unit alone and all together, interleaved"
    assert items.texts[3] == "the units are in each other's way"


def rounds(found: CoexecResult) -> Columns:
    (drawn,) = [block for block in blocks(found) if isinstance(block, Columns)]
    return drawn


def test_columns_are_the_rates_together_and_levels_what_each_does_alone() -> None:
    drawn = rounds(UNEVEN)
    assert [column.height for column in drawn.columns] == [110.0, 90.0, 160.0]
    assert [column.label for column in drawn.columns] == ["1", "2", "3"]
    assert [level.name for level in drawn.levels] == ["CPU_AND_NE alone", "sum of each alone"]
    assert drawn.caption.startswith("Each round: ")


def test_a_long_course_says_that_it_is_the_end_of_a_longer_one() -> None:
    drawn = rounds(LONG)
    assert drawn.caption.startswith("The last 120 of 1,000 rounds: ")
    assert (len(drawn.columns), drawn.columns[0].label) == (120, "881")


def test_before_the_first_round_is_over_nothing_is_drawn() -> None:
    assert not any(isinstance(block, Columns) for block in blocks(BEGUN))
