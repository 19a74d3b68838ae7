"""Runs one study at a time in a process of its own, and turns what it tells into events.

Knows the lines of `--stream`; what a document means is read elsewhere.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hettop.console.progress import StreamLine
from hettop.errors import HettopError
from hettop.events import TEXT_LIMIT, Failure, Study
from hettop.measurement.arguments import model_arguments
from hettop.measurement.options import ModelOptions
from hettop.processes.child_process import ChildExit, ChildProcess, ProcessGuard, module_command
from hettop.processes.pipe_reader import LineReader
from hettop.studies.kinds import Kind
from hettop.studies.registry import read_document
from hettop.studies.result import StudyResult
from hettop.text import clean

TOLD_EVERY_NS = 10**9
"""How often what a study has found so far goes into the stream: it is a few thousand bytes each time."""

MOST_BYTES = 64 << 20
"""Of one line, and of what is taken in at one look; a study that tells more is broken."""
LOG_LINES = 6
LOOK_S = 0.05
END_S = 2.0
"""How long a study that was told to end may take to say its last words and to end its own children."""


class StudyRunner:
    """Starts a study of the model, and tells by events how far it is and what came of it."""

    def __init__(
        self,
        model: ModelOptions,
        guard: ProcessGuard,
        environment: Mapping[str, str],
        command: Sequence[str] = module_command("hettop"),
    ) -> None:
        self._model = model
        self._guard = guard
        self._environment = environment
        self._command = tuple(command)
        self._running: _Running | None = None
        self._latest: _Running | None = None

    @property
    def running(self) -> bool:
        return self._running is not None

    @property
    def document(self) -> Mapping[str, Any] | None:
        """All that the latest study has told by now, as its command prints it."""
        return None if self._latest is None else self._latest.document

    def start(self, kind: Kind, t: int) -> Study:
        """Begin it at `t` of the session; nothing else may run."""
        command = [*self._command, *kind.arguments, *model_arguments(self._model), "--stream"]
        self._running = self._latest = _Running(kind, command, self._environment, t, self._guard)
        return self._running.event(t, "running")

    def poll(self, t: int) -> Study | None:
        """What is new since the last look, at most each second until it ends."""
        running = self._running
        if running is None:
            return None
        if running.ended:
            self._running = None
            return running.result(t)
        try:
            return running.progress(t)
        except HettopError as error:
            self._running = None
            running.stop()
            return running.event(t, "failed", _told_failure(error))

    def stop(self, t: int) -> Study | None:
        """End the one that runs; what was found so far stays."""
        running, self._running = self._running, None
        if running is None:
            return None
        running.stop()
        return running.event(t, "ended")


class _Running:
    """One study's process. It tells by a pipe: however long it goes on, there is no file that grows."""

    def __init__(
        self, kind: Kind, command: list[str], environment: Mapping[str, str], t: int, guard: ProcessGuard
    ) -> None:
        self._kind, self._since_ns = kind, t
        self._told_at = t
        self._told = StreamLine()
        self._untold = False
        self._found: StudyResult | None = None
        self.document: Mapping[str, Any] | None = None
        self._lines = LineReader()
        self._process = ChildProcess(command, environment, guard, stdin=False)

    @property
    def ended(self) -> bool:
        return self._process.ended()

    def event(self, t: int, state: str, error: Failure | None = None) -> Study:
        doing, share = (self._told.doing, self._told.share) if state == "running" else (None, None)
        return Study(
            t=t,
            name=self._kind.name,
            state=state,
            elapsed_ns=max(0, t - self._since_ns),
            arguments=[clean(word, TEXT_LIMIT) for word in self._kind.arguments],
            doing=None if doing is None else clean(doing)[:TEXT_LIMIT],
            share=None if share is None else min(1.0, max(0.0, share)),
            found=None if self._found is None else self._found.line(),
            failures={} if self._found is None else self._found.failures(),
            error=error,
        )

    def progress(self, t: int) -> Study | None:
        # Read at once, however seldom it is told of: a document may be longer than the pipe, and its writer would wait.
        self._untold = self._receive() or self._untold
        if t - self._told_at < TOLD_EVERY_NS or not self._untold:
            return None
        self._told_at, self._untold = t, False
        return self.event(t, "running")

    def result(self, t: int) -> Study:
        ended = self._process.end()
        try:
            self._receive()
            failed = self._told.failed or _failure(ended, self._process.log.lines())
            error = None if ended.code == 0 else failed
        except HettopError as fault:
            error = _told_failure(fault)
        finally:
            self._process.close()
        if error is None and self._found is None:
            error = Failure(kind="study", message="it ended without an answer")
        return self.event(t, "done" if error is None else "failed", error)

    def stop(self) -> None:
        """Ends it; its last words count."""
        self._process.signal(signal.SIGTERM)  # it ends its own children; its reaper does if it cannot
        deadline = time.monotonic() + END_S
        with contextlib.suppress(HettopError):  # what it said before stays, whatever its last words are
            while not self.ended and (left := deadline - time.monotonic()) > 0:
                self._process.wait(min(left, LOOK_S))
                self._receive()
        self._process.end()
        with contextlib.suppress(HettopError):
            self._receive()
        self._process.close()

    def _receive(self) -> bool:
        """Reads what was told since; whether a line was among it. Raises HettopError (`study`)."""
        self._process.read_log()
        lines = self._lines.feed(self._process.read())
        if self._lines.unfinished > MOST_BYTES:
            raise HettopError("study", "it told more than can be taken in")
        for text in lines:
            try:
                self._told = msgspec.json.decode(text, type=StreamLine)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                raise HettopError("study", f"it told what cannot be read: {clean(str(error))}") from None
            if self._told.document is not None:
                self._found = read_document(self._kind.name, self._told.document)
                self.document = self._told.document
        return bool(lines)


def _told_failure(error: HettopError) -> Failure:
    return Failure(kind=error.kind, message=error.message[:TEXT_LIMIT], hint=error.hint[:TEXT_LIMIT])


def _failure(ended: ChildExit, log: list[str]) -> Failure:
    """Why it failed, where it did not say so itself."""
    texts = [text for line in log if (text := clean(line, TEXT_LIMIT).strip())]
    return Failure(kind="study", message=f"it {ended.words} without a word", log=texts[-LOG_LINES:])
