"""A program in a real pseudo-terminal of 120x40, whose output is read and dropped as a terminal emulator would.

Knows nothing of what the program is. Times are those of the monotonic clock, in nanoseconds.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from benchmarks.plan import ROOT

COLUMNS, LINES = 120, 40
READ_BYTES = 1 << 16
KEPT_BYTES = 1 << 20  # enough for the first seconds, which are what is searched most often
ESCAPES = re.compile(rb"\x1b\[[0-9;?<>=$]*[a-zA-Z]")
SAID_BYTES = 500
SENT_BYTES = 256  # what a terminal that says it takes more certainly takes without waiting
POLL_S = 0.001
TERMINAL_KIND = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}


class Terminal:
    """Runs `argv` in a terminal, in `folder`, until `close`; a context manager."""

    def __init__(
        self,
        argv: Sequence[str],
        columns: int = COLUMNS,
        lines: int = LINES,
        kept_bytes: int = KEPT_BYTES,
        environment: Mapping[str, str] | None = None,
        folder: Path = ROOT,
    ) -> None:
        self._kept_bytes = kept_bytes
        self._main, terminal = pty.openpty()
        self._set_size(columns, lines)
        self._lock = threading.Lock()
        self._output = bytearray()
        self._arrivals: list[tuple[int, int]] = []
        self.total_bytes = 0
        self.started = time.monotonic_ns()
        self.process = subprocess.Popen(
            argv,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            cwd=folder,
            env={**os.environ, **TERMINAL_KIND, **(environment or {})},
            start_new_session=True,
        )
        os.close(terminal)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def press(self, key: str) -> int:
        """Type `key`; returns the moment just before."""
        return self.send(key.encode())

    def send(self, data: bytes) -> int:
        """Send these bytes as the terminal would; returns the moment just before."""
        moment = time.monotonic_ns()
        while data and self.process.poll() is None:
            if select.select([], [self._main], [], POLL_S)[1]:
                data = data[os.write(self._main, data[:SENT_BYTES]) :]
        return moment

    def resize(self, columns: int, lines: int) -> None:
        """Change the size of the terminal, and tell its program, which has no controlling terminal to do so."""
        self._set_size(columns, lines)
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGWINCH)

    def _set_size(self, columns: int, lines: int) -> None:
        fcntl.ioctl(self._main, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    @property
    def is_canonical(self) -> bool:
        """Whether the terminal echoes and reads lines, as a shell needs it."""
        flags = termios.tcgetattr(self._main)[3]
        return bool(flags & termios.ICANON and flags & termios.ECHO and flags & termios.ISIG)

    def await_bytes(self, count: int, timeout_s: float) -> int:
        """The moment by which the program had written `count` bytes."""

        def arrived() -> int | None:
            return next((moment for moment, total in self._arrivals if total >= count), None)

        return self._await(arrived, f"{count} bytes", timeout_s)

    def await_text(self, pattern: bytes, timeout_s: float) -> int:
        """The moment at which `pattern` had appeared in what the program wrote, escape sequences left out."""
        wanted = re.compile(pattern)

        def arrived() -> int | None:
            seen = wanted.search(ESCAPES.sub(b"", bytes(self._output)))
            return self._arrivals[-1][0] if seen else None

        return self._await(arrived, pattern.decode(), timeout_s)

    @property
    def kept(self) -> list[bytes]:
        """What it wrote since it began, in the parts in which it came; no more than it was to keep."""
        with self._lock:
            ends = [total for _, total in self._arrivals]
            return [bytes(self._output[begin:end]) for begin, end in zip([0, *ends], ends, strict=False)]

    def quit(self, timeout_s: float = 10.0) -> None:
        """Leave the program as a user does, and wait until it has ended."""
        self.press("q")
        self.process.wait(timeout_s)

    def close(self) -> None:
        """End the program, with what it started in its own session, if it has not ended yet."""
        if self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGCONT)
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self._reader.join(2.0)
        with contextlib.suppress(OSError):
            os.close(self._main)

    def _await(self, arrived: Callable[[], int | None], what: str, timeout_s: float) -> int:
        deadline = time.monotonic() + timeout_s
        checked = -1
        while True:
            if self.total_bytes != checked:
                checked = self.total_bytes
                with self._lock:
                    moment = arrived()
                if moment is not None:
                    return moment
            if time.monotonic() > deadline or (self.process.poll() is not None and not self._reader.is_alive()):
                said = ESCAPES.sub(b"", bytes(self._output))[-SAID_BYTES:].decode(errors="replace")
                raise TimeoutError(f"no {what} on the screen; status {self.process.poll()}; it said: {said!r}")
            time.sleep(POLL_S)

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._main, READ_BYTES)
            except OSError:
                return
            if not data:
                return
            moment = time.monotonic_ns()
            with self._lock:
                self.total_bytes += len(data)
                if len(self._output) < self._kept_bytes:
                    self._output += data
                    self._arrivals.append((moment, self.total_bytes))
