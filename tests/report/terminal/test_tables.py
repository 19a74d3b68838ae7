"""Tables, bars and legends that drawings of studies are put together from."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hettop.report.terminal.lines import text_of, width_of
from hettop.report.terminal.tables import bar, beside, legend, series, table

ROWS = [("CPU", "1 248", ""), ("CPU_ONLY", "9", "")]


def test_words_stand_at_the_left_numbers_at_the_right_and_empty_columns_are_left_out() -> None:
    texts = [text_of(each).rstrip() for each in table(("unit", "n", "why"), ROWS, 40, left=("unit",))]
    assert texts == ["unit          n", "CPU       1 248", "CPU_ONLY      9"]


def test_columns_are_dropped_in_order_until_the_rest_fits() -> None:
    rows = [("a" * 10, "b" * 10, "c" * 10)]
    heads = [text_of(table(("x", "y", "z"), rows, width, drop=("z", "x"))[0]).split() for width in (34, 33, 21)]
    assert heads == [["x", "y", "z"], ["x", "y"], ["y"]]


def test_a_sentence_at_the_end_is_cut_and_costs_no_other_column() -> None:
    rows = [("a", "1", "why " * 30), ("b", "2", "")]
    texts = [text_of(each) for each in table(("unit", "n", "because"), rows, 30, left=("unit", "because"), drop=("n",))]
    assert texts == [
        "unit  n  because".ljust(30),
        "a     1  why why why why why …",
        "b     2".ljust(30),
    ]


def test_a_bar_is_as_long_as_its_share_in_eighths() -> None:
    assert bar(0.5, 4)[0] == "██"
    assert bar(0.53125, 4)[0] == "██▏"
    assert bar(0.0001, 4)[0] == "▏", "what is there is seen"
    assert bar(0.0, 4)[0] == ""
    assert bar(7.0, 4)[0] == "████"


def test_sixteen_series_differ_in_glyph_or_ink() -> None:
    assert len({series(index) for index in range(16)}) == 16


@given(st.lists(st.text(alphabet="ab漢", max_size=30), max_size=9), st.integers(1, 60))
def test_a_legend_takes_as_many_lines_as_it_needs(names: list[str], width: int) -> None:
    lines = legend(names, width)
    assert all(width_of(each) == width for each in lines)
    if all(len(name) * 2 + 2 <= width for name in names):
        words = "".join(text_of(each) for each in lines)
        assert all(name in words for name in names)


def test_drawings_stand_side_by_side() -> None:
    (shown,) = beside([(("ab", "text"),)], [(("c", "text"),)], 5)
    assert text_of(shown) == "ab     c"
