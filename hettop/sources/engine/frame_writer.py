"""The engine process's way out: frames go to a pipe without ever waiting for whoever reads it.

Knows of a frame how many samples it holds and no more: what finds no room is counted and declared.
"""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections import deque

from hettop.sources.engine.frames import LostReport, encode_report


class FrameWriter:
    """A bounded backlog of frames in front of a pipe. Belongs to one thread.

    `fd` is made non-blocking. Samples are refused while over `backlog_bytes` wait; a `LostReport` stands where they
    would have been. BrokenPipeError from any method: the reader is gone.
    """

    def __init__(self, fd: int, backlog_bytes: int) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self._limit = backlog_bytes
        self._waiting: deque[memoryview] = deque()
        self._waiting_bytes = 0
        self._lost = 0

    @property
    def pending(self) -> bool:
        """Whether anything still waits to be written, a declaration of lost samples included."""
        return bool(self._waiting) or self._lost > 0

    def post_samples(self, frame: bytes, n: int) -> None:
        """Queues a frame of `n` samples, or counts them as lost when there is no room."""
        self._declare_lost()
        if self._lost or self._waiting_bytes + len(frame) > self._limit:
            self._lost += n
        else:
            self._queue(frame)

    def post(self, frame: bytes) -> None:
        """Queues a report, behind a declaration of what was lost before it. Both are small and few: there is room."""
        self._declare_lost(at_once=True)
        self._queue(frame)

    def flush(self) -> None:
        """Writes as much as the pipe takes now."""
        self._write()
        if self._lost:
            self._declare_lost()
            self._write()

    def close(self, patience_s: float) -> None:
        """Writes what waits, giving the reader up to `patience_s` in all, and closes the pipe."""
        with contextlib.suppress(BrokenPipeError):
            self.drain(patience_s)
        os.close(self._fd)

    def drain(self, patience_s: float) -> None:
        """Writes what waits, giving the reader up to `patience_s` in all: not for a moment when samples are taken."""
        deadline = time.monotonic() + patience_s
        self.flush()
        while self.pending and (left := deadline - time.monotonic()) > 0:
            select.select([], [self._fd], [], left)
            self.flush()

    def _queue(self, frame: bytes) -> None:
        self._waiting.append(memoryview(frame))
        self._waiting_bytes += len(frame)

    def _declare_lost(self, at_once: bool = False) -> None:
        # Room for half the backlog first, so that a slow reader gets long stretches and not alternate frames.
        if self._lost and (at_once or self._waiting_bytes <= self._limit // 2):
            self._queue(encode_report(LostReport(n=self._lost)))
            self._lost = 0

    def _write(self) -> None:
        while self._waiting:
            head = self._waiting[0]
            try:
                written = os.write(self._fd, head)
            except BlockingIOError:
                return
            self._waiting_bytes -= written
            if written < len(head):
                self._waiting[0] = head[written:]
            else:
                self._waiting.popleft()
