"""Keys that come faster than screens open and close: each does what it says, or nothing."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest
from rich.style import Style
from textual.command import CommandList
from textual.css.query import NoMatches
from textual.events import Click, Mount, MouseDown
from textual.geometry import Offset
from textual.widgets import Static
from textual.widgets.option_list import Option

from hettop.tui.actions.display import Palette
from hettop.tui.app import HettopApp
from hettop.tui.dialogs import HelpScreen, MarkScreen
from hettop.tui.pickers import PanelScreen, ThemeScreen
from hettop.tui.screens.verdict import VerdictScreen
from tests.tui.fakes import LIVE, REPLAY, FakeFeed
from tests.tui.screens import running, settled


def at_once(app: HettopApp, *keys: str) -> None:
    """Press the keys before the first one is handled."""
    for key in keys:
        app.simulate_key(key)


def names(app: HettopApp) -> list[str]:
    return [type(screen).__name__ for screen in app.screen_stack[1:]]


@pytest.mark.parametrize(
    ("opening", "burst"),
    [
        ("question_mark", ["question_mark"] * 2),
        ("question_mark", ["escape"] * 3),
        ("m", ["x", *["enter"] * 4]),
        ("m", ["escape", "enter", "escape"]),
        ("slash", ["enter"] * 4),
        ("T", ["down", "enter", "enter", "up", "escape"]),
        ("H", ["escape", "1", "up", "escape"]),
        ("comma", ["right", "enter", "enter", "down", "escape"]),
        ("ctrl+p", ["enter"] * 4),
        ("ctrl+p", ["pageup", "pagedown", "escape", "pageup", "escape"]),
        ("v", ["escape", "escape", "pageup", "home"]),
    ],
)
@pytest.mark.parametrize("opened_before", [True, False])
async def test_no_burst_of_keys_ends_the_app(opening: str, burst: list[str], opened_before: bool) -> None:
    async with running(FakeFeed(LIVE)) as (app, pilot):
        at_once(app, opening)
        if opened_before:
            await settled(pilot)
        at_once(app, *burst)
        await settled(pilot)
        at_once(app, *["escape"] * 3)
        await settled(pilot)
        at_once(app, "f")
        await settled(pilot)
        assert app.is_running
        assert app.frozen or names(app) != []


async def test_a_second_dismissal_leaves_the_screen_below_open() -> None:
    async with running(FakeFeed(LIVE)) as (app, pilot):
        at_once(app, "v")
        await settled(pilot)
        at_once(app, "question_mark")
        await settled(pilot)
        assert names(app) == [VerdictScreen.__name__, HelpScreen.__name__]
        help_screen = app.screen
        help_screen.dismiss()
        help_screen.dismiss()
        await settled(pilot)
        assert names(app) == [VerdictScreen.__name__]


async def test_a_mark_is_written_once_however_often_enter_is_pressed() -> None:
    feed = FakeFeed(LIVE)
    async with running(feed) as (app, pilot):
        at_once(app, "m")
        await settled(pilot)
        assert isinstance(app.screen, MarkScreen)
        at_once(app, "x", "enter", "enter", "enter")
        await settled(pilot)
        assert [call for call in feed.told.calls if call[0] == "mark"] == [("mark", "x")]


@pytest.mark.parametrize("screen", [ThemeScreen, PanelScreen])
async def test_actions_of_a_screen_that_has_closed_do_nothing(screen: type[Any]) -> None:
    async with running(FakeFeed(LIVE)) as (app, pilot):
        at_once(app, "T" if screen is ThemeScreen else "H")
        await settled(pilot)
        closed: Any = app.screen
        assert isinstance(closed, screen)
        before = closed._at
        closed.dismiss()
        await settled(pilot)
        assert not await app.run_action("move(1)", closed)
        assert closed._at == before


async def test_a_key_for_a_screen_that_has_closed_is_the_apps() -> None:
    async with running(FakeFeed(LIVE)) as (app, pilot):
        at_once(app, "question_mark")
        await settled(pilot)
        at_once(app, "escape", "f")
        await settled(pilot)
        assert names(app) == []
        assert app.frozen


async def test_keys_of_a_replays_prompt_may_come_at_once() -> None:
    async with running(FakeFeed(LIVE, replay=REPLAY)) as (app, pilot):
        at_once(app, "g")
        await settled(pilot)
        at_once(app, "g", "g", "g", "enter")
        await settled(pilot)
        assert app.is_running


@pytest.mark.parametrize("move", ["page_up", "page_down"])
async def test_a_page_in_a_palette_without_room_for_its_list_does_nothing(move: str) -> None:
    async with running(FakeFeed(LIVE), size=(1, 1)) as (app, pilot):
        at_once(app, "ctrl+p")
        await settled(pilot)
        commands = app.screen.query_one(CommandList)
        commands.clear_options().add_option(Option("pause"))
        commands.highlighted = 0
        await app.run_action(f"command_list('{move}')", app.screen)
        await settled(pilot)
        assert commands.highlighted == 0


async def test_a_click_on_a_notice_that_is_being_removed_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(FakeFeed(LIVE)) as (app, pilot):
        removed = Static("notice")  # has no parent any more
        monkeypatch.setattr(app.screen, "get_widget_and_offset_at", lambda _x, _y: (removed, Offset(0, 0)))
        app.post_message(MouseDown(None, 5, 5, 0, 0, 1, False, False, False))
        await settled(pilot)
        assert app.is_running


async def test_a_click_beside_a_screen_that_has_shrunk_does_nothing() -> None:
    async with running(FakeFeed(LIVE)) as (app, pilot):
        at_once(app, "ctrl+p")
        await settled(pilot)
        assert names(app) == [Palette.__name__]
        app.screen.post_message(Click(app.screen, 7, 106, 0, 0, 1, False, False, False, 7, 106))
        await settled(pilot)
        assert app.is_running
        assert names(app) == [Palette.__name__]


async def test_a_click_on_a_command_that_was_replaced_meanwhile_does_nothing() -> None:
    async with running(FakeFeed(LIVE)) as (app, pilot):
        at_once(app, "ctrl+p")
        await settled(pilot)
        commands = app.screen.query_one(CommandList)
        gone = Style(meta={"option": commands.option_count})
        click = Click(commands, 7, 0, 0, 0, 1, False, False, False, 7, 0, gone)
        commands.post_message(click.stop())  # it is not beside the list
        await settled(pilot)
        assert app.is_running
        assert names(app) == [Palette.__name__]


async def test_a_search_in_a_palette_that_is_being_removed_ends_quietly() -> None:
    async with running(FakeFeed(LIVE)) as (app, pilot):
        at_once(app, "ctrl+p")
        await settled(pilot)
        palette = app.screen
        assert isinstance(palette, Palette)
        await palette.query_one(CommandList).remove()
        palette._gather_commands("theme")
        await settled(pilot)
        assert app.is_running


@pytest.mark.parametrize("ends", [True, False])
async def test_a_screen_without_its_widgets_is_an_error_unless_hettop_ends(
    ends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(FakeFeed(LIVE)) as (app, pilot):
        at_once(app, "T")
        await settled(pilot)
        screen = app.screen
        assert isinstance(screen, ThemeScreen)
        await screen.query_children().remove()
        monkeypatch.setattr(app, "_exit", ends)
        with nullcontext() if ends else pytest.raises(NoMatches):
            await screen._on_message(Mount())
        monkeypatch.setattr(app, "_exit", False)
