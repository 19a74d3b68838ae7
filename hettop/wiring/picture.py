"""The screen at one moment of a recording, as SVG: the real screen, drawn without a terminal.

Joins a replay to the screen; neither is changed for it.
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from hettop.tui.app import HettopApp
from hettop.wiring.replay import ReplayFeed

DEFAULT_SIZE = (120, 40)


def picture(recording: Path, at_ns: int | None, size: tuple[int, int] = DEFAULT_SIZE, theme: str | None = None) -> str:
    """The screen at `at_ns` (None: at the end) of the recording. Raises HettopError (`recording`)."""
    return asyncio.run(_drawn(recording, at_ns, size, theme))


async def _drawn(recording: Path, at_ns: int | None, size: tuple[int, int], theme: str | None) -> str:
    feed = ReplayFeed(recording)
    try:
        status = feed.replay_status()
        end = status.duration_ns if status is not None else 0
        feed.seek(end if at_ns is None else at_ns)
        feed.toggle_play()
        app = HettopApp(lambda: feed, replaying=True, theme=theme)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            app.frame()
            await pilot.pause()
            return without_downloads(app.export_screenshot(title="hettop"))
    finally:
        feed.close()


def without_downloads(svg: str) -> str:
    """The picture with local fonts only: opening it must not reach out to anybody."""
    return re.sub(r",\s*url\([^)]*\) format\([^)]*\)", "", svg)
