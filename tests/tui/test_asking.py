from __future__ import annotations

import io

import pytest

from hettop.tui.asking import run_on_terminal
from hettop.tui.feed import AccessRequest
from tests.tui.fakes import FakeFeed
from tests.tui.screens import running


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


async def test_a_terminal_that_cannot_be_left_is_told_what_to_do_instead() -> None:
    feed = FakeFeed()
    async with running(feed) as (_, pilot):
        await pilot.press("p")  # Textual's test driver cannot be suspended
        assert feed.told.calls == [("power_access",)]
