"""A streaming server that follows a script: as a transport on a clock that the test drives, and as a real one."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "scripted"


@dataclass(frozen=True)
class Wait:
    """Milliseconds of silence before what comes next."""

    ms: float


@dataclass(frozen=True)
class Script:
    """Steps of an answer: waits, bytes as they are, text that is sent as a chunk. `status` other than 200 refuses."""

    steps: Sequence[Wait | bytes | str] = ()
    status: int = 200
    usage: tuple[int, int] | None = None
    ends: bool = True
    """Whether the stream ends as it should."""

    def pieces(self) -> Iterator[Wait | bytes]:
        """What goes over the wire, in order."""
        if self.status != 200:
            yield json.dumps({"error": {"message": "scripted refusal"}}).encode()
            return
        for step in self.steps:
            yield chunk(step) if isinstance(step, str) else step
        if self.ends:
            yield event({"choices": [{"delta": {}, "finish_reason": "length"}]})
            if self.usage is not None:
                prompt, tokens = self.usage
                yield event({"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": tokens}})
            yield b"data: [DONE]\n\n"


def event(document: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(document).encode() + b"\n\n"


def chunk(text: str) -> bytes:
    return event({"choices": [{"delta": {"content": text}}]})


def steady(gaps_ms: Sequence[float], first_ms: float = 20) -> list[Wait | bytes | str]:
    """A first token after `first_ms`, then one after each gap."""
    steps: list[Wait | bytes | str] = []
    for gap in (first_ms, *gaps_ms):
        steps += [Wait(gap), " x"]
    return steps


@dataclass
class RealServer:
    """Serves scripts in turn, the last one over and over. `requests` are the bodies, `headers` those of the last."""

    scripts: Sequence[Script]
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    sent_ns: list[int] = field(default_factory=list)
    begun_ns: list[int] = field(default_factory=list)
    ended_ns: list[int] = field(default_factory=list)

    def next_script(self) -> Script:
        return self.scripts[min(len(self.requests), len(self.scripts)) - 1]


@contextmanager
def serving(*scripts: Script, sleep_until: Callable[[float], None] | None = None) -> Iterator[tuple[str, RealServer]]:
    """A real server on the loopback; yields its address and what it was asked."""
    served = RealServer(scripts)
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            body = json.dumps({"data": [{"id": MODEL}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            with lock:
                served.requests.append(json.loads(self.rfile.read(length)))
                served.headers = dict(self.headers)
                script = served.next_script()
                served.begun_ns.append(time.monotonic_ns())
            self.send_response(script.status)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            due = time.monotonic()
            try:
                for piece in script.pieces():
                    if isinstance(piece, Wait):
                        due += piece.ms / 1e3
                        (sleep_until or _sleep_until)(due)
                    else:
                        served.sent_ns.append(time.monotonic_ns())
                        self.wfile.write(piece)
                        self.wfile.flush()
            except OSError:
                pass  # the client hung up
            served.ended_ns.append(time.monotonic_ns())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", served
    finally:
        server.shutdown()
        server.server_close()


def _sleep_until(moment: float) -> None:
    left = moment - time.monotonic()
    if left > 0:
        time.sleep(left)
