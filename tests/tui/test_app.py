"""The app as a whole: frames, freeze, sizes, the mouse, notices, themes, the way out."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode

from hettop.errors import HettopError
from hettop.tui.app import HettopApp
from hettop.tui.chart import Chart
from hettop.tui.feed import Notice, ReplayStatus
from hettop.tui.panels.histogram import plot_columns
from hettop.tui.panels.panel import inner_size
from hettop.tui.panels.power import PowerPanel
from hettop.tui.panels.timeline import GUTTER
from tests.tui.fakes import (
    DOUBTFUL,
    EMPTY,
    HEADER,
    HOSTILE,
    LIVE,
    PAUSED,
    POWERED,
    RECORDING,
    REPLAY,
    SECOND,
    FakeFeed,
    hostile_view,
)
from tests.tui.screens import app_on, running, screen_text, settled

LATER = replace(LIVE, header=replace(HEADER, elapsed_ns=99 * SECOND))


def row_of(text: str, word: str) -> int:
    """The last line of the screen that holds `word` in the units' table."""
    return next(y for y, line in enumerate(text.splitlines()) if word in line and "4,210" in line)


async def test_numbers_are_drawn_twice_a_second_and_the_clock_and_the_timeline_more_often() -> None:
    feed = FakeFeed()
    async with running(feed, fps=0.1) as (app, pilot):
        table = replace(LIVE.units, rows=tuple(replace(row, n=9_876) for row in LIVE.units.rows))
        feed.shown = replace(LATER, units=table)
        app.draw(whole=False)
        await settled(pilot)
        assert feed.requests[-1].reused is LIVE  # the view of the frame before
        assert "01:39" in screen_text(app)
        assert "9,876" not in screen_text(app)
        app.draw()
        await settled(pilot)
        assert feed.requests[-1].reused is None
        assert "9,876" in screen_text(app)


@pytest.mark.parametrize(
    ("replay", "fps", "whole"),
    [
        (None, 1, [True] * 6),
        (None, 4, [False, True] * 3),
        (None, 10, [False] * 4 + [True, False]),
        (REPLAY, 10, [True] * 6),  # which may be anywhere in the next frame
    ],
)
async def test_at_each_rate_of_frames_numbers_are_half_a_second_old_at_most(
    monkeypatch: pytest.MonkeyPatch, replay: ReplayStatus | None, fps: float, whole: list[bool]
) -> None:
    drawn: list[bool] = []
    async with running(FakeFeed(replay=replay), fps=fps) as (app, _):
        monkeypatch.setattr(app, "frame", lambda *, whole: drawn.append(whole))
        app._ticks = 0
        drawn.clear()
        for _ in range(6):
            app._tick()
        assert drawn == whole


async def test_a_frame_pumps_the_feed_draws_it_and_reports_what_the_last_one_cost() -> None:
    feed = FakeFeed()
    ticks = iter(range(0, 10_000, 700))
    async with running(feed, clock=lambda: next(ticks)) as (app, pilot):
        pumped, frames = feed.pumped, len(feed.frames)
        feed.shown = LATER
        app.frame()
        app.frame()
        await settled(pilot)
        assert feed.pumped >= pumped + 2
        assert feed.frames[frames:] == [700, 700]
        assert "01:39" in screen_text(app)


async def test_the_view_is_asked_for_the_columns_there_are() -> None:
    feed = FakeFeed()
    async with running(feed) as (app, _):
        size = app.query_one("#panel-1").size
        request = feed.requests[-1]
        assert request.histogram_columns == 2 * plot_columns(inner_size(size.width, size.height)[0])
        timeline = app.query_one("#panel-2").size
        # two slots of braille dots in a cell
        assert request.timeline_slots == 2 * (inner_size(timeline.width, timeline.height)[0] - GUTTER)
        assert request.unit is None
        assert request.now_ns == HEADER.elapsed_ns


async def test_no_style_is_made_of_an_ink_that_nothing_was_drawn_with(monkeypatch: pytest.MonkeyPatch) -> None:
    apply, made = Stylesheet.apply, Counter[str]()

    def counting(sheet: Stylesheet, node: DOMNode, **options: Any) -> None:
        made.update(name for name in node.classes if name.startswith("chart--"))
        apply(sheet, node, **options)

    monkeypatch.setattr(Stylesheet, "apply", counting)
    async with running(FakeFeed()) as (app, pilot):
        drawn = {ink for chart in app.query(Chart) for spans in chart._lines for _, ink in spans}
        assert set(made) == {f"chart--{ink}" for ink in drawn}
        app.query_one("#panel-6").display = False
        await settled(pilot)
        made.clear()
        app.query_one("#panel-6").add_class("any")
        await settled(pilot)
    assert not made, "nobody sees it"


