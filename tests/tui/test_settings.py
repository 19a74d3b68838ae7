"""The dialog of settings, screenshots, and the question before a reset."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hettop.errors import HettopError
from hettop.tui.actions.display import portable
from hettop.tui.panels.units import UnitsPanel
from hettop.tui.preferences import Preferences
from hettop.tui.settings import SettingChoice
from tests.tui.fakes import RECORDING, FakeFeed
from tests.tui.screens import running, screen_text, settled
from tests.tui.test_arranging import titles

PLACE = Path("/home/u/.config/hettop/config.toml")


class Saved:
    """Stands in for the files: offers settings and keeps what was saved."""

    def __init__(self, fault: HettopError | None = None) -> None:
        self.settings: list[Mapping[str, Any]] = []
        self.pictures: list[str] = []
        self.fault = fault

    def offered(self, themes: tuple[str, ...]) -> tuple[SettingChoice, ...]:
        return (
            SettingChoice("theme", "colours of the screen", "hettop-dark", themes),
            SettingChoice("fps", "redraws per second", 4.0, (2.0, 4.0, 8.0), overridden="--fps", restart=True),
            SettingChoice("window", "time window", 30, (5, 10, 30, 60)),
            SettingChoice("layout.hidden", "hidden panels", (), ()),
            SettingChoice("layout.zoomed", "zoomed panel", "", ("", "latency", "units")),
        )

    def save(self, changed: Mapping[str, Any]) -> Path:
        if self.fault is not None:
            raise self.fault
        self.settings.append(changed)
        return PLACE

    def picture(self, svg: str) -> Path:
        if self.fault is not None:
            raise self.fault
        self.pictures.append(svg)
        return Path("/tmp/hettop-1.svg")

    @property
    def preferences(self) -> Preferences:
        return Preferences(settings=self.offered, save_settings=self.save, save_picture=self.picture)


async def test_settings_are_applied_at_once_and_saved_by_enter() -> None:
    saved, feed = Saved(), FakeFeed()
    async with running(feed, preferences=saved.preferences) as (app, pilot):
        await pilot.press("f2", "right", "j", "j", "left", "j", "j", "right", "right")
        await settled(pilot)
        assert app.theme == app.theme_names[app.theme_names.index("hettop-dark") + 1]
        text = screen_text(app)
        assert "* theme" in text
        assert "* layout.zoomed units" in " ".join(text.split())
        assert "overridden by --fps" in text
        await pilot.press("enter")
        await settled(pilot)
        assert f"settings saved: {PLACE}" in " ".join(screen_text(app).split())
        assert titles(screen_text(app)) == ["units"]
        assert feed.requests[-1].window_ns == 10 * 10**9
    assert saved.settings == [{"theme": app.theme, "window": 10, "layout.zoomed": "units"}]


@pytest.mark.parametrize("key", ["escape", "q", "f2"])
async def test_settings_that_are_discarded_are_as_before(key: str) -> None:
    saved = Saved()
    async with running(FakeFeed(), preferences=saved.preferences) as (app, pilot):
        await pilot.press("f2", "right", "down", "down", "right", key)
        await settled(pilot)
        assert app.theme == "hettop-dark"
        assert app.window_s == 30
        assert len(app.screen_stack) == 1
    assert saved.settings == []


async def test_hidden_panels_are_chosen_in_their_own_dialog() -> None:
    saved = Saved()
    async with running(FakeFeed(), preferences=saved.preferences) as (app, pilot):
        await pilot.press("f2", "up", "up", "right", "2", "escape")
        await settled(pilot)
        assert "layout.hidden timeline" in " ".join(screen_text(app).split())
        await pilot.press("enter")
        await settled(pilot)
        assert "timeline" not in titles(screen_text(app))
    assert saved.settings == [{"layout.hidden": ("timeline",)}]


async def test_what_cannot_be_saved_is_an_error_on_the_screen() -> None:
    saved = Saved(HettopError("io", "cannot write config.toml: Permission denied"))
    async with running(FakeFeed(), preferences=saved.preferences) as (app, pilot):
        await pilot.press("f2", "right", "enter")
        await settled(pilot)
        assert "cannot write config.toml" in " ".join(screen_text(app).split())
        await pilot.press("P")
        await settled(pilot)
        assert app.notices.added == 2


async def test_nothing_behind_the_dialog_is_drawn() -> None:
    async with running(FakeFeed(), size=(80, 24), preferences=Saved().preferences) as (app, pilot):
        drawn = app.main.query_one(UnitsPanel).frame_state
        await pilot.press("f2")
        await settled(pilot)
        app.frame()
        await settled(pilot)
        assert app.main.query_one(UnitsPanel).frame_state is drawn
        outside = [line for line in screen_text(app).splitlines() if line and "│" not in line and "─" not in line]
        assert outside == []


def test_braille_is_a_text_of_its_own_in_its_cells() -> None:
    text = '<text class="r8" x="10" y="5" textLength="{}" clip-path="url(#a)">{}</text>'
    svg = text.format(60, "&#160;&#160;⣀⡇&#160;a")  # cells of 10
    assert portable(svg) == (
        '<text class="r8" x="30" y="5" textLength="20" clip-path="url(#a)">⣀⡇</text>'
        '<text class="r8" x="50" y="5" textLength="20" clip-path="url(#a)">&#160;a</text>'
    )
    assert portable(text.format(20, "ab")) == text.format(20, "ab")


async def test_without_a_config_file_there_are_no_settings() -> None:
    async with running(FakeFeed()) as (app, pilot):
        await pilot.press("f2")
        await settled(pilot)
        assert "no settings can be saved here" in screen_text(app)


async def test_a_screenshot_is_an_svg_without_downloads_and_its_path_is_shown() -> None:
    saved = Saved()
    async with running(FakeFeed(), preferences=saved.preferences) as (app, pilot):
        await pilot.press("P")
        await settled(pilot)
        assert "screenshot saved: /tmp/hettop-1.svg" in " ".join(screen_text(app).split())
    (svg,) = saved.pictures
    assert svg.startswith("<svg")
    assert "latency" in svg
    assert "url(http" not in svg.replace('"', "")


@pytest.mark.parametrize(("answer", "calls"), [("y", [("reset",)]), ("enter", [("reset",)]), ("escape", []), ("n", [])])
async def test_a_reset_asks_first_while_recording(answer: str, calls: list[tuple[str]]) -> None:
    feed = FakeFeed(recording=RECORDING)
    async with running(feed) as (app, pilot):
        await pilot.press("x")
        await settled(pilot)
        assert "recording: reset the statistics?" in screen_text(app)
        assert feed.told.calls == []
        await pilot.press(answer)
        await settled(pilot)
        assert len(app.screen_stack) == 1
    assert feed.told.calls == calls
