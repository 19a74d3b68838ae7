"""Lets a session close in peace: the second or two it takes must not be cut short by an impatient signal.

Knows nothing of what is closed.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Ignore the signals that end hettop: a terminal that goes away sends several, and so do impatient people."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
