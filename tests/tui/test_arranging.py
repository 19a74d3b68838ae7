"""The screen arranged to somebody's taste: themes with a preview, hidden and zoomed panels, the first look."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from textual.command import Hit
from textual.system_commands import SystemCommandsProvider

from hettop.tui.app import HettopApp
from hettop.tui.constants import PANELS
from hettop.tui.explanations import PANELS as ABOUT_PANELS
from hettop.tui.panels.panel import Panel
from hettop.tui.preferences import Preferences
from tests.tui.fakes import LIVE, REPLAY, FakeFeed
from tests.tui.screens import running, screen_text, settled


class Keeping:
    """Preferences that remember what they are to keep."""

    def __init__(self) -> None:
        self.kept: list[tuple[str, object]] = []

    def keep(self, name: str, value: object) -> None:
        self.kept.append((name, value))


class Asked:
    """Wants the screen explained, and counts how often it was asked."""

    times = 0

    def __call__(self) -> bool:
        self.times += 1
        return True


def titles(text: str) -> list[str]:
    """The panels that are there, by their titles."""
    return [name for number, name in PANELS.items() if f"{number} {name}" in text]


async def test_the_list_of_themes_previews_and_enter_keeps() -> None:
    keeping = Keeping()
    async with running(FakeFeed(), preferences=Preferences(keep=keeping.keep)) as (app, pilot):
        before = app.theme
        await pilot.press("T")
        await settled(pilot)
        assert all(name in screen_text(app) for name in app.theme_names)
        at = app.theme_names.index(before)
        for step in (1, 2):
            await pilot.press("down")
            await settled(pilot)
            assert app.theme == app.theme_names[(at + step) % len(app.theme_names)]
        assert keeping.kept == []
        await pilot.press("enter")
        await settled(pilot)
        assert len(app.screen_stack) == 1
        assert app.theme == app.theme_names[(at + 2) % len(app.theme_names)]
        assert keeping.kept == [("theme", app.theme)]


async def test_the_theme_from_before_is_reported_without_colour_beside_the_cursor() -> None:
    async with running(FakeFeed()) as (app, pilot):
        await pilot.press("T", "up")
        await settled(pilot)
        rows = [row for row in screen_text(app).splitlines() if "██████████" in row]
        marked = {name for name in app.theme_names for row in rows if name in row and "✓" in row}
        under = {name for name in app.theme_names for row in rows if f"▶   {name}" in row}
    assert marked == {"hettop-dark"}
    assert under == {app.theme}


@pytest.mark.parametrize("key", ["escape", "q", "T"])
async def test_the_list_of_themes_gives_the_old_one_back(key: str) -> None:
    keeping = Keeping()
    async with running(FakeFeed(), preferences=Preferences(keep=keeping.keep)) as (app, pilot):
        await pilot.press("T", "up")
        await settled(pilot)
        assert app.theme != "hettop-dark"
        await pilot.press(key)
        await settled(pilot)
        assert (app.theme, len(app.screen_stack), keeping.kept) == ("hettop-dark", 1, [])


async def test_a_theme_is_previewed_by_a_click_and_kept_by_a_second() -> None:
    async with running(FakeFeed()) as (app, pilot):
        await pilot.press("T")
        await settled(pilot)
        y = next(y for y, row in enumerate(screen_text(app).splitlines()) if "hettop-light" in row)
        await pilot.click(offset=(100, y))
        await settled(pilot)
        assert (app.theme, len(app.screen_stack)) == ("hettop-light", 2)
        await pilot.click(offset=(100, y))
        await settled(pilot)
        assert (app.theme, len(app.screen_stack)) == ("hettop-light", 1)


async def test_themes_of_the_users_folder_are_in_the_list_and_go_before_ours(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("name = 'mine'\n[colors]\nprimary = '#00ff00'\nbackground = '#000'\n")
    (tmp_path / "b.toml").write_text("name = 'hettop-light'\n[colors]\nprimary = '#123456'\n")
    async with running(FakeFeed(), preferences=Preferences(theme_folder=tmp_path)) as (app, _):
        assert "mine" in app.theme_names
        assert app.available_themes["hettop-light"].primary == "#123456"


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_panels_are_hidden_and_shown_again(size: tuple[int, int]) -> None:
    keeping = Keeping()
    async with running(FakeFeed(), size=size, preferences=Preferences(keep=keeping.keep)) as (app, pilot):
        everything = titles(screen_text(app))
        await pilot.press("H", "2")
        await settled(pilot)
        await pilot.press("escape")
        await settled(pilot)
        assert titles(screen_text(app)) == [name for name in everything if name != "timeline"]
        await pilot.press("H", "down", "space", "escape")
        await settled(pilot)
        assert titles(screen_text(app)) == everything
    assert keeping.kept == [("layout.hidden", ("timeline",)), ("layout.hidden", ())]


async def test_a_column_without_panels_gives_its_room_to_the_other() -> None:
    for hidden, left in (
        (("events", "power", "machine"), ["latency", "timeline", "units"]),
        (("latency", "timeline", "units"), ["events", "power", "machine"]),
    ):
        async with running(FakeFeed(), preferences=Preferences(hidden=hidden)) as (app, _):
            assert titles(screen_text(app)) == left
            widths = {panel.size.width for panel in app.query(Panel) if panel.is_on_screen}
            assert widths == {120}


async def test_the_last_panel_stays() -> None:
    async with running(FakeFeed(), preferences=Preferences(hidden=tuple(PANELS.values())[1:])) as (app, pilot):
        await pilot.press("H", "1")
        await settled(pilot)
        assert "the last panel cannot be hidden" in screen_text(app)
        await pilot.press("escape")
        await settled(pilot)
        assert titles(screen_text(app)) == ["latency"]


async def test_focus_leaves_a_hidden_panel_and_its_number_brings_it_zoomed() -> None:
    async with running(FakeFeed(), preferences=Preferences(hidden=("latency",))) as (app, pilot):
        assert app.focused is not None
        assert app.focused.id == "panel-2"
        await pilot.press("1")
        await settled(pilot)
        assert titles(screen_text(app)) == ["latency"]
        await pilot.press("z")
        await settled(pilot)
        assert "latency" not in titles(screen_text(app))


async def test_a_zoomed_panel_is_kept_and_zoomed_again() -> None:
    keeping = Keeping()
    async with running(FakeFeed(), preferences=Preferences(keep=keeping.keep, zoomed="units")) as (app, pilot):
        assert titles(screen_text(app)) == ["units"]
        await pilot.press("escape")
        await settled(pilot)
        await pilot.press("escape", "2", "z")
        await settled(pilot)
    assert keeping.kept == [("layout.zoomed", ""), ("layout.zoomed", "timeline")]


async def test_every_choice_of_panels_fits_every_screen() -> None:
    async with running(FakeFeed()) as (app, pilot):
        for size in ((200, 60), (120, 40), (80, 24), (60, 16), (40, 8), (20, 5)):
            await pilot.resize_terminal(*size)
            for name in PANELS.values():
                app._panels_chosen(tuple(other for other in PANELS.values() if other != name))
                await settled(pilot)
                lines = screen_text(app).splitlines()
                assert len(lines) <= size[1]
                assert "SIMULATED" in lines[0]


async def test_the_first_look_is_explained_and_a_key_closes_it_and_does_what_it_does() -> None:
    asked = Asked()
    feed = FakeFeed()
    preferences = Preferences(introduce=asked)
    async with running(feed, preferences=preferences) as (app, pilot):
        text = screen_text(app)
        assert "Welcome to hettop" in text
        assert "2 timeline" in text, "what it explains is to be seen"
        assert "SIMULATED" in text
        await pilot.press("i")
        await settled(pilot)
        assert "Welcome to" not in screen_text(app)
    assert feed.told.calls == [("interleave",)]
    assert asked.times == 1


@pytest.mark.parametrize("key", ["escape", "enter", "space", "q"])
async def test_keys_that_close_things_close_the_explanation_alone(key: str) -> None:
    feed = FakeFeed()
    async with running(feed, preferences=Preferences(introduce=lambda: True)) as (app, pilot):
        await pilot.press(key)
        await settled(pilot)
        assert app.is_running
        assert len(app.screen_stack) == 1
    assert feed.told.calls == []


async def test_the_explanation_names_the_keys_as_they_are_bound() -> None:
    preferences = Preferences(introduce=lambda: True, keymap={"unit.next": "u", "help": "e"})
    async with running(FakeFeed(), preferences=preferences, ascii=True) as (app, _):
        text = screen_text(app)
        assert "u switches to the next" in text
        assert "e explains panels and keys" in text
    async with running(FakeFeed(replay=REPLAY), preferences=preferences) as (app, _):
        assert "Welcome to hettop: a replay" in screen_text(app)


@pytest.mark.parametrize("size", [(59, 24), (80, 19), (40, 8)])
async def test_a_small_screen_is_not_covered_and_the_explanation_comes_another_time(size: tuple[int, int]) -> None:
    asked = Asked()
    preferences = Preferences(introduce=asked)
    async with running(FakeFeed(), size=size, preferences=preferences) as (app, _):
        assert len(app.screen_stack) == 1
    assert asked.times == 0


@pytest.mark.parametrize(("number", "name"), PANELS.items())
async def test_the_help_begins_with_the_panel_in_focus(number: int, name: str) -> None:
    async with running(FakeFeed(), size=(120, 60)) as (app, pilot):
        await pilot.press(str(number), "question_mark")
        await settled(pilot)
        shown = " ".join(screen_text(app).replace("▌", " ").split())
        assert ABOUT_PANELS[name][:40] in shown
        assert all(words[:40] not in shown for other, words in ABOUT_PANELS.items() if other != name)


async def test_the_help_of_a_screen_begins_with_the_screen() -> None:
    async with running(FakeFeed(), size=(120, 60)) as (app, pilot):
        await pilot.press("l", "question_mark")
        await settled(pilot)
        text = screen_text(app)
        assert "Competing load that hettop starts at a known level" in text


@pytest.mark.parametrize(
    ("screen", "keys"),
    [
        ("l", {"↑↓": "kind", "←→": "level", "d": "duty cycle", "0": "no load", "PgUp PgDn": "a page up or down"}),
        ("v", {"Y": "copy", "i": "interleave units", "l": "load", "↑↓": "scroll"}),
        ("s", {"Esc": "back", "↑↓": "scroll"}),
    ],
)
async def test_the_help_of_a_screen_has_its_own_keys_before_the_general_ones(screen: str, keys: dict[str, str]) -> None:
    async with running(FakeFeed(), size=(120, 60)) as (app, pilot):
        await pilot.press(screen, "question_mark")
        await settled(pilot)
        rows = [" ".join(row.split("█", 1)[-1].split("  ▐")[0].split()) for row in screen_text(app).splitlines()]
        text = "\n".join(rows)
        own = text[text.index("Keys here") : text.index("Measuring")]
        assert all(f"{key} {words}" in own for key, words in keys.items()), own
        assert text.index("Keys here") > 0


async def test_the_help_of_a_panel_has_no_keys_of_a_screen() -> None:
    async with running(FakeFeed(), size=(120, 60)) as (app, pilot):
        await pilot.press("question_mark")
        await settled(pilot)
        assert "Keys here" not in screen_text(app)


async def test_the_palette_has_every_key_and_does_what_it_does() -> None:
    feed = FakeFeed()
    preferences = Preferences(keymap={"interleave": "u"})
    async with running(feed, preferences=preferences) as (app, pilot):
        offered = [command.title for command in app.get_system_commands(app.screen)]
        named = {f"{key.words[:1].upper()}{key.words[1:]}  {key.display}" for key in app.keys if key.id != "palette"}
        also = {"CPU_AND_NE": " (ANE)"}
        units = {f"Measure on {row.unit}{also.get(row.unit, '')}" for row in LIVE.units.rows}
        themes = {f"Theme {name}" for name in app.theme_names}
        assert set(offered) == named | units | themes | {"Messages: show the last ones again"}
        await pilot.press("ctrl+p")
        await settled(pilot)
        await pilot.press(*"interleaveall")
        await settled(pilot)
        for _ in range(100):
            if "Interleave all units, or stop interleaving  u" in screen_text(app):
                break
            await asyncio.sleep(0.02)
        await pilot.press("enter")
        await settled(pilot)
    assert feed.told.calls == [("interleave",)]


async def test_what_was_wrong_in_files_is_said_on_the_screen() -> None:
    preferences = Preferences(notices=("config.toml, line 3: unknown setting 'x'",))
    async with running(FakeFeed(), preferences=preferences) as (app, _):
        assert "config.toml, line 3" in screen_text(app)


def test_nothing_glides_where_motion_disturbs() -> None:
    levels = [
        HettopApp(FakeFeed, preferences=Preferences(animated=animated)).animation_level for animated in (True, False)
    ]
    assert levels == ["full", "none"]


@pytest.mark.parametrize("feed", [FakeFeed(), FakeFeed(replay=REPLAY)], ids=["live", "replay"])
async def test_the_palette_finds_a_unit_before_words_that_only_hold_its_letters(feed: FakeFeed) -> None:
    async with running(feed) as (app, _):
        hits = [hit async for hit in SystemCommandsProvider(app.screen).search("ane") if isinstance(hit, Hit)]
        best = max(hits, key=lambda hit: hit.score)
        assert str(best.text).endswith(" CPU_AND_NE (ANE)")
        assert any("panel" in str(hit.text) for hit in hits)
