"""Options of the screen, and showing it: shared by the live view and the replay."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hettop.errors import HettopError
from hettop.text import clean

if TYPE_CHECKING:
    from hettop.commands.closing import Endings
    from hettop.tui.feed import Feed

DEFAULT_FPS = 4.0
HIGHEST_FPS = 30.0


@dataclass(frozen=True, slots=True)
class ScreenOptions:
    """How the screen looks: theme by name (None: the default), redraws a second, plain characters only."""

    theme: str | None
    fps: float
    ascii_only: bool


def frames_per_second(text: str) -> float:
    """Redraws a second, 0.5 to 30."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.5 <= value <= HIGHEST_FPS:
        raise argparse.ArgumentTypeError(f"{text!r}: give 0.5 to {HIGHEST_FPS:g} redraws a second")
    return value


def add_screen_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--theme", metavar="T", help="colour theme; t steps through them")
    parser.add_argument("--fps", type=frames_per_second, default=DEFAULT_FPS, metavar="N", help="redraws a second (4)")
    parser.add_argument("--ascii", action="store_true", help="draw with plain ASCII characters")


def screen_options(arguments: argparse.Namespace) -> ScreenOptions:
    """Raises HettopError (`usage`) for a theme that there is not: now, before anything is started or recorded."""
    if arguments.theme is not None:
        check_theme(arguments.theme)
    return ScreenOptions(arguments.theme, arguments.fps, arguments.ascii)


def check_theme(name: str) -> None:
    """Raises HettopError (`usage`) for a theme that there is not."""
    from textual.theme import BUILTIN_THEMES

    from hettop.resources import themes_folder
    from hettop.tui.themes import load_themes

    ours = [theme.name for theme in load_themes([themes_folder()])[0]]
    if name not in ours and name not in BUILTIN_THEMES:
        raise HettopError("usage", f"no theme is called {clean(name)!r}", f"there are: {', '.join(ours)}")


def show(open_feed: Callable[[], Feed], options: ScreenOptions, *, endings: Endings, replaying: bool = False) -> int:
    """Run the screen until the user or a signal ends it; returns the exit code.

    Raises HettopError when the feed cannot open.
    """
    from hettop.commands.closing import terminal_left_as_found
    from hettop.tui.app import HettopApp

    app = HettopApp(open_feed, replaying=replaying, theme=options.theme, fps=options.fps, ascii=options.ascii_only)
    try:
        with terminal_left_as_found():
            endings.tell(app.end)
            app.run()
    finally:
        endings.over()
    if app.fault is not None:
        raise app.fault
    return app.return_code or 0
