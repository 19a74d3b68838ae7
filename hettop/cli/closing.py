"""How hettop ends when a signal asks for it: the screen in good order, the session in peace.

Knows nothing of what is closed, nor of what draws.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import termios
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import Any

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# A screen ends in a fraction of a second. One that has not by then waits for a terminal that takes nothing any more.
PATIENCE_S = 5.0

# Leave the alternate screen, show the cursor, and end the reports of mouse and paste that a screen asks for.
LEAVE_SCREEN = b"\x1b[?1049l\x1b[?25h\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?2004l"


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Ignore the signals that end hettop: a terminal that goes away sends several, and so do impatient people."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


class Endings:
    """Notes a signal that ends hettop, however early, and passes it on to whoever can end the screen.

    Nothing is raised into code that may be half-way through anything. Only a screen that does not end within
    `PATIENCE_S` is unwound by a KeyboardInterrupt.
    """

    def __init__(self) -> None:
        self._number: int | None = None
        self._tell: Callable[[int], None] | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Endings:
        for number in ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup leaves it
                self._before[number] = signal.signal(number, self._note)
        self._before[signal.SIGALRM] = signal.signal(signal.SIGALRM, self._lose_patience)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in self._before.items():
            # Whoever sent one has been heard: the last moments of the process, and its exit code, are not for the next.
            ended = self._number is not None and number in ENDING
            signal.signal(number, signal.SIG_IGN if ended else signal.SIG_DFL if handler is None else handler)

    def tell(self, end: Callable[[int], None]) -> None:
        """Call `end` with the number of the first signal: when it comes, or now if it has come."""
        self._tell = end
        if self._number is not None:
            end(self._number)

    def over(self) -> None:
        """The screen has ended: from here on a signal is noted and nothing more."""
        self._tell = None
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        if self._number is not None:
            return
        self._number = number
        if self._tell is not None:
            self._tell(number)
            signal.setitimer(signal.ITIMER_REAL, PATIENCE_S)

    def _lose_patience(self, _number: int, _frame: FrameType | None) -> None:
        if self._tell is not None:
            raise KeyboardInterrupt


@contextlib.contextmanager
def terminal_left_as_found() -> Iterator[None]:
    """Put the terminal's settings back, and after anything but a clean end its screen, too."""
    fd = sys.__stdin__.fileno() if sys.__stdin__ is not None else 0
    found = None
    with contextlib.suppress(termios.error, OSError):
        found = termios.tcgetattr(fd)
    clean = False
    try:
        yield
        clean = True
    finally:
        if found is not None:
            if not clean:
                _leave_screen(fd)
            with contextlib.suppress(termios.error, OSError):  # a terminal that is gone needs nothing
                termios.tcsetattr(fd, termios.TCSANOW, found)


def _leave_screen(fd: int) -> None:
    """Tell the terminal, without waiting for one that takes nothing."""
    with contextlib.suppress(OSError):
        os.set_blocking(fd, False)
        try:
            os.write(fd, LEAVE_SCREEN)
        finally:
            os.set_blocking(fd, True)
