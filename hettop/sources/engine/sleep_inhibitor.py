"""Keeps a Mac from falling asleep while hettop measures; elsewhere it does nothing."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

from hettop.processes.child_process import ChildProcess

PATIENCE_S = 1.0


def caffeinate(pid: int) -> tuple[str, ...]:
    """No idle sleep for as long as the process `pid` lives: it needs no one to end it."""
    return ("/usr/bin/caffeinate", "-i", "-w", str(pid))


class SleepInhibitor:
    """In force from the start to `close`. A machine without the command sleeps as ever: that is no error.

    command: what to start instead of `caffeinate`. platform: as `sys.platform` names it.
    """

    def __init__(self, command: Sequence[str] | None = None, platform: str = sys.platform) -> None:
        self._process: ChildProcess | None = None
        if platform != "darwin":
            return
        try:
            self._process = ChildProcess(
                caffeinate(os.getpid()) if command is None else command,
                None,
                None,
                stdin=False,
                stdout=False,
                stderr=False,
                blocked=(),
                new_session=True,  # the terminal's Ctrl-C is not for it
            )
        except OSError:
            self._process = None

    @property
    def pid(self) -> int | None:
        """Of the process that keeps it awake, if there is one."""
        return None if self._process is None else self._process.pid

    def close(self) -> None:
        """Lets the machine sleep again; may be called twice."""
        process, self._process = self._process, None
        if process is None:
            return
        process.signal(signal.SIGTERM)
        if not process.ended(PATIENCE_S):
            process.end()
