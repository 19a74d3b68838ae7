"""A co-execution in a report: the verdict, rates by round as a figure, units, notes."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from hettop.events import FoundCoexec
from hettop.report.page import Figure, Items, Paragraph, Table
from hettop.report.studies.coexec import blocks, rounds_plot
from tests.session.coexecuted import BEGUN, DIED, EVERY, HOSTILE_ONE, LONG, POWERED, UNTRUE, WELL


def test_it_begins_with_the_verdict() -> None:
    first = next(iter(blocks(WELL)))
    assert isinstance(first, Paragraph)
    assert first.text.startswith("Together 120/s: +20% over CPU_AND_NE alone")
    assert not first.warning


def test_a_verdict_that_is_not_to_be_trusted_is_a_warning() -> None:
    first = next(iter(blocks(UNTRUE)))
    assert isinstance(first, Paragraph)
    assert first.warning
    assert "not to be trusted" in first.text


def test_a_death_is_a_warning() -> None:
    told = [block.text for block in blocks(DIED) if isinstance(block, Paragraph) and block.warning]
    assert told == ["CPU_AND_NE: worker process killed by SIGKILL; 2 numbers that it had were done by the others"]


def test_the_table_has_a_row_for_each_unit() -> None:
    (table,) = [block for block in blocks(WELL) if isinstance(block, Table)]
    assert list(table.rows) == [
        ("CPU_ONLY", "50.0", "30.0", "60%", "25%", "0", "CPU"),
        ("CPU_AND_NE", "100", "90.0", "90%", "75%", "0", "NE"),
    ]


def test_order_energy_and_how_it_was_measured_are_told() -> None:
    (items,) = [block for block in blocks(POWERED) if isinstance(block, Items)]
    assert items.texts[0].endswith("7 of 64 waited at most; 3 stolen")
    assert items.texts[1].startswith("energy 20.0 mJ an inference")
    assert items.texts[2] == "measured in 3 rounds of blocks of 250 ms: each unit alone, and all, in turns"
    assert items.texts[3] == "the units are in each other's way"


def test_bars_are_as_high_as_rates_and_levels_as_what_each_does_alone() -> None:
    """110, 90 and 160 a second, on an axis from 0 to 168."""
    rounds = [(110.0, 100.0, 150.0), (90.0, 100.0, 150.0), (160.0, 100.0, 150.0)]
    drawing = list(ElementTree.fromstring(rounds_plot(rounds, 3, "NE")).iter())
    bars = [float(each.get("height") or 0) for each in drawing if each.get("fill-opacity")]
    assert bars[0] / bars[2] == pytest.approx(110 / 160, abs=0.01)
    assert bars[1] / bars[2] == pytest.approx(90 / 160, abs=0.01)
    levels = [each.get("d") or "" for each in drawing if each.get("stroke-width") == "2.5"]
    assert [path.count("M") for path in levels] == [3, 3]
    texts = [each.text for each in drawing if each.text]
    assert {"1", "2", "3", "round", "NE alone", "together", "sum of each alone"} <= set(texts)


def test_a_long_course_says_that_it_is_the_end_of_a_longer_one() -> None:
    (figure,) = [block for block in blocks(LONG) if isinstance(block, Figure)]
    assert figure.caption.replace("\u2009", " ").startswith("The last 120 of 1 000 rounds: ")
    assert ">881<" in figure.svg


def test_before_the_first_round_is_over_there_is_no_figure() -> None:
    assert not any(isinstance(block, Figure) for block in blocks(BEGUN))


@pytest.mark.parametrize("found", EVERY)
def test_every_figure_is_well_formed(found: FoundCoexec) -> None:
    for block in blocks(found):
        if isinstance(block, Figure):
            ElementTree.fromstring(block.svg)


def test_a_hostile_name_is_text_in_the_figure() -> None:
    (figure,) = [block for block in blocks(HOSTILE_ONE) if isinstance(block, Figure)]
    assert "\x1b" not in figure.svg
    assert "\u202e" not in figure.svg
