"""Columns in cells: as high as their values, levels across them, letters and labels below."""

from __future__ import annotations

import pytest

from hettop.report.page import Column, Columns, Level, Stack
from hettop.report.terminal.columns import GUTTER, columns_lines, stack_lines
from hettop.report.terminal.lines import text_of, width_of


def block(heights: list[float | None], levels: list[Level] | None = None, letters: str = "") -> Columns:
    columns = [Column(height, i % 2, label=str(i + 1)) for i, height in enumerate(heights)]
    return Columns(columns, [("a", "low"), ("b", "mid")], "ms", "", levels or [], list(letters))


def shown(block: Columns, width: int = 20, height: int = 14) -> list[str]:
    return [text_of(each).rstrip() for each in columns_lines(block, width, height)]


def test_a_column_is_as_high_as_its_value() -> None:
    """Of eleven lines for 0 to 100: 50 fills five and a half, 98 eleven less two eighths."""
    texts = shown(block([50.0, 98.0]))
    first = "".join(text[GUTTER : GUTTER + 1] or " " for text in texts[1:12])
    second = "".join(text[GUTTER + 6 : GUTTER + 7] or " " for text in texts[1:12])
    assert first == "     ▄█████"
    assert second == "▆██████████"
    assert texts[12].endswith("└" + "─" * 12)
    assert texts[13].split() == ["1", "2"]


def test_levels_stand_where_their_values_are_even_where_a_column_is_higher() -> None:
    texts = shown(block([98.0], [Level("best", [25.0]), Level("sum", [75.0])]), width=60)
    assert texts[9][GUTTER:] == "█████━", "25 in the line of 18 to 27, the ninth from above, beside the bar"
    assert texts[3][GUTTER:] == "█████┄", "75 in that of 73 to 82"


def test_a_column_without_a_value_is_a_dot() -> None:
    assert shown(block([None, 98.0]))[11][GUTTER:].split() == ["·····", "█████"]


def test_letters_name_the_group_of_each_column() -> None:
    texts = shown(block([1.0, 2.0, 3.0], letters="CN"), width=11)
    assert texts[-2].strip() == "CNC"
    assert texts[0].split() == ["ms", "C", "a", "N", "b"] or "C a" in "".join(texts[:3])


def test_of_more_columns_than_find_room_the_highest_of_neighbours_is_drawn() -> None:
    heights: list[float | None] = [float(i == 17) * 9 + 1 for i in range(40)]
    unlabelled = Columns([Column(height) for height in heights], [("a", "low")], "ms", "")
    texts = shown(unlabelled, width=GUTTER + 20)
    assert max(len(text) for text in texts) == GUTTER + 20
    assert sum("█" in text[GUTTER + 8 : GUTTER + 9] for text in texts) > 5, "the eighteenth of forty"


@pytest.mark.parametrize("found", [block([]), block([None]), block([0.0])])
def test_without_heights_there_is_nothing(found: Columns) -> None:
    assert columns_lines(found, 40, 10) == []


def test_without_room_there_is_nothing() -> None:
    assert columns_lines(block([1.0]), GUTTER, 10) == []


@pytest.mark.parametrize("n", [1, 2, 9, 10, 11, 99, 120])
def test_every_line_has_the_width_that_was_asked_for(n: int) -> None:
    lines = columns_lines(block([5.0] * n, [Level("best", [4.0] * n)]), 70, 9)
    assert {width_of(each) for each in lines} == {70}


def test_a_stack_has_parts_by_their_shares_and_further_ones_together() -> None:
    lines = stack_lines(Stack([("a", 0.5), ("b", 0.2), ("c", 0.1), ("d", 0.1), ("e", 0.06), ("f", 0.04)], ""), 40)
    bar = text_of(lines[0])
    assert [bar.count(glyph) for glyph in "█▒▓░·"] == [20, 8, 4, 4, 4]
    words = " ".join(text_of(each) for each in lines[1:])
    assert "a 50%" in words
    assert "2 others 10%" in words
