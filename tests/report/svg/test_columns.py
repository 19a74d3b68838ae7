"""Columns and stacked bars as SVG: as high and as wide as their values, coloured by group."""

from __future__ import annotations

import re

import pytest

from hettop.report.page import Column, Columns, Level, Stack
from hettop.report.svg.plot import columns_svg, stack_svg

ROUNDS = Columns(
    [Column(110.0, label="1"), Column(90.0, label="2", group=1), Column(160.0, label="3")],
    [("together", "good"), ("beaten", "high")],
    "rates",
    "each round",
    [Level("best alone", [100.0, 100.0, None])],
)


def test_columns_are_as_high_as_their_values_and_coloured_by_group() -> None:
    svg = columns_svg(ROUNDS)
    heights = [float(each) for each in re.findall(r'height="([\d.]+)" fill="var\(--(?:c2|warn)\)"></rect>', svg)]
    assert [height / heights[2] for height in heights] == pytest.approx([110 / 160, 90 / 160, 1], abs=1e-2)
    assert re.findall(r'fill="var\(--(c2|warn)\)"></rect>', svg) == ["c2", "warn", "c2"]


def test_a_level_is_a_line_across_the_columns_that_have_one() -> None:
    (path,) = re.findall(r'<path d="([^"]*)" stroke="var\(--c1\)"', columns_svg(ROUNDS))
    assert path.count("M") == 2


def test_labels_that_would_touch_are_left_out() -> None:
    many = Columns([Column(1.0, label=str(100 + i)) for i in range(200)], [("a", "low")], "ms", "")
    labels = re.findall(r">(\d{3})<", columns_svg(many))
    assert 10 < len(labels) < 45


def test_without_any_height_there_is_no_drawing() -> None:
    assert columns_svg(Columns([Column(None), Column(0.0)], [("a", "low")], "ms", "")) == ""


def test_the_parts_of_a_bar_are_as_wide_as_their_shares() -> None:
    svg = stack_svg(Stack([("Conv", 0.8), ("Gemm", 0.2)], "by type"))
    # 880 pixels between the margins, and half of one between the parts.
    assert [float(each) for each in re.findall(r'y="8" width="([\d.]+)"', svg)] == [703.5, 175.5]
    assert "Conv 80%" in svg


def test_texts_are_data() -> None:
    evil = "<script>\x1b"
    block = Columns([Column(1.0, label=evil, name=evil), Column(2.0, 1)], [(evil, "low"), (evil, "mid")], evil, evil)
    for svg in (columns_svg(block), stack_svg(Stack([(evil, 1.0)], evil))):
        assert "<script>" not in svg
        assert "\x1b" not in svg
