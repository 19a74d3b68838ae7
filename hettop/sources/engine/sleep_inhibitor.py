"""Keeps a Mac from falling asleep while hettop measures.

Starts one process and ends it; knows nothing of what is measured. Elsewhere it does nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

PATIENCE_S = 1.0


def caffeinate(pid: int) -> tuple[str, ...]:
    """No idle sleep for as long as the process `pid` lives: it needs no one to end it."""
    return ("/usr/bin/caffeinate", "-i", "-w", str(pid))


class Awake:
    """In force from the start to `close`. A machine without the command sleeps as ever: that is no error.

    command: what to start instead of `caffeinate`. platform: as `sys.platform` names it.
    """

    def __init__(self, command: Sequence[str] | None = None, platform: str = sys.platform) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        if platform != "darwin":
            return
        try:
            # A session of its own: the terminal's Ctrl-C is not for it.
            self._process = subprocess.Popen(
                caffeinate(os.getpid()) if command is None else command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
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
        process.terminate()
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
