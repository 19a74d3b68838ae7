"""Kills child processes and removes scratch folders when hettop ends, however it ends: a tiny process does it."""

from __future__ import annotations

import os
import sys

from hettop.processes import reaper_child
from hettop.processes.child_process import ChildProcess
from hettop.processes.reaper_child import IGNORED, PATH_MARK, end_all

PATIENCE_S = 1.0  # a reaper at the end of its pipe has milliseconds of work


class Reaper:
    """hettop's end of the pipe. Not thread-safe; `close` ends the process and kills what is still registered.

    Remove a pid *before* waiting for its process: a dead child keeps its pid until it is waited for, so the pid that
    is registered can never be a stranger's.
    """

    def __init__(self, python: str = sys.executable) -> None:
        self._python = python
        self._entries: set[str] = set()
        self._process: ChildProcess | None = self._start()

    @property
    def pid(self) -> int | None:
        """The reaper's own pid; None once closed."""
        return None if self._process is None else self._process.pid

    def add(self, pid: int) -> None:
        """Raises ValueError once it is closed: nobody would kill the process."""
        self._enter(str(pid))

    def remove(self, pid: int) -> None:
        """Harmless for a pid that is not registered, as none is after `close`."""
        self._strike(str(pid))

    def add_folder(self, path: str) -> None:
        """An absolute path: the folder and all that is in it are removed once the registered pids are dead."""
        self._enter(_written(path))

    def remove_folder(self, path: str) -> None:
        """Harmless for a folder that is not registered, as none is after `close`."""
        self._strike(_written(path))

    def close(self) -> None:
        """Kills and removes all that is registered and ends the reaper; may be called twice."""
        process, self._process = self._process, None
        if process is None:
            return
        process.hang_up()
        if not process.ended(PATIENCE_S):  # it stands still
            process.end()
            end_all(self._entries)
        self._entries.clear()

    def _enter(self, entry: str) -> None:
        if self._process is None:
            raise ValueError("the reaper is closed")
        self._entries.add(entry)
        self._send(self._process, f"+{entry}\n")

    def _strike(self, entry: str) -> None:
        if self._process is not None and entry in self._entries:
            self._entries.discard(entry)
            self._send(self._process, f"-{entry}\n")

    def _send(self, process: ChildProcess, line: str) -> None:
        try:
            process.write(line.encode())
        except (BrokenPipeError, BlockingIOError):
            # It was killed (out of memory, a zealous user) or stands still: a new one learns all that is registered.
            process.end()
            process.close()
            self._process = self._start()
            self._process.write("".join(f"+{entry}\n" for entry in self._entries).encode())

    def _start(self) -> ChildProcess:
        # A session of its own: a signal to hettop's whole process group must not take the reaper along.
        return ChildProcess(
            (self._python, "-S", "-E", "-P", reaper_child.__file__),
            None,
            None,
            stdout=False,
            stderr=False,
            blocked=IGNORED,
            new_session=True,
        )


def _written(path: str) -> str:
    """A path as a line may hold it, whatever is in it."""
    return PATH_MARK + os.fsencode(path).hex()
