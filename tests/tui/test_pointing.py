"""Pointing at units: cursor, details, what is in sight where not all of it fits; and events further back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from hettop.events import Failure
from hettop.report.terminal.lines import text_of
from hettop.session.views.structs import LogLine, SessionView
from hettop.tui.app import HettopApp
from hettop.tui.dialogs import LEGEND
from hettop.tui.keys import KEYS
from hettop.tui.panels.unit_table import Pointing, details_of, draw_units
from tests.tui.fakes import DOUBTFUL, EMPTY, LATENCY, LIVE, REPLAY, SECOND, UNITS, FakeFeed, row
from tests.tui.screens import running, screen_text, settled

FIRST_DETAIL = DOUBTFUL.units.rows[0].details[0]
MANY = replace(LIVE, units=replace(UNITS, rows=tuple(row(f"CPU_ONLY@{n}", 5.0 + n, active=n == 2) for n in range(30))))
CHATTY = replace(LIVE, log=tuple(LogLine(t=n * SECOND, level="info", words=f"event {n}") for n in range(60)))


def under_cursor(app: HettopApp) -> list[str]:
    """What stands in reverse on the units panel."""
    panel = app.query_one("#panel-3")
    lines = panel.lines(panel.size.width, panel.size.height)  # type: ignore[attr-defined]
    return [text.strip() for spans in lines for text, ink in spans if ink == "badge"]


def words(session: SessionView, width: int, height: int, pointing: Pointing) -> list[str]:
    return [text_of(spans).rstrip() for spans in draw_units(session.units, width, height, pointing).lines]


class TestTable:
    def test_the_unit_looked_at_is_marked_beside_the_one_that_runs(self) -> None:
        text = words(LIVE, 76, 5, Pointing(viewed="CPU_ONLY"))
        assert [line[:2] for line in text[1:]] == ["▶ ", "  ", "▷ ", "  "]

    def test_a_failure_stands_in_place_of_that_mark(self) -> None:
        failed = replace(LIVE, units=replace(UNITS, rows=(row("ALL", state="failed"),)))
        assert words(failed, 76, 5, Pointing(viewed="ALL"))[1].startswith("✗ ALL")

    @pytest.mark.parametrize("at", [0, 1, 15, 28, 29])
    def test_the_row_under_the_cursor_is_in_sight(self, at: int) -> None:
        drawn = draw_units(MANY.units, 76, 6, Pointing(cursor=f"CPU_ONLY@{at}"))
        assert f"CPU_ONLY@{at}" in drawn.units
        assert text_of(drawn.lines[0]).split()[0] == "unit"
        assert len(drawn.lines) == 6
        assert drawn.hidden == 25

    def test_opened_details_are_in_sight_with_their_row(self) -> None:
        rows = (
            *MANY.units.rows[:20],
            replace(DOUBTFUL.units.rows[0], active=False, runs_now=False),
            *MANY.units.rows[20:],
        )
        session = replace(LIVE, units=replace(UNITS, rows=rows))
        text = words(session, 76, 6, Pointing(cursor="CPU_AND_NE", opened="CPU_AND_NE"))
        assert text[1].startswith(" !CPU_AND_NE") or text[2].startswith(" !CPU_AND_NE")
        assert FIRST_DETAIL in "\n".join(text)

    def test_details_are_wrapped_and_not_cut(self) -> None:
        told = details_of(DOUBTFUL.units.rows[0], 40)
        assert " ".join(text for text, _ in told) == " ".join(DOUBTFUL.units.rows[0].details)
        assert all(len(text) <= 36 for text, _ in told)

    def test_a_unit_that_failed_reports_its_whole_error_and_its_last_words(self) -> None:
        failure = Failure(
            kind="load", message="the plan " * 12, hint="try CPU_ONLY", log=["Traceback", "ValueError: no"]
        )
        told = [text for text, _ in details_of(row("ALL", state="failed", error=failure), 60, opened=True)]
        assert told[-2:] == ["Traceback", "ValueError: no"]
        assert " ".join(told[:-2]).endswith("try CPU_ONLY")

    def test_a_short_error_is_not_said_twice(self) -> None:
        failure = Failure(kind="load", message="no such file", log=["last words"])
        told = details_of(row("ALL", state="failed", error=failure), 76, opened=True)
        assert told == [("last words", "muted")]

    def test_a_unit_of_which_nothing_is_known_says_so_when_asked(self) -> None:
        assert details_of(row("ALL"), 76) == []
        assert len(details_of(row("ALL"), 76, opened=True)) == 1


class TestKeys:
    async def test_the_cursor_is_there_while_the_panel_has_the_focus(self) -> None:
        async with running(FakeFeed()) as (app, pilot):
            assert under_cursor(app) == []
            await pilot.press("3")
            await settled(pilot)
            assert under_cursor(app) == ["CPU_AND_NE‹"]
            await pilot.press("down", "down")
            await settled(pilot)
            assert under_cursor(app) == ["CPU_ONLY‹"]
            await pilot.press(*["up"] * 9)
            await settled(pilot)
            assert under_cursor(app) == ["CPU_AND_NE‹"]

    async def test_it_moves_no_measurement(self) -> None:
        feed = FakeFeed()
        async with running(feed) as (_, pilot):
            await pilot.press("3", "down", "enter", "down", "enter")
        assert feed.told.calls == []

    @pytest.mark.parametrize("size", [(120, 40), (80, 24)])
    async def test_enter_opens_the_details_and_closes_them(self, size: tuple[int, int]) -> None:
        async with running(FakeFeed(DOUBTFUL), size=size) as (app, pilot):
            assert FIRST_DETAIL not in screen_text(app)
            await pilot.press("3", "enter")
            await settled(pilot)
            assert FIRST_DETAIL in screen_text(app)
            await pilot.press("enter")
            await settled(pilot)
            assert FIRST_DETAIL not in screen_text(app)

    async def test_enter_on_another_panel_does_nothing(self) -> None:
        async with running(FakeFeed(DOUBTFUL)) as (app, pilot):
            before = screen_text(app)
            await pilot.press("enter", "up", "down")
            await settled(pilot)
            assert screen_text(app) == before

    async def test_zoomed_the_panel_reports_everything_by_itself(self) -> None:
        async with running(FakeFeed(DOUBTFUL)) as (app, pilot):
            await pilot.press("3", "z")
            await settled(pilot)
            assert FIRST_DETAIL in screen_text(app)

    async def test_a_second_click_opens_the_details_of_the_unit_that_the_first_chose(self) -> None:
        feed = FakeFeed(DOUBTFUL)
        async with running(feed) as (app, pilot):
            y = next(y for y, line in enumerate(screen_text(app).splitlines()) if "▶!CPU_AND_NE" in line)
            await pilot.click(offset=(10, y), times=2)
            await settled(pilot)
            assert FIRST_DETAIL in screen_text(app)
        assert feed.told.calls == [("switch", "CPU_AND_NE")]

    async def test_rows_that_do_not_fit_come_into_sight_one_by_one(self) -> None:
        async with running(FakeFeed(MANY), size=(80, 24)) as (app, pilot):
            assert "CPU_ONLY@29" not in screen_text(app)
            assert "more lines" in screen_text(app)
            await pilot.press("3", *["down"] * 40)
            await settled(pilot)
            assert "CPU_ONLY@29" in screen_text(app)

    async def test_a_replay_looks_at_one_unit_while_another_ran(self) -> None:
        looked = replace(LIVE, latency=replace(LATENCY, unit="CPU_ONLY"))
        async with running(FakeFeed(looked, replay=REPLAY)) as (app, _):
            assert "▷ CPU_ONLY" in screen_text(app)

    async def test_events_scroll_to_the_first_and_back(self) -> None:
        async with running(FakeFeed(CHATTY)) as (app, pilot):
            assert shown_events(app)[-1] == "event 59"
            await pilot.press("4", "up", "up")
            await settled(pilot)
            assert shown_events(app)[-1] == "event 57"
            assert "2 below" in screen_text(app)
            await pilot.press(*["up"] * 99)
            await settled(pilot)
            assert shown_events(app)[0] == "event 0"
            await pilot.press(*["down"] * 99)
            await settled(pilot)
            assert shown_events(app)[-1] == "event 59"


def shown_events(app: HettopApp) -> Sequence[str]:
    found = [line.rpartition("   event ")[2] for line in screen_text(app).splitlines() if "   event " in line]
    return [f"event {rest.split()[0]}" for rest in found]


async def test_a_replay_without_power_looks_for_no_source() -> None:
    async with running(FakeFeed(EMPTY, replay=REPLAY)) as (app, _):
        assert "n/a: no power in the recording" in screen_text(app)
        assert "looking for a source" not in screen_text(app)


async def test_the_help_explains_every_glyph() -> None:
    async with running(FakeFeed(), size=(120, 90)) as (app, pilot):
        await pilot.press("question_mark")
        await settled(pilot)
        text = screen_text(app)
        for shown, meaning in LEGEND:
            assert shown in text
            assert " ".join(meaning.split()[:4]) in text


def test_scrolling_and_details_can_be_remapped() -> None:
    assert {"scroll.up", "scroll.down", "details"} <= {key.id for key in KEYS}
