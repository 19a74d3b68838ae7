"""The file of a recording, of which whole lines are appended and synced; and files that appear whole or not at all.

Every call to the operating system goes through `Disk`, so that faults can be played. A failed sync is kept for good:
the kernel may have dropped what it could not write.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from hettop.errors import HettopError
from hettop.text import clean

PRIVATE_MODE = 0o600
PUBLIC_MODE = 0o666  # less what the umask takes
RECORDING_BEGINNING = b'{"k":"header",'
RECORDING_FORMAT = b'"format":"hettop"'
BEGINNING_BYTES = 100
"""Both stand here in a recording as hettop writes it; a text about recordings may contain them elsewhere."""
CREATE_FLAGS = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC

# fdatasync leaves out what is not needed to read the data back (the time of change); macOS has fsync alone.
sync_data: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)


@dataclass(frozen=True, slots=True)
class Disk:
    """The calls a recording makes on its file."""

    open: Callable[[str, int, int], int] = os.open
    write: Callable[[int, memoryview], int] = os.write
    sync: Callable[[int], None] = sync_data
    truncate: Callable[[int, int], None] = os.ftruncate
    replace: Callable[[str, str], None] = os.replace
    unlink: Callable[[str], None] = os.unlink
    close: Callable[[int], None] = os.close


class LineFile:
    """A new file that grows by whole lines. Counts its bytes and their CRC-32 since `restart_crc`."""

    def __init__(self, path: Path, first: bytes, disk: Disk, *, force: bool = False) -> None:
        """Create `path`, mode 0600, with `first` in it. Raises HettopError `io`.

        `force` replaces an earlier recording, and nothing else: whoever names a model by mistake keeps it. The new file
        grows beside the old one until `settle`, so that a session that measures nothing costs nothing.
        """
        self.size = 0
        self.crc32 = 0
        self._torn = False
        self._disk = disk
        try:
            target = Path(os.path.realpath(path))
            replaces = force and _is_plain(path, target)
            # Hidden and named after this process: what a crash in this moment leaves behind can be distinguished.
            made = target.with_name(f".{target.name}.{os.getpid()}.new") if replaces else target
            self._made, self._target, self._settled = made, target, not replaces
            self.fd = disk.open(os.fspath(made), CREATE_FLAGS, PRIVATE_MODE)
        except OSError as error:
            raise _creation_error(path, error) from None
        try:
            self.append(first)
        except OSError as error:
            disk.close(self.fd)
            disk.unlink(os.fspath(made))
            raise _creation_error(path, error) from None

    def settle(self) -> None:
        """Take the place of the file that is replaced; of no effect otherwise. Raises OSError."""
        if not self._settled:
            self._disk.replace(os.fspath(self._made), os.fspath(self._target))
            self._settled = True

    def discard(self) -> None:
        """Remove the file, if its name still leads to it: another that was put there since is somebody else's."""
        place = self._target if self._settled else self._made
        try:
            if os.path.samestat(os.fstat(self.fd), place.stat()):
                self._disk.unlink(os.fspath(place))
        except FileNotFoundError:
            return  # it is gone already

    def loss(self) -> str | None:
        """Why what was written cannot be found under its name any more, or None."""
        place = self._target if self._settled else self._made
        try:
            there = place.stat()
        except OSError:
            return "the file was deleted or moved"
        if not os.path.samestat(os.fstat(self.fd), there):
            return "the file was replaced"
        return "the file was truncated" if there.st_size < self.size else None

    def append(self, line: bytes) -> None:
        """Write one line, its line feed included. Raises OSError when that failed and nothing was added."""
        data = b"\n" + line if self._torn else line
        view = memoryview(data)
        done = 0
        try:
            while done < len(data):
                done += _written(self._disk.write(self.fd, view[done:]))
        except OSError:
            self._take_back(data[:done])
            raise
        self._count(data)
        self._torn = False

    def restart_crc(self) -> None:
        """Let the CRC-32 cover the bytes from here on."""
        self.crc32 = 0

    def _take_back(self, part: bytes) -> None:
        """Remove the half line that a failed write left. Where even that fails, the next line starts afresh."""
        if not part:
            return
        try:
            self._disk.truncate(self.fd, self.size)
        except OSError:
            self._count(part)
            self._torn = not part.endswith(b"\n")

    def _count(self, data: bytes) -> None:
        self.size += len(data)
        self.crc32 = zlib.crc32(data, self.crc32)


def fault_text(error: OSError) -> str:
    """What the operating system said, with its short name for those who look it up."""
    name = errno.errorcode.get(error.errno or 0, "?")
    return f"{error.strerror or 'the disk failed'} ({name})"


