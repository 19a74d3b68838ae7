"""A slicing plan in a report: sentences, strip, tables and the regression."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from hettop.events import FoundPlan
from hettop.report.page import Figure, Items, Paragraph, Table
from hettop.report.studies.plan import blocks
from tests.session.planned import EMPTY_PLAN, HOSTILE_PLAN, NOT_RUN, ONE_DEVICE, PLAN, TORN


def figures(found: FoundPlan) -> list[Figure]:
    return [block for block in blocks(found) if isinstance(block, Figure)]


def tables(found: FoundPlan) -> list[Table]:
    return [block for block in blocks(found) if isinstance(block, Table)]


def rectangles(figure: Figure) -> list[ElementTree.Element]:
    return [each for each in ElementTree.fromstring(figure.svg).iter() if each.get("height") == "46"]


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


def test_layers_are_as_wide_as_their_cost_and_coloured_by_device() -> None:
    """2, 3 and 5 of 10 ms; a gap of 0.6 pixels each."""
    parts = rectangles(figures(PLAN)[0])
    widths = [float(each.get("width") or 0) + 0.6 for each in parts]
    assert [width / sum(widths) for width in widths] == pytest.approx([0.2, 0.3, 0.5], abs=1e-3)
    assert [each.get("fill") for each in parts] == ["var(--c0)", "var(--c1)", "var(--c0)"]


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
    assert len(figures(PLAN)) == 2
    assert len(figures(ONE_DEVICE)) == 1


@pytest.mark.parametrize("found", [EMPTY_PLAN, HOSTILE_PLAN])
def test_odd_figures_and_hostile_names_make_no_markup(found: FoundPlan) -> None:
    for figure in figures(found):
        ElementTree.fromstring(figure.svg)
        assert "\x1b" not in figure.svg
