"""Lists on the screen: moved through by letters, filtered, sorted, copied; the same for units, events and spikes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hettop.session.views.structs import LogLine
from hettop.tui.listing import Order, SortKey, matches, next_order, ordered, toggled_order
from tests.tui.fakes import EMPTY, LIVE, REPLAY, SECOND, UNITS, FakeFeed, row
from tests.tui.screens import running, screen_text, settled
from tests.tui.test_load_screen import ROWS
from tests.tui.test_spikes_screen import SPIKES, VIEW, spike

EVENTS = replace(
    LIVE,
    log=(
        *(LogLine(t=n * SECOND, level="info", words=f"event {n}") for n in range(60)),
        LogLine(t=60 * SECOND, level="warning", words="spike 6.50 ms CPU_AND_NE", kind="spike"),
        *(LogLine(t=(61 + n) * SECOND, level="info", words=f"late event {n}") for n in range(40)),
    ),
)
NAMES = ("CPU_AND_NE", "CPU_AND_GPU", "CPU_ONLY", "ALL")
KEYS: tuple[SortKey[tuple[str, int | None]], ...] = (
    SortKey("name", lambda each: each[0]),
    SortKey("n", lambda each: each[1], largest_first=True),
)


def units_in_order(text: str) -> list[str]:
    """The units in the order of their rows on the screen."""
    rows = [line for line in text.splitlines() if "│" in line]
    places = {name: next((y for y, line in enumerate(rows) if f" {name}" in line[:20]), -1) for name in NAMES}
    return sorted((name for name in NAMES if places[name] >= 0), key=lambda name: places[name])


def test_a_filter_needs_each_of_its_words_in_any_case() -> None:
    assert matches("ne cpu", "CPU_AND_NE")
    assert not matches("ne gpu", "CPU_AND_NE")
    assert matches("", "anything")


def test_rows_without_a_value_come_last_in_both_directions() -> None:
    rows = [("a", None), ("b", 1), ("c", 2)]
    assert [name for name, _ in ordered(rows, Order("n"), KEYS)] == ["b", "c", "a"]
    assert [name for name, _ in ordered(rows, Order("n", descending=True), KEYS)] == ["c", "b", "a"]
    assert ordered(rows, None, KEYS) == rows


def test_the_key_goes_through_the_columns_and_back_to_the_lists_own_order() -> None:
    first = next_order(None, KEYS)
    assert first == Order("name")
    assert next_order(first, KEYS) == Order("n", descending=True)
    assert next_order(Order("n", descending=True), KEYS) is None


def test_a_heading_sorts_reverses_and_gives_the_lists_own_order_back() -> None:
    once = toggled_order(Order("name"), KEYS[1])
    assert once == Order("n", descending=True)
    twice = toggled_order(once, KEYS[1])
    assert twice == Order("n")
    assert toggled_order(twice, KEYS[1]) is None


async def test_j_and_k_move_as_the_arrows_do() -> None:
    async with running(FakeFeed(), size=(80, 24)) as (app, pilot):
        seen = []
        for keys in (("3",), ("j",), ("j",), ("k",)):
            await pilot.press(*keys)
            await settled(pilot)
            seen.append(next(line.split("‹")[0].split()[-1] for line in screen_text(app).splitlines() if "‹" in line))
    assert seen == ["CPU_AND_NE", "CPU_AND_GPU", "CPU_ONLY", "CPU_AND_GPU"]


async def test_capital_g_goes_to_the_last_unit_and_g_to_the_first() -> None:
    async with running(FakeFeed(), size=(80, 24)) as (app, pilot):
        for key, unit in (("G", "ALL‹"), ("g", "CPU_AND_NE‹")):
            await pilot.press("3", key)
            await settled(pilot)
            assert unit in screen_text(app)


async def test_g_goes_to_the_oldest_event_and_capital_g_to_the_newest() -> None:
    async with running(FakeFeed(EVENTS)) as (app, pilot):
        await pilot.press("4", "z", "g")
        await settled(pilot)
        assert " event 0 " in screen_text(app)
        assert "late event 39" not in screen_text(app)
        await pilot.press("G")
        await settled(pilot)
        assert "late event 39" in screen_text(app)


async def test_g_goes_to_the_top_of_a_screen_live() -> None:
    async with running(FakeFeed(VIEW), size=(120, 40)) as (app, pilot):
        await pilot.press("s", "G")
        await settled(pilot)
        assert "▷ 00:41.00" in screen_text(app)
        await pilot.press("g")
        await settled(pilot)
        assert "▷ 01:20.00" in screen_text(app)


async def test_in_a_replay_g_asks_for_a_moment_and_again_in_the_empty_field_goes_to_the_start() -> None:
    feed = FakeFeed(replay=REPLAY)
    async with running(feed) as (_, pilot):
        await pilot.press("g", "g")
        await settled(pilot)
        assert feed.told.calls == [("seek", 0)]
        await pilot.press("g", "9", "g", "backspace", "enter")  # behind a digit it is a letter
        await settled(pilot)
    assert feed.told.calls == [("seek", 0), ("seek", 9 * SECOND)]


async def test_a_filter_of_units_works_while_it_is_typed_and_is_shown_until_escape() -> None:
    async with running(FakeFeed(), size=(80, 24)) as (app, pilot):
        await pilot.press("3", "slash", "n", "e")
        await settled(pilot)
        assert units_in_order(screen_text(app)) == ["CPU_AND_NE"]
        await pilot.press("enter")
        await settled(pilot)
        assert "units · since the start · without load · /ne: 1 of 4" in screen_text(app)
        await pilot.press("escape")
        await settled(pilot)
        assert len(units_in_order(screen_text(app))) == 4


async def test_the_title_of_units_says_since_when_its_figures_are() -> None:
    reset = replace(LIVE, header=replace(LIVE.header, reset_ns=65 * SECOND))
    async with running(FakeFeed(reset), size=(80, 24)) as (app, _):
        assert "units · since the reset at 01:05" in screen_text(app)


async def test_escape_in_the_field_removes_the_filter() -> None:
    async with running(FakeFeed(), size=(80, 24)) as (app, pilot):
        await pilot.press("3", "slash", "n", "e", "enter", "slash")
        await settled(pilot)
        assert "ne" in screen_text(app).splitlines()[-1], "what is filtered by can be changed"
        await pilot.press("escape")
        await settled(pilot)
        assert len(units_in_order(screen_text(app))) == 4


async def test_a_filter_of_events_counts_what_it_leaves_and_says_when_that_is_nothing() -> None:
    async with running(FakeFeed(EVENTS)) as (app, pilot):
        await pilot.press("4", "slash", *"spike", "enter")
        await settled(pilot)
        text = screen_text(app)
        assert "events · /spike: 1 of 101" in text
        assert "late event" not in text
        await pilot.press("slash", "x", "x", "enter")
        await settled(pilot)
        assert "no event matches the filter" in screen_text(app)


async def test_without_a_list_in_focus_the_filter_takes_the_one_that_is_shown() -> None:
    for size, panel in (((120, 40), "panel-4"), ((80, 24), "panel-3")):
        async with running(FakeFeed(), size=size) as (app, pilot):
            await pilot.press("slash", "x", "enter")
            await settled(pilot)
            assert app.focused is not None
            assert app.focused.id in (panel, "panel-3")
            assert "/x: " in screen_text(app)


async def test_a_filter_of_spikes_takes_unit_and_causes() -> None:
    rows = (spike(80, 6.5, "page fault"), spike(79, 7.5, "screen redraw", unit="CPU_ONLY"), spike(78, 9.5))
    async with running(FakeFeed(replace(VIEW, spikes=replace(SPIKES, rows=rows)))) as (app, pilot):
        await pilot.press("s", "slash", *"redraw", "enter")
        await settled(pilot)
        text = screen_text(app)
        assert "01:19.00" in text
        assert "01:20.00" not in text
        assert "/redraw: 1 of 3" in text


@pytest.mark.parametrize("screen", ["l", "v", "y"])
@pytest.mark.parametrize(("key", "words"), [("slash", "nothing to filter here"), ("S", "nothing to sort here")])
async def test_a_screen_without_a_list_says_so(screen: str, key: str, words: str) -> None:
    async with running(FakeFeed()) as (app, pilot):
        await pilot.press(screen, key)
        await settled(pilot)
        assert words in " ".join(screen_text(app).split())


async def test_units_are_sorted_by_each_column_in_turn_and_the_heading_shows_which() -> None:
    rows = (row("CPU_ONLY", 5.0), row("CPU_AND_NE", 2.0), row("CPU_AND_GPU", 3.0))
    feed = FakeFeed(replace(LIVE, units=replace(UNITS, rows=rows)))
    async with running(feed, size=(80, 24)) as (app, pilot):
        assert units_in_order(screen_text(app)) == ["CPU_ONLY", "CPU_AND_NE", "CPU_AND_GPU"]
        await pilot.press("S")
        await settled(pilot)
        assert units_in_order(screen_text(app)) == ["CPU_AND_GPU", "CPU_AND_NE", "CPU_ONLY"]
        assert " unit↑" in screen_text(app)
        await pilot.press("S", "S")
        await settled(pilot)
        assert " P50↑" in screen_text(app)
        assert units_in_order(screen_text(app)) == ["CPU_AND_NE", "CPU_AND_GPU", "CPU_ONLY"]


async def test_a_click_on_a_heading_sorts_and_again_reverses_and_chooses_no_unit() -> None:
    feed = FakeFeed()
    async with running(feed, size=(80, 24)) as (app, pilot):
        lines = screen_text(app).splitlines()
        y = next(y for y, line in enumerate(lines) if "Δ mean" in line)
        for _ in range(2):
            await pilot.click(offset=(lines[y].index("P50") + 1, y))
            await settled(pilot)
        assert " P50↓" in screen_text(app)
        assert units_in_order(screen_text(app))[0] == "CPU_ONLY"
    assert feed.told.calls == []


async def test_spikes_are_sorted_by_size_and_by_a_click_on_the_heading() -> None:
    feed = FakeFeed(VIEW)  # the older a spike, the larger it is
    async with running(feed, size=(120, 40)) as (app, pilot):
        await pilot.press("s", "S", "S")
        await settled(pilot)
        assert "ms↓" in screen_text(app)
        assert "▷ 00:41.00" in screen_text(app), "the largest"
        lines = screen_text(app).splitlines()
        y = next(y for y, line in enumerate(lines) if "x median" in line)
        await pilot.click(offset=(lines[y].index("when") + 1, y))
        await settled(pilot)
        assert "when↑" in screen_text(app)
        await pilot.press("j")
        await settled(pilot)
        assert "▷ 00:42.00" in screen_text(app)


async def test_the_row_under_the_cursor_is_copied_with_the_names_of_its_figures() -> None:
    async with running(FakeFeed(), size=(120, 40)) as (app, pilot):
        await pilot.press("3", "down", "Y")
        await settled(pilot)
        assert app.clipboard.startswith("CPU_AND_GPU: n 4")
        assert "mean 3.16 ms" in app.clipboard
        assert "copied the row of CPU_AND_GPU to the clipboard" in " ".join(screen_text(app).split())


async def test_of_the_verdict_the_text_is_copied_and_then_the_code() -> None:
    async with running(FakeFeed(), size=(120, 40)) as (app, pilot):
        await pilot.press("v", "Y")
        await settled(pilot)
        assert "real time    CPU_AND_NE" in app.clipboard
        assert "MLModelConfiguration" not in app.clipboard
        await pilot.press("Y")
        await settled(pilot)
        assert app.clipboard.startswith("let configuration = MLModelConfiguration()\n")


async def test_spike_event_and_whole_screens_are_copied() -> None:
    feed = FakeFeed(replace(VIEW, log=EVENTS.log, conditions=ROWS))
    async with running(feed, size=(120, 40)) as (app, pilot):
        copied = []
        for keys in (("s", "down", "Y"), ("s", "4", "Y"), ("l", "Y"), ("l", "1", "Y")):
            await pilot.press(*keys)
            await settled(pilot)
            copied.append(app.clipboard)
    assert copied[0].startswith("01:19.00 CPU_AND_NE spike 7.50 ms, 3.75x median, load none: screen redraw, page fault")
    assert copied[1] == "01:40.00 late event 39"
    assert "cpu:4+memory:1" in copied[2]
    assert copied[3].startswith("P50 2.19")


async def test_where_nothing_is_there_nothing_is_copied() -> None:
    async with running(FakeFeed(EMPTY)) as (app, pilot):
        await pilot.press("4", "Y")
        await settled(pilot)
        assert "nothing to copy here" in screen_text(app)
        assert not app.clipboard
