"""Reads all engine processes' pipes in one background thread, so that a busy screen never makes one of them wait.

Knows no protocol: bytes go into a queue, each piece with the source it came from.
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
class Piece:
    """Bytes that arrived from `source`; empty: its end."""

    source: Any
    data: bytes


class Collector:
    """A thread that reads whatever was added and keeps it until `take`; stops reading while `unread_bytes` are kept."""

    def __init__(self, unread_bytes: int = UNREAD_BYTES) -> None:
        self._limit = unread_bytes
        self._pieces: deque[Piece] = deque()
        self._unread = 0
        self._lock = threading.Lock()
        self._arrived = threading.Event()
        self._room = threading.Event()
        self._added: deque[tuple[int, Any] | None] = deque()
        self._wake_read, self._wake_write = os.pipe()
        self._thread = threading.Thread(target=self._read_all, name="engine-collector", daemon=True)
        self._thread.start()

    def add(self, fd: int, source: Any) -> None:
        """Reads `fd` from now on, to its end, and closes it then."""
        self._added.append((fd, source))
        os.write(self._wake_write, b"+")

    def take(self) -> list[Piece]:
        """All that arrived since the last call, in order for each source."""
        with self._lock:
            pieces = list(self._pieces)
            self._pieces.clear()
            self._unread = 0
        self._arrived.clear()
        self._room.set()
        return pieces

    def wait(self, seconds: float) -> None:
        """Returns when something has arrived since the last `take`, or after `seconds`."""
        self._arrived.wait(seconds)

    def close(self) -> None:
        """Ends the thread and closes every pipe it still reads."""
        self._added.append(None)
        self._room.set()
        os.write(self._wake_write, b"-")
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
                    added = self._added.popleft()
                    if added is None:
                        for key in list(selector.get_map().values()):
                            os.close(key.fd)
                        return
                    selector.register(added[0], selectors.EVENT_READ, added[1])
                if self._unread >= self._limit:
                    self._await_room()

    def _read(self, selector: selectors.BaseSelector, fd: int, source: Any) -> None:
        data = os.read(fd, READ_BYTES)
        if not data:
            selector.unregister(fd)
            os.close(fd)
        with self._lock:
            self._pieces.append(Piece(source, data))
            self._unread += len(data)
        self._arrived.set()

    def _await_room(self) -> None:
        self._room.clear()
        if self._unread >= self._limit:  # `take` may have come in between
            self._room.wait()
