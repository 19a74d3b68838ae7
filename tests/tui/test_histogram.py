"""The histogram: what is drawn for known counts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.report.terminal.lines import text_of, width_of
from hettop.session.views.structs import LatencyView
from hettop.tui.panels.latency import GUTTER, draw_histogram, plot_columns
from tests.tui.fakes import EMPTY, LATENCY, SECOND

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
    rows = draw_histogram(KNOWN, 10, 4)
    assert text_of(rows[2]) == "     █ ┊  "
    assert text_of(rows[3]) == " ▁▂▄███▄▂▁"


def test_bars_are_coloured_by_band_and_the_bands_distinguished_by_a_guide() -> None:
    bottom = draw_histogram(KNOWN, 10, 4)[3]
    assert bottom == ((" ▁▂▄███▄", "low"), ("▂▁", "mid"))
    wide = replace(KNOWN, p99_ms=8.5)
    assert draw_histogram(wide, 10, 4)[3] == ((" ▁▂▄███▄", "low"), ("▂", "mid"), ("▁", "high"))
    assert [ink for text, ink in draw_histogram(wide, 10, 4)[2] if "┊" in text] == ["mid", "high"]


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
    assert rows[-1].endswith("2 »")
    assert rows[-3].endswith("»")


def test_the_axis_has_round_milliseconds() -> None:
    assert drawn(LATENCY, GUTTER + 40, 10)[-1].split()[:4] == ["2.0", "2.5", "3.0", "3.5"]


def test_counts_for_a_wider_panel_are_added_up_not_lost() -> None:
    narrow = draw_histogram(replace(KNOWN, counts=(1,) * 20), 10, 3)
    assert text_of(narrow[-1]) == "█" * 10


def test_no_samples_is_said() -> None:
    assert any("no samples" in row for row in drawn(EMPTY.latency, 60, 8))


@pytest.mark.parametrize("view", [KNOWN, LATENCY, EMPTY.latency])
@given(st.integers(min_value=1, max_value=90), st.integers(min_value=1, max_value=20))
def test_any_size_is_filled_exactly(view: LatencyView, width: int, height: int) -> None:
    rows = draw_histogram(view, width, height)
    assert [width_of(row) for row in rows] == [width] * height


def test_narrow_panels_give_the_gutter_to_the_bars() -> None:
    assert plot_columns(20) == 20
    assert plot_columns(60) == 60 - GUTTER
