"""Keeps Python's garbage collector from running while samples are taken.

Knows nothing of inference.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


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
