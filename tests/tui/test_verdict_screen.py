"""The room of the verdict: what is shown of a page, and that it is asked for while the room is open alone."""

from __future__ import annotations

from dataclasses import replace

from hettop.report.terminal.lines import text_of, width_of
from hettop.tui.screens.verdict import verdict_lines
from tests.tui.fakes import VERDICT, FakeFeed
from tests.tui.screens import running, screen_text, settled


async def test_the_verdict_is_asked_for_while_its_room_is_open_alone_and_in_its_width() -> None:
    feed = FakeFeed()
    async with running(feed, size=(100, 40)) as (app, pilot):
        await pilot.press("l")
        await settled(pilot)
        assert feed.verdict_widths == []
        await pilot.press("v")
        await settled(pilot)
        assert set(feed.verdict_widths) == {96}  # less the frame and a blank on each side
        text = screen_text(app)
        assert "verdict · judged at 01:20.0" in text
        assert "competing load" not in text
        asked = len(feed.verdict_widths)
        await pilot.press("escape", "x")
        await settled(pilot)
        assert len(feed.verdict_widths) == asked


async def test_without_samples_it_says_what_to_do() -> None:
    feed = FakeFeed()
    feed.page = replace(VERDICT, advice=(), failures=(), warnings=())
    async with running(feed) as (app, pilot):
        await pilot.press("v")
        await settled(pilot)
        assert "i runs all units in turn" in screen_text(app)


def test_advice_comes_first_and_warnings_have_a_mark() -> None:
    texts = [text_of(row).rstrip() for row in verdict_lines(VERDICT, 118)]
    assert texts[0] == "load none; thermal state Nominal; wall time"
    assert texts[2].startswith("real time    CPU_AND_NE  lowest mean, 2.20 ms")
    assert "! 1 sample decides that CPU_ONLY comes before ALL" in texts
    assert "✗ CPU_AND_GPU: the model could not be compiled" in texts
    assert texts[-1] == "times in ms"


def test_every_line_is_as_wide_as_the_room_and_reasons_are_wrapped_beside_their_unit() -> None:
    rows = verdict_lines(VERDICT, 60)
    assert {width_of(row) for row in rows if row} == {60}
    texts = [text_of(row) for row in rows]
    at = next(i for i, text in enumerate(texts) if text.startswith("real time"))
    assert texts[at + 1].startswith(" " * 25)
