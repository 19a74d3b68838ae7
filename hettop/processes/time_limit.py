"""A time limit that a process sets itself for a call into a framework that has been seen to hang.

The system ends the process when it is over: the call holds the GIL, so that no thread of Python could.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections.abc import Iterator

LIMIT_S = 120.0
"""Long enough for the first load of a model of some hundred MB; the hangs that were reported lasted 27 minutes."""

SIGNAL = signal.SIGALRM
"""By this signal the process ends; nothing else in hettop sends it."""


SOON_S = 0.001
"""A limit that was over within the block ends the process now; 0 would switch it off."""


def end_after(seconds: float) -> None:
    """End this process in so many seconds, unless this is called again before: what hangs then is not waited for."""
    signal.setitimer(signal.ITIMER_REAL, seconds)


@contextlib.contextmanager
def time_limit(what: str, seconds: float = LIMIT_S) -> Iterator[None]:
    """End this process if the block takes longer than `seconds`, with `what` and the limit as a line of its log.

    A limit that was set before goes on after the block; within the block the shorter one counts.
    """
    sys.stderr.write(f"hettop: {what}: limited to {seconds:g} s\n")
    sys.stderr.flush()
    began = time.monotonic()
    before = signal.getitimer(signal.ITIMER_REAL)[0]
    end_after(min(seconds, before) if before else seconds)
    try:
        yield
    finally:
        end_after(max(SOON_S, before - (time.monotonic() - began)) if before else 0)
