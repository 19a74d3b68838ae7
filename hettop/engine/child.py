"""One engine process as its parent sees it: started, told, listened to, and ended.

Knows the protocol but not why a unit runs; never waits for the process, except to collect it once it is dead.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import hettop
from hettop.engine.collector import Collector
from hettop.engine.frames import AnyReport, FrameReader, SampleFrame
from hettop.engine.job import AnyCommand, Job, encode
from hettop.engine.reaper import Reaper
from hettop.text import clean

LOG_LINES = 20
LOG_LINE_BYTES = 4096
"""More of one line is not kept, whatever a framework prints."""

WORKER = ("-X", "faulthandler", "-P", "-m", "hettop.engine.worker")
"""`-P`: the current folder is not searched for modules; it may hold anything, a `numpy.py` for one."""


@dataclass(frozen=True, slots=True)
class Channel:
    """Where bytes came from: a child's frames or its log."""

    child: Child
    is_log: bool


class Child:
    """A running engine process. Its pid is registered with `reaper` until just before it is waited for."""

    def __init__(
        self, argv: Sequence[str], environment: Mapping[str, str], job: Job, collector: Collector, reaper: Reaper
    ) -> None:
        """Raises OSError when the process cannot be started."""
        # Stays blocked in the new process until it has set it to be ignored: a Ctrl-C in between must not end it.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, bufsize=0
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        self.unit = job.unit
        self.pid = self._process.pid
        self._reaper = reaper
        reaper.add(self.pid)
        assert self._process.stdin and self._process.stdout and self._process.stderr  # noqa: S101, PT018 (all pipes)
        # The collector closes its descriptors itself, so they must not belong to file objects that do so, too.
        for stream, is_log in ((self._process.stdout, False), (self._process.stderr, True)):
            collector.add(os.dup(stream.fileno()), Channel(self, is_log))
            stream.close()
        self._stdin = self._process.stdin
        os.set_blocking(self._stdin.fileno(), False)
        self._unsent: deque[bytes] = deque()
        self._frames = FrameReader()
        self._log: deque[bytes] = deque(maxlen=LOG_LINES)
        self._log_line = b""
        self.frames_ended = False
        self.log_ended = False
        self._send(encode(job))

    def tell(self, command: AnyCommand) -> None:
        """Sends a command, now or as soon as the process has read earlier ones; never waits for it."""
        self._send(encode(command))

    def retry(self) -> None:
        """Sends what could not be sent before."""
        self._send(b"")

    def hang_up(self) -> None:
        """Closes the process's stdin, at which it ends by itself unless it hangs."""
        with contextlib.suppress(OSError):
            self._stdin.close()

    def kill(self) -> None:
        """SIGKILL. Harmless for a process that is already dead: until it is waited for, its pid is its own."""
        # Not Popen.kill, which waits for the process first if it is dead: its pid must leave the reaper before that.
        if self._process.returncode is None:
            os.kill(self.pid, signal.SIGKILL)

    def collect(self, patience_s: float) -> str | None:
        """How the process ended, in words (`exited with status 3`, `killed by SIGSEGV`), or None if it has not yet.

        To be called after `kill`, or once its frames have ended: it is then dying. Waits up to `patience_s` for it.
        """
        # One that closed its frames without dying must not outlive its entry with the reaper. To a dying process the
        # signal is nothing: how it ends was settled before its descriptors were closed.
        self.kill()
        self._reaper.remove(self.pid)
        self.hang_up()
        try:
            status = self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            return None
        return describe_status(status)

    def receive_frames(self, data: bytes) -> Iterator[SampleFrame | AnyReport]:
        """The frames that `data` completes. Raises BrokenStreamError."""
        if not data:
            self.frames_ended = True
        return self._frames.feed(data)

    def receive_log(self, data: bytes) -> None:
        if not data:
            self.log_ended = True
        *whole, rest = (self._log_line + data).split(b"\n")
        self._log.extend(line[:LOG_LINE_BYTES] for line in whole if line.strip())
        self._log_line = rest[:LOG_LINE_BYTES]

    def log(self) -> list[str]:
        """The last lines it printed, cleaned for a terminal."""
        lines = [*self._log, self._log_line] if self._log_line.strip() else list(self._log)
        return [clean(line.decode(errors="replace").rstrip()) for line in lines[-LOG_LINES:]]

    def _send(self, line: bytes) -> None:
        if line:
            self._unsent.append(line)
        with contextlib.suppress(BrokenPipeError, ValueError):  # it is dying or hung up: its end will be noticed
            while self._unsent:
                try:
                    written = os.write(self._stdin.fileno(), self._unsent[0])
                except BlockingIOError:
                    return
                self._unsent[0] = self._unsent[0][written:]
                if not self._unsent[0]:
                    self._unsent.popleft()


def describe_status(status: int) -> str:
    """`Popen.returncode` in words, a signal by its name."""
    if status >= 0:
        return f"exited with status {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"killed by signal {-status}"


def environment_for_child(inherited: Mapping[str, str]) -> dict[str, str]:
    """The environment in which a child finds this very hettop, installed or run from its source folder."""
    environment = dict(inherited)
    root = Path(hettop.__file__).resolve().parent.parent
    # An installed package is found anyway, and site-packages on PYTHONPATH could shadow the standard library.
    if root.name not in {"site-packages", "dist-packages"}:
        earlier = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = f"{root}{os.pathsep}{earlier}" if earlier else str(root)
    return environment
