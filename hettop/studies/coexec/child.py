"""Has a co-execution measured by a dispatch process, passes on what it tells, and leaves nothing behind.

Runs in hettop's own process, which imports no framework; the dispatch is killed if hettop dies, and its workers too.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence

import msgspec

from hettop.errors import HettopError
from hettop.processes.child_process import Log, Process, environment_for_child
from hettop.processes.reaper import Reaper
from hettop.studies.coexec.messages import Answer, Job, Lines, Progress, decode_word, encode
from hettop.studies.coexec.result import NOTHING_YET, Result
from hettop.text import clean

DISPATCH = (sys.executable, "-X", "faulthandler", "-P", "-m", "hettop.studies.coexec.dispatch")
READ_BYTES = 1 << 16
COLLECT_S = 1.0

PARTIAL_S = 5.0
"""How long a dispatch that was told to end may take to say what it has."""


class EndAskedError(KeyboardInterrupt):
    """Somebody wants it to end."""


def coexecute(
    job: Job,
    tell: Callable[[Progress], None] = lambda _: None,
    *,
    argv: Sequence[str] = DISPATCH,
    environment: Mapping[str, str] | None = None,
    ending: Collection[int] = (),
) -> Result:
    """What came of it; after an interrupt what came of it until then.

    tell: is called with what is going on, and with what is known by now. ending: descriptors; the end of one means to
    end, as an interrupt does. Raises HettopError: as the measuring does, and `interrupted` where one of them ended
    before anything was measured.
    """
    reaper = Reaper()
    try:
        process = Process(argv, environment_for_child(os.environ if environment is None else environment), reaper)
    except OSError as error:
        reaper.close()
        raise HettopError("crashed", f"no dispatch process could be started: {error}") from error
    log = Log()
    answer, status = None, None
    try:
        with contextlib.suppress(BrokenPipeError):  # it died at once: its log and its end tell why
            process.write(encode(job) + b"\n")  # a few hundred bytes, which a pipe takes at once
        listening = _Listening(process, log, tell)
        try:
            answer = listening.answer(None, ending)
        except EndAskedError as asked:
            answer = _last_words(process, listening)
            if answer is None:
                raise HettopError("interrupted", NOTHING_YET) from asked
        except KeyboardInterrupt:
            answer = _last_words(process, listening)
            if answer is None or answer.result is None:
                raise
    finally:
        status = process.collect(COLLECT_S)
        reaper.close()
        for descriptor in (process.stdout, process.stderr):
            os.close(descriptor)
    return _result(answer, log, status or "cannot be ended")


def _last_words(process: Process, listening: _Listening) -> Answer | None:
    """What a dispatch that is told to end has by then, or why it has nothing."""
    process.hang_up()
    return listening.answer(PARTIAL_S)


class _Listening:
    """Reads what the dispatch says, and its log."""

    def __init__(self, process: Process, log: Log, tell: Callable[[Progress], None]) -> None:
        self._process = process
        self._log = log
        self._tell = tell
        self._lines = Lines()

    def answer(self, patience_s: float | None, ending: Collection[int] = ()) -> Answer | None:
        """Its answer; None if it ends without one, talks nonsense, or takes too long.

        Raises EndAskedError once one of `ending` has ended.
        """
        deadline = None if patience_s is None else time.monotonic() + patience_s
        open_ends = {self._process.stdout, self._process.stderr}
        while self._process.stdout in open_ends:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            readable, _, _ = select.select([*open_ends, *ending], [], [], left)
            if not readable:
                return None
            for descriptor in readable:
                data = os.read(descriptor, READ_BYTES)
                if descriptor in ending:
                    if not data:
                        raise EndAskedError
                elif not data:
                    open_ends.discard(descriptor)
                elif descriptor == self._process.stderr:
                    self._log.receive(data)
                elif (answer := self._take(data)) is not None:
                    return answer
        return None

    def _take(self, data: bytes) -> Answer | None:
        for line in self._lines.feed(data):
            try:
                word = decode_word(line)
            except msgspec.MsgspecError:
                return Answer()
            if isinstance(word, Progress):
                self._tell(word)
            elif isinstance(word, Answer):
                return word
        return None


def _result(answer: Answer | None, log: Log, status: str) -> Result:
    if answer is None:
        raise HettopError("crashed", f"the dispatch process {status}", " · ".join(log.lines()[-2:]))
    if answer.failed is not None:
        raise HettopError(clean(answer.failed.kind), clean(answer.failed.message), clean(answer.failed.hint))
    if answer.result is None:
        raise HettopError("crashed", "the dispatch process answered what makes no sense")
    return answer.result
