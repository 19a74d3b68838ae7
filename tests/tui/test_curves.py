"""Curves over time as text, worked out by hand."""

from __future__ import annotations

import pytest

from hettop.report.terminal.lines import text_of, width_of
from hettop.tui.panels.curves import bars, curve, time_axis


def test_one_row_is_bars_of_which_zero_is_one_and_a_gap_none() -> None:
    assert curve([None, 0.0, 5.0, 10.0], 10.0, 4, 1, braille=True) == [" ▁▄█"]
    assert bars((0.0, 10.0), 10.0, 2) == "▁█"


def test_a_curve_joins_what_was_measured_one_after_another() -> None:
    # Two columns are four dots, a value each; of eight dots in height 0 is the lowest, 7 the highest. The step is
    # filled from 0 on: a dot at 1 would touch the one before it at a corner only.
    assert curve([0.0, 0.0, 7.0, 7.0], 7.0, 2, 2, braille=True) == [" ⡏", "⣀⡇"]


def test_a_gap_stays_a_gap() -> None:
    assert curve([7.0, None, None, 7.0], 7.0, 2, 2, braille=True) == ["⠁⠈", "  "]


def test_in_blocks_the_area_below_is_filled() -> None:
    # Sixteen eighths in height: 15 of 15 is the sixteenth, 7 of 15 the eighth.
    assert curve([15.0, 7.0, None], 15.0, 3, 2, braille=False) == ["█  ", "██ "]


def test_values_above_the_top_stay_inside() -> None:
    assert curve([99.0], 1.0, 1, 2, braille=False) == ["█", "█"]


@pytest.mark.parametrize(("columns", "rows"), [(0, 2), (3, 0), (1, 1), (7, 3)])
def test_it_is_as_large_as_it_is_to_be_whatever_there_is_to_draw(columns: int, rows: int) -> None:
    for slots in ((), (1.0,), (None,) * 5, (1.0, None) * 50):
        drawn = curve(slots, 1.0, columns, rows, braille=True)
        assert len(drawn) == rows
        assert all(len(text) == columns for text in drawn), drawn


def test_the_axis_says_how_far_back_it_reaches() -> None:
    assert text_of(time_axis(30 * 10**9, 20)) == "-30 s ────────── now"
    assert all(width_of(time_axis(10**9, width)) == width for width in (0, 3, 8, 9))
