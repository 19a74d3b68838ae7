"""Options of the screen, and showing it, in the terminal or in a browser: shared by the live view and the replay.

Textual is imported in functions: other commands take their options from here, too.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import os
import shlex
import socket
import sys
import termios
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hettop.console.messages import print_warning
from hettop.errors import HettopError
from hettop.measurement.arguments import group_of, invalid
from hettop.text import clean, nearest

if TYPE_CHECKING:
    from hettop.console.signals import ScreenSignals
    from hettop.tui.feed import Feed
    from hettop.tui.preferences import Preferences

HIGHEST_FPS = 30.0

OURS = "hettop-"
"""Prefix of hettop's own themes; `--theme light` means `--theme hettop-light`."""


@dataclass(frozen=True, slots=True)
class ScreenOptions:
    """How the screen looks: theme by name (None: the default), frames per second, ASCII only, and the rest.

    power, unit: of the user's settings, for where the command line has none; None where they have none either.
    """

    theme: str | None
    fps: float
    ascii_only: bool
    preferences: Preferences
    power: str | None = None
    unit: str | None = None


def frames_per_second(text: str) -> float:
    """Frames per second, 0.5 to 30."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.5 <= value <= HIGHEST_FPS:
        raise invalid("frame rate", text, f"write 0.5 to {HIGHEST_FPS:g} frames per second")
    return value


def add_screen_options(parser: argparse.ArgumentParser) -> None:
    group = group_of(parser, "screen options")
    group.add_argument("--theme", metavar="T", help="colour theme (hettop-dark); hettop help themes lists them")
    group.add_argument("--fps", type=frames_per_second, metavar="N", help="frames per second, 0.5 to 30 (4)")
    group.add_argument(
        "--ascii", action=argparse.BooleanOptionalAction, default=None, help="draw with ASCII characters"
    )


def screen_options(arguments: argparse.Namespace) -> ScreenOptions:
    """The command line and the user's settings together.

    Raises HettopError (`usage`) for an unknown theme, before anything is started or recorded. One in a file is only
    reported.
    """
    from hettop.app.settings.resolve import DEFAULT, USUAL_THEME, load_settings, preferences, with_theme

    arguments.theme = whole_name(arguments.theme)
    user = load_settings({"theme": arguments.theme, "fps": arguments.fps, "ascii": arguments.ascii})
    if arguments.theme is not None:
        check_theme(arguments.theme)
    user, faults = with_theme(user, has_theme)
    theme = user.settings.values["theme"]
    own = preferences(user)
    chosen = user.settings.values["ascii"].source != DEFAULT
    return ScreenOptions(
        None if theme == USUAL_THEME else theme.value,
        user.settings["fps"],
        user.settings["ascii"] if chosen else not shows_unicode(sys.stdout.encoding),
        replace(own, notices=(*own.notices, *faults)),
        power=user.power,
        unit=user.settings["unit"] or None,
    )


def shows_unicode(encoding: str | None) -> bool:
    """Whether a terminal of this encoding has the characters that the screen is drawn with."""
    return (encoding or "ascii").lower().replace("-", "").startswith("utf")


def whole_name(theme: str | None) -> str | None:
    """The full name of a theme; hettop's own may be named without their prefix."""
    if theme is not None and not has_theme(theme) and has_theme(f"{OURS}{theme}"):
        return f"{OURS}{theme}"
    return theme


def has_theme(name: str) -> bool:
    """Whether hettop, the user or Textual has a theme of this name."""
    try:
        check_theme(name)
    except HettopError:
        return False
    return True


def check_theme(name: str) -> None:
    """Raises HettopError (`usage`) for an unknown theme."""
    from textual.theme import BUILTIN_THEMES

    from hettop.measurement.user_files import user_places
    from hettop.resources import themes_folder
    from hettop.tui.themes import load_themes

    folders = [themes_folder(), *filter(None, [user_places().themes])]
    ours = [theme.name for theme in load_themes(folders)[0]]
    if name not in ours and name not in BUILTIN_THEMES:
        near = nearest(name, [*ours, *(theme.removeprefix(OURS) for theme in ours)])
        raise HettopError("usage", f"unknown theme: {clean(name)!r}", f"{near} themes: {', '.join(ours)}".strip())


def on_terminal() -> bool:
    """Whether there is a person at both ends, at a terminal or at a page."""
    if os.environ.get("TEXTUAL_DRIVER", "").endswith("WebDriver"):  # set for the process that --serve starts
        return True
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def _check_stderr() -> None:
    """Raises HettopError (`usage`) where the screen would be drawn into a file: Textual draws on stderr."""
    if not os.environ.get("TEXTUAL_DRIVER") and (sys.stderr is None or not sys.stderr.isatty()):
        raise HettopError(
            "usage", "stderr is redirected, and the screen is drawn on it", "leave out 2>, or use hettop bench"
        )


def has_sixteen_colours() -> bool:
    """Whether the terminal has at most 16 colours, as Textual determines it."""
    from rich.console import Console
    from textual.constants import COLOR_SYSTEM

    return Console(color_system=COLOR_SYSTEM, force_terminal=True).color_system == "standard"  # type: ignore[arg-type]


def show(
    open_feed: Callable[[], Feed], options: ScreenOptions, *, signals: ScreenSignals, replaying: bool = False
) -> int:
    """Run the screen until the user or a signal ends it; returns the exit code.

    Raises HettopError when the feed cannot open, and an internal error of the screen as it is.
    """
    _check_stderr()
    from hettop.tui.app import HettopApp

    if not os.environ.get("NO_COLOR"):  # empty means unset (no-color.org), unlike in Textual
        os.environ.pop("NO_COLOR", None)
    app = HettopApp(
        open_feed,
        replaying=replaying,
        theme=options.theme,
        fps=options.fps,
        ascii=options.ascii_only,
        sixteen=has_sixteen_colours(),
        preferences=options.preferences,
    )
    try:
        with terminal_restored():
            signals.screen_started(app.end)
            app.run()
            if app.crash is not None:
                raise app.crash
    finally:
        signals.screen_ended()
    if app.fault is not None:
        raise app.fault
    return app.return_code or 0


