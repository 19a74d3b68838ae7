"""The room of studies: a menu of questions, and under it the answer to the one under the cursor."""

from __future__ import annotations

from dataclasses import replace

from hettop.tui.feed import StudyState
from tests.tui.fakes import REPLAY, SECOND, FakeFeed
from tests.tui.screens import running, screen_text, settled


async def test_each_study_says_what_became_of_it_and_the_chosen_one_its_answer() -> None:
    feed = FakeFeed()
    async with running(feed, size=(100, 30)) as (app, pilot):
        await pilot.press("y")
        await settled(pilot)
        text = screen_text(app)
        assert "layers         done" in text
        assert "conv1   1.2 ms" in text
        assert "hettop: no such unit" not in text
        await pilot.press("down")
        await settled(pilot)
        text = screen_text(app)
        assert "roofline       failed, exit 3" in text
        assert "hettop: no such unit" in text
        assert "conv1" not in text


async def test_enter_runs_the_chosen_study_in_the_rooms_width() -> None:
    feed = FakeFeed()
    async with running(feed, size=(100, 30)) as (_, pilot):
        await pilot.press("y", "down", "down", "enter")
        await settled(pilot)
    assert feed.told.calls == [("study", "roofline", 96)]


async def test_enter_ends_the_one_that_runs() -> None:
    feed = FakeFeed()
    feed.told.asked = (
        replace(feed.told.asked[0], state="running", elapsed_ns=83 * SECOND, lines=()),
        feed.told.asked[1],
    )
    async with running(feed, size=(100, 30)) as (app, pilot):
        await pilot.press("y")
        await settled(pilot)
        assert "running 01:23" in screen_text(app)
        await pilot.press("down", "enter")
        await settled(pilot)
    assert feed.told.calls == [("end_study",)]


async def test_a_replay_has_no_model_to_study() -> None:
    feed = FakeFeed(replay=REPLAY)
    async with running(feed, size=(100, 30)) as (app, pilot):
        await pilot.press("y", "enter")
        await settled(pilot)
        assert "Studies run the model, and a replay has none" in screen_text(app)
    assert feed.told.calls == []


async def test_what_a_study_prints_never_becomes_markup_or_escape_sequences() -> None:
    feed = FakeFeed()
    feed.told.asked = (StudyState("layers", "time by layer", "done", lines=("[bold]x[/] \x1b[31mred",)),)
    async with running(feed, size=(100, 30)) as (app, pilot):
        await pilot.press("y")
        await settled(pilot)
        text = screen_text(app)
        assert "[bold]x[/]" in text
        assert "\x1b" not in text
