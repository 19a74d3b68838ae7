"""The screen of the verdict: what is shown of a page, and that it is requested only while the screen is open."""

from __future__ import annotations

from hettop.tui.feed import VerdictPage
from tests.tui.fakes import SECOND, FakeFeed
from tests.tui.screens import running, screen_text, settled


async def test_the_verdict_is_asked_for_only_while_its_screen_is_open() -> None:
    feed = FakeFeed()
    async with running(feed, size=(100, 40)) as (app, pilot):
        await pilot.press("l")
        await settled(pilot)
        assert feed.verdicts_asked == 0
        await pilot.press("v")
        await settled(pilot)
        text = screen_text(app)
        assert "verdict · at 01:20.0" in text
        assert "real time    CPU_AND_NE  lowest mean, 2.20 ms" in text
        assert "! 1 sample decides that CPU_ONLY comes before ALL" in text
        assert "competing load" not in text
        asked = feed.verdicts_asked
        assert asked
        await pilot.press("escape", "x")
        await settled(pilot)
        assert feed.verdicts_asked == asked


async def test_without_samples_it_says_what_to_do() -> None:
    feed = FakeFeed()
    feed.page = VerdictPage(80 * SECOND)
    async with running(feed) as (app, pilot):
        await pilot.press("v")
        await settled(pilot)
        assert "i interleaves all units" in screen_text(app)
