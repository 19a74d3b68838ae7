"""Child processes: each is registered with a guard, which kills it if hettop dies, until it has ended itself.

`GuardedProcess` is any child; `Process` is one of the engine's, with pipes. Neither knows a protocol.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from hettop.processes.log_warnings import LogWarnings
from hettop.processes.nserror import flatten
from hettop.processes.time_limit import SIGNAL
from hettop.text import clean

LOG_LINES = 20
LOG_LINE_BYTES = 4096
"""More of one line is not kept, whatever a framework prints."""

BRACKETS = " \t\r(){}[];,"


class ProcessGuard(Protocol):
    """Kills what is registered with it, however this process ends."""

    def add(self, pid: int) -> None: ...

    def remove(self, pid: int) -> None: ...


class GuardedProcess:
    """A child process whose pid is registered with `guard` for as long as the pid is its own.

    A child keeps its pid until it is waited for; from then on the system may give the pid to a stranger, whom neither
    the guard nor a late signal may hit. So nobody else waits for `process`, and the pid is removed from the guard
    exactly once: before the wait for a child that was killed, at once after it for one that ended by itself.
    (`waitid` could look without waiting; macOS has had it only since Python 3.13.)
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        guard: ProcessGuard | None,
        kill: Callable[[int, int], None] = os.kill,
    ) -> None:
        self.pid = process.pid
        self._process, self._guard, self._kill = process, guard, kill
        if guard is not None:
            try:
                guard.add(self.pid)
            except BaseException:  # nobody would end it if hettop died
                process.kill()
                process.wait()
                raise

    def ended(self, within_s: float = 0) -> bool:
        """Whether it has ended by now, or does so within so many seconds."""
        try:
            self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            return False
        self._release()
        return True

    @property
    def exit_code(self) -> int | None:
        """As `Popen.returncode`; None until `ended` or `end` has seen its end."""
        return self._process.returncode

    def signal(self, number: int) -> None:
        """Harmless once it has ended. Raises PermissionError for a child that runs as another user."""
        if self.exit_code is not None:
            return
        # Not Popen.send_signal, which waits for a dead child while its pid is still registered.
        with contextlib.suppress(ProcessLookupError):  # it is just dying, or the system collects the dead itself
            self._kill(self.pid, number)
        if number == signal.SIGKILL:
            self._release()

    def end(self) -> int:
        """Kills it if it still runs, waits for its end, and returns its exit code."""
        self.signal(signal.SIGKILL)
        return self._process.wait()

    def _release(self) -> None:
        guard, self._guard = self._guard, None
        if guard is not None:
            guard.remove(self.pid)


class Process:
    """A process with three pipes. `stdin` is non-blocking.

    `stdout` and `stderr` are descriptors that whoever started it reads, and closes.
    """

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str], guard: ProcessGuard) -> None:
        """Raises OSError when the process cannot be started."""
        # Stays blocked in the new process until it has set it to be ignored: a Ctrl-C in between must not end it.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            process = subprocess.Popen(
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, bufsize=0
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        self._process = GuardedProcess(process, guard)
        self.pid = self._process.pid
        assert process.stdin and process.stdout and process.stderr  # noqa: S101, PT018 (all pipes)
        # Whoever reads them closes them, so that they must not belong to file objects that do so, too.
        self.stdout, self.stderr = os.dup(process.stdout.fileno()), os.dup(process.stderr.fileno())
        process.stdout.close()
        process.stderr.close()
        self._stdin = process.stdin
        os.set_blocking(self._stdin.fileno(), False)

    def write(self, data: bytes) -> int:
        """How much of it the process's stdin took. Raises BlockingIOError, BrokenPipeError, ValueError (hung up)."""
        return os.write(self._stdin.fileno(), data)

    def hang_up(self) -> None:
        """Closes the process's stdin."""
        with contextlib.suppress(OSError):
            self._stdin.close()

    def kill(self) -> None:
        """SIGKILL; harmless for a process that is already dead."""
        self._process.signal(signal.SIGKILL)

    def collect(self, patience_s: float) -> str | None:
        """How the process ended, in words (`exited with status 3`, `killed by SIGSEGV`), or None if it has not yet.

        To be called after `kill`, or once its stdout has ended: it is then dying. Waits up to `patience_s` for it.
        """
        # One that closed its stdout without dying must not outlive its entry with the guard. To a dying process the
        # signal is nothing: how it ends was settled before its descriptors were closed.
        self.kill()
        self.hang_up()
        self._process.ended(patience_s)
        status = self._process.exit_code
        return None if status is None else describe_status(status)


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


NO_TELEMETRY = ("ORT_DISABLE_TELEMETRY", "1")
"""ONNX Runtime, from 1.29 on, uploads what it runs: a thread, a data base and a connection in the process measured.
Only this variable, set before it is imported, keeps it from beginning; its API comes too late."""


def environment_for_child(inherited: Mapping[str, str]) -> dict[str, str]:
    """The environment in which a child finds this very hettop, installed or run from its source folder."""
    environment = dict(inherited)
    root = Path(__file__).resolve().parents[2]
    # An installed package is found anyway, and site-packages on PYTHONPATH could shadow the standard library.
    if root.name not in {"site-packages", "dist-packages"}:
        earlier = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = f"{root}{os.pathsep}{earlier}" if earlier else str(root)
    environment.setdefault(*NO_TELEMETRY)
    return environment
