"""How a process that measures stays undisturbed: its threads' quality of service, and no garbage collection.

The class decides which cores macOS gives to a thread, and how soon. A thread sets its own class and no
other's; elsewhere there is no such thing.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import sys
from collections.abc import Iterator
from typing import Any

# <sys/qos.h>
USER_INTERACTIVE = 0x21
UTILITY = 0x11
NAMES = {
    USER_INTERACTIVE: "user-interactive",
    0x19: "user-initiated",
    0x15: "default",
    UTILITY: "utility",
    0x09: "background",
    0x00: "unspecified",
}


def set_worker_qos(library: Any = None, platform: str = sys.platform) -> str | None:
    """Makes the calling thread one that the user waits for, and returns the class it then has.

    None where there are no such classes, or the system does not report them. `library` is the C library, by default the
    process's own; `platform` as `sys.platform` names it.
    """
    return _set(USER_INTERACTIVE, library, platform)


def set_screen_qos(library: Any = None, platform: str = sys.platform) -> str | None:
    """Makes the calling thread one that stands back behind what is measured; otherwise as `set_worker_qos`."""
    return _set(UTILITY, library, platform)


def _set(wanted: int, library: Any, platform: str) -> str | None:
    if platform != "darwin":
        return None
    try:
        functions = ctypes.CDLL(None) if library is None else library
        functions.pthread_set_qos_class_self_np(ctypes.c_uint(wanted), ctypes.c_int(0))
        # Asked, not assumed: a thread whose priority was set by hand keeps out of these classes.
        return NAMES.get(functions.qos_class_self())
    except (OSError, AttributeError):  # a system without them
        return None


@contextlib.contextmanager
def frozen_collector() -> Iterator[None]:
    """No garbage collection inside, but for the explicit ones while paused, which skip all that exists on entry."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()
