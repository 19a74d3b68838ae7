"""Signals that stop hettop: SIGINT, SIGTERM and SIGHUP.

Nothing is raised into code that may be half-way through a line of output or a file.
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import time
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import Any, TextIO

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

SCREEN_SIGNALS = (*STOP_SIGNALS, signal.SIGQUIT)
"""Those that a screen handles: SIGQUIT, which elsewhere dumps core, would leave the terminal unusable."""

SAME_S = 1.0
"""Signals within this time are one: `timeout` sends its own to the process and to the group, shells do the like."""

SCREEN_TIMEOUT_S = 5.0
"""A screen ends in a fraction of a second. One that has not by then waits for a terminal that reads no more."""


def unwind_on_stop_signals() -> None:
    """From now on SIGTERM and SIGHUP unwind like an interrupt, so that files are closed and children ended."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup leaves it
            signal.signal(number, _interrupt)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@contextlib.contextmanager
def stop_signals_ignored() -> Iterator[None]:
    """Ignore the stop signals: a terminal that goes away sends several, and so do impatient people."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in STOP_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


@contextlib.contextmanager
def stop_descriptors(
    stdin: TextIO | None = None, *, clock: Callable[[], float] = time.monotonic
) -> Iterator[list[int]]:
    """File descriptors that reach their end when a stop signal comes; another signal later raises KeyboardInterrupt.

    stdin: the standard input, which is one of them if it is a pipe: a terminal's keys and files belong to others.
    """
    reading, writing = os.pipe()
    stopped_at: float | None = None

    def stop(_number: int, _frame: FrameType | None) -> None:
        nonlocal stopped_at
        if stopped_at is None:
            stopped_at = clock()
            os.close(writing)
        elif clock() - stopped_at > SAME_S:
            raise KeyboardInterrupt

    before = {
        number: signal.signal(number, stop) for number in STOP_SIGNALS if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield [reading, *_piped(stdin)]
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        os.close(reading)
        if stopped_at is None:
            os.close(writing)


def _piped(stdin: TextIO | None) -> Iterator[int]:
    if stdin is None:
        return
    with contextlib.suppress(OSError, ValueError):  # closed, or none of the system's
        descriptor = stdin.fileno()
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
            yield descriptor


class ScreenSignals:
    """Notes the first stop signal, however early, and passes it to the screen once there is one.

    Only a screen that does not end within `SCREEN_TIMEOUT_S` is unwound by a KeyboardInterrupt.
    """

    def __init__(self) -> None:
        self._number: int | None = None
        self._end_screen: Callable[[int], None] | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> ScreenSignals:
        for number in SCREEN_SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup leaves it
                self._before[number] = signal.signal(number, self._note)
        self._before[signal.SIGALRM] = signal.signal(signal.SIGALRM, self._time_out)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in self._before.items():
            # The sender has been heard: another signal must not change how the process ends, nor its exit code.
            ended = self._number is not None and number in SCREEN_SIGNALS
            signal.signal(number, signal.SIG_IGN if ended else signal.SIG_DFL if handler is None else handler)

    def screen_started(self, end: Callable[[int], None]) -> None:
        """Call `end` with the number of the first signal: when it comes, or now if it has come."""
        self._end_screen = end
        if self._number is not None:
            end(self._number)

    def screen_ended(self) -> None:
        """From here on a signal is noted and nothing more."""
        self._end_screen = None
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        if self._number is not None:
            return
        self._number = number
        if self._end_screen is not None:
            self._end_screen(number)
            signal.setitimer(signal.ITIMER_REAL, SCREEN_TIMEOUT_S)

    def _time_out(self, _number: int, _frame: FrameType | None) -> None:
        if self._end_screen is not None:
            raise KeyboardInterrupt
