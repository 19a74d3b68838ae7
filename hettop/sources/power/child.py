"""The output of a child process that prints power samples: read until it ends or is told to, and never left behind.

Knows no format. No temporary files: what is printed goes through a pipe, the last error lines are kept.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import IO

from hettop.processes.child_process import GuardedProcess
from hettop.sources.power.machine import Guard, Machine
from hettop.text import clean

CHUNK = 64 << 10
LOOK_EVERY_S = 0.1  # how soon a stop is noticed
WORDS_KEPT = 20
WORD_LIMIT = 4 << 10  # of what is printed to stderr and not yet a line
ASKED_TWICE_S = 0.5  # after SIGTERM, and again after SIGKILL


class ChildOutput:
    """One run of a command. `stop` may be called in another thread; the end is awaited by whoever reads `chunks`."""

    def __init__(
        self, argv: Sequence[str], machine: Machine, *, farewell_s: float, kill: Callable[[int, int], None] = os.kill
    ) -> None:
        """`farewell_s`: how long it may take to notice that nobody reads it any more. Raises OSError."""
        self._stopped = threading.Event()
        self._farewell_s = farewell_s
        self._words: deque[str] = deque(maxlen=WORDS_KEPT)
        self._word = b""
        self.exit_code: int | None = None
        self.left_pid: int | None = None
        process = machine.spawn(argv, english(machine.environment))
        assert process.stdout is not None  # noqa: S101 - both were asked for
        assert process.stderr is not None  # noqa: S101
        self._stdout, self._stderr = process.stdout, process.stderr
        self._guard: Guard | None = None
        try:
            self._guard = machine.guard()
            self._process = GuardedProcess(process, self._guard, kill)
        except OSError:  # no process for a guard: a child dies of its closed pipe all the same
            self._guard = None
            self._process = GuardedProcess(process, None, kill)

    def stop(self) -> None:
        """End `chunks` soon; never waits."""
        self._stopped.set()

    @property
    def last_words(self) -> list[str]:
        """The last lines it printed to stderr."""
        return list(self._words)

    def chunks(self) -> Generator[bytes, None, None]:
        """What it prints, as it comes. After that the child has ended, or `left_pid` tells that it has not."""
        try:
            yield from self._read()
        finally:
            self._end()

    def _read(self) -> Iterator[bytes]:
        stdout, stderr = self._stdout, self._stderr
        with selectors.DefaultSelector() as ready:
            ready.register(stdout, selectors.EVENT_READ)
            ready.register(stderr, selectors.EVENT_READ)
            while not self._stopped.is_set():
                for key, _ in ready.select(LOOK_EVERY_S):
                    data = os.read(key.fd, CHUNK)
                    if not data:
                        ready.unregister(key.fileobj)
                    if key.fileobj is stderr:
                        self._hear(data)
                    elif data:
                        yield data
                    else:
                        return

    def _hear(self, data: bytes) -> None:
        *lines, rest = (self._word + data).split(b"\n")
        if not data:  # no more comes: what is there is a line
            lines, rest = [*lines, rest], b""
        self._word = rest[-WORD_LIMIT:]
        for line in lines:
            words = clean(line.decode("utf-8", "replace").strip())
            if words:
                self._words.append(words)

    def _end(self) -> None:
        """Close its output, so that it dies at its next write; ask twice more; say so if it still lives.

        A user cannot signal what runs as root: those who refuse are waited for.
        """
        self._stdout.close()
        self._drain(self._stderr)
        self._stderr.close()
        ended = self._process.ended(self._farewell_s)
        for number in (signal.SIGTERM, signal.SIGKILL):
            if ended:
                break
            with contextlib.suppress(PermissionError):
                self._process.signal(number)
            ended = self._process.ended(ASKED_TWICE_S)
        if self._guard is not None:
            self._guard.close()
        self.exit_code = self._process.exit_code
        self.left_pid = None if ended else self._process.pid

    def _drain(self, stderr: IO[bytes]) -> None:
        """The last words, if they are there: whoever inherited the pipe may hold it open for ever."""
        os.set_blocking(stderr.fileno(), False)
        with contextlib.suppress(BlockingIOError):
            while data := os.read(stderr.fileno(), CHUNK):
                self._hear(data)
        self._hear(b"")


def english(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment in which messages are English and numbers have points."""
    return {**environment, "LC_ALL": "C", "LANG": "C"}
