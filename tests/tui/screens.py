"""Runs the app on a fake feed and reads its screen as text."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual._context import visible_screen_stack
from textual.pilot import Pilot
from textual.strip import Strip

from hettop.tui.app import HettopApp
from tests.tui.fakes import FakeFeed

GOLDENS = Path(__file__).parent / "goldens"
STILL = 0.001  # frames a second: none but the first comes by itself while a test runs


def app_on(feed: FakeFeed, **options: Any) -> HettopApp:
    """An app that shows the feed's fixed views and draws only when something is done to it."""
    app = HettopApp(lambda: feed, replaying=feed.replay is not None, **{"fps": STILL, "look": feed.look, **options})
    app.animation_level = "none"
    return app


@asynccontextmanager
async def running(
    feed: FakeFeed, size: tuple[int, int] = (120, 40), **options: Any
) -> AsyncIterator[tuple[HettopApp, Pilot[None]]]:
    """The app on this feed, its first frame drawn."""
    app = app_on(feed, **options)
    async with app.run_test(size=size, notifications=True) as pilot:
        await settled(pilot)
        yield app, pilot


async def settled(pilot: Pilot[None]) -> None:
    """Layout, the frame that follows it, and its painting are done."""
    for _ in range(3):
        await pilot.pause()


def screen_text(app: HettopApp) -> str:
    """What stands on the screen, line by line."""
    return "\n".join(strip.text.rstrip() for strip in painted(app))


def painted(app: HettopApp) -> list[Strip]:
    """The screen's lines, and those of the screens behind it where it lets them through."""
    visible_screen_stack.set(app._background_screens)
    return app.screen._compositor.render_strips()


def golden(name: str, text: str) -> str:
    """The text as it should be; with HETTOP_UPDATE_GOLDENS it is from now on what it is."""
    path = GOLDENS / name
    if os.environ.get("HETTOP_UPDATE_GOLDENS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return path.read_text(encoding="utf-8")
