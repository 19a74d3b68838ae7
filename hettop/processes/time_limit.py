"""A time limit that a process sets itself for a call into a framework that has been seen to hang.

The system ends the process when it is over: the call holds the GIL, so that no thread of Python could.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator

LIMIT_S = 120.0
"""Long enough for the first load of a model of some hundred MB; the hangs that were reported lasted 27 minutes."""

SIGNAL = signal.SIGALRM
"""By this signal the process ends; nothing else in hettop sends it."""


@contextlib.contextmanager
def time_limit(what: str, seconds: float = LIMIT_S) -> Iterator[None]:
    """End this process if the block takes longer than `seconds`, with `what` and the limit as a line of its log."""
    sys.stderr.write(f"hettop: {what}: limited to {seconds:g} s\n")
    sys.stderr.flush()
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
