"""The screen of competing load: dials that control the measurement, and the table of conditions."""

from __future__ import annotations

import re
from dataclasses import replace

from textual.events import Key

from hettop.report.terminal.lines import text_of
from hettop.session.views.contrast import ContrastView, Estimate, LoadFigures, UnitContrast
from hettop.session.views.structs import ConditionRow
from hettop.tui.feed import LoadDial
from hettop.tui.screens.load import condition_lines, dials_by_line
from tests.tui.fakes import LIVE, REPLAY, FakeFeed
from tests.tui.screens import running, screen_text, settled


def condition(unit: str, load: str, p90_ms: float, change: float | None = None, **more: object) -> ConditionRow:
    row = ConditionRow(
        unit=unit,
        load=load,
        thermal=None,
        current=False,
        n=1_200,
        p50_ms=p90_ms * 0.9,
        p90_ms=p90_ms,
        p99_ms=p90_ms * 1.5,
        max_ms=p90_ms * 3,
        throughput_per_s=1000 / p90_ms,
        energy_mj=None,
        p90_change=change,
    )
    return replace(row, **more)  # type: ignore[arg-type]


ROWS = (
    condition("CPU_ONLY", "none", 4.0),
    condition("CPU_ONLY", "cpu:4", 9.2, 1.3, current=True),
    condition("CPU_AND_NE", "none", 2.0),
    condition("CPU_AND_NE", "cpu:4", 2.02, 0.01),
    condition("CPU_AND_NE", "cpu:4+memory:1", 1.9, -0.05),
)


async def test_arrows_turn_the_dial_that_the_cursor_is_on() -> None:
    feed = FakeFeed()
    async with running(feed) as (_, pilot):
        await pilot.press("l", "right", "left", "d", "down", "right", "0")
        await settled(pilot)
    assert feed.told.calls == [
        ("change_load", "cpu", 2, 100),
        ("change_load", "cpu", 0, 100),
        ("change_load", "cpu", 1, 75),
        ("change_load", "memory", 1, 100),
        ("end_load",),
    ]


async def test_end_and_home_take_the_cursor_to_the_last_dial_and_to_the_first() -> None:
    async with running(FakeFeed(), size=(80, 24)) as (app, pilot):
        await pilot.press("l", "end")
        await settled(pilot)
        assert "▷ gpu" in screen_text(app)
        await pilot.press("home")
        await settled(pilot)
        assert "▷ cpu" in screen_text(app)


async def test_from_the_end_of_the_table_up_scrolls_back_before_the_cursor_moves() -> None:
    feed = FakeFeed(replace(LIVE, conditions=ROWS))
    async with running(feed, size=(80, 12)) as (app, pilot):  # 8 lines inside, the table ends further down
        await pilot.press("l")
        await settled(pilot)
        assert " 0 above" in screen_text(app)
        await pilot.press("end")
        await settled(pilot)
        assert " 0 below" in screen_text(app)
        assert "▷ gpu" not in screen_text(app)
        above = re.search(r"(\d+) above", screen_text(app))
        assert above is not None
        await pilot.press(*["up"] * int(above[1]))
        await settled(pilot)
        assert "▷ gpu" in screen_text(app)
        await pilot.press("up")
        await settled(pilot)
        assert "▷ memory" in screen_text(app)


async def test_keys_in_quick_succession_all_count() -> None:
    feed = FakeFeed()

    def turned(what: str, level: int, duty_percent: int) -> None:
        feed.told.dials = (LoadDial(what, level, duty_percent, 4),)

    feed.told.change_load = turned  # type: ignore[method-assign]
    async with running(feed) as (app, pilot):
        await pilot.press("l")
        await settled(pilot)
        for _ in range(2):  # as a terminal sends them: without waiting for what the first one does
            app.post_message(Key("right", None))
        await settled(pilot)
    assert feed.told.dials[0].level == 3


async def test_a_kind_that_cannot_run_here_says_why_and_reports_nothing() -> None:
    feed = FakeFeed()
    async with running(feed) as (app, pilot):
        await pilot.press("l", "down", "down", "right")
        await settled(pilot)
        assert "gpu load is not available here: Core ML needs macOS" in " ".join(screen_text(app).split())
    assert feed.told.calls == []


async def test_a_replay_shows_what_loads_did_and_has_no_dials() -> None:
    feed = FakeFeed(replace(LIVE, conditions=ROWS), replay=REPLAY)
    async with running(feed) as (app, pilot):
        await pilot.press("l", "right", "0")
        await settled(pilot)
        text = screen_text(app)
        assert "of the time" not in text
        assert "cpu:4+memory:1" in text
        await pilot.press("l")
        await settled(pilot)
        assert "1 latency" in screen_text(app)
    assert feed.told.calls == []


async def test_conditions_are_asked_for_only_while_a_room_is_open() -> None:
    feed = FakeFeed()
    async with running(feed) as (_, pilot):
        assert not feed.requests[-1].conditions
        await pilot.press("l")
        await settled(pilot)
        assert feed.requests[-1].conditions


