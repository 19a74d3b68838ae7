"""Caches that Core ML, the Neural Engine's service and ONNX Runtime fill outside of hettop's own, and their sizes.

Reads names and sizes and removes nothing: other programs share these folders.
"""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from hettop.models.cache import find_home

MOST_ENTRIES = 100_000
"""Entries of one cache that are looked at: the largest reports have some hundred models of a few files each."""

E5_CACHE = "com.apple.e5rt.e5bundlecache"


@dataclass(frozen=True, slots=True)
class SystemCache:
    """One kind of cache. `patterns`: its folders and files, by `~` (home), `/` (the system) or `$TMPDIR`.

    shared: who else uses it, and what becomes of what is removed. removable: whether its user may remove it.
    """

    name: str
    patterns: tuple[str, ...]
    shared: str
    removable: bool = True


SYSTEM_CACHES = (
    # A process without a bundle has a folder by the name of its executable (apple/coremltools#2507: `python`), Python's
    # framework and Apple's Python one by their bundle's identifier. HOME does not move it.
    SystemCache(
        "Core ML's cache for Python",
        (
            *(f"~/Library/Caches/{name}/{E5_CACHE}" for name in ("python*", "org.python.python", "com.apple.python3")),
            f"~/Library/Caches/{E5_CACHE}",
        ),
        "shared by all Python programs; Core ML recompiles what is missing",
    ),
    # apple/coremltools#2549: 274 GB, and hidden from `du`. A vault of the system's, which not even root may read.
    SystemCache(
        "Neural Engine's cache",
        ("/Library/Caches/com.apple.aned", "/Library/Caches/com.apple.aneuserd"),
        "shared by all programs; protected: only macOS clears it",
        removable=False,
    ),
    # microsoft/onnxruntime, core/providers/coreml/model/host_utils.mm names them; apple/coremltools#2670 the packages.
    SystemCache(
        "temporary models",
        ("$TMPDIR/onnxruntime-*", "$TMPDIR/tmp*.mlpackage", "$TMPDIR/*.mlmodelc"),
        "left by killed programs, or in use by running ones",
    ),
)


@dataclass(frozen=True, slots=True)
class Folders:
    """Where patterns begin. `home` is None for a user without one."""

    home: Path | None
    temporary: Path
    root: Path = Path("/")

    def quoted(self, pattern: str) -> str:
        """The pattern for a shell: what is named is quoted, what the shell is to expand is not."""
        base, _, rest = pattern.partition("/")
        return f"{shlex.quote(str(self.temporary)) if base == '$TMPDIR' else base}/{rest}"

    def matches(self, pattern: str) -> list[Path]:
        """The files and folders that match, sorted; links are left out."""
        base, _, rest = pattern.partition("/")
        folder = {"~": self.home, "$TMPDIR": self.temporary, "": self.root}[base]
        if folder is None:
            return []
        with suppress(OSError):
            return sorted(path for path in folder.glob(rest) if not path.is_symlink())
        return []


@dataclass(frozen=True, slots=True)
class Usage:
    """What there is of a cache: the patterns that match something, and the bytes of all files, links not followed.

    command: what removes it, for a shell; empty where the user may not. complete: False where there were too many
    entries to look at all. denied: whether some of it could not be read.
    """

    cache: SystemCache
    patterns: tuple[str, ...]
    nbytes: int
    complete: bool
    denied: bool
    command: str


def own_folders() -> Folders:
    """Those of the user who runs this process."""
    home = None
    with suppress(RuntimeError):  # a user without a home, as in a container
        home = find_home()
    return Folders(home, Path(tempfile.gettempdir()))


def system_usage(folders: Folders, most_entries: int = MOST_ENTRIES) -> list[Usage]:
    """Of each cache that is there; at most `most_entries` files and folders of it are looked at."""
    found = []
    for cache in SYSTEM_CACHES:
        matches = {pattern: paths for pattern in cache.patterns if (paths := folders.matches(pattern))}
        if matches:
            refused: list[Path] = []
            sizes = _sizes([path for paths in matches.values() for path in paths], refused)
            nbytes = sum(islice(sizes, most_entries))
            complete = next(sizes, None) is None
            command = f"rm -rf {' '.join(map(folders.quoted, matches))}" if cache.removable else ""
            found.append(Usage(cache, tuple(matches), nbytes, complete, bool(refused), command))
    return found


def _sizes(paths: Sequence[Path], refused: list[Path]) -> Iterator[int]:
    """The bytes of each file below `paths`, 0 for each folder; to `refused` goes what cannot be read."""
    waiting = list(paths)
    while waiting:
        path = waiting.pop()
        try:
            with os.scandir(path) as entries:
                yield 0
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(Path(entry.path))
                    else:
                        yield entry.stat(follow_symlinks=False).st_size
        except NotADirectoryError:
            yield path.lstat().st_size
        except FileNotFoundError:
            continue  # removed just now
        except OSError:
            refused.append(path)
