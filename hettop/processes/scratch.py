"""A folder for scratch files of a process that hettop starts: gone afterwards, however hettop ends.

Knows nothing of what is kept in it.
"""

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

from hettop.errors import HettopError
from hettop.processes.framework_errors import named_reason
from hettop.processes.reaper import Reaper, remove_all
from hettop.text import clean

MORE = 16 << 20
"""Bytes beyond the largest file there that a folder must take, or else that is why something failed in it."""

ANY_PREFIX = "hettop-[a-z]+-"
"""How the names of hettop's scratch folders begin, as a pattern."""

SUFFIX = "[a-z0-9_]{8}"
"""What `tempfile` adds to a prefix."""

HELD = "held"
"""A file in a scratch folder that its maker keeps locked: the lock ends with the maker, however that ends."""

CHUNK = 1 << 20
WRITTEN_KINDS = ("load", "format", "io", "predict", "input")
"""Kinds of errors that a file may lead to of which only the beginning could be written."""


def explained(error: Exception, folder: Path) -> HettopError:
    """The error in words; if it may be for want of room, and nothing can be written to the scratch folder, just that.

    Frameworks tell of a place in their source, or of a damaged file.
    """
    told = error if isinstance(error, HettopError) else HettopError("predict", named_reason(error))
    refused = _refused(folder) if told.kind in WRITTEN_KINDS else None
    if refused is None:
        return told
    return HettopError(
        "scratch",
        f"a scratch file could not be written to {clean(str(folder.parent))}: {refused.strerror or refused}",
        "the disk may be full, or the limit of a file's size reached (ulimit -f); TMPDIR names another folder",
    )


def _refused(folder: Path) -> OSError | None:
    """Why a file larger than those there cannot be written; None if it can."""
    probe = folder / "probe"
    try:
        if not folder.is_dir():
            return None
        left = MORE + max((each.stat().st_size for each in folder.rglob("*") if each.is_file()), default=0)
        with probe.open("wb", buffering=0) as file:
            while left > 0:
                left -= file.write(bytes(min(CHUNK, left)))
    except OSError as error:
        return error
    finally:
        if os.path.lexists(probe):
            probe.unlink()
    return None


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
        return None  # no room: whatever is written next will tell
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
