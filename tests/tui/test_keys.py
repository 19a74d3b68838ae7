"""Every key does what its line in the help says, and only where it applies."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hettop.errors import HettopError
from hettop.tui.constants import WHOLE_SESSION_S
from hettop.tui.keys import applicable, bindings, grouped, hinted
from hettop.tui.panels.hints import placed_hints
from tests.tui.fakes import FAILED, LIVE, REPLAY, SECOND, UNITS, FakeFeed, row
from tests.tui.screens import running, screen_text, settled

LIVE_KEYS = [
    ("space", ("toggle_pause",)),
    ("c", ("switch", "CPU_AND_GPU")),
    ("i", ("interleave",)),
    ("r", ("toggle_recording",)),
    ("x", ("reset",)),
]
REPLAY_KEYS = [
    ("space", ("toggle_play",)),
    ("left", ("seek", REPLAY.position_ns - SECOND)),
    ("right", ("seek", REPLAY.position_ns + SECOND)),
    ("home", ("seek", 0)),
    ("end", ("seek", REPLAY.duration_ns)),
    ("left_square_bracket", ("step_window", -1)),
    ("right_square_bracket", ("step_window", 1)),
    ("n", ("next_mark", 1)),
    ("N", ("next_mark", -1)),
    ("shift+right", ("next_spike", 1)),
    ("shift+left", ("next_spike", -1)),
    ("left_parenthesis", ("select", -1)),
    ("right_parenthesis", ("select", 1)),
    ("o", ("toggle_loop",)),
    ("less_than_sign", ("change_speed", -1)),
    ("greater_than_sign", ("change_speed", 1)),
]


async def test_the_keys_of_the_live_view_report_the_measurement() -> None:
    feed = FakeFeed()
    async with running(feed) as (_, pilot):
        await pilot.press(*(key for key, _ in LIVE_KEYS))
    assert feed.told.calls == [call for _, call in LIVE_KEYS]


async def test_the_keys_of_the_replay_report_the_replay() -> None:
    feed = FakeFeed(replay=REPLAY)
    async with running(feed) as (_, pilot):
        await pilot.press(*(key for key, _ in REPLAY_KEYS))
    assert feed.told.calls == [call for _, call in REPLAY_KEYS]


async def test_keys_of_the_replay_do_nothing_live() -> None:
    feed = FakeFeed()
    async with running(feed) as (_, pilot):
        await pilot.press(*(key for key, _ in REPLAY_KEYS if key != "space"))
        await settled(pilot)
    assert feed.told.calls == []


async def test_keys_of_the_measurement_do_nothing_in_a_replay() -> None:
    feed = FakeFeed(replay=REPLAY)
    async with running(feed) as (app, pilot):
        await pilot.press("i", "r", "x", "m", "R")
        await settled(pilot)
        assert len(app.screen_stack) == 1
    assert feed.told.calls == []


async def test_next_unit_goes_round() -> None:
    last = replace(UNITS, rows=tuple(replace(r, active=r.unit == "ALL") for r in UNITS.rows))
    feed = FakeFeed(replace(LIVE, units=last))
    async with running(feed) as (_, pilot):
        await pilot.press("c")
    assert feed.told.calls == [("switch", "CPU_AND_NE")]


async def test_next_unit_in_a_replay_changes_what_is_looked_at() -> None:
    feed = FakeFeed(replay=REPLAY)
    async with running(feed) as (_, pilot):
        await pilot.press("c")
        await settled(pilot)
        assert feed.requests[-1].unit == "CPU_AND_GPU"
        await pilot.press("c")
        await settled(pilot)
        assert feed.requests[-1].unit == "CPU_ONLY"
    assert feed.told.calls == []


async def test_restart_takes_the_unit_that_failed() -> None:
    feed = FakeFeed(FAILED)
    async with running(feed) as (_, pilot):
        await pilot.press("R")
    assert feed.told.calls == [("restart", "ALL")]


async def test_restart_prefers_the_active_one_and_says_when_there_is_none() -> None:
    rows = (row("ALL", state="failed"), row("CPU_ONLY", state="failed", active=True))
    feed = FakeFeed(replace(LIVE, units=replace(UNITS, rows=rows)))
    async with running(feed) as (_, pilot):
        await pilot.press("R")
    assert feed.told.calls == [("restart", "CPU_ONLY")]
    feed = FakeFeed(LIVE)
    async with running(feed) as (app, pilot):
        await pilot.press("R")
        await settled(pilot)
        assert "no unit has failed" in " ".join(screen_text(app).split())
    assert feed.told.calls == []


async def test_restart_ends_the_wait_for_a_unit_that_gives_no_answer() -> None:
    rows = (row("ALL"), row("CPU_ONLY", state="no answer for 0:08", active=True, waiting=True))
    feed = FakeFeed(replace(LIVE, units=replace(UNITS, rows=rows)))
    async with running(feed) as (_, pilot):
        await pilot.press("R")
    assert feed.told.calls == [("restart", "CPU_ONLY")]


async def test_a_mark_is_stored_by_enter() -> None:
    feed = FakeFeed()
    async with running(feed) as (_, pilot):
        await pilot.press("m")
        await settled(pilot)
        await pilot.press("f", "a", "n", "space", "o", "n", "enter")
        await settled(pilot)
    assert feed.told.calls == [("mark", "fan on")]


async def test_a_mark_is_given_up_by_escape() -> None:
    feed = FakeFeed()
    async with running(feed) as (app, pilot):
        await pilot.press("m")
        await settled(pilot)
        await pilot.press("q", "escape")
        await settled(pilot)
        assert len(app.screen_stack) == 1
        assert app.is_running
    assert feed.told.calls == []


async def test_a_control_that_fails_becomes_a_toast() -> None:
    feed = FakeFeed(fault=HettopError("io", "cannot record to [b]/x", "choose another folder"))
    async with running(feed) as (app, pilot):
        await pilot.press("r")
        await settled(pilot)
        shown = " ".join(screen_text(app).split())
        assert "cannot record to [b]/x" in shown
        assert "choose another" in shown


@pytest.mark.parametrize("key", ["question_mark", "f1"])
async def test_help_lists_every_key_that_applies_and_escape_closes_it(key: str) -> None:
    feed = FakeFeed()
    async with running(feed, size=(120, 90)) as (app, pilot):
        await pilot.press(key)
        await settled(pilot)
        text = screen_text(app)
        for listed in applicable(live=True, replay=False):
            assert f"{listed.display:<11}{listed.words}" in text
        assert "forward one second" not in text
        await pilot.press("escape")
        await settled(pilot)
        assert "interleave all" not in screen_text(app)


async def test_help_of_a_replay_has_its_own_keys() -> None:
    async with running(FakeFeed(replay=REPLAY), size=(120, 60)) as (app, pilot):
        await pilot.press("question_mark")
        await settled(pilot)
        text = screen_text(app)
        assert "forward one second" in text
        assert "interleave all" not in text


async def test_quit_asks_nothing() -> None:
    async with running(FakeFeed()) as (app, pilot):
        await pilot.press("q")
        await pilot.pause()
    assert app.return_code == 0


async def test_control_c_ends_as_an_interruption() -> None:
    async with running(FakeFeed()) as (app, pilot):
        await pilot.press("ctrl+c")
        await pilot.pause()
    assert app.return_code == 130


async def test_the_time_window_grows_and_shrinks_within_its_steps() -> None:
    feed = FakeFeed()
    async with running(feed) as (_, pilot):
        seen = []
        for key in ("plus", "plus", "plus", "minus", "minus", "minus", "minus", "minus"):
            await pilot.press(key)
            await settled(pilot)
            seen.append(feed.requests[-1].window_ns // SECOND)
    # The session lasts 83 s: beyond a minute there is all of it.
    assert seen == [60, WHOLE_SESSION_S, WHOLE_SESSION_S, 60, 30, 10, 5, 5]


async def test_a_window_longer_than_a_replay_is_all_of_it() -> None:
    short = replace(REPLAY, position_ns=20 * SECOND, duration_ns=28 * SECOND)
    async with running(FakeFeed(replay=short)) as (app, pilot):
        await pilot.press("minus")
        await settled(pilot)
        assert "time window 10 s" in screen_text(app)
        await pilot.press("plus")
        await settled(pilot)
        assert "time window all 28 s" in screen_text(app)


async def test_panels_are_focused_by_number_and_tab() -> None:
    async with running(FakeFeed()) as (app, pilot):
        focused = []
        for key in ("3", "4", "1", "tab", "shift+tab"):
            await pilot.press(key)
            await settled(pilot)
            focused.append(app.focused.id if app.focused else None)
    assert focused == ["panel-3", "panel-4", "panel-1", "panel-2", "panel-1"]


async def test_zoom_gives_the_focused_panel_the_screen_and_back() -> None:
    async with running(FakeFeed()) as (app, pilot):
        await pilot.press("3", "z")
        await settled(pilot)
        text = screen_text(app)
        assert "3 units" in text
        assert "1 latency" not in text
        assert "4 events" not in text
        await pilot.press("2")
        await settled(pilot)
        assert "2 timeline" in screen_text(app)
        assert "3 units" not in screen_text(app)
        await pilot.press("z")
        await settled(pilot)
        assert all(title in screen_text(app) for title in ("1 latency", "2 timeline", "3 units", "4 events"))


async def test_a_panel_without_room_is_zoomed_by_its_number() -> None:
    async with running(FakeFeed(), size=(80, 24)) as (app, pilot):
        assert "4 events" not in screen_text(app)
        await pilot.press("4")
        await settled(pilot)
        assert "4 events" in screen_text(app)


async def test_themes_go_round() -> None:
    async with running(FakeFeed()) as (app, pilot):
        seen = [app.theme]
        for _ in app.theme_names:
            await pilot.press("t")
            await settled(pilot)
            seen.append(app.theme)
    assert seen[0] == seen[-1] == "hettop-dark"
    assert sorted(seen[1:]) == sorted(app.theme_names)
    assert len(app.theme_names) == 7


def test_every_binding_has_an_id_of_its_own() -> None:
    ids = [binding.id for binding in bindings()]
    assert None not in ids
    assert len(set(ids)) == len(ids)


def test_no_key_has_two_meanings() -> None:
    for live in (True, False):
        keys = applicable(live=live, replay=not live)
        pressed = [key for binding in keys for key in binding.keys.split(",")]
        assert len(set(pressed)) == len(pressed)


def test_hints_begin_with_the_way_out_and_leave_out_what_does_not_apply() -> None:
    hints = [key.id for key in hinted(applicable(live=False, replay=True))]
    assert hints[:3] == ["quit", "help", "pause"]
    assert "record" not in hints
    for live in (True, False):
        keys = hinted(applicable(live=live, replay=not live))
        assert ("v", "verdict") in [hint for *_, hint in placed_hints([(key.display, key.hint) for key in keys], 100)]
    assert "Replay" not in [name for name, _ in grouped(applicable(live=True, replay=False))]
