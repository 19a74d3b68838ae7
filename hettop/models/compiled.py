"""Core ML models as the system compiled them, kept at fixed paths: the device's own caches go by path.

Entries are leased, so that none is removed while it is in use.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import plistlib
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from hettop.models.cache import NO_INDEX, ModelCache, default_cache, seal_name
from hettop.models.content import content_sha256

COMPILED_SUFFIX = ".mlmodelc"

FOLDER = f"compiled{NO_INDEX}"

MOST_BYTES = 4 << 30
"""Hundreds of vision models, or a handful of language models: what a user may find in a cache without surprise."""

KEY_LENGTH = 32
KEY = re.compile(rf"[0-9a-f]{{{KEY_LENGTH}}}")
LEFTOVER = re.compile(rf"\.({KEY.pattern})\..+")
"""The folder of a compilation under way, or of one whose process was killed."""

SYSTEM_VERSION = Path("/System/Library/CoreServices/SystemVersion.plist")

Compile = Callable[[Path, Path], None]
"""Compiles the first, a package or `.mlmodel`, to the second, which does not exist yet and ends in `.mlmodelc`."""


class Lease:
    """Keeps an entry from being removed until it is closed, or its process ends in whatever way."""

    def __init__(self, *descriptors: int) -> None:
        self._descriptors = descriptors

    def close(self) -> None:
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors = ()


@dataclass(frozen=True, slots=True)
class CompiledModel:
    """A compiled model. `cached`: an earlier compilation. To be kept at hand for as long as `path` is in use."""

    path: Path
    cached: bool
    lease: Lease


@dataclass(frozen=True, slots=True)
class Entry:
    """What the cache holds of one model; `used_at` in seconds since 1970."""

    key: str
    name: str
    path: Path
    nbytes: int
    used_at: float
    in_use: bool


class CompiledModels:
    """Compiled models in the folders of `cache`; beyond `most_bytes`, the ones least recently used go."""

    def __init__(self, cache: ModelCache, most_bytes: int = MOST_BYTES) -> None:
        # How much there may be is looked after here, where it is known what is in use.
        self._cache = replace(cache, limit_bytes=sys.maxsize)
        self._most_bytes = most_bytes

    def use(self, source: Path, system: str, compile_model: Compile) -> CompiledModel:
        """The compiled form of `source` on the system build `system`, compiled if it is not there.

        Reads all of `source`. Processes that compile the same at once each compile their own, and one wins. Raises
        HettopError: `io`, `format` as `content_sha256`; `io` when it can be kept nowhere; what `compile_model` raises.
        """
        key = compiled_key(source, system)

        def build(folder: Path) -> None:
            folder.mkdir()
            compile_model(source, folder / f"{source.stem}{COMPILED_SUFFIX}")

        if self._cache.find(key) is None:
            self._sweep()  # before our own lease, which would stand against the removal of this model's leftovers
        # The lease first: between a look and a lease somebody could remove it.
        held = [_shared(self._cache.folder, key)]
        try:
            cached = self._cache.find(key) is not None
            folder = self._cache.file(key, build)
            if folder.parent != self._cache.folder:
                held.append(_shared(folder.parent, key))
            model = CompiledModel(_compiled_in(folder), cached, Lease(*(each for each in held if each is not None)))
        except BaseException:
            Lease(*(each for each in held if each is not None)).close()
            raise
        if not cached:
            self._shrink()
        return model

    def entries(self) -> list[Entry]:
        """All there is, the latest used first."""
        found = [_entry(folder) for place in self._cache.places() for folder in place.iterdir() if _is_entry(folder)]
        return sorted(found, key=lambda entry: entry.used_at, reverse=True)

    def clear(self) -> list[Entry]:
        """Removes all that is not in use now, leftovers of broken compilations as well; returns what it removed."""
        self._sweep()
        return [entry for entry in self.entries() if _remove(entry.path.parent, entry.key)]

    def _shrink(self) -> None:
        self._sweep()
        entries = self.entries()
        excess = sum(entry.nbytes for entry in entries) - self._most_bytes
        for entry in reversed(entries):
            if excess <= 0:
                return
            if _remove(entry.path.parent, entry.key):
                excess -= entry.nbytes

    def _sweep(self) -> None:
        """Removes what compilations left behind whose process was killed."""
        for place in self._cache.places():
            for folder in list(place.iterdir()):
                if (found := LEFTOVER.fullmatch(folder.name)) and folder.is_dir():
                    with _alone(place, found[1]) as alone:
                        if alone:
                            shutil.rmtree(folder, ignore_errors=True)


def default_compiled_models() -> CompiledModels:
    """The cache of the user who runs this."""
    cache = default_cache()
    # Beside the other caches' folders, not in them: those are cleared without regard to what is in use.
    beside, fallback = (place.with_name(f"{place.name}-{FOLDER}") for place in (cache.folder, cache.fallback))
    return CompiledModels(ModelCache(beside, fallback))


def compiled_key(source: Path, system: str) -> str:
    """What an entry is known by: the content of its source, and the build of the system that compiled it."""
    return hashlib.sha256(f"{content_sha256(source)}\n{system}".encode()).hexdigest()[:KEY_LENGTH]


def system_build(version_file: Path = SYSTEM_VERSION) -> str:
    """macOS's build (`24A335`), as every update changes it; elsewhere the kernel's release.

    The compatibility file that macOS shows in this one's place to programs of older SDKs has the same build.
    """
    try:
        return str(plistlib.loads(version_file.read_bytes())["ProductBuildVersion"])
    except (OSError, plistlib.InvalidFileException, ValueError, KeyError, TypeError):
        system = os.uname()
        return f"{system.sysname} {system.release}"


def _is_entry(folder: Path) -> bool:
    return KEY.fullmatch(folder.name) is not None and folder.is_dir()


def _entry(folder: Path) -> Entry:
    with _alone(folder.parent, folder.name) as alone:
        return Entry(
            key=folder.name,
            name=_compiled_in(folder).name,
            path=folder,
            nbytes=sum(_size(each) for each in folder.rglob("*")),
            used_at=_used_at(folder),
            in_use=not alone,
        )


def _compiled_in(folder: Path) -> Path:
    return next(folder.glob(f"*{COMPILED_SUFFIX}"), folder)


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size if not path.is_dir() else 0
    except OSError:  # removed by another process just now
        return 0


def _remove(place: Path, key: str) -> bool:
    """Whether it was removed: not if it is in use."""
    with _alone(place, key) as alone:
        if alone:
            (place / seal_name(key)).unlink(missing_ok=True)  # first, so that what is left half-way counts as damaged
            shutil.rmtree(place / key, ignore_errors=True)
            _lease_file(place, key).unlink(missing_ok=True)
        return alone


# -- leases: a lock on a file beside the entry, which ends with its process ------------------------------------------


def _lease_file(place: Path, key: str) -> Path:
    """Its time of change is when the entry was last used."""
    return place / f".{key}.use"


def _used_at(folder: Path) -> float:
    try:
        return _lease_file(folder.parent, folder.name).stat().st_mtime
    except OSError:
        return 0.0


def _shared(place: Path, key: str) -> int | None:
    """A descriptor that keeps the entry from being removed; None where there can be none, as on a read-only disk."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        descriptor = _locked(_lease_file(place, key), fcntl.LOCK_SH, os.O_CREAT)
    except OSError:
        return None
    with contextlib.suppress(OSError):
        os.utime(descriptor)
    return descriptor


@contextlib.contextmanager
def _alone(place: Path, key: str) -> Iterator[bool]:
    """Whether nobody uses the entry; then nobody can begin to before the end of the context."""
    try:
        descriptor = _locked(_lease_file(place, key), fcntl.LOCK_EX | fcntl.LOCK_NB, 0)
    except FileNotFoundError:
        yield True  # never used, or by a process that could leave no lease
        return
    except OSError:
        yield False
        return
    try:
        yield True
    finally:
        os.close(descriptor)


def _locked(path: Path, how: int, flags: int) -> int:
    """The descriptor of the file, locked; one that was removed in the meantime is opened anew. Raises OSError."""
    while True:
        descriptor = os.open(path, os.O_RDWR | flags, 0o600)
        try:
            fcntl.flock(descriptor, how)
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
