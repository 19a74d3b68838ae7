"""The ridgeline: what is drawn for known distributions."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.analysis.budget import Budget
from hettop.report.terminal.glyphs import to_ascii
from hettop.report.terminal.lines import text_of, width_of
from hettop.session.views.structs import Axis, BudgetShare, RidgeRow, RidgeView, Scale, SessionView
from hettop.tui.panels.ridge import draw_ridge, missing_words, ridge_columns, ridge_legend
from hettop.tui.preferences import Preferences
from tests.tui.fakes import LIVE, SECOND, FakeFeed
from tests.tui.screens import running, screen_text, settled

WIDTH = 12 + 10
"""Ten cells, so one for each ms of an axis from 0 to 10 ms."""

NE = RidgeRow(
    unit="CPU_AND_NE",
    n=1_000,
    needs=None,
    curve=(0.0, 0.0, 0.5, 1.0, 1.0, 0.5, *[0.0] * 14),
    below=0,
    above=0,
    p50_ms=2.5,
    p90_ms=4.5,
    p99_ms=7.5,
    measured=True,
)
CPU = RidgeRow("CPU_ONLY", 0, 10, (), 0, 0, None, None, None, last_ns=40 * SECOND)
"""Its last sample was 43 s ago: the session has run for 83 s."""


def shown(*rows: RidgeRow, budget_ms: float | None = None, scale: Scale = Scale.AUTO) -> SessionView:
    axis = Axis(0.0, 10.0) if any(row.curve for row in rows) else None
    return replace(LIVE, ridge=RidgeView(rows, axis, 30 * SECOND, scale, budget_ms, 0.9))


def drawn(session: SessionView, height: int, width: int = 60) -> list[str]:
    return [text_of(row).rstrip() for row in draw_ridge(session, width, height)]


def test_a_density_has_two_columns_and_four_heights_a_cell_and_lines_at_its_percentiles() -> None:
    # 48 cells for 10 ms: P50 is in cell 12, P90 in 21, P99 in 36. The curve's 20 values are stretched over 96 dots.
    rows = drawn(shown(NE), 4)
    assert rows[0][:12] == "▶NE         "
    assert rows[1][:12] == " P90 4.50   "
    for row in rows[:2]:
        assert [row.index(glyph) - 12 for glyph in "┃╎┊"] == [12, 21, 36]
    # The highest reach the upper line, the others half as far, and nothing is where there is no sample.
    assert set(rows[0][12:]) <= set(" ⣿┃╎┊⢸⡇⠀⣀⣤")
    assert set(rows[1][12 + 15 : 12 + 20]) == {" "}


def test_an_axis_of_milliseconds_is_below_all_units() -> None:
    rows = drawn(shown(NE, CPU), 6)
    assert rows[-2][10:13] == " └┴"
    assert rows[-1].split() == ["0", "5"]


def test_one_line_a_unit_has_its_name_and_p90() -> None:
    rows = drawn(shown(NE, NE), 2)
    assert [row[:12] for row in rows] == ["▶NE    4.50 "] * 2


def test_numbers_beside_names_alone_are_named_below_them() -> None:
    *_, axis = drawn(shown(NE), 3)
    assert axis[:12] == "     P90 ms "
    *_, axis = drawn(shown(NE), 4)
    assert not axis[:12].strip(), "with two lines, P90 is before the number"


def test_names_that_differ_in_their_threads_alone_still_differ() -> None:
    rows = [replace(NE, unit=f"CPU_ONLY@{n}", p50_ms=0.3, p90_ms=0.446, measured=False) for n in (1, 2)]
    assert [row[:12] for row in drawn(shown(*rows), 2)] == [" CPU@1 0.45 ", " CPU@2 0.45 "]
    assert [row[:11] for row in drawn(shown(*rows), 3, 40)[:2]] == [" C…@1 0.45 ", " C…@2 0.45 "]


def test_the_axis_comes_before_units_that_have_no_distribution() -> None:
    rows = drawn(shown(NE, CPU, replace(CPU, unit="ALL")), 3)
    assert rows[0].startswith("▶NE    4.50 ")
    assert rows[1:] == ["2 more units: z enlarges the panel", "     P90 ms 0                       5"]
    # Distributions come before the axis.
    assert [row[:4] for row in drawn(shown(NE, NE, NE, CPU), 4)] == ["▶NE ", "▶NE ", "▶NE ", " CPU"]


def test_more_lines_have_more_numbers() -> None:
    over = replace(NE, budget=BudgetShare(4.0, 0.9, 1_000, 125))
    rows = drawn(shown(over), 8)
    assert [row[:12].strip() for row in rows[:6]] == ["▶NE", "P90 4.50", "12% over", "P50 2.50", "P99 7.50", "n 1,000"]


def test_a_budget_is_one_line_through_all_units_and_the_axis() -> None:
    session = shown(NE, CPU, budget_ms=9.0)
    rows = drawn(session, 5)
    assert {row[12 + 43] for row in rows[:3]} == {"║"}
    assert rows[3][12 + 43] == "║"
    assert session.ridge is not None
    assert text_of(ridge_legend(session.ridge)) == "┃ P50  ╎ P90  ┊ P99  ║ budget 9.00 ms at P90"


def test_a_budget_beyond_the_axis_is_said_and_not_drawn() -> None:
    session = shown(NE, budget_ms=16.7)
    assert not any("║" in row for row in drawn(session, 5))
    assert session.ridge is not None
    assert text_of(ridge_legend(session.ridge)).endswith("budget 16.7 ms, right of the axis at P90")


def test_without_a_budget_the_legend_names_the_percentiles() -> None:
    ridge = shown(NE).ridge
    assert ridge is not None
    assert text_of(ridge_legend(ridge)) == "┃ P50  ╎ P90  ┊ P99"


def test_a_unit_without_samples_says_since_when() -> None:
    assert drawn(shown(NE, CPU), 5)[2] == " CPU        no samples since 00:40, 43 s ago"
    ages = {83 * SECOND - 119 * SECOND: "119 s", -37 * SECOND: "2 min", 83 * SECOND - 7_200 * SECOND: "2 h"}
    for last_ns, age in ages.items():
        assert missing_words(replace(CPU, last_ns=last_ns), LIVE).endswith(f"{age} ago")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (replace(CPU, n=9, needs=1), "9 samples: a distribution needs 1 more"),
        (replace(CPU, n=1, needs=9), "1 sample: a distribution needs 9 more"),
        (replace(CPU, unit="ALL", last_ns=None), "no samples yet: loading"),
        (replace(CPU, last_ns=80 * SECOND), "no samples under load none; of another load until 01:20"),
    ],
)
def test_what_is_missing_is_said(row: RidgeRow, words: str) -> None:
    assert missing_words(row, LIVE) == words


def test_nothing_is_drawn_of_an_axis_before_there_are_samples() -> None:
    rows = drawn(shown(CPU, replace(CPU, unit="ALL", last_ns=None)), 8)
    assert [row for row in rows if row] == [
        " CPU        no samples since 00:40, 43 s ago",
        " ALL        no samples yet: loading",
    ]


def test_units_that_do_not_fit_are_counted_those_without_samples_first() -> None:
    rows = drawn(shown(CPU, NE, CPU, NE), 3)
    assert [row[:4].strip() for row in rows[:2]] == ["▶NE", "▶NE"]
    assert rows[2] == "2 more units: z enlarges the panel"


def test_a_cdf_rises_from_the_bottom_to_the_top() -> None:
    rising = replace(NE, curve=tuple(i / 20 for i in range(1, 21)), p50_ms=None, p90_ms=None, p99_ms=None)
    rows = drawn(shown(rising, scale=Scale.CDF), 4, WIDTH + 18)
    assert rows[0][11:25].strip() == ""
    assert rows[0].rstrip()[-1] in "⠁⠉⠈"
    assert rows[1][11] != " "


@given(
    st.integers(30, 120),
    st.integers(1, 24),
    st.sampled_from(list(Scale)),
    st.booleans(),
    st.sampled_from([None, 3.0, 99.0]),
)
def test_any_size_is_filled_exactly(width: int, height: int, scale: Scale, braille: bool, budget: float | None) -> None:
    session = shown(NE, CPU, replace(NE, unit="ALL@fp16~long-name"), budget_ms=budget, scale=scale)
    rows = draw_ridge(session, width, height, braille=braille)
    assert [width_of(row) for row in rows] == [width] * height
    assert all(to_ascii(text_of(row)).isascii() for row in rows)


def test_columns_are_the_cells_beside_the_names() -> None:
    assert (ridge_columns(60), ridge_columns(40)) == (48, 29)


async def test_a_toggles_between_all_units_and_one_and_h_goes_through_the_scales() -> None:
    feed = FakeFeed(shown(NE, CPU))
    async with running(feed) as (app, pilot):
        assert "all units" in screen_text(app)
        assert (feed.requests[-1].all_units, feed.requests[-1].scale) == (True, Scale.AUTO)
        await pilot.press("a")
        await settled(pilot)
        assert feed.requests[-1].all_units is False
        scales = []
        for _ in Scale:
            await pilot.press("h")
            await settled(pilot)
            scales.append(feed.requests[-1].scale)
        assert scales == [Scale.LINEAR, Scale.LOG_X, Scale.LOG_Y, Scale.CDF, Scale.AUTO]


async def test_the_view_is_asked_for_the_columns_and_the_budget() -> None:
    feed = FakeFeed(shown(NE, CPU), budget=Budget(1.5, 0.9))
    async with running(feed) as (app, _):
        asked = feed.requests[-1]
        assert (asked.budget_ms, asked.budget_quantile) == (1.5, 0.9)
        assert asked.ridge_columns == 2 * ridge_columns(app.query_one("#panel-1").size.width - 4)


async def test_charts_can_be_drawn_without_braille() -> None:
    for preferences, drawn_in in ((Preferences(), "⣿"), (Preferences(braille=False), "█")):
        async with running(FakeFeed(shown(NE, NE)), preferences=preferences) as (app, _):
            assert drawn_in in screen_text(app).partition("2 timeline")[0]


async def test_a_small_panel_shows_one_unit() -> None:
    async with running(FakeFeed(shown(NE, CPU)), size=(40, 9)) as (app, _):
        assert "CPU_AND_NE" in screen_text(app)
        assert "all units" not in screen_text(app)
