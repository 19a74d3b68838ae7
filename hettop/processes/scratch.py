"""A folder for scratch files of a process that hettop starts: gone afterwards, however hettop ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hettop.processes.reaper import Reaper
from hettop.processes.reaper_child import remove_all

ANY_PREFIX = "hettop-[a-z]+-"
"""How the names of hettop's scratch folders begin, as a pattern."""

SUFFIX = "[a-z0-9_]{8}"
"""What `tempfile` adds to a prefix."""

HELD = "held"
"""A file in a scratch folder that its maker keeps locked: the lock ends with the maker, however that ends."""


@contextmanager
def scratch_folder(reaper: Reaper | None, prefix: str) -> Iterator[str]:
    """Its path, while it is there. `reaper` removes it if hettop is killed, once it has killed who writes in it.

    What was left by one whose reaper was killed, too, or that has none, as in a process that a reaper kills, is removed
    by the next with the same prefix.
    """
    remove_forgotten(Path(tempfile.gettempdir()), re.escape(prefix))
    folder = held = None
    try:
        with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as folder:
            if reaper is not None:
                reaper.add_folder(folder)
            held = _hold(Path(folder))
            yield folder
    finally:
        if held is not None:
            os.close(held)
        if reaper is not None and folder is not None:  # not before it is gone: hettop may be killed while it removes it
            reaper.remove_folder(folder)


def _hold(folder: Path) -> int | None:
    """The descriptor that keeps the lock; None where there are no locks. The file is there only once it is locked."""
    unlocked = folder / f".{HELD}"
    try:
        descriptor = os.open(unlocked, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    except OSError:
        return None  # no room: whatever is written next will fail
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        unlocked.rename(folder / HELD)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def remove_forgotten(where: Path, prefix: str = ANY_PREFIX) -> int:
    """Remove scratch folders of this user whose maker is dead; returns how many are gone.

    prefix: a pattern for how their names begin. Only folders with the name, the permissions and the lock file that
    `scratch_folder` gives them are removed.
    """
    name = re.compile(prefix + SUFFIX)
    removed = 0
    with contextlib.suppress(OSError), os.scandir(where) as entries:
        named = [entry for entry in entries if name.fullmatch(entry.name)]
        for entry in named:
            if _is_private(entry.stat(follow_symlinks=False)):
                removed += _removed_if_dead(Path(entry.path))
    return removed


def _is_private(status: os.stat_result) -> bool:
    """Whether it is a folder as `tempfile` makes them: this user's, and closed to everybody else."""
    return stat.S_ISDIR(status.st_mode) and stat.S_IMODE(status.st_mode) == 0o700 and status.st_uid == os.getuid()


def _removed_if_dead(folder: Path) -> bool:
    try:
        descriptor = os.open(folder / HELD, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False  # its maker lives
    else:
        remove_all({str(folder)})
        return not folder.exists()
    finally:
        os.close(descriptor)
