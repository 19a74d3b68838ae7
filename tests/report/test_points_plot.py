"""A plot of points: where they land, what the axes say."""

from __future__ import annotations

from hettop.report.points_plot import MARGIN, ROWS, Series, points_plot, scale_for


def test_a_decade_is_logarithmic_and_less_is_not() -> None:
    wide = scale_for([1.0, 10.0, 100.0], 30)
    assert wide.logarithmic
    assert wide.at(10) == 15
    narrow = scale_for([1.0, 2.0], 10)
    assert not narrow.logarithmic


def test_an_axis_from_zero_has_zero_at_its_foot() -> None:
    scale = scale_for([50.0, 100.0], 12, from_zero=True)
    assert (scale.at(0), scale.at(100)) == (0, 11)
    assert scale.at(50) == 5, "half as high, but for the room above"


def test_one_value_is_in_the_middle_and_nothing_is_no_plot() -> None:
    assert scale_for([5.0], 10).at(5) == 5
    assert points_plot([Series("a", [])], "x", "y", 80) == []


def test_points_are_drawn_in_order_with_a_legend() -> None:
    lines = points_plot([Series("low", [(1, 1), (10, 1)]), Series("high", [(1, 9)])], "batch", "ms", 60)
    body = [line[MARGIN:] for line in lines[1 : 1 + ROWS]]
    assert [row for row, line in enumerate(body) if "●" in line] == [ROWS - 1]
    assert [row for row, line in enumerate(body) if "○" in line] == [0]
    assert "● low  ○ high" in lines[-1]
    assert lines[-2].strip() == "batch"
    assert all(len(line) <= 60 for line in lines)
