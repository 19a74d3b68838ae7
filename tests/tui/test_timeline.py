"""The timeline: what is drawn for known slots, dot by dot."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.report.terminal.lines import text_of, width_of
from hettop.session.views.structs import TimelineLane, TimelineLoad, TimelineMark, TimelineSlot, TimelineView
from hettop.tui.constants import WHOLE_SESSION_S, next_window_s
from hettop.tui.panels.timeline import GUTTER, draw_timeline
from tests.tui.fakes import EMPTY, LANE, SECOND, TIMELINE

USUAL = TimelineSlot(1.0, 2.0, 3.0)
SPIKE = TimelineSlot(1.0, 2.0, 4.0, spikes=1)
# Two slots a cell. The scale goes to 4 ms, so on four lines a line is a millisecond, of four dots.
ONE = TimelineLane("CPU_ONLY", (USUAL, USUAL, None, None, SPIKE, None, None, USUAL), 2.0, 3.0, 1)
KNOWN = TimelineView(window_ns=16 * SECOND, slot_ns=2 * SECOND, lanes=(ONE,), spikes=1)


def texts(view: TimelineView, width: int, height: int, *, braille: bool = True) -> list[str]:
    return [text_of(row) for row in draw_timeline(view, width, height, braille=braille)]


def test_sparse_dots_reach_to_p50_all_to_p90_and_one_is_at_the_maximum() -> None:
    # P50 at 4 dots, P90 at 8, the maximum is the 12th; the spike at 16 is marked. The threshold is on the line of
    # 3 ms, where there are samples and no dots.
    assert texts(KNOWN, 4, 5)[:4] == [
        "  ▲ ",
        "⠉ ┄⠈",
        "⣿ ⡇⢸",
        "⡪ ⡂⠨",
    ]


def test_the_threshold_is_drawn_since_the_active_load_began() -> None:
    # Of the spike in the third cell the threshold was another one. In the fourth, where the load began, P90 is there.
    load = TimelineLoad(6, 7, "cpu:2", begins=True, ends=False)
    assert texts(replace(KNOWN, loads=(load,)), 4, 5)[:2] == ["  ▲┊", "⠉  ⠈"]


def test_in_blocks_a_slot_is_a_cell() -> None:
    lane = replace(ONE, slots=(USUAL, None, SPIKE, TimelineSlot(1.0, 1.5, 1.5)))
    assert texts(replace(KNOWN, lanes=(lane,)), 4, 5, braille=False)[:4] == [
        "  ▲ ",
        "▔ ┄┄",
        "█ █▄",
        "█ ██",
    ]


def test_a_spike_has_a_colour_of_its_own() -> None:
    assert draw_timeline(KNOWN, 4, 5)[0] == (("  ", "text"), ("▲", "high"), (" ", "text"))


def test_a_maximum_in_a_cell_of_its_own_has_another_colour_than_p90() -> None:
    assert draw_timeline(KNOWN, 4, 5)[1][0] == ("⠉", "mid")


def test_one_enormous_spike_is_cut_and_shown_to_be() -> None:
    slots = (*[TimelineSlot(1.0, 1.0, 1.0)] * 7, TimelineSlot(1.0, 1.0, 500.0, spikes=1))
    rows = texts(replace(KNOWN, lanes=(replace(ONE, slots=slots, threshold_ms=None),)), 4, 5)
    # The scale ends at three times the usual P90, so 1 ms is 16 / 3 dots: 6 of them, the last of which is P90.
    assert rows[:4] == ["   ▲", "    ", "⡤⡤⡤⡤", "⡪⡪⡪⡪"]


def test_a_loaded_stretch_is_on_the_scale_and_its_rarest_call_off_it() -> None:
    # 6 of 60 slots are four times slower: 8 ms is held, and the calls of 11 ms that are frequent there. One of 90 ms is
    # off the scale, which ends at one and a half times 8, at 12: 16 dots, so the call of 11 is the 15th and the P90 of
    # 8 is the 11th, the third of the second line.
    loaded = (*[TimelineSlot(7.0, 8.0, 11.0)] * 5, TimelineSlot(7.0, 8.0, 90.0))
    lane = replace(ONE, slots=(*[TimelineSlot(1.0, 2.0, 2.0)] * 54, *loaded), threshold_ms=None)
    other = replace(lane, unit="CPU_AND_NE", slots=(TimelineSlot(1.0, 2.0, 2.0),) * 60)
    rows = texts(replace(KNOWN, lanes=(lane, other), slot_ns=SECOND), GUTTER + 30, 9)
    assert [row[-3:] for row in rows[:2]] == ["⠒⠒⇡", "⡲⡲⡲"]
    assert rows[0].count("⇡") == 1


def test_a_mark_of_a_spike_is_another_one_than_that_of_a_call_off_the_scale() -> None:
    slots = (*[TimelineSlot(1.0, 1.0, 1.0)] * 40, TimelineSlot(1.0, 1.0, 9.0), None, TimelineSlot(1.0, 1.0, 9.0, 1))
    drawn = draw_timeline(replace(KNOWN, lanes=(replace(ONE, slots=slots, threshold_ms=None),)), 22, 5)
    assert drawn[0][-2:] == (("⇡", "mid"), ("▲", "high"))


def test_a_label_is_the_value_of_the_middle_of_its_line() -> None:
    # Up to 3 ms, a lane has lines of 1.5 ms. The upper one, with 2.5 ms in it, is not labelled with its edge of 3 ms.
    lane = replace(SLOW, slots=(TimelineSlot(2.0, 2.5, 2.9),) * 60)
    rows = texts(replace(BOTH, lanes=(lane, FAST)), GUTTER + 30, 5)
    assert rows[0].startswith("CPU       2┤")


def test_a_line_with_the_threshold_is_labelled_with_its_value() -> None:
    rows = texts(replace(BOTH, lanes=(SLOW, replace(FAST, threshold_ms=0.943))), GUTTER + 30, 9)
    (line,) = [row for row in rows if "┄" in row]
    assert line.startswith("      0.943┤")


FAST = TimelineLane("CPU_AND_NE", (TimelineSlot(0.4, 0.5, 0.5),) * 60, 0.5, None, 0)
SLOW = TimelineLane("CPU_ONLY", (TimelineSlot(1.9, 2.0, 2.0),) * 60, 2.0, None, 0)
BOTH = replace(KNOWN, lanes=(SLOW, FAST), slot_ns=SECOND // 2, window_ns=30 * SECOND)


def test_lanes_share_one_scale_and_have_name_and_p90_beside_them() -> None:
    # 2 ms is the top: 8 dots of a lane for the slow unit, 2 for the fast one. The upper line is from 1 to 2 ms.
    assert texts(BOTH, GUTTER + 30, 5) == [
        "CPU     1.5┤" + "⡫" * 30,
        "P90 2.00   │" + "⡪" * 30,
        "NE      1.5┤" + " " * 30,
        "P90 0.500  │" + "⡤" * 30,
        "          0└" + "┴-30 s─────────┴-15 s─────────",
    ]


def test_where_the_scale_has_a_label_beside_it_p90_is_a_number_alone() -> None:
    # The threshold of 0.5 ms is on the lower line of two, so it takes the room of the name of P90.
    assert texts(replace(BOTH, lanes=(SLOW, replace(FAST, threshold_ms=0.5))), GUTTER + 30, 5)[3].startswith(
        "0.500 0.500┤"
    )


def test_a_lane_of_one_line_has_both_in_it() -> None:
    rows = texts(BOTH, GUTTER + 30, 2)
    assert [row[:GUTTER] for row in rows] == ["CPU    2.00│", "NE    0.500│"]


def test_a_spike_in_a_lane_of_one_line_is_its_uppermost_dot() -> None:
    lane = replace(SLOW, slots=(*SLOW.slots[:58], TimelineSlot(0.4, 0.5, 9.0, spikes=1), None))
    (slow, _) = draw_timeline(replace(BOTH, lanes=(lane, FAST)), GUTTER + 30, 2)
    # 3 ms is the top of 4 dots: P50 at 1, P90 at 1.
    assert slow[-1] == ("⡁", "high")


def test_fewer_lines_than_units_have_letters() -> None:
    lanes = (SLOW, FAST, replace(FAST, unit="ALL"))
    rows = texts(replace(BOTH, lanes=lanes), GUTTER + 34, 2)
    assert [set(row[-30:]) for row in rows] == [{"a"}, {"b"}]  # c is at the same place as b
    rows = texts(replace(BOTH, lanes=(*lanes, replace(FAST, unit="CPU_AND_GPU"))), GUTTER + 50, 3)
    assert rows[2].split() == ["a", "CPU", "2.00", "b", "NE", "0.500", "c", "ALL", "0.500", "d", "GPU", "0.500"]


def test_the_threshold_is_over_the_samples_of_its_unit_alone() -> None:
    half = replace(SLOW, slots=(None,) * 30 + SLOW.slots[:30], threshold_ms=2.9)
    rows = texts(replace(BOTH, lanes=(half,)), GUTTER + 30, 8)
    (line,) = [row for row in rows if "┄" in row]
    assert line[GUTTER:] == " " * 15 + "┄" * 15


def test_a_budget_goes_through_all_lanes() -> None:
    rows = texts(replace(BOTH, budget_ms=3.0), GUTTER + 30, 7)
    assert [row[GUTTER:] for row in rows if "━" in row] == ["━" * 30] * 2


def test_a_load_is_a_shaded_span_with_its_name_and_edges() -> None:
    view = replace(BOTH, loads=(TimelineLoad(20, 59, "cpu:2", begins=True, ends=False),))
    rows = texts(view, GUTTER + 30, 5)
    assert rows[4][GUTTER:] == "┴-30 s────▒▒▒▒▒▒▒cpu:2▒▒▒▒▒▒▒▒"
    assert rows[2][GUTTER:] == " " * 10 + "┊" + " " * 19


def test_marks_stand_on_the_axis_with_their_names_where_there_is_room() -> None:
    marks = (
        TimelineMark(10, "control", "CPU_AND_GPU"),
        TimelineMark(30, "mark", "fan on"),
        TimelineMark(58, "drift", "ALL"),
    )
    axis = texts(replace(BOTH, marks=marks), GUTTER + 30, 5)[4]
    assert axis[GUTTER:] == "┴────▸GPU──────◆fan on───────~"


def test_the_axis_counts_back_from_now() -> None:
    # 30 cells of a second.
    assert texts(replace(TIMELINE, marks=()), GUTTER + 30, 8)[-1] == "          0└┴-30 s─────────┴-15 s─────────"
    long = replace(TIMELINE, slot_ns=60 * SECOND, window_ns=3_600 * SECOND, marks=())
    assert texts(long, GUTTER + 30, 8)[-1][GUTTER:] == "┴-60 min───────┴-30 min───────"
    day = replace(TIMELINE, slot_ns=1_440 * SECOND, window_ns=86_400 * SECOND, marks=())
    # 24 hours: 15 of them are 19 of the 30 cells.
    assert texts(day, GUTTER + 30, 8)[-1][GUTTER:] == "─" * 11 + "┴-15 h" + "─" * 13


def test_a_view_for_a_wider_panel_shows_its_newest_slots() -> None:
    assert texts(KNOWN, 2, 5)[:4] == ["▲ ", "┄⠈", "⡇⢸", "⡂⠨"]


def test_no_samples_is_said() -> None:
    assert any("no samples" in text for text in texts(EMPTY.timeline, 60, 6))
    nothing = replace(KNOWN, lanes=(replace(ONE, slots=(None,) * 8),))
    assert any("no samples" in text for text in texts(nothing, 60, 6))


@given(st.integers(min_value=1, max_value=90), st.integers(min_value=1, max_value=20), st.booleans())
def test_any_size_is_filled_exactly(width: int, height: int, braille: bool) -> None:
    many = replace(BOTH, lanes=(SLOW, FAST, LANE, *[replace(FAST, unit=f"unit {i}") for i in range(30)]))
    loaded = replace(
        BOTH, loads=(TimelineLoad(0, 3, "x", begins=False, ends=True),), pointed=7, budget_ms=1.0, spikes=None
    )
    for view in (KNOWN, TIMELINE, EMPTY.timeline, BOTH, many, loaded):
        rows = draw_timeline(view, width, height, braille=braille)
        assert [width_of(row) for row in rows] == [width] * height


@pytest.mark.parametrize(
    ("window_s", "direction", "elapsed_s", "expected"),
    [
        (30, 1, 500, 60),
        (60, 1, 500, 120),
        (120, 1, 500, 300),
        (300, 1, 500, WHOLE_SESSION_S),  # 15 minutes would show the same
        (WHOLE_SESSION_S, 1, 500, WHOLE_SESSION_S),
        (WHOLE_SESSION_S, -1, 500, 300),
        (120, -1, 500, 60),
        (60, 1, 30, 60),
        (60, 1, 61, WHOLE_SESSION_S),
        (21_600, 1, 30_000, WHOLE_SESSION_S),
        (5, -1, 500, 5),
        (900, -1, 30, 60),  # after a seek back
    ],
)
def test_windows_beyond_a_minute_are_those_that_have_been(
    window_s: int, direction: int, elapsed_s: int, expected: int
) -> None:
    assert next_window_s(window_s, direction, elapsed_s) == expected
