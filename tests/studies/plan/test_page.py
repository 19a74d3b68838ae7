"""A slicing plan in a report: sentences, strip, tables and the regression."""

from __future__ import annotations

from hettop.report.page import Block, Columns, Items, Paragraph, Plot, Table
from hettop.studies.plan.page import blocks
from hettop.studies.plan.result import PlanResult
from tests.studies.planned import NOT_RUN, ONE_DEVICE, PLAN, TORN


def drawings(found: PlanResult) -> list[Block]:
    return [block for block in blocks(found) if isinstance(block, Columns | Plot)]


def tables(found: PlanResult) -> list[Table]:
    return [block for block in blocks(found) if isinstance(block, Table)]


def test_it_says_what_the_screen_says() -> None:
    texts = [block.text for block in blocks(PLAN) if isinstance(block, Paragraph)]
    assert texts[0].startswith("The plan: 3 slices, on 2 devices; predicted gain +10%")
    assert "The plan: A_1, B_2, A_3 (3 layers, found in 0.200 ms)." in texts
    assert any(isinstance(block, Items) and "at 2 cuts several values cross" in block.texts for block in blocks(PLAN))


def test_costs_that_contradict_each_other_are_a_warning_above_all_else() -> None:
    first = next(iter(blocks(TORN)))
    assert isinstance(first, Paragraph)
    assert first.warning
    assert first.text.startswith("Costs contradict each other")


def test_layers_are_as_high_as_their_cost_and_lettered_by_device() -> None:
    strip = drawings(PLAN)[0]
    assert isinstance(strip, Columns)
    assert [column.height for column in strip.columns] == [2.0, 3.0, 5.0]
    assert "".join(strip.letters[column.group] for column in strip.columns) == "ABA"
    assert [column.label for column in strip.columns] == ["1", "2", "3"]


def test_slices_baselines_and_devices_alone_are_tables() -> None:
    slices, compared, measured, moving = tables(PLAN)
    assert slices.rows[0] == ("1", "1", "A", "stem_conv", "2.50", "2.00", "+25%", "+10%")
    assert compared.rows[1] == ("B preferred", "12.1", "-9.1%")
    assert compared.rows[3] == ("N preferred", "n/a", "it cannot run")
    assert measured.rows[0] == ("B alone", "11.0", "-9.1%")
    assert moving.rows[1] == ("B", "0.250", "0.125", "n/a", "1")


def test_what_did_not_run_has_no_measured_figures() -> None:
    slices, *others = tables(NOT_RUN)
    assert slices.rows[0][5:] == ("", "", "")
    assert len(others) == 2


def test_the_regression_is_drawn_where_cuts_of_several_sizes_were_tried() -> None:
    assert len(drawings(PLAN)) == 2
    assert len(drawings(ONE_DEVICE)) == 1
