"""Metrics of a running session over HTTP, on loopback: asked for by Prometheus, answered by whoever pumps the session.

The server's threads never touch the session: they ask, and the measurement's own thread answers at its next turn. So a
session that nobody asks about costs nothing.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterable
from socketserver import TCPServer, ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from hettop.errors import HettopError
from hettop.export.openmetrics import library, metrics
from hettop.record.disk import fault_text
from hettop.session.session import Session

HOST = "127.0.0.1"
PATIENCE_S = 5.0  # for the answer; a measurement is pumped four times a second at least, but a screen may be stopped
SLOWEST_CLIENT_S = 10
# A page in a browser can have any name point at 127.0.0.1; the name it used is what gives it away.
NAMES = frozenset({"127.0.0.1", "localhost"})

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class Metrics:
    """Serves until it is closed. `answer` is to be called often, by the thread that owns the session."""

    def __init__(self, port: int, *, patience_s: float = PATIENCE_S) -> None:
        """Listens on `port` of this machine's loopback (0: any). Raises HettopError (`missing`, `usage`)."""
        client = library()
        registry = client.CollectorRegistry(auto_describe=False)
        registry.register(self)
        self._patience_s = patience_s
        self._asked = threading.Event()
        self._answered = threading.Condition()
        self._answers = 0
        self._families: list[Any] = []
        try:
            self._server = make_server(
                HOST, port, _guarded(client.make_wsgi_app(registry)), server_class=_Server, handler_class=_Handler
            )
        except (OSError, OverflowError) as error:
            why = fault_text(error) if isinstance(error, OSError) else "no such port"
            hint = "choose another --prometheus PORT, such as 9464"
            raise HettopError("usage", f"cannot serve metrics on port {port}: {why}", hint) from None
        self.port: int = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, name="hettop-metrics", daemon=True)
        self._thread.start()

    def answer(self, session: Session) -> None:
        """Tell what is known now to all who have asked since the last answer."""
        if not self._asked.is_set():
            return
        self._asked.clear()
        families = metrics(session)
        with self._answered:
            self._families = families
            self._answers += 1
            self._answered.notify_all()

    def describe(self) -> list[Any]:
        """What the registry wants to know on registering: nothing is promised."""
        return []

    def collect(self) -> list[Any]:
        """The answer to one scrape; nothing where the session stands still, for what was known before is not now."""
        with self._answered:
            before = self._answers
            self._asked.set()
            answered = self._answered.wait_for(lambda: self._answers > before, self._patience_s)
            return self._families if answered else []

    def close(self) -> None:
        """Listen no more; may be called twice."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    block_on_close = False

    def server_bind(self) -> None:
        """As the base class does, without asking the name service for this machine's name, which can take seconds."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.server_address[1]
        self.setup_environ()

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is its own matter; a traceback would land in the middle of the screen."""


class _Handler(WSGIRequestHandler):
    timeout = SLOWEST_CLIENT_S

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """The terminal belongs to the screen."""

    def get_stderr(self) -> io.StringIO:
        return io.StringIO()


def _guarded(application: Application) -> Application:
    def guarded(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ.get("HTTP_HOST", HOST).split(":")[0] not in NAMES:
            start_response("403 Forbidden", [("Content-Type", "text/plain")])
            return [b"ask for 127.0.0.1\n"]
        return application(environ, start_response)

    return guarded
