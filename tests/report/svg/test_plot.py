"""Points and curves as SVG: they stand where their values say, and no text is markup."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from hettop.report.svg.figures import LEFT, RIGHT, WIDTH
from hettop.report.svg.plot import Scale, Series, Spot, plane


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter("text")]


def begins(svg: str, fill: str) -> list[tuple[float, float]]:
    """Where the shapes of that fill begin."""
    found = re.findall(rf'd="M([0-9.]+) ([0-9.]+)[^"]*" fill="{re.escape(fill)}"', svg)
    return [(float(x), float(y)) for x, y in found]


def test_without_points_there_is_no_drawing() -> None:
    assert plane([Series("a", [])], Scale("batch"), Scale("ms")) == ""


def test_points_stand_where_their_values_say() -> None:
    spots = [Spot(0.0, 1.0), Spot(5.0, 2.0), Spot(10.0, 3.0)]
    svg = plane([Series("a", spots)], Scale("x", log=False), Scale("y", log=False))
    places = begins(svg, "var(--c0)")
    assert len(places) == 3
    steps = [places[i + 1][0] - places[i][0] for i in range(2)]
    assert abs(steps[0] - steps[1]) < 0.2, "evenly apart"
    assert places[0][1] > places[1][1] > places[2][1], "more is higher"
    room = WIDTH - RIGHT - LEFT
    assert abs(places[1][0] + 5 - (LEFT + room / 2)) < 0.2, "the middle one in the middle"


def test_series_differ_in_shape_and_only_several_have_a_legend() -> None:
    one = plane([Series("alone", [Spot(1, 1)])], Scale("x"), Scale("y"))
    assert "alone" not in one
    two = plane([Series("a", [Spot(1, 1)]), Series("b", [Spot(2, 2)])], Scale("x"), Scale("y"))
    assert {"a", "b"} <= set(texts(two))
    assert "a5.0 5.0" in two, "a disc"
    assert begins(two, "var(--c1)")


def test_what_failed_is_a_cross_with_its_reason_at_its_place() -> None:
    svg = plane([Series("a", [Spot(1, 1), Spot(2, 2)])], Scale("batch", ticks=[1, 2, 4]), Scale("ms"), [(4, "failed")])
    assert "var(--warn)" in svg
    assert {"failed", "1", "2", "4", "batch"} <= set(texts(svg))


def test_texts_are_data() -> None:
    svg = plane([Series("<b>", [Spot(1, 1, "<script>")]), Series("&", [Spot(2, 2)])], Scale('"x"'), Scale("y\x1b"))
    assert "<script>" in texts(svg), "after unescaping"
    assert "\x1b" not in svg
    assert "<script>" not in svg
