"""Points, lines and words stand on the plane where their values say, and labels never run into each other."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hettop.report.terminal.glyphs import to_ascii
from hettop.report.terminal.lines import INKS, text_of, width_of
from hettop.report.terminal.plane import Axis, Plane, plain

TENTHS = Axis(0.0, 10.0, "ms")
DECADES = Axis(0.1, 1000.0, "MACs/B", log=True)


def shown(plane: Plane) -> list[str]:
    return [text_of(each) for each in plane.lines()]


def place_of(glyph: str, plane: Plane) -> tuple[int, int]:
    """Row from above and column of the plot, without its axis."""
    rows = [text[text.index("│" if "│" in text else "┤") + 1 :] for text in shown(plane) if re.search("[│┤]", text)]
    return next((row, text.index(glyph)) for row, text in enumerate(rows) if glyph in text)


def test_a_logarithmic_axis_gives_each_decade_the_same_room() -> None:
    assert [DECADES.share(value) for value in (0.1, 1, 10, 100, 1000)] == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    assert DECADES.share(0) is None
    assert DECADES.share(1001) is None
    assert Axis(0.0, 1.0, log=True).share(0.5) is None, "an axis from zero has no logarithm"
    assert Axis(2.0, 2.0).share(2.0) is None


def test_an_axis_around_values_is_logarithmic_where_they_span_much() -> None:
    assert Axis.around([1, 7.9]).log is False
    assert Axis.around([1, 8]).log is True
    assert Axis.around([0, 8]).log is False
    from_zero = Axis.around([50, 100], from_zero=True)
    assert [from_zero.low, from_zero.high] == pytest.approx([0, 104])
    wide = Axis.around([1, 10_000])
    assert [wide.low, wide.high] == pytest.approx([10**-0.16, 10**4.16])
    alone = Axis.around([5.0])
    assert alone.low < 5 < alone.high
    assert Axis.around([], log=True).share(3) is not None, "without values it is drawn, too"
    assert Axis.around([float("nan"), 1.0, 2.0]).share(1.5) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("axis", "most", "labels"),
    [
        (Axis(0.1, 1000, log=True), 5, ["0.1", "1", "10", "100", "1000"]),
        (Axis(0.1, 1000, log=True), 3, ["0.1", "10", "1000"]),
        (Axis(0.1, 30, log=True), 20, ["0.1", "0.2", "0.5", "1", "2", "5", "10", "20"]),
        (Axis(1, 30, log=True), 4, ["1", "3", "10", "30"]),
        (Axis(4, 9, log=True), 5, ["4", "5", "6", "7", "8", "9"]),
        (Axis(0, 10), 5, ["0", "2", "4", "6", "8", "10"]),
        (Axis(1, 32, log=True, marks=(1, 8, 32, 64)), 9, ["1", "8", "32"]),
    ],
)
def test_ticks_are_round_and_about_as_many_as_wanted(axis: Axis, most: int, labels: list[str]) -> None:
    assert [label for _, label in axis.ticks(most)] == labels


@pytest.mark.parametrize(
    ("value", "label"), [(0.01, "0.01"), (2.5, "2.5"), (1000, "1000"), (20_000, "20k"), (1e-6, "1e-06"), (0, "0")]
)
def test_a_label_has_no_noise(value: float, label: str) -> None:
    assert plain(value) == label


def test_points_stand_where_their_values_say() -> None:
    plane = Plane(46, 14, DECADES, TENTHS)
    assert (plane.columns, plane.rows) == (40, 10), "a row is the name's of the axis across: it would cover 1000"
    for x, y, glyph in ((0.1, 0, "a"), (10, 5, "b"), (999, 10, "c"), (1e6, 5, "x"), (10, -1, "x"), (-1, 5, "x")):
        plane.point(x, y, glyph, "low")
    assert [place_of(glyph, plane) for glyph in "abc"] == [(9, 0), (4, 20), (0, 39)]
    assert "x" not in "".join(shown(plane)), "what is beyond the axes is not drawn at their ends"


def test_a_later_point_covers_an_earlier_one_and_any_point_a_line() -> None:
    plane = Plane(46, 13, TENTHS, TENTHS)
    plane.point(5, 5, "1", "low")
    plane.point(5, 5, "2", "high")
    plane.line([(0, 5), (10, 5)], "-")
    text = shown(plane)[1 + 4]
    assert text.endswith("-" * 20 + "2" + "-" * 19)


def test_a_line_climbs_in_thirds_of_a_row() -> None:
    plane = Plane(36, 6, Axis(0, 30), Axis(0, 3))
    assert (plane.columns, plane.rows) == (30, 3)
    plane.line([(0, 0), (30, 3)])
    bodies = [text[6:] for text in shown(plane)[1:4]]
    # One row in ten columns: at their middles the heights are .05, .15 … .95 of a row.
    assert bodies[2][:10] == "▁▁▁────▔▔▔"
    assert bodies[0][20:] == "▁▁▁────▔▔▔"
    assert bodies[1].strip() == "▁▁▁────▔▔▔"


def test_steep_lines_have_a_stroke_in_every_row() -> None:
    for end, stroke in ((0.5, "│"), (5, "╱")):
        plane = Plane(16, 12, Axis(0, 10), Axis(0, 10))
        assert plane.rows == 9
        plane.line([(0, 0), (end, 10)])
        assert all(stroke in text for text in shown(plane)[1:10]), stroke
    falling = Plane(16, 12, Axis(0, 10), Axis(0, 10))
    falling.line([(0, 10), (5, 0)])
    assert "╲" in "".join(shown(falling))


def test_a_line_stops_where_a_point_is_not_known() -> None:
    plane = Plane(46, 13, TENTHS, TENTHS)
    plane.line([(0, 5), (4, 5), (5, float("nan")), (6, 5), (10, 5)], "-")
    assert shown(plane)[1 + 4][6:] == "-" * 16 + " " * 8 + "-" * 16


def test_words_stand_beside_their_place_and_over_no_point() -> None:
    plane = Plane(46, 13, TENTHS, TENTHS)
    plane.note(5, 5, "knee", "good")
    plane.point(5, 5, "●", "low")
    assert "● knee " in shown(plane)[5]
    plane.point(6, 5, "○", "low")  # where the word stood
    assert "knee ●" in shown(plane)[5], "at the left then"
    plane.point(4.5, 5, "○", "low")
    assert "knee" in shown(plane)[4], "above then"
    narrow = Plane(8, 4, TENTHS, TENTHS)
    narrow.note(5, 5, "no room for this", "good")
    assert "room" not in "".join(shown(narrow))


def test_the_heading_names_the_axis_and_reports_what_glyphs_mean_as_far_as_there_is_room() -> None:
    plane = Plane(30, 8, TENTHS, Axis(0, 1, "items/s"))
    plane.legend("●", "compute", "low")
    plane.legend("○", "a name that is much too long", "mid")
    assert shown(plane)[0] == "items/s              ● compute"
    assert shown(plane)[-1].rstrip().endswith("ms")


@given(
    st.integers(0, 130),
    st.integers(0, 40),
    st.floats(1e-9, 1e9),
    st.floats(1.0, 1e9),
    st.booleans(),
    st.lists(st.tuples(st.floats(), st.floats()), max_size=5),
)
def test_it_is_always_as_large_as_asked_for(
    width: int, height: int, low: float, times: float, log: bool, points: list[tuple[float, float]]
) -> None:
    axis = Axis(low, low * times, "GFLOP/s", log)
    plane = Plane(width, height, axis, Axis.around([y for _, y in points], "漢字"))
    plane.line(points)
    for point in points:
        plane.point(*point, "●", "low")
        plane.note(*point, "漢字é\u0301", "muted")
    lines = plane.lines()
    assert [width_of(each) for each in lines] == [width] * (height if width else 0)
    assert {ink for each in lines for _, ink in each} <= set(INKS)


@settings(max_examples=40)  # each looks at 200 sets of ticks
@given(st.integers(10, 200), st.floats(1e-6, 1e6), st.floats(1.01, 1e9), st.booleans())
def test_labels_never_run_into_each_other(width: int, low: float, times: float, log: bool) -> None:
    axis = Axis(low, low * times, "MACs/B", log)
    foot = text_of(Plane(width, 12, axis, TENTHS).lines()[-1])
    known = {label for most in range(1, 200) for _, label in axis.ticks(most)}
    assert set(foot.split()) <= known | {"MACs/B", "…"}


def test_marks_are_labelled_by_themselves_and_thinned_where_there_is_no_room() -> None:
    marks = (1, 2, 4, 8, 16, 32)
    across = Axis(1, 32, "batch", log=True, marks=marks)
    assert shown(Plane(76, 12, across, TENTHS))[-2].split() == ["1", "2", "4", "8", "16", "32"]
    few = shown(Plane(26, 8, across, TENTHS))[-1].split()
    assert few[-1] == "batch"
    assert set(few[:-1]) < {str(mark) for mark in marks}


def test_a_terminal_of_ascii_has_strokes_of_its_own() -> None:
    assert to_ascii("▁─▔╱╲┊") == "_-'/\\:"


def test_an_axis_between_two_neighbouring_numbers_has_no_places() -> None:
    low = 1e10
    assert math.log(math.nextafter(low, math.inf)) == math.log(low)
    assert Axis(low, math.nextafter(low, math.inf), log=True).share(low) is None
