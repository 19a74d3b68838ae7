"""Gathers samples in columns and writes them with the reports between them, in windows of one phase, to a pipe."""

from __future__ import annotations

import contextlib
import os
import select
import time
from array import array
from collections import deque
from collections.abc import Callable
from typing import Protocol

from hettop.sources.engine.frames import AnyReport, DoubtReport, LostReport, UsageReport, encode_report, encode_samples

RECENT = 64
"""Number of latest latencies for the usual latency: enough for a P90, few enough to follow changes."""

NOT_REPORTED = -1
"""Stands for a native time that the framework did not report; never published."""

REFUSED = -2
"""Stands for a native time that cannot be right, as one that is longer than the call; never published, but counted."""


class Out(Protocol):
    """Where encoded frames go; `frame_writer.FrameWriter` in an engine process. Must never wait."""

    @property
    def pending(self) -> bool: ...

    def post_samples(self, frame: bytes, n: int) -> None: ...

    def post(self, frame: bytes) -> None: ...

    def flush(self) -> None: ...


class Window:
    """The samples of one phase since the last frame, in columns."""

    def __init__(self, phase: str) -> None:
        self.phase = phase
        self.start = array("q")
        self.latency = array("q")
        self.native = array("q")
        self.late = array("q")

    def __len__(self) -> int:
        return len(self.start)

    @property
    def refused(self) -> int:
        """How many native times cannot be right."""
        return self.native.count(REFUSED)

    def encode(self) -> bytes:
        """A frame; a column that some sample lacks is left out."""
        whole = len(self.native) == len(self.start) and min(self.native, default=NOT_REPORTED) > NOT_REPORTED
        return encode_samples(
            self.phase, self.start, self.latency, self.native if whole else None, self.late if self.late else None
        )


class Publisher:
    """Holds the window that samples go into. `read_usage` is asked once per flush."""

    def __init__(self, out: Out, read_usage: Callable[[], UsageReport | None]) -> None:
        self.window = Window("first")
        self._out = out
        self._read_usage = read_usage
        self._recent = array("q")
        self._usual_ns: int | None = 0

    @property
    def usual_ns(self) -> int:
        """P90 of the latest published latencies; a sample that starts this long before the end of a slot will mostly
        fit. 0 while there are none."""
        if self._usual_ns is None:  # only who runs by slots asks, and each flush falls between two samples
            self._usual_ns = sorted(self._recent)[len(self._recent) * 9 // 10]
        return self._usual_ns

    @property
    def holds_anything(self) -> bool:
        """Whether a flush would have anything to do."""
        return len(self.window) > 0 or self._out.pending

    def begin(self, phase: str) -> Window:
        """The window for samples of `phase`; one of another phase is sealed first."""
        if phase != self.window.phase:
            self._seal(phase)
        return self.window

    def set_apart(self, phase: str) -> int:
        """Count what is not published yet as samples of `phase`; returns how many steady ones that were."""
        steady = len(self.window) if self.window.phase == "steady" else 0
        if steady:
            self.window.phase = phase
        return steady

    def report(self, report: AnyReport) -> None:
        """Publishes a report, after the samples before it, at once."""
        self._seal(self.window.phase)
        self._out.post(encode_report(report))
        self._out.flush()

    def flush(self) -> None:
        """Publishes what was measured so far."""
        behind = self._out.pending
        self._seal(self.window.phase)
        # A reader that is behind has enough to catch up with: the next report covers this time, too.
        if not behind and (usage := self._read_usage()) is not None:
            self._out.post(encode_report(usage))
        self._out.flush()

    def catch_up(self) -> bool:
        """Writes what the reader did not take earlier; returns whether it is still behind."""
        if self._out.pending:
            self._out.flush()
        return self._out.pending

    def _seal(self, next_phase: str) -> None:
        window = self.window
        if not len(window):
            window.phase = next_phase
            return
        self._recent = (self._recent + window.latency[-RECENT:])[-RECENT:]
        self._usual_ns = None
        self._out.post_samples(window.encode(), len(window))
        if refused := window.refused:
            self._out.post(encode_report(DoubtReport(n=refused)))
        self.window = Window(next_phase)


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
