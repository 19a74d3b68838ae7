"""The events panel: repeats as one line that says so, what is earlier, and the table of the zoomed panel."""

from __future__ import annotations

from dataclasses import replace

from hettop.report.terminal.lines import text_of
from hettop.session.views.structs import LogCounts, LogLine
from hettop.tui.panels.events import EventsPanel, entry_lines, table_lines
from tests.tui.fakes import LIVE, REPLAY, SECOND, FakeFeed
from tests.tui.screens import running, screen_text, settled

RUN = LogLine(
    t=11_070_000_000,
    level="warning",
    words="spikes CPU_ONLY, max 70.9 ms",
    kind="spike",
    n=12,
    last_ns=14_200_000_000,
    unit="CPU_ONLY",
)
MARK = LogLine(t=15 * SECOND, level="info", words="mark: here", kind="mark")
LOST = replace(
    LIVE,
    log=(RUN, MARK),
    logged=LogCounts(held=2, earlier=1_234, counts=(("mark", 1), ("spike", 147))),
)


def test_repeats_say_how_often_and_until_when() -> None:
    rows = [text_of(row).rstrip() for row in entry_lines(RUN, 80)]
    assert rows == ["00:11.07 ! ×12 spikes CPU_ONLY, max 70.9 ms, to 00:14.20"]
    assert MARK.text == "mark: here"


def test_the_table_has_a_column_for_each_field() -> None:
    (run,) = (text_of(row).rstrip() for row in table_lines(RUN, 110))
    assert run == "00:11.07  00:14.20       12 ! spike        CPU_ONLY       spikes CPU_ONLY, max 70.9 ms"
    (mark,) = (text_of(row).rstrip() for row in table_lines(MARK, 80))
    assert mark == "00:15.00                  1   mark         mark: here"


async def test_zoomed_it_is_that_table_with_counts_of_the_session() -> None:
    async with running(FakeFeed(LOST)) as (app, pilot):
        await pilot.press("4", "z")
        await settled(pilot)
        text = screen_text(app)
    assert "events · mark 1 · spike 147" in text
    assert "time      until       count   kind         unit           text" in text
    assert "12 ! spike        CPU_ONLY       spikes CPU_ONLY, max 70.9 ms" in text
    assert "1,234 earlier lines: no longer in memory" in text


async def test_the_first_line_is_the_beginning_of_an_event() -> None:
    """Six entries of two lines in a panel of an odd number of lines."""
    log = tuple(replace(MARK, t=at * SECOND, words=f"mark: {at} " + "word " * 20) for at in range(30))
    for height in (39, 40):
        async with running(FakeFeed(replace(LIVE, log=log)), size=(120, height)) as (app, _):
            panel = app.main.query_one(EventsPanel)
            assert panel.frame_state is not None
            for room in (4, 5, 6, 7):
                rows = [text_of(each) for each in panel.body(panel.frame_state, 40, room)]
                assert len(rows) == room
                assert rows[0].startswith("00:")
                whole = len(entry_lines(log[0], 40))
                assert rows[-whole].startswith("00:29.00"), "the newest is at the bottom, in full"
                assert any("…" in each for each in rows) == (room % whole > 0)
                assert not any("……" in each for each in rows)


async def test_a_filter_finds_kinds_and_units() -> None:
    async with running(FakeFeed(LOST)) as (app, pilot):
        await pilot.press("4", "z", "slash", *"mark", "enter")
        await settled(pilot)
        assert "/mark: 1 of 2" in screen_text(app)
        assert "70.9" not in screen_text(app)


async def test_what_the_keyframe_lost_is_read_when_the_user_scrolls_there() -> None:
    lines = tuple(replace(MARK, t=n * SECOND, words=f"event {n}") for n in range(60))
    view = replace(LOST, log=lines, logged=replace(LOST.logged, held=60))
    feed = FakeFeed(view, replay=REPLAY)
    async with running(feed) as (app, pilot):
        await pilot.press("4")
        await settled(pilot)
        assert ("read_earlier_log",) not in feed.told.calls
        assert "earlier lines" not in screen_text(app)
        await pilot.press(*["up"] * 59)
        await settled(pilot)
        assert ("read_earlier_log",) in feed.told.calls
        assert "1,234 earlier lines: scroll on" in screen_text(app)
