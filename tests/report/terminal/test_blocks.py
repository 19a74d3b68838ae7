"""Plots in a terminal: their legends show what is drawn, and axes side by side say where they differ in kind."""

from __future__ import annotations

from hettop.report.page import Beside, Figure, Page, Paragraph, Plot, Scale, Section, Series, Spot
from hettop.report.terminal.blocks import block_text, page_text


def lines(*series: Series, width: int = 80) -> list[str]:
    return block_text([Plot(series, Scale("batch"), Scale("items/s"), "a caption")], width).splitlines()


def test_a_series_of_sized_points_is_named_by_its_largest_glyph() -> None:
    small = Series("small", [Spot(1, 1, share=0.001), Spot(2, 2, share=0.02)], joined=False)
    large = Series("large", [Spot(3, 3, share=0.2)], joined=False)
    shown = lines(small, large)
    assert shown[0] == "• small  ● large  ● 5% or more  • 1% or more  · less"
    assert sum(each.count("·") for each in shown[1:]) == 1


def test_points_of_one_size_need_no_sizes() -> None:
    assert lines(Series("a", [Spot(1, 1, share=0.2)]), Series("b", [Spot(2, 2, share=0.3)]))[0] == "● a  ● b"


def test_a_series_of_numbers_is_named_by_them() -> None:
    numbered = Series("slow", [Spot(1, 1, mark="1", share=0.2), Spot(2, 2, mark="4", share=0.2)], joined=False)
    assert lines(numbered, Series("whole", [Spot(3, 3)]))[0] == "1 4 slow  ◆ whole"


def test_hollow_points_are_hollow_in_the_legend() -> None:
    assert lines(Series("off", [Spot(1, 1, hollow=True)]), Series("on", [Spot(2, 2)]))[0] == "○ off  ◆ on"


def test_a_series_is_named_by_a_filled_point_if_it_has_one() -> None:
    mixed = Series("mixed", [Spot(1, 1, hollow=True), Spot(2, 1)])
    assert lines(mixed, Series("on", [Spot(2, 2)]))[0] == "● mixed  ◆ on"


def test_a_line_alone_takes_no_glyph_of_the_others() -> None:
    roof = Series("roof", [Spot(1, 3), Spot(3, 3)], dots=False)
    assert lines(roof, Series("a", [Spot(1, 1)]), Series("b", [Spot(2, 2)]))[0] == "● a  ◆ b"


def beside(rates: tuple[float, float], times: tuple[float, float]) -> str:
    left, right = (
        Plot([Series("cpu", [Spot(1, one), Spot(2, two)])], Scale("batch"), Scale(name, from_zero=True), "")
        for name, (one, two) in (("items/s", rates), ("ms", times))
    )
    return block_text([Beside(left, right)], 80)


def test_side_by_side_a_logarithmic_and_a_linear_axis_say_so() -> None:
    heading = beside((1.0, 1000.0), (1.0, 2.0)).splitlines()[0]
    assert heading.split() == ["items/s,", "logarithmic", "ms,", "linear"]
    for alike in (beside((1.0, 1000.0), (1.0, 2000.0)), beside((1.0, 2.0), (1.0, 2.0))):
        assert "logarithmic" not in alike
        assert "linear" not in alike


def test_a_report_as_text_has_titles_no_markup_and_no_figures() -> None:
    sections = [
        Section("Latency", [Paragraph("CPU_ONLY@2 < 1 ms"), Figure("<svg/>", "a figure")]),
        Section("Modes", [], 3),
    ]
    assert page_text(Page("a_session", simulated=True, sections=sections), 80) == (
        "a_session\n\n"
        "SIMULATED: these latencies come from a simulated machine; nothing was measured.\n\n"
        "LATENCY\n\nCPU_ONLY@2 < 1 ms\n\n"
        "Modes\n"
    )
