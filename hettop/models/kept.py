"""What lies in a cache folder: how large it is, when it was last used, and which of it goes when there is too much.

Knows nothing of models, nor of how what it removes was made.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

LIMIT_BYTES = 2 * 10**9
"""What a cache folder may hold: dozens of models of the usual sizes, and far less than a disk."""


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """A file or folder of a cache: the bytes of all its files, and when it was last used, in ns of the wall clock."""

    path: Path
    size_bytes: int
    used_ns: int


def kept(path: Path) -> CacheEntry | None:
    """What lies at `path`; None where nothing does, or where it may not be read."""
    try:
        used = path.lstat().st_mtime_ns
        files = [path] if not path.is_dir() else [each for each in path.rglob("*") if each.is_file()]
        return CacheEntry(path, sum(each.lstat().st_size for each in files), used)
    except OSError:
        return None


def mark_used(path: Path) -> None:
    """Let `path` count as used now; one that cannot be marked counts as used when it was made."""
    with contextlib.suppress(OSError):
        os.utime(path)


def surplus(entries: Iterable[CacheEntry], limit_bytes: int, spared: Collection[Path] = ()) -> list[CacheEntry]:
    """The entries that must go for the others to fit into `limit_bytes`: the least recently used, none of `spared`."""
    ordered = sorted(entries, key=lambda entry: entry.used_ns)
    over = sum(entry.size_bytes for entry in ordered) - limit_bytes
    going = []
    for entry in ordered:
        if over <= 0:
            break
        if entry.path not in spared:
            going.append(entry)
            over -= entry.size_bytes
    return going


def remove(
    entries: Iterable[CacheEntry], forget: Callable[[Path], None] = lambda _path: None
) -> tuple[CacheEntry, ...]:
    """Remove them, each after `forget(path)`; returns those that are gone. One that cannot be removed stays."""
    gone = []
    for entry in entries:
        forget(entry.path)
        if entry.path.is_dir() and not entry.path.is_symlink():
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                entry.path.unlink(missing_ok=True)
        if not entry.path.exists():
            gone.append(entry)
    return tuple(gone)
