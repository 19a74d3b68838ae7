"""Imports heavy libraries beside what is going on, so that neither a frame nor a recording waits for them.

Knows names of modules alone. An import on the screen's own thread holds up everything that thread does: half a second
without a pump is half a second more that a crash would cost a recording.
"""

from __future__ import annotations

import contextlib
import importlib
import threading


def import_beside(*names: str) -> threading.Thread:
    """Start importing these modules, one after another, on a thread of their own; a missing one is somebody else's."""

    def work() -> None:
        for name in names:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)

    thread = threading.Thread(target=work, name="hettop-imports", daemon=True)
    thread.start()
    return thread
