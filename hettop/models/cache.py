"""The folder where built models are kept between runs, up to a limit, safe for several processes at once."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hettop.errors import HettopError
from hettop.text import clean

Build = Callable[[Path], None]

NO_INDEX = ".noindex"
"""The end of a folder's name that keeps Spotlight out of it."""

ABANDONED_S = 24 * 3600
"""A build folder of that age belongs to a process that was killed: no build takes a day."""


NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
"""What the system says where a disk, or a user's share of it, is full."""


LIMIT_BYTES = 2 * 10**9
"""What a cache folder may hold: dozens of models of the usual sizes, and far less than a disk."""


@dataclass(frozen=True, slots=True)
class ModelCache:
    """Files go to `folder`, or to `fallback` where the first cannot be written.

    limit_bytes: beyond it, what was used least recently goes when something is built.
    """

    folder: Path
    fallback: Path
    limit_bytes: int = LIMIT_BYTES

    def find(self, name: str) -> Path | None:
        """The file or folder of that name, if it was built already and is whole."""
        if _is_whole(self.folder, name):
            return self.folder / name
        return self.fallback / name if _is_own(self.fallback) and _is_whole(self.fallback, name) else None

    def places(self) -> tuple[Path, ...]:
        """The folders that are there and may hold files."""
        return tuple(
            place
            for place in (self.folder, self.fallback)
            if place.is_dir() and (place == self.folder or _is_own(place))
        )

    def file(self, name: str, build: Build) -> Path:
        """The file or folder of that name, built by `build(path)` under a temporary name beside it if need be.

        `path` does not exist when `build` is called, and is called `name`, too. Processes that build the same at once
        each build their own; one of them wins, with equal content. Raises HettopError when neither folder can be
        written: `scratch` where both are full, else `io`.
        """
        if found := self.find(name):
            mark_used(found)
            return found
        try:
            return self._tidied(_build_into(self.folder, name, build))
        except OSError as error:
            first = error
        try:
            _make_private(self.fallback)
            return self._tidied(_build_into(self.fallback, name, build))
        except OSError as second:
            full = all(error.errno in NO_ROOM for error in (first, second))
            raise HettopError(
                "scratch" if full else "io",
                f"cannot write the model cache ({_reason(first)}) or the temporary folder ({_reason(second)})",
                _remedy(first, second),
            ) from second

    def area(self, kind: str, name: str) -> Path | None:
        """A folder that a framework may fill as it likes, marked as used; None where no folder can be written.

        kind: what fills it; its areas together are bounded as the cache itself is. Spotlight stays out.
        """
        for root in (self.folder, self.fallback):
            try:
                if root == self.fallback:
                    _make_private(root)
                place = root / f"{kind}{NO_INDEX}" / name
                place.mkdir(parents=True, exist_ok=True)
            except OSError:
                continue
            if os.access(place, os.W_OK):
                mark_used(place)
                remove(surplus(_present(place.parent.iterdir()), self.limit_bytes, {place}))
                return place
        return None

    def entries(self) -> tuple[CacheEntry, ...]:
        """All that lies in either folder, largest first: built files, and areas that frameworks filled."""
        roots = [self.folder, *([self.fallback] if _is_own(self.fallback) else [])]
        listed = [path for root in dict.fromkeys(roots) for path in _listed(root)]
        areas = [path for path in listed if path.name.endswith(NO_INDEX) and not path.is_symlink()]
        found = [entry for root in dict.fromkeys(roots) for entry in _built(root)]
        found += [entry for area in areas for entry in _present(_listed(area))]
        return tuple(sorted(found, key=lambda entry: (-entry.size_bytes, entry.path)))

    def clear(self) -> tuple[CacheEntry, ...]:
        """Remove all that `entries` lists; returns what is gone. What is in use by a process goes on being usable."""
        return remove(self.entries(), _break_seal)

    def _tidied(self, built: Path) -> Path:
        """`built`, after what is too much, and what killed builders left, has gone from the folder it lies in."""
        remove(surplus(_built(built.parent), self.limit_bytes, {built}), _break_seal)
        deadline_ns = time.time_ns() - ABANDONED_S * 10**9
        left = [path for path in _listed(built.parent) if path.name.startswith(".") and path.is_dir()]
        remove(entry for entry in _present(left) if entry.used_ns < deadline_ns)
        return built


