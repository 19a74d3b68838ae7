"""Blocks in cells of a terminal."""

from __future__ import annotations

from hettop.report.page import Plot, Scale, Series, Spot
from hettop.report.terminal.blocks import block_text


def test_a_series_of_hollow_points_has_a_hollow_mark_in_the_legend() -> None:
    best = Series("best", [Spot(1.0, 1.0)])
    others = Series("others", [Spot(2.0, 3.0, hollow=True), Spot(3.0, 2.0, hollow=True)], joined=False)
    mixed = Series("mixed", [Spot(4.0, 4.0), Spot(5.0, 4.0, hollow=True)], joined=False)
    lines = block_text([Plot([best, others, mixed], Scale("x"), Scale("y"), "a caption")], 60).splitlines()
    assert lines[0] == "● best  ○ others  ▲ mixed"
    assert sum(line.count("○") for line in lines[1:]) == 3
