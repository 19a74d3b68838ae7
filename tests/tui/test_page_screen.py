"""Rooms: entered and left by keys, scrolled, and drawn from the same picture as the panels behind them."""

from __future__ import annotations

from textual.pilot import Pilot

from hettop.report.terminal.lines import Line, line
from hettop.tui.app import HettopApp
from hettop.tui.frame_state import FrameState
from hettop.tui.screens import SCREENS
from hettop.tui.screens.page_screen import PageScreen
from tests.tui.fakes import PAUSED, REPLAY, SECOND, FakeFeed
from tests.tui.screens import running, screen_text, settled
from tests.tui.test_spikes_screen import VIEW


class Numbers(PageScreen):
    """A hundred lines with their numbers."""

    def heading(self, frame_state: FrameState) -> Line:
        return line((f"numbers of {frame_state.session.header.model}", "title"))

    def rows(self, frame_state: FrameState, width: int, height: int) -> list[Line]:
        return [line((f"line {i}", "text")) for i in range(100)]


class Choosing(Numbers):
    """The same with a cursor."""

    at = 0

    @property
    def chosen_row(self) -> int:
        return self.at

    def scroll(self, direction: int) -> None:
        self.at += direction
        self.redraw()


async def test_a_room_stands_over_the_panels_and_says_what_the_header_says() -> None:
    async with running(FakeFeed(PAUSED), size=(80, 24)) as (app, pilot):
        await app.push_screen(Numbers(app.run_control))
        await settled(pilot)
        text = screen_text(app)
        assert "numbers of mobilenetv2" in text
        assert "SIMULATED" in text
        assert "PAUSED" in text
        assert "1 latency" not in text


async def test_q_and_escape_leave_the_room_and_not_the_program() -> None:
    for key in ("q", "escape"):
        async with running(FakeFeed(), size=(80, 24)) as (app, pilot):
            await app.push_screen(Numbers(app.run_control))
            await settled(pilot)
            await pilot.press(key)
            await settled(pilot)
            assert app.is_running
            assert "1 latency" in screen_text(app)


async def test_what_does_not_fit_is_scrolled_and_counted() -> None:
    async with running(FakeFeed(), size=(80, 24)) as (app, pilot):
        await app.push_screen(Numbers(app.run_control))
        await settled(pilot)
        assert "0 above, 80 below" in screen_text(app)  # 24 lines less header, hints and two of the frame
        await pilot.press("down", "down", "pagedown")
        await settled(pilot)
        assert "21 above, 59 below" in screen_text(app)  # a page is 22 lines less 3
        await pilot.press("up")
        await settled(pilot)
        assert "│ line 20 " in screen_text(app)
        assert "line 19 " not in screen_text(app)
        await pilot.press(*["pagedown"] * 9)
        await settled(pilot)
        assert "80 above, 0 below" in screen_text(app)


async def test_home_and_end_go_to_the_top_and_to_the_bottom() -> None:
    async with running(FakeFeed(), size=(80, 24)) as (app, pilot):
        await app.push_screen(Numbers(app.run_control))
        await settled(pilot)
        assert "0 above, 80 below" in screen_text(app)
        await pilot.press("end")
        await settled(pilot)
        assert "80 above, 0 below" in screen_text(app)
        assert "│ line 99 " in screen_text(app)
        await pilot.press("up")
        await settled(pilot)
        assert "79 above, 1 below" in screen_text(app)
        await pilot.press("home")
        await settled(pilot)
        assert "0 above, 80 below" in screen_text(app)


async def test_in_a_room_of_a_replay_they_do_not_seek() -> None:
    feed = FakeFeed(replay=REPLAY)
    async with running(feed, size=(80, 24)) as (app, pilot):
        await app.push_screen(Numbers(app.run_control))
        await settled(pilot)
        await pilot.press("end", "home")
        await settled(pilot)
        assert feed.told.calls == []
        await pilot.press("q", "end")
        await settled(pilot)
    assert [call[0] for call in feed.told.calls] == ["seek"]


