"""Reads the output of a child process that prints power samples, until it ends or is stopped; never leaves it running.

No temporary files: what is printed goes through a pipe, the last error lines are kept.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence

from hettop.processes.child_process import ChildExit
from hettop.sources.power.source import Guard, Machine

LOOK_EVERY_S = 0.1  # how soon a stop is noticed
ASKED_TWICE_S = 0.5  # after SIGTERM, and again after SIGKILL


class ChildOutput:
    """One run of a command. `stop` may be called in another thread; `chunks` waits for the end of the process."""

    def __init__(self, argv: Sequence[str], machine: Machine, *, farewell_s: float) -> None:
        """`farewell_s`: how long the process may take to end once its output is closed. Raises OSError."""
        self._stopped = threading.Event()
        self._farewell_s = farewell_s
        self.exit: ChildExit | None = None
        self.left_pid: int | None = None
        self._guard: Guard | None = None
        with contextlib.suppress(OSError):  # no process for a guard: a child dies of its closed pipe all the same
            self._guard = machine.guard()
        try:
            self._process = machine.spawn(argv, english(machine.environment), self._guard)
        except OSError:
            if self._guard is not None:
                self._guard.close()
            raise

    def stop(self) -> None:
        """End `chunks` soon; never waits."""
        self._stopped.set()

    @property
    def last_words(self) -> list[str]:
        """The last lines it printed to stderr."""
        return self._process.log.lines()

    def chunks(self) -> Generator[bytes, None, None]:
        """Its output as it arrives. Afterwards the child has ended, or `left_pid` has its pid."""
        try:
            yield from self._read()
        finally:
            self._end()

    def _read(self) -> Iterator[bytes]:
        while not self._stopped.is_set() and not self._process.output_ended:
            self._process.wait(LOOK_EVERY_S)
            self._process.read_log()
            if data := self._process.read():
                yield data

    def _end(self) -> None:
        """Close its output, so that its next write ends it, then signal it twice; report if it is still running.

        A user cannot signal what runs as root: those who refuse are waited for.
        """
        self._process.read_log()  # the last words, if they are there: who inherited the pipe may hold it open for ever
        self._process.close()
        ended = self._process.ended(self._farewell_s)
        for number in (signal.SIGTERM, signal.SIGKILL):
            if ended:
                break
            with contextlib.suppress(PermissionError):
                self._process.signal(number)
            ended = self._process.ended(ASKED_TWICE_S)
        if self._guard is not None:
            self._guard.close()
        self.exit = self._process.exit
        self.left_pid = None if ended else self._process.pid


def english(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment in which messages are English and numbers have points."""
    return {**environment, "LC_ALL": "C", "LANG": "C"}
