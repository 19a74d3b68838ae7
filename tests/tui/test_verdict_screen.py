"""The screen of the verdict: what is shown of a page, and that it is requested only while the screen is open."""

from __future__ import annotations

from dataclasses import replace

from hettop.report.evidence import Bound, Evidence, UnitEvidence
from hettop.tui.feed import VerdictPage
from tests.tui.fakes import LIVE, SECOND, FakeFeed
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
    feed.shown = replace(LIVE, header=replace(LIVE.header, mode="interleave"))
    async with running(feed) as (app, pilot):
        await pilot.press("v")
        await settled(pilot)
        assert "i interleaves all units, for" not in screen_text(app)
        assert "Nothing has been measured yet." in screen_text(app)
    feed.shown = replace(LIVE, header=replace(LIVE.header, mode="interleave", load="cpu:1"))
    async with running(feed) as (app, pilot):
        await pilot.press("v")
        await settled(pilot)
        assert "Nothing has been measured under this load yet." in screen_text(app)


async def test_units_in_turns_are_counted_until_all_have_samples() -> None:
    """Their own key would end the turns, so it is not offered."""
    feed = FakeFeed()
    units = ("CPU_AND_NE", "CPU_ONLY", "ALL", "CPU_AND_GPU")
    feed.shown = replace(LIVE, header=replace(LIVE.header, mode="interleave", units=units))
    row = UnitEvidence("CPU_AND_NE", (Bound(0.9, 2.33, 2.3, 2.4),), "")
    none_yet = VerdictPage(80 * SECOND, unmeasured=units)
    first = replace(feed.page, evidence=Evidence("CPU_AND_NE was measured.", (row,)), unmeasured=units[1:])
    for page, counted in (
        (none_yet, "4 units in turns, none measured so far."),
        (first, "4 units in turns, 1 measured so far. CPU_AND_NE was measured."),
        (replace(first, unmeasured=()), "CPU_AND_NE was measured."),
        (replace(first, unmeasured=("GPU_ONLY",)), "CPU_AND_NE was measured."),  # it takes no turns
    ):
        feed.page = page
        async with running(feed, size=(100, 40)) as (app, pilot):
            await pilot.press("v")
            await settled(pilot)
            rows = [each[2:98].rstrip() for each in screen_text(app).splitlines()]
            assert counted in rows[1:4]
            assert not any("interleaves" in each for each in rows[:30])


async def test_the_sentence_and_the_picture_come_first() -> None:
    feed = FakeFeed()
    row = UnitEvidence("CPU_AND_NE", (Bound(0.9, 2.33, 2.3, 2.4),), "")
    feed.page = replace(feed.page, evidence=Evidence("CPU_AND_NE alone was measured.", (row,)))
    async with running(feed, size=(100, 40)) as (app, pilot):
        await pilot.press("v")
        await settled(pilot)
        rows = [each[2:98].rstrip() for each in screen_text(app).splitlines()]
        assert rows[2] == "CPU_AND_NE alone was measured. i interleaves it with others, to compare them."
        assert rows[4].startswith("NE  ")
        assert rows[4].rstrip().endswith("P90 2.33 (2.30-2.40)")
        assert any(each.startswith("load none; thermal state") for each in rows[5:])


async def test_while_units_take_turns_the_key_is_offered_to_stop_that() -> None:
    for mode, word in (("single", "i interleave units"), ("interleave", "i stop interleaving")):
        async with running(FakeFeed(replace(LIVE, header=replace(LIVE.header, mode=mode))), size=(80, 24)) as (
            app,
            pilot,
        ):
            await pilot.press("v")
            await settled(pilot)
            assert word in screen_text(app)
