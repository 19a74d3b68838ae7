"""The folder where built models are kept between runs, safe for several processes at once.

Knows nothing of models: a file has a name and a function that builds it.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from hettop.errors import HettopError
from hettop.text import clean

Build = Callable[[Path], None]


@dataclass(frozen=True, slots=True)
class ModelCache:
    """Files go to `folder`, or to `fallback` where the first cannot be written."""

    folder: Path
    fallback: Path

    def find(self, name: str) -> Path | None:
        """The file or folder of that name, if it was built already and is whole."""
        if _is_whole(self.folder, name):
            return self.folder / name
        return self.fallback / name if _is_own(self.fallback) and _is_whole(self.fallback, name) else None

    def file(self, name: str, build: Build) -> Path:
        """The file or folder of that name, built by `build(path)` under a temporary name beside it if need be.

        `path` does not exist when `build` is called, and is called `name`, too. Processes that build the same at once
        each build their own; one of them wins, with equal content. Raises HettopError: `io` when neither folder can be
        written.
        """
        if found := self.find(name):
            return found
        try:
            return _build_into(self.folder, name, build)
        except OSError as error:
            first = error
        try:
            _make_private(self.fallback)
            return _build_into(self.fallback, name, build)
        except OSError as second:
            raise HettopError(
                "io",
                f"the model cache cannot be written: {_reason(first)}; nor the temporary folder: {_reason(second)}",
                "set XDG_CACHE_HOME or TMPDIR to a folder that can be written",
            ) from second


def default_cache(environ: Mapping[str, str] = os.environ, find_home: Callable[[], Path] = Path.home) -> ModelCache:
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
        seal.write_text(_sizes(built), encoding="utf-8")
        # The seal first: what has a name and no seal that fits it is damaged, never half-way to being there.
        seal.replace(_seal_of(folder, name))
        _put(built, folder / name)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return folder / name


def _seal_of(folder: Path, name: str) -> Path:
    return folder / f".{name}.seal"


def _sizes(place: Path) -> str:
    """Every file of it with its size: what a full disk or an interrupted copy leaves behind differs."""
    files = sorted(each for each in (place, *place.rglob("*")) if each.is_file())
    return "".join(f"{each.relative_to(place.parent)} {each.stat().st_size}\n" for each in files)


def _is_whole(folder: Path, name: str) -> bool:
    try:
        return (folder / name).exists() and _sizes(folder / name) == _seal_of(folder, name).read_text(encoding="utf-8")
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
        raise PermissionError(f"{folder} belongs to somebody else")


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
