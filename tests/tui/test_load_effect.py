"""What competing load does, as it is drawn: distributions over each other, figures with intervals and changes."""

from __future__ import annotations

from hettop.report.terminal.lines import text_of
from hettop.session.views.contrast import ContrastView, Estimate, LoadFigures, UnitContrast
from hettop.tui.screens.load_effect import contrast_lines, distribution_lines, short_lines

WITHOUT = LoadFigures(
    n=1_508,
    quantiles=(Estimate(2.5, 2.48, 2.52), Estimate(2.63, 2.61, 2.65), Estimate(2.83, 2.78, None)),
    throughput_per_s=396.0,
    energy=Estimate(15.4, 15.0, 15.8),
)
UNDER = LoadFigures(
    n=494,
    quantiles=(Estimate(3.75, 3.7, 3.8), Estimate(2.64, 2.6, 2.7), Estimate(None)),
    throughput_per_s=198.0,
    energy=Estimate(None),
)
VIEW = ContrastView("cpu:4", (UnitContrast("CPU_ONLY", WITHOUT, UNDER),), "CPU_ONLY")


def shown(view: ContrastView, width: int) -> list[str]:
    return [text_of(line).rstrip() for line in contrast_lines(view, width)]


def test_each_figure_has_its_interval_and_its_change() -> None:
    """P50 rises by half, intervals apart; P90 by 0.4%, within them; the rate halves, without interval."""
    assert shown(VIEW, 56) == [
        "▷ CPU · without load       cpu:4                 change",
        "  n     1,508              494",
        "  P50   2.50 (2.48-2.52)   3.75 (3.70-3.80)      ↑ +50%",
        "  P90   2.63 (2.61-2.65)   2.64 (2.60-2.70)     ~ +0.4%",
        "  P99   2.83 (from 2.78)   n/a                      n/a",
        "  inf/s 396                198                     -50%",
        "  mJ    15.4 (15.0-15.8)   n/a                      n/a",
    ]


def test_a_narrow_one_leaves_the_intervals_out() -> None:
    assert shown(VIEW, 40)[2] == "  P50   2.50       3.75          ↑ +50%"


def test_what_was_not_measured_says_so() -> None:
    rows = shown(ContrastView("cpu:4", (UnitContrast("ALL", None, UNDER),), "CPU_ONLY"), 56)
    assert rows[0].startswith("  ALL · without load")
    assert rows[1] == "  n     not measured       494"
    assert rows[2] == "  P50   n/a                3.75 (3.70-3.80)         n/a"


def test_a_rate_of_few_samples_is_not_shown() -> None:
    few = LoadFigures(n=63, quantiles=(Estimate(None),) * 3, throughput_per_s=100.0, energy=Estimate(None))
    rows = shown(ContrastView("cpu:4", (UnitContrast("ALL", WITHOUT, few),), None), 56)
    assert rows[5] == "  inf/s 396                n/a                      n/a"


def test_a_low_place_has_a_line_for_each_unit() -> None:
    rows = [text_of(line).rstrip() for line in short_lines(VIEW, 76)]
    assert rows == [
        "                  P50            P90    change            P99          inf/s",
        "▷ CPU     2.50 → 3.75    2.63 → 2.64   ~ +0.4%     2.83 → n/a      396 → 198",
    ]


def test_both_distributions_are_shaded_where_they_overlap() -> None:
    """Four columns, two lines: without load alone, both, under load alone and half as high, none."""
    view = ContrastView("cpu:4", VIEW.rows, "CPU_ONLY", 2.0, 4.0, (1.0, 0.5, 0.0, 0.0), (0.0, 1.0, 0.5, 0.0))
    rows = [text_of(line) for line in distribution_lines(view, 60, 5)]
    assert rows[0].rstrip() == "CPU_ONLY ms  ░ without load  █ cpu:4  ▒ both"
    assert [row[:4] for row in rows[1:3]] == ["░█  ", "░▒█ "]


def test_of_one_distribution_the_other_is_not_named() -> None:
    view = ContrastView("cpu:4", VIEW.rows, "CPU_ONLY", 2.0, 4.0, (), (0.0, 1.0, 0.5, 0.0))
    rows = [text_of(line) for line in distribution_lines(view, 60, 5)]
    assert rows[0].rstrip() == "CPU_ONLY ms  █ cpu:4"
    assert [row[:4] for row in rows[1:3]] == [" █  ", " ██ "]


def test_samples_beyond_the_axis_are_counted() -> None:
    view = ContrastView("cpu:4", VIEW.rows, "CPU_ONLY", 2.0, 4.0, (1.0, 0.5), (0.0, 1.0), beyond=1_234)
    rows = [text_of(line) for line in distribution_lines(view, 60, 5)]
    assert rows[0].rstrip() == "CPU_ONLY ms  ░ without load  █ cpu:4  ▒ both  » 1,234 beyond"
