"""Kills what hettop leaves behind: a tiny process that holds a pipe from hettop and the pids of its children.

At the end of the pipe, however hettop ended, it kills every registered pid. A child cannot do that for itself: while a
native call holds the GIL none of its threads runs, and macOS has no death signal. Started by its path with `-S`, it
imports nothing but `os`, `sys` and `signal`: 7 MB, and no model runtime can hurt it.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess

PATIENCE_S = 1.0  # a reaper at the end of its pipe has milliseconds of work

IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP)


class Reaper:
    """hettop's end of the pipe. Not thread-safe; `close` ends the process and kills what is still registered.

    Remove a pid *before* waiting for its process: a dead child keeps its pid until it is waited for, so the pid that
    is registered can never be a stranger's.
    """

    def __init__(self, python: str = sys.executable) -> None:
        self._python = python
        self._pids: set[int] = set()
        self._process: subprocess.Popen[bytes] | None = self._start()

    @property
    def pid(self) -> int | None:
        """The reaper's own pid; None once closed."""
        return None if self._process is None else self._process.pid

    def add(self, pid: int) -> None:
        self._pids.add(pid)
        self._tell(f"+{pid}\n")

    def remove(self, pid: int) -> None:
        if pid in self._pids:
            self._pids.discard(pid)
            self._tell(f"-{pid}\n")

    def close(self) -> None:
        """Kills all that is registered and ends the reaper; may be called twice."""
        process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            process.stdin.close()
            self._await_end(process)

    def _tell(self, line: str) -> None:
        if self._process is None:
            raise ValueError("the reaper is closed")
        try:
            _write(self._process, line)
        except BrokenPipeError:
            # It was killed (out of memory, a zealous user): a new one learns all that is registered.
            self._process.wait()
            self._process = self._start()
            _write(self._process, "".join(f"+{pid}\n" for pid in self._pids))

    def _await_end(self, process: subprocess.Popen[bytes]) -> None:
        """Wait for the reaper; one that stands still is killed, and its work done here."""
        import subprocess

        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            kill_all(self._pids)

    def _start(self) -> subprocess.Popen[bytes]:
        import subprocess

        # Blocked signals stay blocked in the new process, so that none can end it before it has set them to be ignored.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, IGNORED)
        try:
            # A session of its own: a signal to hettop's whole process group must not take the reaper along.
            return subprocess.Popen(
                [self._python, "-S", "-E", __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _write(process: subprocess.Popen[bytes], line: str) -> None:
    assert process.stdin is not None  # noqa: S101 (it was started with a pipe)
    os.write(process.stdin.fileno(), line.encode())


def kill_all(pids: set[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            continue  # it had already ended


def main() -> None:
    """The reaper process: reads `+pid` and `-pid` lines until they end, then kills what is left."""
    for ignored in IGNORED:
        signal.signal(ignored, signal.SIG_IGN)
    pids = set()
    for line in sys.stdin:
        if not line.endswith("\n"):
            break  # torn: hettop died while it wrote
        pid = int(line[1:])
        if line[0] == "+":
            pids.add(pid)
        else:
            pids.discard(pid)
    kill_all(pids)


if __name__ == "__main__":
    main()
