"""Messages: at the bottom, in full, never over a panel, for as long as reading them takes."""

from __future__ import annotations

from hettop.report.terminal.lines import text_of
from hettop.tui.feed import Notice
from hettop.tui.notices import KEPT, Notices
from tests.tui.fakes import FakeFeed
from tests.tui.screens import running, screen_text, settled

LONG = "cannot record: the folder is not writable " * 6


def said(notices: Notices, width: int, most: int) -> list[str]:
    return [text_of(row).rstrip() for row in notices.lines(width, most)]


def test_messages_are_wrapped_and_each_has_its_mark() -> None:
    notices = Notices()
    notices.add("recording to a.jsonl", "information")
    notices.add("the disk is full, so nothing was saved", "error")
    assert said(notices, 30, 9) == [
        " · recording to a.jsonl",
        " ✗ the disk is full, so",
        "   nothing was saved",
    ]
    assert said(notices, 42, 1) == [" … 2 lines above, in a larger window"]


def test_a_message_stays_longer_the_longer_it_is() -> None:
    """An error of 150 characters: 12 s, and 10 s to read it."""
    notices = Notices()
    notices.add("e" * 150, "error")
    assert not notices.age(21.9)
    assert notices.age(0.2)
    assert notices.shown == ()


def test_the_same_message_is_there_once_and_can_be_shown_again() -> None:
    notices = Notices()
    for _ in range(3):
        notices.add("same", "warning")
    assert [each.text for each in notices.shown] == ["same"]
    for n in range(20):
        notices.add(f"message {n}", "information")
    notices.clear()
    assert notices.again()
    assert [each.text for each in notices.shown] == [f"message {n}" for n in range(20 - KEPT, 20)]
    assert notices.added == 23


async def test_a_long_error_is_below_the_panels_in_full_and_escape_hides_it() -> None:
    feed = FakeFeed(notices=(Notice(LONG.strip(), "error"),))
    async with running(feed, size=(80, 24)) as (app, pilot):
        app.frame()
        await settled(pilot)
        rows = screen_text(app).splitlines()
        first = next(y for y, row in enumerate(rows) if row.startswith(" ✗ cannot record"))
        assert " ".join(" ".join(rows[first:]).split()) == f"✗ {LONG.strip()}"
        assert first == 24 - 4  # 251 characters in lines of 76
        assert any("CPU_AND_NE" in row for row in rows[:first])
        assert rows[first - 1].strip()
        await pilot.press("escape")
        await settled(pilot)
        assert screen_text(app).splitlines()[-1].startswith(" q quit")


async def test_it_is_shown_on_the_screens_over_the_panels_too() -> None:
    async with running(FakeFeed(), size=(80, 24)) as (app, pilot):
        await pilot.press("s")
        await settled(pilot)
        app.notify("a message")
        await settled(pilot)
        assert screen_text(app).splitlines()[-1].startswith(" · a message")
        await pilot.press("escape")
        await settled(pilot)
        assert app.page_screen is None
        assert screen_text(app).splitlines()[-1].startswith(" q quit")
