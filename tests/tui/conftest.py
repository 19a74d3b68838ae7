"""What every test of the screen shares: an environment that does not colour the result."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from typing import Any

import pytest
import textual.app
import textual.pilot
import textual.screen
from textual._compositor import Compositor
from textual._context import visible_screen_stack
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

SOON_S = 0.01
"""What Textual waits for a terminal to have its last size is a little less."""
LOOKS = 2
"""Timers that are due and what other threads hand over come to light at the loop's next turn only."""


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    # pytest-textual-snapshot keeps its own state in the environment.
    textual = [name for name in os.environ if name.startswith("TEXTUAL_") and "SNAPSHOT" not in name]
    for name in (*textual, *(name for name in ("NO_COLOR", "COLORTERM") if name in os.environ)):
        monkeypatch.delenv(name)


async def _nothing_is_left_to_do(min_sleep: float = 0.0, max_sleep: float = 1.0) -> None:
    """All that the event loop can run has run, and so have the timers that are about to.

    Textual's own way sleeps until the process has computed nothing for 20 ms, on a busy machine for up to a second.
    """
    loop: Any = asyncio.get_running_loop()
    quiet = 0
    while quiet < LOOKS:
        await asyncio.sleep(0)
        soon = [
            timer.when() for timer in loop._scheduled if not timer.cancelled() and timer.when() < loop.time() + SOON_S
        ]
        quiet = 0 if loop._ready or soon else quiet + 1
        if soon and not loop._ready:
            await asyncio.sleep(max(0.0, min(soon) - loop.time()))


@pytest.fixture(scope="session", autouse=True)
def _no_time_is_waited_for() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module in (textual.app, textual.pilot):
            patch.setattr(module, "wait_for_idle", _nothing_is_left_to_do)
        patch.setattr(textual.screen, "UPDATE_PERIOD", SOON_S / 10)
        yield


@pytest.fixture(scope="session", autouse=True)
def _only_what_is_looked_at_is_painted() -> Iterator[None]:
    """Without a terminal Textual paints each change and throws it away; what a test looks at is painted for it."""
    paint = Compositor.render_update

    def paint_whole(self: Compositor, full: bool = False, screen_stack: Any = None, **options: Any) -> Any:
        if full:
            return paint(self, full, screen_stack, **options)
        visible_screen_stack.set(screen_stack or [])
        self._dirty_regions.clear()
        return None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Compositor, "render_update", paint_whole)
        yield


@pytest.fixture(scope="session", autouse=True)
def _style_sheets_are_parsed_once() -> Iterator[None]:
    """Every app would parse the same ones anew, which takes it longer than to draw a frame."""
    parsed: dict[object, list[RuleSet]] = {}
    parse = Stylesheet._parse_rules

    def parse_once(self: Stylesheet, css: str, *args: Any, **options: Any) -> list[RuleSet]:
        key = (css, args, frozenset(options.items()), frozenset(self._variables.items()))
        if key not in parsed:
            parsed[key] = parse(self, css, *args, **options)
        return parsed[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parse_once)
        yield