async def test_after_a_resize_the_view_is_asked_anew() -> None:
    feed = FakeFeed()
    async with running(feed) as (_, pilot):
        before = feed.requests[-1].histogram_columns
        await pilot.resize_terminal(160, 50)
        await settled(pilot)
        assert feed.requests[-1].histogram_columns > before


async def test_a_frozen_display_stands_still_while_the_feed_goes_on() -> None:
    feed = FakeFeed()
    async with running(feed) as (app, pilot):
        await pilot.press("f")
        await settled(pilot)
        frozen = screen_text(app)
        assert frozen.count("FROZEN") == 7, "in the header and on every panel"
        feed.shown = LATER
        pumped = feed.pumped
        app.frame()
        await settled(pilot)
        assert screen_text(app) == frozen
        assert feed.pumped > pumped
        await pilot.press("f")
        await settled(pilot)
        assert "FROZEN" not in screen_text(app)
        assert "01:39" in screen_text(app)


async def test_paused_inference_cannot_be_overlooked() -> None:
    async with running(FakeFeed(PAUSED)) as (app, _):
        assert screen_text(app).count("PAUSED") == 7


@pytest.mark.parametrize(
    "feed", [FakeFeed(), FakeFeed(EMPTY), FakeFeed(DOUBTFUL), FakeFeed(hostile_view(), replay=REPLAY)]
)
async def test_any_size_works(feed: FakeFeed) -> None:
    async with running(feed, size=(20, 5)) as (app, pilot):
        for width, height in ((20, 5), (40, 8), (1, 1), (80, 24), (60, 16), (300, 80), (5, 3), (200, 10), (120, 40)):
            await pilot.resize_terminal(width, height)
            await settled(pilot)
            text = screen_text(app)
            assert len(text.splitlines()) <= height
            if feed.shown is LIVE and width >= 20 and height >= 5:
                assert "SIMULATED" in text
                assert "P50 2.19" in text
                assert "P90 2.37" in text or width < 40


async def test_the_power_panel_grows_when_power_comes_and_shrinks_when_it_goes() -> None:
    feed = FakeFeed()
    async with running(feed, size=(120, 50)) as (app, pilot):
        panel = app.query_one(PowerPanel)
        without = panel.size.height
        for shown, lines in ((POWERED, 11), (LIVE, without - 2)):
            feed.shown = shown
            app.frame()
            await settled(pilot)
            assert panel.size.height == 2 + lines  # three rails of two lines, sum, energy, three clusters, in a frame


@pytest.mark.parametrize("size", [(1, 1), (20, 5)])
async def test_it_starts_on_a_tiny_screen(size: tuple[int, int]) -> None:
    async with running(FakeFeed(), size=size) as (app, _):
        assert app.is_running


async def test_small_screens_have_the_newest_event_and_no_empty_panel() -> None:
    async with running(FakeFeed(), size=(80, 24)) as (app, _):
        text = screen_text(app)
        assert "00:52.77 ✗ ALL failed" in text
        assert "4 events" not in text
        assert "CPU_AND_GPU" in text


async def test_a_click_on_a_row_switches_to_its_unit() -> None:
    feed = FakeFeed()
    async with running(feed) as (app, pilot):
        await pilot.click(offset=(10, row_of(screen_text(app), "CPU_ONLY")))
        await settled(pilot)
    assert feed.told.calls == [("switch", "CPU_ONLY")]


async def test_a_click_on_a_row_of_a_replay_looks_at_its_unit() -> None:
    feed = FakeFeed(replay=REPLAY)
    async with running(feed) as (app, pilot):
        await pilot.click(offset=(10, row_of(screen_text(app), "CPU_ONLY")))
        await settled(pilot)
        assert feed.requests[-1].unit == "CPU_ONLY"
    assert feed.told.calls == []


async def test_a_click_beside_the_rows_does_nothing() -> None:
    feed = FakeFeed()
    async with running(feed) as (app, pilot):
        heading = next(y for y, line in enumerate(screen_text(app).splitlines()) if "Δ mean" in line)
        await pilot.click(offset=(10, heading))
        await settled(pilot)
    assert feed.told.calls == []


