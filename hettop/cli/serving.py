"""`hettop --serve`: the same screen in a browser, by textual-serve, on this machine alone unless asked otherwise.

The server is a process that measures nothing; each page is a hettop of its own, and only one at a time.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import shlex
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hettop.errors import HettopError
from hettop.text import clean

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
        raise argparse.ArgumentTypeError(f"{text!r} is no port; write --serve 8000, or put --serve last")
    if host != "localhost":
        from ipaddress import IPv4Address

        try:
            named = IPv4Address(host)
        except ValueError:
            raise argparse.ArgumentTypeError(
                f"{text!r}: write an address of this machine, as 192.168.1.5:8000"
            ) from None
        if named.is_unspecified:
            raise argparse.ArgumentTypeError(f"{text!r}: name one address of this machine, not all of them")
    return Address(host, int(port))


def add_serve_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        OPTION,
        nargs="?",
        type=address,
        const=Address(),
        metavar="PORT",
        help="show the screen in a browser, on this machine alone (8000; extra: serve)",
    )


def serve(command: Sequence[str], where: Address, find: Callable[[str], Any] = importlib.util.find_spec) -> int:
    """Serve `hettop COMMAND` until interrupted. Raises HettopError (`missing`) without textual-serve."""
    if find(MODULE) is None:
        raise HettopError("missing", "--serve needs textual-serve, which is not installed", INSTALL)
    if not where.is_loopback:
        sys.stderr.write(f"whoever reaches {where.url} can steer this measurement: there is no password\n")
    _check_free(where)
    os.environ["TERM"] = "xterm-256color"  # for what is started: a page is no dumb terminal
    line = shlex.join([sys.executable, "-m", "hettop", *without_serve(command)])
    server = _server_class()(line, where)
    server.serve()
    return 0


def _check_free(where: Address) -> None:
    """Raises HettopError (`usage`) if somebody else serves there, or may not be asked to."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((where.host, where.port))
        except OSError as error:
            raise HettopError(
                "usage", f"{where.url} cannot be served: {error.strerror}", "choose another port: --serve 8123"
            ) from None


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
    """Textual-serve's server, which takes no page but its own for a page, and one at a time."""
    web = importlib.import_module("aiohttp.web")
    usual = importlib.import_module(f"{MODULE}.server").Server

    class OneOwnPage(usual):  # type: ignore[misc,valid-type]
        def __init__(self, command: str, where: Address) -> None:
            super().__init__(command, host=where.host, port=where.port, title="hettop", public_url=where.url)
            self._origins = where.origins
            self._taken = False

        async def handle_websocket(self, request: Any) -> Any:
            # Any page that a browser has open may connect to loopback; it says truthfully whose it is.
            origin = request.headers.get("Origin", "")
            if origin not in self._origins:
                raise web.HTTPForbidden(text=f"not from {clean(origin)}")
            if self._taken:
                raise web.HTTPConflict(text="two at once would measure each other: close the other page first")
            self._taken = True
            try:
                return await super().handle_websocket(request)
            finally:
                self._taken = False

    return OneOwnPage
