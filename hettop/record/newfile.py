"""A file that appears under its name only when it is whole, or not at all.

Knows nothing of what is written into it.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from hettop.errors import HettopError
from hettop.record.disk import PRIVATE_MODE, fault_text
from hettop.text import clean

HEAD_BYTES = 64
CREATE_FLAGS = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC


class NewFile:
    """Written beside its place, mode 0600, synced and put in place by `commit`; without it, it leaves no trace.

    As a context it commits at its end and discards on an exception. An existing file is replaced with `force` only,
    and only if it begins with one of `beginnings`: a mistyped name must not cost a model or a recording.
    """

    def __init__(self, path: Path, *, force: bool = False, beginnings: tuple[bytes, ...] = ()) -> None:
        """Raises HettopError `io` when the file cannot be created, or must not be replaced."""
        self.path = path
        self._force = force
        self._shown = clean(os.fspath(path))
        try:
            self._target = Path(os.path.realpath(path))
            self._check_replaceable(beginnings)
            self._made = self._target.with_name(f".{self._target.name}.{os.getpid()}.new")
            self._made.unlink(missing_ok=True)  # of a crashed process that had our number
            self.file: BinaryIO = os.fdopen(os.open(self._made, CREATE_FLAGS, PRIVATE_MODE), "w+b")
        except FileNotFoundError:
            if path.exists():  # a pipe under the name of /dev/stdout: what it leads to is in no folder
                raise self._no_plain_file() from None
            folder = clean(os.fspath(path.parent))
            raise HettopError("io", f"there is no folder {folder} to write into", f"mkdir -p {folder}") from None
        except (OSError, ValueError) as error:
            raise self._failed(error) from None

    def commit(self) -> None:
        """Sync the file and put it in its place. Raises HettopError `io`; then nothing is left behind."""
        try:
            self.file.flush()
            os.fsync(self.file.fileno())
            self.file.close()
            if self._force:
                self._made.replace(self._target)
            else:
                self._put_where_nothing_is()
            _sync_folder(self._target.parent)
        except OSError as error:
            self.discard()
            raise self._failed(error) from None

    def start_again(self) -> None:
        """Forget what was written so far."""
        self.file.seek(0)
        self.file.truncate()

    def discard(self) -> None:
        """Remove what was written."""
        with suppress(OSError):
            self.file.close()
        self._made.unlink(missing_ok=True)

    def __enter__(self) -> NewFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            self.commit()
            return
        self.discard()
        if isinstance(error, OSError) and not isinstance(error, BrokenPipeError):
            raise self._failed(error) from None

    def _check_replaceable(self, beginnings: tuple[bytes, ...]) -> None:
        if not self._target.exists():
            return
        if not stat.S_ISREG(self._target.stat().st_mode):
            raise self._no_plain_file()
        if not self._force:
            raise self._exists()
        with self._target.open("rb") as file:
            head = file.read(HEAD_BYTES).lstrip()
        if head and not head.startswith(beginnings):
            raise HettopError(
                "io", f"{self._shown} holds something else; --force replaces its like only", "name another file"
            )

    def _put_where_nothing_is(self) -> None:
        """A link, unlike a move, never replaces a file that somebody has put there meanwhile."""
        try:
            os.link(self._made, self._target)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK):
                raise
            if self._target.exists():  # this disk knows no links
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST)) from None
            self._made.replace(self._target)
            return
        self._made.unlink()

    def _no_plain_file(self) -> HettopError:
        return HettopError("io", f"{self._shown} is not a plain file", "name another file")

    def _exists(self) -> HettopError:
        return HettopError("io", f"{self._shown} exists already", "choose another name, or replace it with --force")

    def _failed(self, error: Exception) -> HettopError:
        if isinstance(error, FileExistsError):
            return self._exists()
        why = fault_text(error) if isinstance(error, OSError) else str(error)
        return HettopError("io", f"cannot write {self._shown}: {why}", "choose another file")


def _sync_folder(folder: Path) -> None:
    """Make the name durable, too. Some network disks refuse that for a folder; the file itself is synced."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
