"""Points and curves as SVG: they stand where their values say, and no text is markup."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from hettop.report.page import Plot, Scale, Series, Spot
from hettop.report.svg.figures import LEFT, RIGHT, WIDTH
from hettop.report.svg.plot import plot_svg

LINEAR = Scale("x", log=False)


def drawn(*series: Series, across: Scale = LINEAR, failed: list[tuple[float, str]] | None = None) -> str:
    return plot_svg(Plot(series, across, Scale("y", log=False), "a caption", failed or []))


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter("text")]


def begins(svg: str, fill: str) -> list[tuple[float, float]]:
    """Where the shapes of that fill begin."""
    found = re.findall(rf'd="M([0-9.]+) ([0-9.]+)[^"]*" fill="{re.escape(fill)}"', svg)
    return [(float(x), float(y)) for x, y in found]


def test_without_points_there_is_no_drawing() -> None:
    assert drawn(Series("a", [])) == ""


def test_points_stand_where_their_values_say() -> None:
    svg = drawn(Series("a", [Spot(0.0, 1.0), Spot(5.0, 2.0), Spot(10.0, 3.0)]))
    places = begins(svg, "var(--c0)")
    assert len(places) == 3
    steps = [places[i + 1][0] - places[i][0] for i in range(2)]
    assert abs(steps[0] - steps[1]) < 0.2, "evenly apart"
    assert places[0][1] > places[1][1] > places[2][1], "more is higher"
    room = WIDTH - RIGHT - LEFT
    assert abs(places[1][0] + 5 - (LEFT + room / 2)) < 0.2, "the middle one in the middle"


def test_series_differ_in_shape_and_only_several_have_a_legend() -> None:
    assert "alone" not in drawn(Series("alone", [Spot(1, 1)]))
    two = drawn(Series("a", [Spot(1, 1)]), Series("b", [Spot(2, 2)]))
    assert {"a", "b"} <= set(texts(two))
    assert "a5.0 5.0" in two, "a disc"
    assert begins(two, "var(--c1)")


def test_a_series_of_hollow_points_is_hollow_in_the_legend_too() -> None:
    """A disc of another series beside it, filled."""
    svg = drawn(Series("a", [Spot(1, 1)]), Series("b", [Spot(2, 2, hollow=True)]))
    assert len(begins(svg, "var(--c0)")) == 2
    assert (len(begins(svg, "var(--paper)")), len(begins(svg, "var(--c1)"))) == (2, 0)


def test_a_line_alone_has_no_shapes_and_no_place_in_the_legend() -> None:
    svg = drawn(Series("a", [Spot(1, 1)]), Series("a line", [Spot(1, 1), Spot(2, 2)], dots=False, tone="mid"))
    assert "a line" not in texts(svg)
    assert 'fill="none" stroke="var(--c1)"' in svg
    assert not begins(svg, "var(--c1)")


def test_the_larger_the_share_the_larger_the_shape_and_a_mark_stands_in_it() -> None:
    """36 times the root of the share is the radius: 9 for a sixteenth, 16 at most."""
    svg = drawn(Series("a", [Spot(1, 1, share=1 / 16, mark="7"), Spot(2, 2, share=1.0)]))
    assert re.findall(r"a([0-9.]+) [0-9.]+ 0 1 0", svg)[::2] == ["9.0", "16.0"]
    assert "7" in texts(svg)


def test_what_failed_is_a_cross_with_its_reason_at_its_place() -> None:
    points = Series("a", [Spot(1, 1), Spot(2, 2)])
    svg = drawn(points, across=Scale("batch", ticks=[1, 2, 4]), failed=[(4, "failed")])
    assert "var(--warn)" in svg
    assert {"failed", "1", "2", "4", "batch"} <= set(texts(svg))


def test_texts_are_data() -> None:
    series = Series("<b>", [Spot(1, 1, "<script>")]), Series("&", [Spot(2, 2)])
    svg = plot_svg(Plot(series, Scale('"x"'), Scale("y\x1b"), ""))
    assert "<script>" in texts(svg), "after unescaping"
    assert "\x1b" not in svg
    assert "<script>" not in svg
