"""Reads children's pipes: all in one background thread, or cut into lines.

Bytes go into a queue, each chunk with the source it came from.
"""

from __future__ import annotations

import os
import selectors
import threading
from collections import deque
from dataclasses import dataclass
from typing import Any

READ_BYTES = 1 << 18

# An hour of ten units at 700 samples/s. Whoever takes nothing for longer makes the engines keep, then drop, samples.
UNREAD_BYTES = 400 << 20


@dataclass(frozen=True, slots=True)
class Chunk:
    """Bytes that arrived from `source`; empty: its end."""

    source: Any
    data: bytes


class PipeReader:
    """A thread that reads whatever was added and keeps it until `take`; stops reading while `unread_bytes` are kept.

    So a busy screen never makes a child wait.
    """

    def __init__(self, unread_bytes: int = UNREAD_BYTES) -> None:
        self._limit = unread_bytes
        self._chunks: deque[Chunk] = deque()
        self._unread = 0
        self._closing = False
        self._news = threading.Condition()  # of chunks that arrived, of room for more, and of the end
        self._added: deque[tuple[int, Any]] = deque()
        self._wake_read, self._wake_write = os.pipe()
        self._thread = threading.Thread(target=self._read_all, name="pipe-reader", daemon=True)
        self._thread.start()

    def add(self, fd: int, source: Any) -> None:
        """Reads `fd` from now on, to its end, and closes it then."""
        self._added.append((fd, source))
        os.write(self._wake_write, b"+")

    def take(self) -> list[Chunk]:
        """All that arrived since the last call, in order for each source."""
        with self._news:
            chunks = list(self._chunks)
            self._chunks.clear()
            self._unread = 0
            self._news.notify_all()
        return chunks

    def wait(self, seconds: float) -> bool:
        """Whether something has arrived since the last `take`, or does so within `seconds`."""
        with self._news:
            return self._news.wait_for(lambda: bool(self._chunks), seconds)

    def close(self) -> None:
        """Ends the thread and closes every pipe it still reads."""
        with self._news:
            self._closing = True
            self._news.notify_all()
            os.write(self._wake_write, b"-")  # before the thread, let go, can close the other end
        self._thread.join()
        os.close(self._wake_write)

    def _read_all(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._wake_read, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    if key.fd == self._wake_read:
                        os.read(self._wake_read, 64)
                    else:
                        self._read(selector, key.fd, key.data)
                while self._added:
                    fd, source = self._added.popleft()
                    selector.register(fd, selectors.EVENT_READ, source)
                with self._news:
                    self._news.wait_for(lambda: self._closing or self._unread < self._limit)
                if self._closing:
                    for key in list(selector.get_map().values()):
                        os.close(key.fd)
                    return

    def _read(self, selector: selectors.BaseSelector, fd: int, source: Any) -> None:
        data = os.read(fd, READ_BYTES)
        if not data:
            selector.unregister(fd)
            os.close(fd)
        with self._news:
            self._chunks.append(Chunk(source, data))
            self._unread += len(data)
            self._news.notify_all()


class LineReader:
    """Cuts what comes in chunks into lines."""

    def __init__(self) -> None:
        self._rest = b""

    @property
    def unfinished(self) -> int:
        """How many bytes of the next line there are."""
        return len(self._rest)

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that `data` completes, without their line feeds."""
        *whole, self._rest = (self._rest + data).split(b"\n")
        return whole
