"""How a command that measures until it is told to end learns of that: by a signal, or by the end of its standard input.

Nothing is raised into code that may be half-way through a line of output.
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TextIO

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

SAME_S = 1.0
"""Signals within this time are one: `timeout` sends its own to the process and to the group, shells do the like."""


@contextlib.contextmanager
def ending(stdin: TextIO | None = None, *, clock: Callable[[], float] = time.monotonic) -> Iterator[list[int]]:
    """Descriptors the end of one of which means to end; another signal later on raises KeyboardInterrupt.

    stdin: the standard input, which is one of them if it is a pipe: a terminal's keys and files belong to others.
    """
    reading, writing = os.pipe()
    told_at: float | None = None

    def tell(_number: int, _frame: FrameType | None) -> None:
        nonlocal told_at
        if told_at is None:
            told_at = clock()
            os.close(writing)
        elif clock() - told_at > SAME_S:
            raise KeyboardInterrupt

    before = {
        number: signal.signal(number, tell) for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield [reading, *_piped(stdin)]
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        os.close(reading)
        if told_at is None:
            os.close(writing)


def _piped(stdin: TextIO | None) -> Iterator[int]:
    if stdin is None:
        return
    with contextlib.suppress(OSError, ValueError):  # closed, or none of the system's
        descriptor = stdin.fileno()
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
            yield descriptor