def test_changes_have_an_arrow_and_a_colour_by_how_bad_they_are() -> None:
    lines = condition_lines(ROWS, 118)[1:6]
    changes = [next((ink for text, ink in line if ("%" in text and "↑" in text) or "↓" in text), "") for line in lines]
    assert changes == ["", "error", "", "", "good"]
    assert "↑ +130%" in text_of(lines[1])
    assert "+1.0%" in text_of(lines[3])
    assert "↓ -5.0%" in text_of(lines[4])


def test_a_narrow_table_gives_up_the_least_important_columns_first() -> None:
    wide, narrow = (text_of(condition_lines(ROWS, width)[0]) for width in (118, 64))
    assert [name in wide for name in ("n", "P50", "P99", "max", "inf/s", "mJ")] == [True] * 6
    assert [name in narrow for name in ("P90", "max", "inf/s", "mJ")] == [True, True, False, False]
    assert len(narrow) == 64


def test_no_change_is_shown_of_too_few_samples() -> None:
    """A P90 needs 64; the first pair has that many on both sides, the second without load only."""
    rows = (
        condition("CPU_ONLY", "none", 4.0, n=64),
        condition("CPU_ONLY", "cpu:4", 8.0, 1.0, n=64),
        condition("ALL", "none", 4.0, n=64),
        condition("ALL", "cpu:4", 8.0, 1.0, n=63),
    )
    shown = [text_of(line) for line in condition_lines(rows, 118)[1:5]]
    assert ["+100%" in line for line in shown] == [False, True, False, False]
    assert shown[3].rstrip().endswith("n/a")


async def test_b_measures_without_load_while_one_is_active() -> None:
    feed = FakeFeed(replace(LIVE, conditions=ROWS, header=replace(LIVE.header, load="cpu:4")))
    async with running(feed) as (app, pilot):
        await pilot.press("l", "b")
        await settled(pilot)
        assert "b without load" in screen_text(app).splitlines()[-1]
        feed.told.left_ns = 4_200_000_000
        app.frame()
        await settled(pilot)
        assert "measuring without load, about 5 s left; then the load" in screen_text(app)
    assert feed.told.calls == [("measure_without_load",)]


async def test_a_unit_that_was_not_measured_without_load_is_offered_that() -> None:
    view = ContrastView("cpu:4", (UnitContrast("CPU_AND_NE", None, None),), "CPU_AND_NE")
    feed = FakeFeed(replace(LIVE, contrast=view, header=replace(LIVE.header, load="cpu:4")))
    async with running(feed) as (app, pilot):
        await pilot.press("l")
        await settled(pilot)
        assert 58 in [request.contrast_columns for request in feed.requests]
        text = " ".join(row[60:118].strip() for row in screen_text(app).splitlines())
        assert "CPU_AND_NE has not been measured without load: b measures it, then the load returns" in text


def test_the_change_has_room_whatever_the_width() -> None:
    for width in range(48, 80):
        assert text_of(condition_lines(ROWS, width)[0]).rstrip().endswith("P90 change"), width
        assert text_of(condition_lines(ROWS, width)[2]).rstrip().endswith("↑ +130%"), width


async def test_without_any_load_the_viewed_units_distribution_is_shown_alone() -> None:
    idle = UnitContrast("CPU_AND_NE", LoadFigures(100, (Estimate(2.0),) * 3, 500.0, Estimate(None)), None)
    view = ContrastView(None, (idle,), "CPU_AND_NE", 1.0, 3.0, (0.0, 1.0, 0.5))
    async with running(FakeFeed(replace(LIVE, contrast=view, conditions=ROWS[:1]))) as (app, pilot):
        await pilot.press("l")
        await settled(pilot)
        text = screen_text(app)
        assert "CPU_AND_NE ms  ░ without load" in text
        assert "█ cpu" not in text
        assert "P90 change" in text


def test_a_unit_without_samples_has_a_row() -> None:
    rows = [text_of(each).split() for each in condition_lines(ROWS, 100, ("CPU_AND_GPU", "ALL"))]
    assert ["ALL", "n/a"] in [row[:2] for row in rows]
    assert ["GPU", "n/a"] in [row[:2] for row in rows] or ["CPU_AND_GPU", "n/a"] in [row[:2] for row in rows]


def test_two_dials_share_a_line_where_both_are_available() -> None:
    cpu, memory, gpu = (LoadDial(name, 0, 2, 100, None) for name in ("cpu", "memory", "gpu"))
    ane = LoadDial("ane", 0, 2, 100, "needs macOS")
    assert dials_by_line((cpu, memory, gpu, ane), paired=True) == [[0, 1], [2], [3]]
    assert dials_by_line((cpu, memory, gpu), paired=False) == [[0], [1], [2]]


async def test_a_small_drawer_has_two_dials_a_line_and_a_click_selects_one_of_them() -> None:
    async with running(FakeFeed(), size=(80, 24)) as (app, pilot):
        await pilot.press("l")
        await settled(pilot)
        line = next(each for each in screen_text(app).splitlines() if "▷ cpu" in each)
        assert "memory" in line
        await pilot.click("#page", offset=(60, 1))
        await settled(pilot)
        assert "▷ memory" in screen_text(app)
