"""The screen of spikes: walked through, pointed from, and readable on small screens."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hettop.report.terminal.lines import text_of
from hettop.session.views.spikes import CauseRow, SpikeRow, SpikesView, Surroundings
from hettop.tui.constants import WHOLE_SESSION_S
from hettop.tui.panels.timeline import draw_timeline
from hettop.tui.screens.spikes import calls_chart, cause_lines, spike_lines, surroundings_lines
from tests.tui.fakes import HOSTILE, LIVE, REPLAY, SECOND, TIMELINE, FakeFeed
from tests.tui.screens import running, screen_text, settled


def spike(at_s: float, ms: float, *causes: str, likely: int = 0, unit: str = "CPU_AND_NE") -> SpikeRow:
    return SpikeRow(int(at_s * SECOND), ms, ms / 2, unit, "none", None, causes, likely)


def cause(words: str, inside: float, outside: float, p: float | None, *, more: bool = False) -> CauseRow:
    verdict = "more often than chance" if more else "no more than chance"
    return CauseRow(words.replace(" ", "_"), words, inside, outside, p, verdict, more)


SPIKES = SpikesView(
    rows=tuple(spike(80 - i, 6.5 + i, "screen redraw", "page fault", likely=1) for i in range(40)),
    unit="CPU_AND_NE",
    load="none",
    thermal=None,
    n=61,
    evidence=40,
    threshold_ms=4.0,
    causes=(
        cause("screen redraw", 0.9, 0.12, 3e-9, more=True),
        cause("page fault", 0.5, 0.48, 0.4),
        cause("load change", 0.0, 0.0, None),
    ),
    unwatched=("power sample taken",),
    total=61,
    unjudged=64,
)
VIEW = replace(LIVE, spikes=SPIKES)


async def test_s_opens_the_screen_and_asks_for_the_list() -> None:
    feed = FakeFeed(VIEW)
    async with running(feed, size=(120, 40)) as (app, pilot):
        assert not feed.requests[-1].spikes
        await pilot.press("s")
        await settled(pilot)
        assert feed.requests[-1].spikes
        text = screen_text(app)
    assert "61 spikes of all units, the last 40 listed · CPU_AND_NE 61 · spike threshold 4.00 ms ─" in text
    assert "at least 1 s apart, not of the first 64 samples." in " ".join(text.replace("│", " ").split())
    assert "01:20.00" in text
    assert "screen redraw, page fault" in text
    assert "▸ correlated" in text
    assert "40 of 61 spikes count" in text
    assert "Did not occur: load change." in " ".join(text.replace("│", " ").split())
    assert "Not watched: power sample taken." in text


async def test_enter_goes_to_the_spike_in_a_replay_and_stops_there() -> None:
    feed = FakeFeed(VIEW, replay=REPLAY)
    async with running(feed, size=(120, 40)) as (app, pilot):
        await pilot.press("s")
        await settled(pilot)
        await pilot.press("down", "down", "enter")
        await settled(pilot)
        assert app.page_screen is None
        assert feed.requests[-1].pointed_ns == 78 * SECOND
    # A second later: by then what was measured is written.
    assert feed.told.calls == [("toggle_play",), ("seek", 79 * SECOND)]


async def test_enter_marks_it_on_the_timeline_in_a_live_view_and_lengthens_the_window() -> None:
    feed = FakeFeed(VIEW)  # at 83 s
    async with running(feed, size=(120, 40)) as (app, pilot):
        await pilot.press("s")
        await settled(pilot)
        await pilot.press(*["down"] * 36, "enter")  # 44 s: 39 s ago, beyond the window of 30 s
        await settled(pilot)
        assert feed.requests[-1].pointed_ns == 44 * SECOND
        assert feed.requests[-1].window_ns == 60 * SECOND
        assert app.page_screen is None
    assert feed.told.calls == []


async def test_end_goes_to_the_oldest_spike_and_home_to_the_newest() -> None:
    async with running(FakeFeed(VIEW), size=(120, 40)) as (app, pilot):
        await pilot.press("s", "end")
        await settled(pilot)
        assert "▷ 00:41.00" in screen_text(app)
        await pilot.press("home")
        await settled(pilot)
        assert "▷ 01:20.00" in screen_text(app)


async def test_the_window_is_lengthened_until_it_reaches_the_spike() -> None:
    feed = FakeFeed(replace(VIEW, spikes=replace(SPIKES, rows=(spike(3, 9.0),))))
    async with running(feed, size=(120, 40)) as (app, pilot):
        await pilot.press("s")
        await settled(pilot)
        await pilot.press("enter")
        await settled(pilot)
        assert app.window_s == WHOLE_SESSION_S  # 83 s


async def test_the_cursor_stays_on_its_spike_when_new_ones_come() -> None:
    feed = FakeFeed(VIEW, replay=REPLAY)
    async with running(feed, size=(120, 40)) as (app, pilot):
        await pilot.press("s")
        await settled(pilot)
        await pilot.press("down", "down")
        feed.shown = replace(VIEW, spikes=replace(SPIKES, rows=(spike(81, 5.0), *SPIKES.rows)))
        app.draw()
        await pilot.press("enter")
        await settled(pilot)
    assert feed.told.calls[-1] == ("seek", 79 * SECOND)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (60, 16), (40, 10)])
async def test_the_list_scrolls_and_the_table_stays(size: tuple[int, int]) -> None:
    async with running(FakeFeed(VIEW), size=size) as (app, pilot):
        await pilot.press("s")
        await settled(pilot)
        await pilot.press(*["down"] * 39)
        await settled(pilot)
        text = screen_text(app)
    assert "▷ 00:41.00" in text
    if size[1] >= 16:
        assert "correlated events" in text


def test_units_are_named_only_where_there_are_several() -> None:
    alone = spike_lines(SPIKES.rows, 0, range(2), 76)
    assert "NE" not in text_of(alone[1])
    rows = (spike(80, 6.5), spike(79, 6.5, unit="CPU_ONLY"))
    several = spike_lines(rows, 0, range(2), 76)
    assert "NE" in text_of(several[1])
    assert "CPU" in text_of(several[2])


def test_a_table_that_is_too_long_keeps_the_likeliest_and_names_the_rest() -> None:
    many = [cause(f"cause {i}", 0.2, 0.1, 0.1 + i / 10) for i in range(8)]
    lines = [text_of(each) for each in cause_lines(replace(SPIKES, causes=(SPIKES.causes[0], *many)), 76, 8)]
    assert len(lines) == 8
    assert lines[1].startswith("screen redraw")
    assert lines[3].startswith("cause 1 ")
    assert lines[4].startswith("cause 2 ")
    assert lines[5].startswith("not significant, or insufficient data: cause 3, cause 4,")


def test_what_a_file_calls_a_unit_cannot_move_the_cursor() -> None:
    rows = (spike(80, 6.5, unit=HOSTILE), spike(79, 6.5, unit="A"))
    for each in spike_lines(rows, 0, range(2), 100):
        assert "\x1b" not in text_of(each)
        assert "\u202e" not in text_of(each)


def test_the_pointed_slot_has_a_line_and_a_foot() -> None:
    lines = draw_timeline(replace(TIMELINE, pointed=5, marks=()), 42, 8)
    column = 42 - 30 + 2  # two slots a cell
    assert text_of(lines[-1])[column] == "▲"
    assert text_of(lines[0])[column] == "┊"


def test_spikes_under_several_loads_have_a_column_for_it() -> None:
    one = spike_lines(SPIKES.rows, 0, range(1), 118)
    assert "load" not in text_of(one[0])
    rows = (replace(SPIKES.rows[0], load="cpu:4"), *SPIKES.rows[1:])
    heading, first, second = map(text_of, spike_lines(rows, 0, range(2), 118))
    at = heading.index("load")
    assert (first[at : at + 5], second[at : at + 4]) == ("cpu:4", "none")
    assert heading.index("events at the same time") == first.index("screen redraw")


def test_events_of_a_simulated_session_are_said_to_be_real() -> None:
    said = "Latencies are SIMULATED, events are of the real host."
    for simulated in (True, False):
        text = " ".join(text_of(each) for each in cause_lines(SPIKES, 118, 20, simulated=simulated))
        assert (said in text) == simulated


AROUND = Surroundings(
    row=spike(79, 7.5, "screen redraw"),
    slots=(1.0, None, 2.0, 8.0, 2.0, 4.0),
    calls=5,
    before_ms=2.0,
    after_ms=2.5,
    reason="",
    verdicts=(("screen redraw", "correlated"), ("page fault", "not significant")),
    happened=((-210_000_000, "load now cpu:2"),),
    power=(("cpu", 1.34),),
    thermal="Nominal",
)


def test_the_calls_around_a_spike_are_columns_from_0_to_the_slowest() -> None:
    """Two rows have 16 steps for 8 ms: 1 ms is 2 of them, 2 ms are 4, 4 ms a full cell."""
    drawn = [text_of(row).rstrip() for row in calls_chart(AROUND, 40, 3)]
    assert drawn[0] == " 8.00 ms    █"
    assert drawn[1] == "       0 ▂ ▄█▄█"
    assert drawn[2].startswith("         -1 ↑ spike")


def test_the_words_give_the_verdicts_what_happened_and_the_power() -> None:
    text = [text_of(row).rstrip() for row in surroundings_lines(AROUND, 120, 10)]
    assert text[0] == (
        "the calls around it · CPU_AND_NE at 01:19.00, 7.50 ms, 5 calls within 1 s, median 2.00 ms before, "
        "2.50 ms after"
    )
    assert text[-3:] == [
        "at it       screen redraw: correlated; page fault: not significant",
        "within 1 s  -0.21 s load now cpu:2",
        "then        load none, CPU 1.34 W, thermal Nominal",
    ]
    lost = replace(AROUND, calls=0, reason="calls are known for the last minute only")
    assert "n/a: calls are known for the last minute only" in text_of(calls_chart(lost, 60, 4)[0])


async def test_the_screen_asks_for_what_is_around_the_spike_under_the_cursor() -> None:
    feed = FakeFeed(replace(VIEW, spikes=replace(SPIKES, around=replace(AROUND, slots=AROUND.slots * 9))))
    async with running(feed, size=(120, 40)) as (app, pilot):
        await pilot.press("s")
        await settled(pilot)
        app.draw()
        assert feed.requests[-1].spike is None, "the newest, which may be another than in the frame before"
        await pilot.press("down")
        await settled(pilot)
        assert feed.requests[-1].spike == (79 * SECOND, "CPU_AND_NE")
        text = screen_text(app)
    assert "the calls around it · CPU_AND_NE at 01:19.00" in text
    assert "↑ spike" in text
    assert "↑↓ spike" in text.splitlines()[-1]
