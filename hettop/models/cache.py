"""The folder where built models are kept between runs, safe for several processes at once.

Knows nothing of models: a file has a name and a function that builds it.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
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
        """The file of that name, if it was built already."""
        if (self.folder / name).is_file():
            return self.folder / name
        return self.fallback / name if _is_own(self.fallback) and (self.fallback / name).is_file() else None

    def file(self, name: str, build: Build) -> Path:
        """The file of that name, built by `build(path)` into a temporary name beside it if it is not there yet.

        Processes that build the same file at once each build their own; the last to finish wins, with equal content.
        Raises HettopError: `io` when neither folder can be written.
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


def default_cache() -> ModelCache:
    """The cache of the user who runs this."""
    return ModelCache(
        cache_folder(sys.platform, os.environ, Path.home()),
        Path(tempfile.gettempdir()) / f"hettop-{os.getuid()}",
    )


def cache_folder(platform: str, environ: Mapping[str, str], home: Path) -> Path:
    """The user's cache folder by the customs of `platform` (as `sys.platform` names it)."""
    if platform == "darwin":
        return home / "Library" / "Caches" / "hettop"
    # The XDG specification says that a relative path is to be ignored.
    base = Path(environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else home / ".cache") / "hettop"


def _build_into(folder: Path, name: str, build: Build) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
    os.close(handle)
    try:
        build(Path(temporary))
        _sync(Path(temporary))
        Path(temporary).replace(folder / name)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise
    return folder / name


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
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _reason(error: OSError) -> str:
    return clean(str(error))
