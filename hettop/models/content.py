"""What a model file or package is known by: the SHA-256 of its content."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from hettop.errors import HettopError
from hettop.text import clean

MOST_FILES = 10_000
"""A package has a handful; a folder with more of them is something else, and would take minutes to read."""


def content_sha256(path: Path) -> str:
    """Of a file, its content's; of a folder, that of the names and contents of its files, sorted by name.

    Raises HettopError: `io` if something in it cannot be read, `format` if it is not a folder of regular files.
    """
    try:
        if not path.is_dir():
            return _file_sha256(path)
        whole = hashlib.sha256()
        for file in _files(path):
            name = file.relative_to(path).as_posix()
            whole.update(f"{name}\0{_file_sha256(file)}\n".encode(errors="surrogateescape"))
        return whole.hexdigest()
    except OSError as error:
        raise HettopError("io", f"cannot read {clean(str(path))}: {error.strerror}", "check its permissions") from error


def check_unchanged(path: Path, sha256: str) -> None:
    """Raises HettopError (`io`) unless the content is still that of this SHA-256; as `content_sha256` besides."""
    if not path.exists() or content_sha256(path) != sha256:
        name = clean(path.name)
        raise HettopError(
            "io", f"{name}: the file changed since hettop read it", "measure it again when it is complete"
        )


def _files(folder: Path) -> Iterator[Path]:
    found: list[Path] = []
    for parent, folders, names in os.walk(folder, onerror=_raise):
        folders.sort()
        found += (Path(parent) / name for name in names)
        if len(found) > MOST_FILES:
            raise HettopError("format", f"not a model package: {clean(str(folder))} contains over {MOST_FILES} files")
    for path in sorted(found, key=lambda each: each.relative_to(folder).as_posix()):
        if not path.is_file():
            name = clean(str(path.relative_to(folder)))
            raise HettopError("format", f"{clean(str(folder))}: {name} is not a regular file", "copy the package again")
        yield path


def _file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _raise(error: OSError) -> None:
    raise error
