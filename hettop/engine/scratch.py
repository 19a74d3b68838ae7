"""A folder for scratch files of a process that hettop starts: gone afterwards, however hettop ends.

Knows nothing of what is kept in it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from hettop.engine.reaper import Reaper


@contextmanager
def scratch_folder(reaper: Reaper, prefix: str) -> Iterator[str]:
    """Its path, while it is there. `reaper` removes it if hettop is killed, once it has killed who writes in it."""
    folder = None
    try:
        with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as folder:
            reaper.add_folder(folder)
            yield folder
    finally:
        if folder is not None:  # not before it is gone: hettop may be killed while it removes it
            reaper.remove_folder(folder)
