"""The room of studies: a tab for each, and the answer of the one that is shown."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from hettop.events import Failure, Study
from hettop.studies.layers.result import LayerRow, LayersResult
from hettop.tui.feed import StudyOffer
from tests.tui.fakes import LIVE, REPLAY, SECOND, FakeFeed
from tests.tui.screens import running, screen_text, settled

NOW = LIVE.header.elapsed_ns
LAYERS = LayersResult(
    unit="CPU_ONLY",
    total_ms=1.6,
    end_to_end_ms=1.7,
    by_op={"Conv": 1.0},
    layers=[LayerRow("conv1", "Conv", 1.2, 0.75), LayerRow("conv2", "Conv", 0.4, 0.25)],
)
DONE = Study(t=NOW - 5 * SECOND, name="layers", state="done", elapsed_ns=12 * SECOND, found=LAYERS.line())
FAILED = Study(
    t=NOW,
    name="sweep",
    state="failed",
    elapsed_ns=3 * SECOND,
    error=Failure(kind="study", message="no such unit", hint="name another"),
)


def replace_state(study: Study, state: str, *, earlier: bool = False) -> Study:
    return msgspec.structs.replace(study, state=state, earlier=earlier)


def feed_of(*studies: Study, replay: bool = False) -> FakeFeed:
    return FakeFeed(replace(LIVE, studies=studies), replay=REPLAY if replay else None)


async def test_each_study_says_what_became_of_it_and_the_chosen_one_its_answer() -> None:
    async with running(feed_of(DONE, FAILED), size=(100, 30)) as (app, pilot):
        await pilot.press("y")
        await settled(pilot)
        text = screen_text(app)
        assert "layers✓" in text
        assert "sweep✗" in text
        assert "Time by layer" in text
        assert "took 12 s" in text
        assert "conv1" in text
        assert "no such unit" not in text
        await pilot.press("right")
        await settled(pilot)
        text = screen_text(app)
        assert "Failed: no such unit" in text
        assert "name another" in text
        assert "conv1" not in text


async def test_under_competing_load_the_room_says_why_nothing_can_be_run() -> None:
    loaded = replace(LIVE, header=replace(LIVE.header, load="cpu:1"))
    for view, says, hint in ((loaded, "Studies are measured without", False), (LIVE, "Enter measures it", True)):
        async with running(FakeFeed(view), size=(100, 30)) as (app, pilot):
            await pilot.press("y")
            await settled(pilot)
            text = screen_text(app)
            assert says in text
            assert ("Enter run it" in text) == hint


async def test_which_study_is_chosen_is_reported_without_colour_and_moves_nothing() -> None:
    async with running(feed_of(DONE, FAILED), size=(100, 30)) as (app, pilot):
        await pilot.press("y")
        await settled(pilot)
        assert "╭─[layers✓] sweep✗ ─" in screen_text(app)
        await pilot.press("right")
        await settled(pilot)
        assert "╭─ layers✓ [sweep✗] ─" in screen_text(app)


async def test_of_the_questions_the_chosen_one_has_a_mark() -> None:
    async with running(feed_of(), size=(100, 30)) as (app, pilot):
        await pilot.press("y", "right")
        await settled(pilot)
        text = screen_text(app)
        assert "▷ sweep " in text
        assert "  layers " in text
        assert "▷ layers " not in text


async def test_enter_runs_the_chosen_study() -> None:
    feed = feed_of()
    async with running(feed, size=(100, 30)) as (app, pilot):
        await pilot.press("y", "right", "enter")
        await settled(pilot)
        assert "Enter measures it" in screen_text(app)
    assert feed.told.calls == [("study", "sweep")]


async def test_one_that_runs_says_how_far_it_is_and_enter_ends_it() -> None:
    half = Study(
        t=NOW - 3 * SECOND, name="layers", state="running", elapsed_ns=20 * SECOND, doing="b4 on CPU_ONLY", share=0.5
    )
    feed = feed_of(half)
    async with running(feed, size=(100, 30)) as (app, pilot):
        await pilot.press("y")
        await settled(pilot)
        text = screen_text(app)
        assert "b4 on CPU_ONLY · 00:23" in text, "20 s when it told last, 3 s ago"
        assert "50%, about 00:17 left" in text
        await pilot.press("enter")
        await settled(pilot)
    assert feed.told.calls == [("end_study",)]


async def test_enter_on_another_runs_that_one_instead() -> None:
    feed = feed_of(replace_state(DONE, "running"))
    async with running(feed, size=(100, 30)) as (app, pilot):
        await pilot.press("y", "right")
        await settled(pilot)
        assert "end layers, run it" in screen_text(app)
        await pilot.press("enter")
        await settled(pilot)
    assert feed.told.calls == [("study", "sweep")]


async def test_an_answer_of_the_run_before_says_so() -> None:
    async with running(feed_of(replace_state(DONE, "ended", earlier=True)), size=(100, 30)) as (app, pilot):
        await pilot.press("y")
        await settled(pilot)
        text = screen_text(app)
        assert "ended by the user" in text
        assert "from the previous run" in text
        assert "conv1" in text


async def test_a_replay_shows_the_studies_that_it_holds_and_runs_none() -> None:
    feed = feed_of(DONE, replay=True)
    async with running(feed, size=(100, 30)) as (app, pilot):
        await pilot.press("y", "enter")
        await settled(pilot)
        assert "conv1" in screen_text(app)
    assert feed.told.calls == []


async def test_a_replay_without_studies_says_so() -> None:
    async with running(feed_of(replay=True), size=(100, 30)) as (app, pilot):
        await pilot.press("y", "enter")
        await settled(pilot)
        assert "No study in the recording up to this moment" in screen_text(app)


async def test_a_study_that_nobody_here_knows_is_named_and_not_drawn() -> None:
    strange = Study(t=NOW, name="[bold]x[/] \x1b[31m", state="done", elapsed_ns=SECOND, found=LAYERS.line())
    async with running(feed_of(strange, replay=True), size=(100, 30)) as (app, pilot):
        await pilot.press("y")
        await settled(pilot)
        text = screen_text(app)
        assert "[bold]x[/]" in text
        assert "\x1b" not in text
        assert "cannot show the result" in text


async def test_a_click_on_a_tab_or_on_a_question_turns_to_it() -> None:
    feed = feed_of(DONE)
    async with running(feed, size=(100, 30)) as (app, pilot):
        await pilot.press("y")
        await settled(pilot)
        lines = screen_text(app).splitlines()
        assert "conv1" in screen_text(app)
        y = next(i for i, text in enumerate(lines) if "sweep" in text)
        await pilot.click(offset=(lines[y].index("sweep") + 2, y))
        await settled(pilot)
        text = screen_text(app)
        assert "What larger batches give" in text
        await pilot.click(offset=(2, 1))  # the bracket's place of the first tab
        await settled(pilot)
        assert "conv1" in screen_text(app)
        await pilot.press("right")
        await settled(pilot)
        text = screen_text(app)
        lines = text.splitlines()
        y = next(i for i, row in enumerate(lines) if "time by layer" in row)
        await pilot.click(offset=(10, y))
        await settled(pilot)
        assert "conv1" in screen_text(app)


async def test_a_study_that_cannot_be_run_here_is_listed_with_the_reason_and_never_run() -> None:
    feed = feed_of()
    barred = StudyOffer("layers", "time by layer", "needs a real model: hettop MODEL")
    feed.told.asked = (barred, *feed.told.asked[1:])
    async with running(feed, size=(100, 30)) as (app, pilot):
        await pilot.press("y")
        await settled(pilot)
        text = screen_text(app)
        assert "time by layer · needs a real model" in text
        assert "[sweep]" in text, "the first that can be run is selected"
        await pilot.press("left", "enter")
        await settled(pilot)
        text = screen_text(app)
        assert "Cannot be run here: needs a real model: hettop MODEL." in text
        assert "Enter run" not in text
    assert feed.told.calls == []