def find_home(environ: Mapping[str, str] = os.environ) -> Path:
    """The user's own folder.

    Raises RuntimeError where there is none, as in a container, or where HOME is empty: `Path` takes that for `/`.
    """
    if environ.get("HOME") == "":
        raise RuntimeError("HOME is empty")
    return Path.home()


def default_cache(environ: Mapping[str, str] = os.environ, find_home: Callable[[], Path] = find_home) -> ModelCache:
    """The cache of the user who runs this."""
    fallback = Path(tempfile.gettempdir()) / f"hettop-{os.getuid()}"
    try:
        home = find_home()
    except RuntimeError:  # a user without a home, as in a container
        home = fallback
    return ModelCache(cache_folder(sys.platform, environ, home), fallback)


def cache_folder(platform: str, environ: Mapping[str, str], home: Path) -> Path:
    """The user's cache folder by the customs of `platform` (as `sys.platform` names it)."""
    if platform == "darwin":
        return home / "Library" / "Caches" / "hettop"
    # The XDG specification says that a relative path is to be ignored.
    base = Path(environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else home / ".cache") / "hettop"


def _build_into(folder: Path, name: str, build: Build) -> Path:
    """Built in a folder of its own, so that whatever else a builder leaves beside it goes, too."""
    folder.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=folder))
    try:
        built = temporary / name
        build(built)
        _sync(built)
        seal = temporary / "seal"
        seal.write_bytes(os.fsencode(_sizes(built)))  # names are bytes, and need not be text
        # The seal first: what has a name and no seal that fits it is damaged, never half-way to being there.
        seal.replace(_seal_of(folder, name))
        _put(built, folder / name)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return folder / name


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _present(paths: Iterable[Path]) -> list[CacheEntry]:
    return [entry for path in paths if (entry := kept(path)) is not None]


def _built(folder: Path) -> list[CacheEntry]:
    """What was built into the folder, damaged or not: it has a seal. What somebody else put there has none."""
    listed = _listed(folder)
    names = {path.name for path in listed}
    return _present(path for path in listed if seal_name(path.name) in names)


def seal_name(name: str) -> str:
    """The file beside what is called `name` that lists its files and their sizes."""
    return f".{name}.seal"


def _seal_of(folder: Path, name: str) -> Path:
    return folder / seal_name(name)


def _break_seal(path: Path) -> None:
    with contextlib.suppress(OSError):
        _seal_of(path.parent, path.name).unlink(missing_ok=True)


def _sizes(place: Path) -> str:
    """Every file of it with its size: what a full disk or an interrupted copy leaves behind differs."""
    files = sorted(each for each in (place, *place.rglob("*")) if each.is_file())
    return "".join(f"{each.relative_to(place.parent)} {each.stat().st_size}\n" for each in files)


def _is_whole(folder: Path, name: str) -> bool:
    """Whether all that was built is there; a file more does no harm, such as the ones a file browser leaves."""
    try:
        sealed = os.fsdecode(_seal_of(folder, name).read_bytes()).splitlines()
        return (folder / name).exists() and {*sealed} <= {*_sizes(folder / name).splitlines()}
    except OSError:
        return False


def _put(built: Path, place: Path) -> None:
    if place.is_dir() and not _is_whole(place.parent, place.name):
        shutil.rmtree(place)
    try:
        built.replace(place)
    except OSError as error:
        # A folder cannot replace another one: somebody else was faster, with equal content.
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) or not place.is_dir():
            raise


def _make_private(folder: Path) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not _is_own(folder):
        raise PermissionError(f"{folder} belongs to another user")


def _is_own(folder: Path) -> bool:
    """Whether nobody else can have put files there: the fallback has a guessable name in a folder that all share."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022


def _sync(path: Path) -> None:
    """A rename must not outlive the data after a power cut: a cut-off file would be used for ever."""
    for each in (path, *path.rglob("*")):
        if each.is_file():
            with each.open("rb") as file:
                os.fsync(file.fileno())


def _reason(error: OSError) -> str:
    return clean(str(error))


def _remedy(*errors: OSError) -> str:
    if any(error.errno in NO_ROOM for error in errors):
        return "free disk space (hettop doctor --clear-cache), or set TMPDIR to a folder on another one"
    return "set XDG_CACHE_HOME or TMPDIR to a writable folder"


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
