"""The violin strip: density in eighths, the median in its place."""

from __future__ import annotations

from hettop.report.terminal.lines import text_of
from hettop.tui.panels.unit_table import violin_axis, violin_strip


def test_density_is_drawn_in_eighths() -> None:
    assert text_of(violin_strip((0.0, 0.25, 0.5, 1.0), None, 4)) == " ▂▄█"


def test_little_is_not_nothing_but_almost_nothing_is() -> None:
    assert text_of(violin_strip((0.01, 0.001), None, 2)) == "▁ "


def test_the_median_stands_where_it_lies_on_the_axis() -> None:
    assert violin_strip((0.5, 0.5, 0.5, 0.5), 0.5, 4) == (("▄▄", "low"), ("┃", "strong"), ("▄", "low"))


def test_without_samples_there_is_no_strip() -> None:
    assert text_of(violin_strip((), 0.5, 6)) == "      "


def test_samples_above_the_axis_are_marked_at_its_end() -> None:
    assert violin_strip((0.5, 0.5, 0.0), None, 3, beyond=True) == (("▄▄", "low"), ("»", "mid"))


def test_the_axis_names_both_ends() -> None:
    assert text_of(violin_axis(1.9, 6.1, 20)) == "1.90 ─────── 6.10 ms"
    assert violin_axis(1.9, 6.1, 8) == (), "one end alone looks like a figure"
