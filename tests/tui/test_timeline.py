"""The timeline: what is drawn for known slots."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from hettop.report.terminal.lines import text_of, width_of
from hettop.session.views.structs import TimelineView
from hettop.tui.panels.histogram import GUTTER
from hettop.tui.panels.timeline import draw_timeline
from tests.tui.fakes import EMPTY, SECOND, TIMELINE, slot

# Two seconds a slot; the scale goes to 4 ms, so on four lines a line is a millisecond.
KNOWN = TimelineView(
    window_ns=20 * SECOND,
    slot_ns=2 * SECOND,
    slots=(None, slot(1.0, 1.5), slot(1.0, 1.0), slot(2.0, 4.0, spike=True), *[slot(1.0, 1.25)] * 6),
    threshold_ms=3.0,
    spikes=1,
    marks=((5, "mark"), (7, "load")),
)


def test_p90_is_shaded_and_the_maximum_stands_above_it() -> None:
    rows = draw_timeline(KNOWN, 10, 6)
    assert [text_of(row) for row in rows[:4]] == [
        "   █      ",
        "┄┄┄█┄┄┄┄┄┄",
        " ▄ ▒▂▂▂▂▂▂",
        " ▒▒▒▒▒▒▒▒▒",
    ]


def with_threshold(threshold_ms: float) -> list[list[str]]:
    """Heads of the lines, up to 40 ms on four of them, and the head of the one that has the spike threshold."""
    slots = (*[slot(8.0, 9.5)] * 58, slot(8.0, 39.0, spike=True))
    rows = draw_timeline(replace(KNOWN, slots=slots, threshold_ms=threshold_ms, marks=()), GUTTER + 59, 6)
    heads = [text_of(row)[:GUTTER].split() for row in rows[:4]]
    return [*heads, heads[next(i for i, row in enumerate(rows) if "┄" in text_of(row))]]


def test_a_threshold_on_the_line_of_a_round_number_is_labelled_with_its_own_value() -> None:
    """14 lies in the line that ends at 20, and does not stand at 20."""
    assert with_threshold(14.0) == [["40", "┤"], ["│"], ["14.0", "│"], ["│"], ["14.0", "│"]]


def test_a_threshold_at_a_round_number_keeps_its_tick_and_one_on_a_line_without_has_none() -> None:
    assert with_threshold(20.0)[-1] == ["20", "┤"]
    assert with_threshold(22.1) == [["40", "┤"], ["│"], ["20", "┤"], ["│"], ["│"]]


def test_a_spike_has_a_colour_of_its_own() -> None:
    assert draw_timeline(KNOWN, 10, 6)[1] == (("┄┄┄", "muted"), ("█", "high"), ("┄┄┄┄┄┄", "muted"))


def test_the_axis_counts_seconds_back_from_now() -> None:
    labels = text_of(draw_timeline(TIMELINE, GUTTER + 59, 8)[-1])
    assert labels.split() == ["-20", "s", "-10", "s", "now"]
    # 59 slots of half a second: ten seconds ago is 20 slots from the right end.
    assert labels.index("-10 s") + len("-10 s") // 2 == GUTTER + 59 - 20


def test_marks_stand_on_the_axis_in_their_slots() -> None:
    axis = text_of(draw_timeline(KNOWN, 10, 6)[4])
    assert (axis[5], axis[7]) == ("◆", "◇")


def test_one_enormous_spike_is_cut_and_shown_to_be() -> None:
    slots = (*[slot(1.0, 1.2)] * 9, slot(1.0, 500.0, spike=True))
    rows = draw_timeline(replace(KNOWN, slots=slots), 10, 6)
    assert text_of(rows[0])[9] == "▲"
    assert text_of(rows[3]).startswith("▒▒▒")


def test_a_view_for_a_wider_panel_shows_its_newest_slots() -> None:
    rows = draw_timeline(KNOWN, 6, 2)
    assert [width_of(row) for row in rows] == [6, 6]
    assert "█" not in text_of(rows[0])


def test_no_samples_is_said() -> None:
    assert any("no samples" in text_of(row) for row in draw_timeline(EMPTY.timeline, 60, 6))


@given(st.integers(min_value=1, max_value=90), st.integers(min_value=1, max_value=20))
def test_any_size_is_filled_exactly(width: int, height: int) -> None:
    for view in (KNOWN, TIMELINE, EMPTY.timeline):
        assert [width_of(row) for row in draw_timeline(view, width, height)] == [width] * height
