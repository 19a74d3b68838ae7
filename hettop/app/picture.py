"""The screen at one moment of a recording, as SVG: the real screen, drawn without a terminal."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from hettop.app.replay import ReplayFeed
from hettop.app.verdict_cache import VerdictCache
from hettop.measurement.user_files import user_places
from hettop.record.is_study_only import is_study_only
from hettop.tui.actions.display import portable
from hettop.tui.app import HettopApp
from hettop.tui.preferences import Preferences

DEFAULT_SIZE = (120, 40)


def picture(
    recording: Path,
    at_ns: int | None,
    size: tuple[int, int] = DEFAULT_SIZE,
    theme: str | None = None,
    keys: Sequence[str] = (),
    *,
    refold: bool = False,
) -> str:
    """The screen at `at_ns` (None: at the end) of the recording, after these keys. Raises HettopError (`recording`).

    refold: fold from the start instead of trusting keyframes.
    """
    return asyncio.run(_drawn(recording, at_ns, size, theme, keys, refold=refold))


async def _drawn(
    recording: Path, at_ns: int | None, size: tuple[int, int], theme: str | None, keys: Sequence[str], *, refold: bool
) -> str:
    feed = ReplayFeed(recording, refold=refold, verdicts=VerdictCache(lambda work: work()))
    try:
        feed.look_at_all()
        feed.to_end()
        if at_ns is not None:
            feed.seek(at_ns)
        screen = "studies" if is_study_only(recording) else ""
        own = Preferences(theme_folder=user_places().themes, screen=screen)
        app = HettopApp(lambda: feed, replaying=True, theme=theme, preferences=own)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            app.frame()
            await pilot.press(*keys)
            for _ in range(3):  # layout, the frame that follows it, and its painting
                await pilot.pause()
            return portable(app.export_screenshot(title="hettop"))
    finally:
        feed.close()
