"""Asking for access to power: the command on the plain terminal, and the keys that lead to it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import hettop.tui
from hettop.errors import HettopError
from hettop.tui.actions.measuring import run_on_terminal
from hettop.tui.app import HettopApp
from hettop.tui.feed import AccessRequest
from tests.tui.fakes import REPLAY, FakeFeed
from tests.tui.screens import running, screen_text, settled


class LeavingApp(HettopApp):
    """An app whose terminal can be left; counts how often it was."""

    CSS_PATH = str(Path(hettop.tui.__file__).with_name("app.tcss"))
    left = 0

    @contextmanager
    def suspend(self) -> Iterator[None]:
        self.left += 1
        yield


async def after_p(feed: FakeFeed) -> tuple[int, str]:
    """How often the screen was left, and what stood on it then."""
    app = LeavingApp(lambda: feed, replaying=feed.replay is not None, fps=0.001, look=feed.look)
    app.animation_level = "none"
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settled(pilot)
        await pilot.press("p")
        await settled(pilot)
        return app.left, screen_text(app)


@pytest.mark.parametrize(("command", "granted"), [(("true",), True), (("false",), False), (("/no/such",), False)])
def test_what_the_command_answers_counts_and_what_it_is_for_is_printed(command: tuple[str, ...], granted: bool) -> None:
    out = io.StringIO()
    assert run_on_terminal(AccessRequest(command, "what this is for"), out) is granted
    assert "what this is for" in out.getvalue()


async def test_b_takes_a_baseline() -> None:
    feed = FakeFeed()
    async with running(feed) as (_, pilot):
        await pilot.press("b")
        assert feed.told.calls == [("take_baseline",)]


async def test_access_that_was_given_is_used_at_once() -> None:
    feed = FakeFeed()
    left, text = await after_p(feed)
    assert left == 1
    assert feed.told.calls == [("power_access",), ("retry_power",)]
    assert "no access" not in text


async def test_access_that_was_not_given_is_said_and_nothing_is_tried() -> None:
    feed = FakeFeed()
    feed.told.asking = AccessRequest(("false",), "what this is for")
    left, text = await after_p(feed)
    assert left == 1
    assert feed.told.calls == [("power_access",)]
    assert "access to power readings was not granted" in text


async def test_where_access_would_change_nothing_the_screen_stays_and_says_so() -> None:
    feed = FakeFeed(fault=HettopError("usage", "asking would change nothing here", "macOS only"))
    left, text = await after_p(feed)
    assert left == 0
    assert feed.told.calls == [("power_access",)]
    assert "asking would change nothing here" in text
    assert "macOS only" in text


async def test_a_replay_asks_for_no_access() -> None:
    feed = FakeFeed(replay=REPLAY)
    left, _ = await after_p(feed)
    assert (left, feed.told.calls) == (0, [])


async def test_a_terminal_that_cannot_be_left_shows_what_to_do_instead() -> None:
    feed = FakeFeed()
    async with running(feed) as (app, pilot):
        await pilot.press("p")  # Textual's test driver cannot be suspended
        await settled(pilot)
        assert feed.told.calls == [("power_access",)]
        assert "this terminal cannot be suspended" in screen_text(app)
        assert "run sudo -v" in screen_text(app)
