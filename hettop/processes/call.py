"""Gives one job to a child process, waits for the answer, and leaves no process behind.

Job, progress and answer are msgspec structs; the child is a worker that calls `processes.serve`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from hettop.errors import HettopError
from hettop.processes.child_log import sentences
from hettop.processes.child_process import NOT_ENDED, ChildExit, ChildProcess, ProcessGuard, environment_for_child
from hettop.processes.pipe_reader import LineReader
from hettop.processes.reaper import Reaper
from hettop.processes.scratch import scratch_folder
from hettop.processes.serve import Answered, Failed, Line, Progress, Request
from hettop.text import clean

COLLECT_S = 1.0

A = TypeVar("A")

OnProgress = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Called(Generic[A]):
    """What the child answered, and what its log warns of, in sentences."""

    answer: A
    warnings: tuple[str, ...]


class ChildLostError(HettopError):
    """The child ended, or had to be ended, without an answer: that says nothing of what it was asked."""

    def __init__(self, kind: str, message: str, hint: str, ending: str) -> None:
        """ending: what is said of it after its name."""
        super().__init__(kind, message, hint)
        self.ending = ending


class Call(Generic[A]):
    """A job that a child does, followed without ever waiting: `poll` until it is over, `collect`, then `answer`."""

    def __init__(
        self,
        argv: Sequence[str],
        job: object,
        answer_type: type[A],
        environment: Mapping[str, str],
        guard: ProcessGuard,
        *,
        name: str,
        folder: str | None = None,
        progress_type: Any = None,
        on_progress: OnProgress = lambda _: None,
    ) -> None:
        """name: of the child, for people. folder: for its scratch files.

        Raises HettopError: `crashed`, when it cannot be started.
        """
        self._name, self._answer_type = name, answer_type
        self._progress_type, self._on_progress = progress_type, on_progress
        try:
            self.process = ChildProcess(argv, environment, guard)
        except OSError as error:
            raise HettopError("crashed", f"no {name} could be started: {error}") from error
        self._lines = LineReader()
        self._last: Answered | Failed | None = None
        self._senseless = False
        self._given_up = ""
        self._exit: ChildExit = NOT_ENDED
        self.process.send(msgspec.json.encode(Request(msgspec.Raw(msgspec.json.encode(job)), folder)) + b"\n")

    def poll(self) -> bool:
        """Takes in what it has written; whether it has said its last word. Raises what `on_progress` does."""
        self.process.send()
        self.process.read_log()
        for line in self._lines.feed(self.process.read()):
            self._receive(line)
        return self._last is not None or self._senseless or self.process.output_ended

    def give_up(self, why: str = "took too long") -> None:
        """Kills it; `why`, after its name, is what is said of it."""
        self._given_up = why
        self.process.kill()

    def collect(self, patience_s: float) -> bool:
        """Kills it if it still runs, and waits for its end up to `patience_s`; whether it is gone."""
        ended = self.process.collect(patience_s)
        if ended is not None:
            self._exit = ended
            self.process.read_log()
            self.process.close()
        return ended is not None

    @property
    def answered(self) -> bool:
        """Whether it has said its last word: the answer, or why there is none."""
        return self._last is not None

    def answer(self) -> A:
        """What it answered, once it is collected. Raises HettopError: as its work does; ChildLostError."""
        if isinstance(self._last, Failed):
            raise HettopError(clean(self._last.kind), clean(self._last.message), clean(self._last.hint))
        if self._last is not None and not self._senseless:
            try:
                return msgspec.json.decode(self._last.value, type=self._answer_type)
            except msgspec.MsgspecError:
                self._senseless = True
        ending = "answered what makes no sense" if self._senseless else self._given_up or self._exit.words
        kind = "timeout" if self._given_up or self._exit.timed_out else "crashed"
        raise ChildLostError(kind, f"the {self._name} {ending}", self.process.log.hint, ending)

    def _receive(self, text: bytes) -> None:
        if self._last is not None or self._senseless:
            return
        try:
            line: Line = msgspec.json.decode(text, type=Line)
            if isinstance(line, Progress):
                progress = msgspec.json.decode(line.value, type=self._progress_type)
            else:
                self._last = line
                return
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            self._senseless = True
        else:
            self._on_progress(progress)


def call(
    argv: Sequence[str],
    job: object,
    answer_type: type[A],
    *,
    name: str = "measuring process",
    environment: Mapping[str, str] | None = None,
    scratch: str | None = None,
    progress_type: Any = None,
    on_progress: OnProgress = lambda _: None,
    time_limit_s: float | None = None,
) -> Called[A]:
    """The answer of a child of its own. However this ends, SIGKILL included, child and folder are gone afterwards.

    environment: that of the child, this process's own by default. scratch: with a folder of this name for its scratch
    files. time_limit_s: how long it may take in all.
    Raises HettopError: as its work does, or `crashed`, `timeout` (`ChildLostError`).
    """
    inherited = environment_for_child(os.environ if environment is None else environment)
    deadline = None if time_limit_s is None else time.monotonic() + time_limit_s
    reaper = Reaper()
    try:
        with nullcontext() if scratch is None else scratch_folder(reaper, f"hettop-{scratch}-") as folder:
            own = inherited if folder is None else {**inherited, "TMPDIR": folder}
            running = Call(
                argv,
                job,
                answer_type,
                own,
                reaper,
                name=name,
                folder=folder,
                progress_type=progress_type,
                on_progress=on_progress,
            )
            try:
                while not running.poll():
                    left = None if deadline is None else deadline - time.monotonic()
                    if left is not None and left <= 0:
                        running.give_up(f"did not answer within {time_limit_s:g} s")
                        break
                    running.process.wait(left)
            finally:
                running.collect(COLLECT_S)
            return Called(running.answer(), tuple(sentences(running.process.log.warnings.found)))
    finally:
        reaper.close()
