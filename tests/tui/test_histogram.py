"""The histogram: what is drawn for known counts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.report.terminal.lines import text_of, width_of
from hettop.session.views.structs import Axis, BudgetShare, LatencyView, Scale
from hettop.tui.panels.histogram import GUTTER, budget_words, draw_histogram, plot_columns, scale_words
from tests.tui.fakes import EMPTY, LATENCY, LIVE, SECOND, FakeFeed
from tests.tui.screens import running, screen_text

KNOWN = LatencyView(
    unit="CPU_ONLY",
    window_ns=30 * SECOND,
    n=30,
    counts=(0, 1, 2, 4, 8, 16, 8, 4, 2, 1),
    low_ms=0.0,
    high_ms=10.0,
    above=0,
    p50_ms=5.5,
    p90_ms=7.5,
    p99_ms=None,
    max_ms=9.2,
    p99_needs=632,
)


def drawn(view: LatencyView, width: int, height: int) -> list[str]:
    return [text_of(row).rstrip() for row in draw_histogram(view, width, height)]


def test_bars_are_counts_in_eighths_of_the_fullest_column() -> None:
    # Two lines for 16 samples: 1 sample is one eighth of a line, 8 samples are a whole one.
    rows = draw_histogram(KNOWN, 10, 4, braille=False)
    assert text_of(rows[2]) == "     █ ┊  "
    assert text_of(rows[3]) == " ▁▂▄███▄▂▁"


def test_bars_are_coloured_by_band_and_the_bands_distinguished_by_a_guide() -> None:
    bottom = draw_histogram(KNOWN, 10, 4, braille=False)[3]
    assert bottom == ((" ▁▂▄███▄", "low"), ("▂▁", "mid"))
    wide = replace(KNOWN, p99_ms=8.5)
    assert draw_histogram(wide, 10, 4, braille=False)[3] == ((" ▁▂▄███▄", "low"), ("▂", "mid"), ("▁", "high"))
    assert [ink for text, ink in draw_histogram(wide, 10, 4, braille=False)[2] if "┊" in text] == ["mid", "high"]


def test_marks_stand_above_the_columns_of_their_percentiles() -> None:
    marks = drawn(LATENCY, GUTTER + 40, 8)[1][GUTTER:]
    # 2.0 to 4.0 ms over 40 columns: .05 ms a column; the maximum lies beyond the right end.
    assert marks.index("▾50") == 3
    assert marks.index("▾90") == 7
    assert marks.index("▾99") == 16
    assert marks.index("max▾") == 36


def test_percentiles_stand_on_a_line_of_their_own() -> None:
    assert drawn(LATENCY, 70, 8)[0] == "P50 2.19   P90 2.37   P99 2.84   max 6.54   n 1,000"


def test_p99_without_enough_samples_says_how_many_it_needs() -> None:
    assert "P99 n/a: needs 632 more samples" in drawn(KNOWN, 80, 8)[0]
    assert drawn(KNOWN, 34, 8)[0] == "P50 5.50 P90 7.50 P99 n/a max 9.20"


def test_samples_beyond_the_axis_are_counted_at_its_end() -> None:
    rows = drawn(LATENCY, GUTTER + 40, 10)
    assert rows[-1].endswith(" +2 »")
    assert rows[-3].endswith("»")


def test_the_axis_has_round_milliseconds() -> None:
    assert drawn(LATENCY, GUTTER + 40, 10)[-1].split()[:4] == ["2.0", "2.5", "3.0", "3.5"]


def test_counts_for_a_wider_panel_are_added_up_not_lost() -> None:
    narrow = draw_histogram(replace(KNOWN, counts=(1,) * 20), 10, 3, braille=False)
    assert text_of(narrow[-1]) == "█" * 10


def test_in_braille_a_cell_has_two_columns_of_four_dots() -> None:
    # Two lines are 8 dots, of 16 samples: 1 or 2 samples are 1 dot, 8 are 4. The fourth and fifth column share a cell.
    rows = draw_histogram(replace(KNOWN, p90_ms=None), 5, 4)
    assert [text_of(row) for row in rows[2:]] == ["  ⢸  ", "⢀⣠⣿⣧⣀"]


def test_a_logarithmic_axis_of_counts_begins_at_half_a_sample() -> None:
    # Of 8 samples, which are 16 halves, 1 is log 2 / log 16 = a quarter: 2 eighths of a line.
    view = replace(KNOWN, counts=(0, 1, 2, 8), p90_ms=None, scale=Scale.LOG_Y)
    assert text_of(draw_histogram(view, 4, 2, braille=False)[1]) == " ▂▄█"


def test_the_labels_of_a_logarithmic_axis_of_counts_are_powers_of_ten() -> None:
    view = replace(KNOWN, counts=(1, 500, 3), scale=Scale.LOG_Y)
    labels = [row.split()[0] for row in drawn(view, 60, 14) if "┤" in row]
    assert labels == ["100", "10", "1"]


def test_a_cdf_has_shares_and_counts_what_is_below_the_axis() -> None:
    view = replace(KNOWN, n=40, counts=(0, 10, 0, 20), below=10, p90_ms=None, p50_ms=None, max_ms=None, scale=Scale.CDF)
    rows = drawn(view, GUTTER + 23, 13)
    assert [row.split()[0] for row in rows if "┤" in row] == ["100%", "50%"]
    assert rows[-1].startswith("  « +10 ")
    # Of 4 samples 1 is below, 1 in the first of four columns and 2 in the last. Of dots 0 to 7 the curve begins at a
    # quarter (1.75), rises to a half (3.5) at once and to all (7) in the end.
    small = replace(view, n=4, counts=(1, 0, 0, 2), below=1)
    assert [text_of(row) for row in draw_histogram(small, 2, 4)[2:]] == ["⣀⣸", "« "]


def test_a_budget_is_a_line_and_the_share_beyond_it_in_words() -> None:
    budget = BudgetShare(limit_ms=8.0, quantile=0.9, n=40, above=5)
    rows = draw_histogram(replace(KNOWN, budget=budget), 10, 6, braille=False)
    assert {text_of(row)[8] for row in rows[2:5]} == {"║"}
    words = budget_words(budget, KNOWN.axis, cdf=False)
    assert text_of(words) == "║ budget 8.00 ms: 5 of 40 samples above (12%), P90 allows 10%"
    assert words[3][1] == "high"
    met = replace(budget, above=4, responses=True)
    assert text_of(budget_words(met, KNOWN.axis, cdf=True)).endswith("4 of 40 responses above (10%), P90 allows 10%")
    assert budget_words(met, KNOWN.axis, cdf=True)[3][1] == "strong"
    far = replace(budget, limit_ms=99.0, above=0)
    assert text_of(budget_words(far, KNOWN.axis, cdf=False)).startswith("budget 99.0 ms, right of the axis: 0 of 40 ")
    assert budget_words(None, KNOWN.axis, cdf=False) == ()
    assert text_of(budget_words(None, KNOWN.axis, cdf=True)) == "no budget: --budget sets one"


def test_a_logarithmic_axis_has_ticks_at_1_2_and_5() -> None:
    view = replace(KNOWN, low_ms=0.8, high_ms=30.0, log=True)
    assert drawn(view, 70, 10)[-1].split() == ["1", "2", "5", "10", "20"]


def test_the_title_names_a_scale_that_is_not_linear() -> None:
    log, linear = Axis(1.0, 9.0, log=True), Axis(1.0, 9.0)
    assert [scale_words(scale, linear) for scale in Scale] == ["", " · linear", "", " · log y", " · CDF"]
    assert scale_words(Scale.AUTO, log) == " · log x"
    assert scale_words(Scale.CDF, log) == " · CDF, log x"


async def test_too_few_samples_are_said_and_nothing_is_drawn() -> None:
    for view, words in (
        (replace(LATENCY, n=3, needs=7), "3 samples: a distribution needs 7 more"),
        (replace(LATENCY, n=0, needs=10, last_ns=20 * SECOND), "no samples since 00:20, 63 s ago"),
        (EMPTY.latency, "no unit yet"),
    ):
        async with running(FakeFeed(replace(LIVE, latency=view))) as (app, _):
            panel = screen_text(app).partition("2 timeline")[0]
            assert words in panel
            assert "P90" not in panel
            assert "┴" not in panel


@pytest.mark.parametrize("view", [KNOWN, LATENCY, replace(LATENCY, scale=Scale.CDF), replace(KNOWN, scale=Scale.LOG_Y)])
@given(st.integers(min_value=1, max_value=90), st.integers(min_value=1, max_value=20))
def test_any_size_is_filled_exactly(view: LatencyView, width: int, height: int) -> None:
    rows = draw_histogram(view, width, height)
    assert [width_of(row) for row in rows] == [width] * height


def test_narrow_panels_give_the_gutter_to_the_bars() -> None:
    assert plot_columns(20) == 20
    assert plot_columns(60) == 60 - GUTTER
