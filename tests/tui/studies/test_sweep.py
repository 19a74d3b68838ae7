"""A sweep on the screen: sentence, curves, tables, on narrow and on wide terminals."""

from __future__ import annotations

import pytest

from hettop.events import FoundSweep, Study
from hettop.report.terminal import glyphs
from hettop.report.terminal.glyphs import to_ascii
from hettop.report.terminal.lines import INKS, Line, text_of, width_of
from hettop.tui.studies import answer
from tests.session.swept import (
    FLAT,
    HOSTILE_LOADS,
    HOSTILE_SWEEP,
    LOADS,
    NOTHING,
    ONE_POINT,
    PLANTED,
    SIZES,
    TWO_UNITS,
    point,
)

GRID = FoundSweep(
    points=[point(batch, 1.0 + batch, unit, size) for unit in ("A", "B") for size in (64, 96) for batch in (1, 2, 4)]
)


def lines_of(found: FoundSweep, width: int = 76, height: int = 18) -> list[Line]:
    return answer(Study(t=1, name="sweep", state="done", elapsed_ns=1, found=found), width, height)


def shown(found: FoundSweep, width: int = 76, height: int = 18) -> list[str]:
    return [text_of(each).rstrip() for each in lines_of(found, width, height)]


def inks_of(lines: list[Line], glyph: str) -> set[str]:
    return {ink for each in lines for text, ink in each if glyph in text}


@pytest.mark.parametrize(("width", "height"), [(76, 18), (116, 34), (196, 54), (20, 5), (1, 1)])
@pytest.mark.parametrize(
    "found", [PLANTED, FLAT, TWO_UNITS, SIZES, ONE_POINT, NOTHING, GRID, LOADS, HOSTILE_SWEEP, HOSTILE_LOADS]
)
def test_every_line_fits_and_no_text_reaches_the_terminal_raw(found: FoundSweep, width: int, height: int) -> None:
    lines = lines_of(found, width, height)
    assert {width_of(each) for each in lines} <= {width}
    assert {ink for each in lines for _, ink in each} <= set(INKS)
    assert not any(character in text_of(each) for each in lines for character in "\x1b\u202e")
    assert "?" not in to_ascii("".join(text_of(each) for each in lines if found is PLANTED))


def test_at_80_columns_the_sentence_the_curves_and_the_fit_are_in_sight() -> None:
    texts = shown(PLANTED)[:18]
    assert texts[0] == "Batch 32 on CPU serves most: 800 items/s, 7.20 times those of batch 1."
    assert any(text.startswith("items/s") and "ms a call" in text for text in texts)
    assert any(text.endswith("failed: bad allocation.") for text in texts)
    assert len([text for text in texts if "┤" in text or "│" in text]) >= 5


def test_the_knee_is_named_and_a_failed_point_is_crossed_at_the_foot() -> None:
    lines = lines_of(PLANTED, 116, 34)
    assert any("knee" in text_of(each) and "●" in text_of(each) for each in lines)
    assert "good" in inks_of(lines, "knee")
    lowest = max(i for i, each in enumerate(lines) if "│" in text_of(each) or "┤" in text_of(each))
    assert text_of(lines[lowest]).count(glyphs.FAILED) == 2, "in both plots"
    labels = text_of(lines[lowest + 2]).split()
    assert labels[: len(labels) // 2] == ["1", "2", "4", "8", "16", "32", "64"]


def test_units_differ_by_glyph_and_by_ink() -> None:
    lines = lines_of(TWO_UNITS)
    (legend,) = [each for each in lines if "● CPU" in text_of(each)]
    assert text_of(legend).split() == ["●", "CPU", "◆", "ALL"]
    marks = [(text, ink) for text, ink in legend if text in "●◆"]
    assert len({ink for _, ink in marks}) == 2


def test_rows_follow_in_the_order_of_the_curves_and_points() -> None:
    texts = shown(PLANTED)
    fit = next(text for text in texts if "8.00 + 1.00 B" in text and "batch, 224x224" in text)
    assert fit.split()[-4:] == ["batch", "32", "batch", "1"]
    assert next(text for text in texts if text.startswith("CPU") and "knee" in text).split()[2] == "8"
    assert next(text for text in texts if glyphs.FAILED in text and "64" in text).endswith("✗ bad allocation")


def test_sizes_are_labelled_by_pixels_a_side() -> None:
    texts = shown(SIZES)
    assert any(text.endswith("pixels a side") for text in texts)
    assert any(text.split()[:2] == ["200", "400"] for text in texts)
    assert not any("items/s" in text and "ms a call" in text for text in texts), "an item grows with the size"


def test_the_first_points_of_one_that_runs_are_drawn_before_there_is_a_curve() -> None:
    assert any(text.startswith("CPU") and "111" in text for text in shown(ONE_POINT))
    two = FoundSweep(points=[point(1, 9.0), point(2, 10.0)])
    assert any("ms a call" in text for text in shown(two))


def test_loads_are_bars_on_one_scale_with_the_change() -> None:
    lines = lines_of(LOADS)
    texts = [text_of(each).rstrip() for each in lines]
    assert texts[0] == "ALL changes most under memory:1: P90 +150%, 5.00 ms against 2.00 alone."
    row = next(text for text in texts if text.startswith("CPU") and "cpu:1" in text)
    # 14 cells are the highest P90, 10 ms.
    assert row.count(glyphs.FULL) == 14
    alone = next(text for text in texts if text.startswith("ALL   none"))
    assert "██▊" in alone, "2 of 10 ms are 2.8 cells"
    assert alone.count(glyphs.FULL) == 2
    slow = next(each for each in lines if text_of(each).startswith("ALL   memory:1"))
    assert ("+150%", "high") in slow
    assert any(text.startswith("CPU   memory:1") and "✗ gone" in text for text in texts)
    assert texts[-1] == "· load gpu:1: no GPU"