@contextlib.contextmanager
def terminal_restored() -> Iterator[None]:
    """Put the terminal's settings back, and after anything but a clean end its screen, too."""
    fd = sys.__stdin__.fileno() if sys.__stdin__ is not None else 0
    found = None
    with contextlib.suppress(termios.error, OSError):
        found = termios.tcgetattr(fd)
    clean = False
    try:
        yield
        clean = True
    finally:
        if found is not None:
            if not clean:
                _leave_screen(fd)
            with contextlib.suppress(termios.error, OSError):  # a terminal that is gone needs nothing
                termios.tcsetattr(fd, termios.TCSANOW, found)


def _leave_screen(fd: int) -> None:
    """Write to the terminal without waiting for one that does not read."""
    from hettop.tui.driver import LEAVE_SCREEN

    with contextlib.suppress(OSError):
        os.set_blocking(fd, False)
        try:
            os.write(fd, LEAVE_SCREEN)
        finally:
            os.set_blocking(fd, True)


OPTION = "--serve"
LOOPBACK = "127.0.0.1"
USUAL_PORT = 8000
MODULE = "textual_serve"
INSTALL = "pip install 'hettop[serve]'"


@dataclass(frozen=True, slots=True)
class Address:
    """Where to serve: an address of this machine, and a port."""

    host: str = LOOPBACK
    port: int = USUAL_PORT

    @property
    def is_loopback(self) -> bool:
        return self.host == "localhost" or self.host.startswith("127.")

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    @property
    def origins(self) -> frozenset[str]:
        """What a browser names as the origin of a page that came from here."""
        names = {self.host, "localhost"} if self.is_loopback else {self.host}
        return frozenset(f"http://{name}:{self.port}" for name in names)


def address(text: str) -> Address:
    """`8000` or `192.168.1.5:8000`."""
    host, colon, port = text.rpartition(":")
    host = host if colon else LOOPBACK
    if not (port.isascii() and port.isdecimal() and len(port) <= 5 and 1 <= int(port) <= 65535):
        raise invalid("port", text, "write --serve 8000, or put --serve last")
    if host != "localhost":
        from ipaddress import IPv4Address

        try:
            named = IPv4Address(host)
        except ValueError:
            raise invalid("address", text, "write an address of this machine, such as 192.168.1.5:8000") from None
        if named.is_unspecified:
            raise invalid("address", text, "write one address of this machine")
    return Address(host, int(port))


def add_serve_option(parser: argparse.ArgumentParser) -> None:
    group_of(parser, "screen options").add_argument(
        OPTION,
        nargs="?",
        type=address,
        const=Address(),
        metavar="PORT",
        help="show the screen in a browser on this machine (8000; extra: serve)",
    )


def serve(command: Sequence[str], where: Address, find: Callable[[str], Any] = importlib.util.find_spec) -> int:
    """Serve `hettop COMMAND` until interrupted. Raises HettopError (`missing`) without textual-serve."""
    if find(MODULE) is None:
        raise HettopError("missing", "--serve needs a package that is not installed: textual-serve", INSTALL)
    if not where.is_loopback:
        print_warning(f"no password: everyone who can reach {where.url} can control this measurement")
    _check_free(where)
    from hettop.processes.child_process import environment_for_child  # with subprocess: help does without

    # For the process that draws the page.
    os.environ.update(environment_for_child(os.environ), TERM="xterm-256color")
    server = _server_class()(served_line(command), where)
    server.serve()
    return 0


def _check_free(where: Address) -> None:
    """Raises HettopError (`usage`) if the port is used, or not allowed."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((where.host, where.port))
        except OSError as error:
            raise HettopError(
                "usage", f"cannot serve at {where.url}: {error.strerror}", "use another port: --serve 8123"
            ) from None


def served_line(command: Sequence[str]) -> str:
    """What a shell runs for a page: the same command, with its modules from where hettop is, not the current folder."""
    from hettop.processes.child_process import module_command

    return shlex.join([*module_command("hettop"), *without_serve(command)])


def without_serve(argv: Sequence[str]) -> list[str]:
    """The command line without the option and its value."""
    left: list[str] = []
    after = False
    for argument in argv:
        value = after and not argument.startswith("-")
        after = argument == OPTION
        if not (after or value or argument.startswith(f"{OPTION}=")):
            left.append(argument)
    return left


def _server_class() -> Any:
    """Textual-serve's server, which accepts one page at a time, and only its own."""
    web = importlib.import_module("aiohttp.web")
    usual = importlib.import_module(f"{MODULE}.server").Server

    class OneOwnPage(usual):  # type: ignore[misc,valid-type]
        def __init__(self, command: str, where: Address) -> None:
            super().__init__(command, host=where.host, port=where.port, title="hettop", public_url=where.url)
            self._origins = where.origins
            self._taken = False

        async def handle_websocket(self, request: Any) -> Any:
            # Any page in a browser may connect to loopback; its origin is reliable.
            origin = request.headers.get("Origin", "")
            if origin not in self._origins:
                raise web.HTTPForbidden(text=f"not from {clean(origin)}")
            if self._taken:
                raise web.HTTPConflict(text="only one page at a time: close the other page first")
            self._taken = True
            try:
                return await super().handle_websocket(request)
            finally:
                self._taken = False

    return OneOwnPage