def _is_plain(path: Path, target: Path) -> bool:
    """Whether there is an earlier recording at `target`. Raises HettopError when something else is."""
    if not target.exists():
        return False
    if target.is_dir():
        raise _cannot_create(path, "it is a folder")
    if not stat.S_ISREG(target.stat().st_mode):
        raise _cannot_create(path, "it is not a regular file")
    with target.open("rb") as file:
        head = file.read(BEGINNING_BYTES)
    if head and not (head.startswith(RECORDING_BEGINNING) and RECORDING_FORMAT in head):
        raise _cannot_create(path, "it is not a recording, and --force replaces recordings only")
    return True


def _written(count: int) -> int:
    if count <= 0:  # a disk that takes nothing and says so would be asked for ever
        raise OSError(errno.EIO, os.strerror(errno.EIO))
    return count


def _creation_error(path: Path, error: OSError) -> HettopError:
    if isinstance(error, FileExistsError) and path.is_file():
        why = f"{clean(os.fspath(path))} already exists"
        return HettopError("io", why, "choose another name, or use --force to overwrite it")
    if isinstance(error, FileNotFoundError):
        folder = clean(os.fspath(path.parent))
        return HettopError("io", f"folder not found: {folder}", f"mkdir -p {folder}")
    return _cannot_create(path, fault_text(error))


def _cannot_create(path: Path, why: str) -> HettopError:
    return HettopError("io", f"cannot record to {clean(os.fspath(path))}: {why}", "choose another file for --record")


# A dead network disk can hold a sync for minutes; closing must not wait for it.
PATIENCE_S = 5.0


class Syncer:
    """A daemon thread that calls `sync(fd)` every `every_s` seconds in which `touch` was called."""

    def __init__(self, fd: int, sync: Callable[[int], None], every_s: float) -> None:
        self._fd = fd
        self._sync = sync
        self._every_s = every_s
        self._touched = threading.Event()
        self._stopping = threading.Event()
        self._fault: str | None = None
        self._thread = threading.Thread(target=self._run, name="hettop-sync", daemon=True)
        self._thread.start()

    @property
    def fault(self) -> str | None:
        """What the first failed sync said; None while all went well."""
        return self._fault

    def touch(self) -> None:
        """There is something new to sync."""
        self._touched.set()

    def stop(self) -> bool:
        """End the thread after a last sync. False when the disk did not answer: the descriptor is still in use."""
        self._stopping.set()
        self._thread.join(PATIENCE_S)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while not self._stopping.wait(self._every_s):
            if self._touched.is_set():
                self._once()
        self._once()

    def _once(self) -> None:
        # Cleared first: what is written during the sync is for the next one.
        self._touched.clear()
        try:
            self._sync(self._fd)
        except OSError as error:
            self._fault = self._fault or fault_text(error)


CHECKED_BYTES = 64
NEW_FILE_FLAGS = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC


class NewFile:
    """Written beside its place, synced and put in place by `commit`; without it, it leaves no trace.

    `private`: mode 0600, as recordings have it; otherwise the umask decides.

    As a context it commits at its end and discards on an exception. An existing file is replaced with `force` only,
    and only if it begins with one of `beginnings`: a mistyped name must not cost a model or a recording.
    """

    def __init__(
        self, path: Path, *, force: bool = False, beginnings: tuple[bytes, ...] = (), private: bool = True
    ) -> None:
        """Raises HettopError `io` when the file cannot be created, or must not be replaced."""
        self.path = path
        self._force = force
        self._shown = clean(os.fspath(path))
        mode = PRIVATE_MODE if private else PUBLIC_MODE
        try:
            self._target = Path(os.path.realpath(path))
            self._check_replaceable(beginnings)
            self._made = self._target.with_name(f".{self._target.name}.{os.getpid()}.new")
            self._made.unlink(missing_ok=True)  # of a crashed process that had our number
            self.file: BinaryIO = os.fdopen(os.open(self._made, NEW_FILE_FLAGS, mode), "w+b")
        except FileNotFoundError:
            if path.exists():  # a pipe under the name of /dev/stdout: what it leads to is in no folder
                raise self._no_plain_file() from None
            folder = clean(os.fspath(path.parent))
            raise HettopError("io", f"folder not found: {folder}", f"mkdir -p {folder}") from None
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
            head = file.read(CHECKED_BYTES).lstrip()
        if head and not head.startswith(beginnings):
            raise HettopError(
                "io",
                f"{self._shown} has another format; --force replaces files of the same format only",
                "choose another file",
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
        return HettopError("io", f"{self._shown} is not a regular file", "choose another file")

    def _exists(self) -> HettopError:
        return HettopError("io", f"{self._shown} already exists", "choose another name, or use --force to overwrite it")

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