async def test_the_scrub_bar_seeks_by_click_and_by_drag() -> None:
    feed = FakeFeed(replay=REPLAY)
    async with running(feed, size=(100, 30)) as (_, pilot):
        await pilot.mouse_down("#scrub", offset=(20, 0))
        await pilot.hover("#scrub", offset=(50, 0))
        await pilot.mouse_up("#scrub", offset=(50, 0))
        await pilot.hover("#scrub", offset=(80, 0))
        await settled(pilot)
    calls = [call for call in feed.told.calls if call[0] == "seek"]
    # The track begins after 12 cells and is 100 - 12 - 13 cells long.
    assert calls[0] == ("seek", round(8 / 74 * 60 * SECOND))
    assert calls[-1] == ("seek", round(38 / 74 * 60 * SECOND))


async def test_a_hint_can_be_clicked() -> None:
    feed = FakeFeed()
    async with running(feed) as (app, pilot):
        x = screen_text(app).splitlines()[-1].index("load")
        await pilot.click("#hints", offset=(x, 0))
        await settled(pilot)
        assert "competing load" in screen_text(app)


async def test_the_bottom_line_says_that_a_study_runs_and_leads_back_to_it() -> None:
    paused = replace(LIVE, header=replace(LIVE.header, paused=True, study="layers"))
    async with running(FakeFeed(paused)) as (app, pilot):
        hints = screen_text(app).splitlines()[-1]
        assert hints.startswith(" y study running, inference paused ")
        await pilot.click("#hints", offset=(3, 0))
        await settled(pilot)
        assert app.page_screen is not None
        assert app.page_screen.NAME == "studies"


async def test_notices_become_toasts_and_never_markup() -> None:
    feed = FakeFeed(notices=(Notice(HOSTILE, "error"), Notice("saved\nto run.jsonl", "odd severity")))
    async with running(feed) as (app, _):
        text = screen_text(app)
        assert "[/bold][red]x" in text
        assert "\x1b" not in text
        assert "to run.jsonl" in text


async def test_text_can_be_selected_with_the_mouse() -> None:
    async with running(FakeFeed()) as (app, pilot):
        y = next(y for y, line in enumerate(screen_text(app).splitlines()) if "P50 2.19" in line)
        await pilot.hover(offset=(2, y))
        await settled(pilot)
        await pilot.mouse_down(offset=(2, y))
        await pilot.hover(offset=(9, y))
        await pilot.mouse_up(offset=(9, y))
        await settled(pilot)
        assert app.screen.get_selected_text() == "P50 2.19"
        strip = app.screen._compositor.render_strips()[y]
        assert "".join(segment.text for segment in strip if segment.style and segment.style.reverse) == "P50 2.19"


async def test_ascii_screens_hold_ascii_only() -> None:
    async with running(FakeFeed(recording=RECORDING), ascii=True) as (app, pilot):
        assert screen_text(app).isascii()
        await pilot.press("question_mark")
        await settled(pilot)
        assert "competing load: set it" in screen_text(app)


async def test_colours_follow_the_theme() -> None:
    async with running(FakeFeed()) as (app, pilot):
        before = colours_of(app, "█")
        await pilot.press("t")
        await settled(pilot)
        assert not before & colours_of(app, "█")


def colours_of(app: HettopApp, glyph: str) -> set[object]:
    """The colours in which `glyph` stands on the screen."""
    strips = app.screen._compositor.render_strips()
    return {segment.style.color for strip in strips for segment in strip if segment.style and glyph in segment.text}


def test_an_unknown_theme_is_refused_with_those_there_are() -> None:
    with pytest.raises(HettopError) as caught:
        HettopApp(FakeFeed, theme="nope")
    assert caught.value.kind == "usage"
    assert "hettop-dark" in caught.value.hint


async def test_broken_theme_files_are_named_and_the_others_work(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text('name = "bad"\n[colors]\nprimary = "bluish"\n')
    (tmp_path / "good.toml").write_text('name = "good"\n[colors]\nprimary = "#123456"\n')
    async with running(FakeFeed(), theme_folders=[tmp_path], theme="good") as (app, _):
        shown = " ".join(screen_text(app).split())
        assert "theme bad.toml" in shown
        assert app.theme == "good"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_ends_the_app_in_good_order(number: signal.Signals) -> None:
    async with running(FakeFeed()) as (app, pilot):
        app.end(number)  # as a signal handler does
        await settled(pilot)
    assert app.return_code == 128 + number


async def test_a_signal_that_comes_before_the_first_paint_ends_the_app_too() -> None:
    app = app_on(FakeFeed())
    app.end(signal.SIGINT)
    async with app.run_test() as pilot:
        await settled(pilot)
    assert app.return_code == 130


async def test_frames_come_by_themselves() -> None:
    feed = FakeFeed()
    async with running(feed, fps=20):
        for _ in range(500):
            if feed.pumped >= 3:
                break
            await asyncio.sleep(0.01)
    assert feed.pumped >= 3
