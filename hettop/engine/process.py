"""A child process of the engine's: started, hung up on, killed and collected, never outlived by its pid.

Knows no protocol; never waits for the process, except to collect it once it is dead.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections import deque
from collections.abc import Mapping, Sequence

from hettop.engine.log_warnings import LogWarnings
from hettop.engine.nserror import flatten
from hettop.engine.reaper import Reaper
from hettop.engine.time_limit import SIGNAL
from hettop.text import clean

LOG_LINES = 20
LOG_LINE_BYTES = 4096
"""More of one line is not kept, whatever a framework prints."""

BRACKETS = " \t\r(){}[];,"


class Process:
    """Its pid is registered with `reaper` until just before it is waited for. `stdin` is non-blocking.

    `stdout` and `stderr` are descriptors that whoever started it reads, and closes.
    """

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str], reaper: Reaper) -> None:
        """Raises OSError when the process cannot be started."""
        # Stays blocked in the new process until it has set it to be ignored: a Ctrl-C in between must not end it.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, bufsize=0
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        self.pid = self._process.pid
        self._reaper = reaper
        reaper.add(self.pid)
        assert self._process.stdin and self._process.stdout and self._process.stderr  # noqa: S101, PT018 (all pipes)
        # Whoever reads them closes them, so that they must not belong to file objects that do so, too.
        self.stdout, self.stderr = os.dup(self._process.stdout.fileno()), os.dup(self._process.stderr.fileno())
        self._process.stdout.close()
        self._process.stderr.close()
        self._stdin = self._process.stdin
        os.set_blocking(self._stdin.fileno(), False)

    def write(self, data: bytes) -> int:
        """How much of it the process's stdin took. Raises BlockingIOError, BrokenPipeError, ValueError (hung up)."""
        return os.write(self._stdin.fileno(), data)

    def hang_up(self) -> None:
        """Closes the process's stdin."""
        with contextlib.suppress(OSError):
            self._stdin.close()

    def kill(self) -> None:
        """SIGKILL. Harmless for a process that is already dead: until it is waited for, its pid is its own."""
        # Not Popen.kill, which waits for the process first if it is dead: its pid must leave the reaper before that.
        if self._process.returncode is None:
            os.kill(self.pid, signal.SIGKILL)

    def collect(self, patience_s: float) -> str | None:
        """How the process ended, in words (`exited with status 3`, `killed by SIGSEGV`), or None if it has not yet.

        To be called after `kill`, or once its stdout has ended: it is then dying. Waits up to `patience_s` for it.
        """
        # One that closed its stdout without dying must not outlive its entry with the reaper. To a dying process the
        # signal is nothing: how it ends was settled before its descriptors were closed.
        self.kill()
        self._reaper.remove(self.pid)
        self.hang_up()
        try:
            status = self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            return None
        return describe_status(status)


class Log:
    """The last lines that a process printed, and the warnings in all of them."""

    def __init__(self) -> None:
        self.warnings = LogWarnings()
        self._lines: deque[bytes] = deque(maxlen=LOG_LINES)
        self._line = b""

    def receive(self, data: bytes) -> bool:
        """Take what was printed next, no bytes at the end; return whether there are new warnings in it."""
        *whole, rest = (self._line + data).split(b"\n") if data else (self._line, b"")
        lines = [line[:LOG_LINE_BYTES] for line in whole if line.strip()]
        self._lines.extend(lines)
        self._line = rest[:LOG_LINE_BYTES]
        return sum(map(self.warnings.add, lines)) > 0  # every line is looked at

    def lines(self) -> list[str]:
        """Cleaned for a terminal, with NSErrors in words; of lines of brackets alone nobody learns anything."""
        text = flatten(b"\n".join([*self._lines, self._line]).decode(errors="replace"))
        lines = [line.rstrip() for line in text.split("\n") if line.strip(BRACKETS)]
        return [clean(line) for line in lines[-LOG_LINES:]]


def describe_status(status: int) -> str:
    """`Popen.returncode` in words, a signal by its name."""
    if status == -SIGNAL:
        return f"killed by {SIGNAL.name}: its time limit was over"
    if status >= 0:
        return f"exited with status {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"killed by signal {-status}"
