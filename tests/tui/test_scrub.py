"""The scrub bar with the whole recording in it: bands, changes, the selection and its statistics."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.report.terminal.glyphs import to_ascii
from hettop.report.terminal.lines import text_of, width_of
from hettop.session.views.replay import Band, SelectedUnit, Selection
from hettop.tui.panels.scrub import draw_bands, scrub_line, scrub_lines, selection_line, track_width
from tests.tui.fakes import HOSTILE, REPLAY, SECOND, FakeFeed
from tests.tui.screens import running, screen_text, settled

NE = SelectedUnit("CPU_AND_NE", 4_210, 2.19, 2.37, 6.54, 2, True)
CPU = SelectedUnit("CPU_ONLY", 310, 5.19, 5.37, 9.54, None, False)
SELECTED = Selection(10 * SECOND, 20 * SECOND, False, 1.0, (NE, CPU))


def band(p50_ms: float, max_ms: float) -> Band:
    return Band("CPU_ONLY", 10, p50_ms, p50_ms * 1.1, max_ms)


class TestBands:
    def test_each_line_rises_with_its_percentile_and_says_what_its_top_is(self) -> None:
        highest, p90, p50 = (text_of(row) for row in draw_bands([band(1, 2), band(2, 4), band(4, 8)], 6, 3, 10))
        assert p50 == "  P50 ▂▄█ ↑4.00 ms "
        assert p90 == "  P90 ▂▄█ ↑4.40 ms "
        assert highest == "  max ▂▄█ ↑8.00 ms "

    def test_what_is_not_known_is_empty_and_not_low(self) -> None:
        assert text_of(draw_bands([None, band(1, 1), None], 6, 3, 10)[2])[6:9] == " █ "
        assert text_of(draw_bands([], 6, 3, 10)[2]).strip() == "P50"

    def test_one_spike_does_not_flatten_the_rest(self) -> None:
        row = text_of(draw_bands([*[band(1, 2)] * 8, band(1, 500)], 6, 9, 10)[0])
        assert row[6:15] == "▂" * 8 + "⇡"
        assert "↑500 ms" in row, "the highest of all, as elsewhere on the screen, and not the end of the scale"

    @given(st.lists(st.none() | st.builds(band, st.floats(0, 1e6), st.floats(0, 1e6)), max_size=40), st.integers(1, 60))
    def test_any_width_is_filled(self, bands: list[Band | None], track: int) -> None:
        for row in draw_bands(bands, 12, track, 13):
            assert width_of(row) == 12 + track + 13
            assert "?" not in to_ascii(text_of(row))


class TestTrack:
    def test_changes_of_units_and_load_stand_where_they_happened(self) -> None:
        status = replace(
            REPLAY,
            position_ns=0,
            marks_ns=(40 * SECOND,),
            changes=((0, "control"), (20 * SECOND, "control"), (30 * SECOND, "load")),
        )
        width = 31 + 12 + 13
        track = text_of(scrub_line(status, width))[12:43]
        assert track == "╸" + "─" * 9 + "▸" + "─" * 4 + "◇" + "─" * 4 + "◆" + "─" * 10

    def test_a_selection_is_drawn_between_its_ends(self) -> None:
        status = replace(REPLAY, position_ns=0, marks_ns=(), selection=SELECTED)
        line = scrub_line(status, 31 + 12 + 13)
        assert text_of(line)[12:43] == "╸────(────)" + "─" * 20
        assert ("(────)", "warning") in line

    def test_one_line_where_there_is_no_room_for_more(self) -> None:
        assert len(scrub_lines(REPLAY, (), 80, 1)) == 1
        assert len(scrub_lines(replace(REPLAY, selection=SELECTED), (), 80, 2)) == 2
        assert len(scrub_lines(REPLAY, (), 120, 4)) == 4
        assert len(scrub_lines(replace(REPLAY, selection=SELECTED), (), 120, 5)) == 5

    def test_a_column_of_the_overview_stands_above_the_same_moment_of_the_track(self) -> None:
        status = replace(REPLAY, position_ns=30 * SECOND)
        columns = track_width(status, 120)
        bands = [band(1, 1)] * columns
        bands[columns // 2] = band(4, 8)
        rows = [text_of(row) for row in scrub_lines(status, tuple(bands), 120, 4)]
        assert abs(rows[2].index("█") - rows[3].index("╸")) <= 1, "to a column: one has edges, the other middles"


class TestSelection:
    def test_all_units_that_fit_are_reported(self) -> None:
        text = text_of(selection_line(SELECTED, 160))
        assert "( 00:10.0 – 00:20.0 )" in text
        assert "CPU_AND_NE n 4,210 P50 2.19 P90 2.37 max 6.54 2 spikes" in text
        assert "CPU_ONLY n 310 P50 ~5.19 P90 ~5.37 max 9.54 spikes n/a" in text

    def test_a_narrow_one_reports_the_first_and_counts_the_rest(self) -> None:
        text = text_of(selection_line(SELECTED, 80))
        assert "NE n" in text
        assert "P90 2.37" in text
        assert text.rstrip().endswith("+1 more")

    @pytest.mark.parametrize(
        ("selection", "words"),
        [
            (Selection(10 * SECOND, None), ") sets the other end"),
            (Selection(None, 10 * SECOND), "( sets the other end"),
            (Selection(0, 10 * SECOND, share=0.25), "reading 25%"),
            (Selection(0, 10 * SECOND, share=1.0), "no steady samples"),
            (replace(SELECTED, looping=True), "loop"),
        ],
    )
    def test_what_is_missing_is_said(self, selection: Selection, words: str) -> None:
        assert words in text_of(selection_line(selection, 120))

    @given(st.integers(1, 200))
    def test_any_width_is_filled(self, width: int) -> None:
        assert width_of(selection_line(SELECTED, width)) == width

    def test_a_hostile_name_is_harmless(self) -> None:
        text = text_of(selection_line(replace(SELECTED, units=(replace(NE, unit=HOSTILE),)), 200))
        assert "\x1b" not in text
        assert "\u202e" not in text


@pytest.mark.parametrize(("size", "lines"), [((120, 40), 4), ((80, 24), 1)])
async def test_there_are_as_many_lines_as_the_screen_has_room_for(size: tuple[int, int], lines: int) -> None:
    async with running(FakeFeed(replay=REPLAY), size=size) as (app, _):
        assert app.query_one("#scrub").size.height == lines
        assert ("↑4.10 ms" in screen_text(app)) == (lines > 1)


async def test_a_selection_brings_its_line_and_takes_it_away_again() -> None:
    feed = FakeFeed(replay=replace(REPLAY, selection=SELECTED))
    async with running(feed, size=(80, 24)) as (app, pilot):
        await settled(pilot)
        assert "P90 2.37" in screen_text(app).splitlines()[-2]
        feed._replay = REPLAY
        app.draw()
        await settled(pilot)
        assert app.query_one("#scrub").size.height == 1


async def test_a_click_on_the_overview_goes_there() -> None:
    feed = FakeFeed(replay=REPLAY)
    async with running(feed) as (app, pilot):
        width = track_width(REPLAY, 120)
        await pilot.click("#scrub", offset=(12 + (width - 1) // 2, 1))
        await settled(pilot)
        assert app.size.width == 120
    ((_, moment),) = feed.told.calls
    assert isinstance(moment, int)
    assert abs(moment - 30 * SECOND) < SECOND


async def test_a_typed_moment_is_gone_to() -> None:
    feed = FakeFeed(replay=REPLAY)
    async with running(feed) as (_, pilot):
        for keys in (("4", "5", "s"), ("5", "0", "%"), ("0", "colon", "0", "7")):
            await pilot.press("g")
            await settled(pilot)
            await pilot.press(*keys, "enter")
            await settled(pilot)
    assert feed.told.calls == [("seek", 45 * SECOND), ("seek", 30 * SECOND), ("seek", 7 * SECOND)]


async def test_what_is_no_moment_is_answered_and_goes_nowhere() -> None:
    feed = FakeFeed(replay=REPLAY)
    async with running(feed) as (app, pilot):
        await pilot.press("g")
        await settled(pilot)
        await pilot.press("x", "enter")
        await settled(pilot)
        assert "invalid moment" in screen_text(app)
        await pilot.press("g")
        await settled(pilot)
        await pilot.press("5", "escape")
        await settled(pilot)
    assert feed.told.calls == []
