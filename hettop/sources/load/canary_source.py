"""The canary as a source of events: starts its process, listens to it, and says when it is gone.

What a missed frame means for a condition is the fold's business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from hettop import events
from hettop.processes.child_process import ChildProcess, ProcessGuard, module_command
from hettop.processes.pipe_reader import LineReader

CANARY = module_command("hettop.sources.load.canary")
LINE_LIMIT = 4096


class _Line(msgspec.Struct, frozen=True):
    due: int
    missed: int
    worst_ns: int
    kernel_ns: int


MOST_STARTS = 3
"""A canary that somebody kills is replaced; one that dies by itself would die again."""


class CanarySource:
    """One canary process, begun at once. A canary that cannot start leaves frames unknown, and harms
    nothing; one that dies is replaced, twice at most.

    alive: whether it still reports.
    """

    def __init__(self, guard: ProcessGuard, environment: Mapping[str, str], argv: Sequence[str] = CANARY) -> None:
        self._guard, self._environment, self._argv = guard, environment, argv
        self._lines = LineReader()
        self._starts = 0
        self._process: ChildProcess | None = None
        self._start()

    def _start(self) -> None:
        self._starts += 1
        self._lines = LineReader()
        try:
            self._process = ChildProcess(self._argv, self._environment, self._guard, stderr=False)
        except OSError:
            return

    @property
    def alive(self) -> bool:
        return self._process is not None

    def drain(self, t: int) -> list[events.Canary]:
        """What it reported since the last call, as one event: a screen that stalled must not get a heap of them."""
        lines = self._reported()
        if not lines:
            return []
        return [
            events.Canary(
                t=t,
                due=sum(line.due for line in lines),
                missed=sum(line.missed for line in lines),
                worst_ns=max(line.worst_ns for line in lines),
                kernel_ns=min(line.kernel_ns for line in lines),
            )
        ]

    def close(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.end()
        process.close()

    def _reported(self) -> list[_Line]:
        if self._process is None:
            return []
        whole = self._lines.feed(self._process.read())
        if self._process.output_ended:  # it died: the frames until the next one reports are unknown
            self.close()
            if self._starts < MOST_STARTS:
                self._start()
        elif self._lines.unfinished > LINE_LIMIT:
            self.close()  # not our canary
            return []
        return [line for text in whole if (line := _decoded(text)) is not None]


def _decoded(text: bytes) -> _Line | None:
    try:
        line = _decoder.decode(text)
    except msgspec.MsgspecError:
        return None
    return line if 0 <= line.missed <= line.due and line.worst_ns >= 0 and line.kernel_ns >= 0 else None


_decoder = msgspec.json.Decoder(_Line)