async def test_the_cursor_is_kept_in_sight() -> None:
    async with running(FakeFeed(), size=(80, 24)) as (app, pilot):
        await app.push_screen(Choosing(app.run_control))
        await settled(pilot)
        await pilot.press(*["down"] * 25)
        await settled(pilot)
        text = screen_text(app)
        assert "line 25" in text
        assert "line 26" not in text


async def test_keys_of_the_measurement_work_in_a_room() -> None:
    feed = FakeFeed()
    async with running(feed) as (app, pilot):
        await app.push_screen(Numbers(app.run_control))
        await settled(pilot)
        await pilot.press("space", "i")
    assert feed.told.calls == [("toggle_pause",), ("interleave",)]


async def test_a_rooms_key_enters_it_and_leaves_it_again() -> None:
    SCREENS["numbers"] = Numbers
    try:
        async with running(FakeFeed()) as (app, pilot):
            app.action_screen("numbers")
            await settled(pilot)
            assert app.page_screen is not None
            app.action_screen("numbers")
            await settled(pilot)
            assert app.page_screen is None
    finally:
        del SCREENS["numbers"]


async def test_escape_closes_details_then_the_zoom() -> None:
    async with running(FakeFeed(), size=(120, 40)) as (app, pilot):
        await pilot.press("z")
        await settled(pilot)
        assert "3 units" not in screen_text(app)
        await pilot.press("escape")
        await settled(pilot)
        assert "3 units" in screen_text(app)


async def click_on(app: HettopApp, pilot: Pilot[None], text: str) -> None:
    """A click on the first cell of the first place at which this stands."""
    y = next(y for y, row in enumerate(screen_text(app).splitlines()) if text in row)
    await pilot.click(offset=(screen_text(app).splitlines()[y].index(text), y))
    await settled(pilot)


async def test_a_click_on_a_dial_chooses_it_and_one_on_a_hint_presses_its_key() -> None:
    feed = FakeFeed()
    async with running(feed, size=(80, 24)) as (app, pilot):
        await pilot.press("l")
        await settled(pilot)
        await click_on(app, pilot, "memory ")
        assert "▷ memory" in screen_text(app)
        await click_on(app, pilot, "→ level")
        await click_on(app, pilot, "no load")
        await click_on(app, pilot, "←→ level")
        await click_on(app, pilot, "Esc back")
        assert app.page_screen is None
    assert feed.told.calls == [("change_load", "memory", 1, 100), ("end_load",)]  # less than none there is not


async def test_a_click_puts_the_cursor_on_a_spike_and_a_second_one_goes_there() -> None:
    feed = FakeFeed(VIEW, replay=REPLAY)
    async with running(feed, size=(80, 24)) as (app, pilot):
        await pilot.press("s")
        await settled(pilot)
        await click_on(app, pilot, "01:18.00")
        assert "▷ 01:18.00" in screen_text(app)
        assert feed.told.calls == []
        await click_on(app, pilot, "correlated events")
        assert feed.told.calls == []
        await click_on(app, pilot, "01:18.00")
    assert feed.told.calls[-1] == ("seek", 79 * SECOND)  # as by Enter: a second behind it


async def test_a_tick_that_comes_after_the_screens_have_gone_draws_nothing() -> None:
    async with running(FakeFeed(), size=(80, 24)) as (app, _):
        drawn = app.frame_state
    assert app.screen_stack == []
    app.frame()
    app.draw()
    assert app.page_screen is None
    assert app.frame_state is drawn


async def test_a_terminal_that_grows_under_a_dialog_over_a_page_beside_the_panels_is_drawn() -> None:
    async with running(FakeFeed(), size=(100, 30)) as (app, pilot):
        for key in ("v", "question_mark"):
            await pilot.press(key)
            await settled(pilot)
        await pilot.resize_terminal(240, 60)
        await settled(pilot)
        await pilot.press("escape")
        await settled(pilot)
        assert "verdict · at" in screen_text(app)
        assert all(len(line) <= 240 for line in screen_text(app).splitlines())
