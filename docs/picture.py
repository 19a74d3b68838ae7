"""Makes docs/screen.svg, the picture in the README, from a recording: `python docs/picture.py FILE --at 25s -o OUT`.

Opens the recording in the real screen, without a terminal, at a fixed moment and size.
"""

from __future__ import annotations

import argparse
import asyncio
import re
from pathlib import Path

from hettop.commands.options import duration_ns
from hettop.tui.app import HettopApp
from hettop.wiring.replay import ReplayFeed


async def picture(recording: Path, at_ns: int, size: tuple[int, int], theme: str | None) -> str:
    """The screen at `at_ns` of the recording, as SVG."""
    feed = ReplayFeed(recording, at_ns=at_ns)
    feed.toggle_play()
    app = HettopApp(lambda: feed, replaying=True, theme=theme)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        app.frame()
        await pilot.pause()
        return without_downloads(app.export_screenshot(title="hettop"))


def without_downloads(svg: str) -> str:
    """The picture with local fonts only: opening it must not reach out to anybody."""
    return re.sub(r",\s*url\([^)]*\) format\([^)]*\)", "", svg)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recording", type=Path)
    parser.add_argument("--at", type=duration_ns, default=20 * 10**9)
    parser.add_argument("--size", default="120x40")
    parser.add_argument("--theme")
    parser.add_argument("-o", "--output", type=Path, default=Path(__file__).with_name("screen.svg"))
    arguments = parser.parse_args()
    width, height = map(int, arguments.size.split("x"))
    svg = asyncio.run(picture(arguments.recording, arguments.at, (width, height), arguments.theme))
    arguments.output.write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
