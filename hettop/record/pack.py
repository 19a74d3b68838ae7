"""Compresses a closed recording, and keeps the original until the compressed one is synced and read back."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hettop.errors import HettopError
from hettop.events import LINE_LIMIT
from hettop.record import zst
from hettop.record.bytes import BUFFER_BYTES, Bytes, PlainBytes, RecordingFile
from hettop.record.disk import NewFile
from hettop.record.reader import open_recording
from hettop.record.seek import LINE_HEAD
from hettop.text import clean

SUFFIX = ".zst"
FRAME_NS = 10 * 10**9
# Frames end here though ten seconds have not passed: one has to be unpacked as a whole.
FRAME_BYTES = 1 << 22


@dataclass(frozen=True, slots=True)
class Packed:
    """What became of it: bytes before and after."""

    path: str
    plain_bytes: int
    size_bytes: int


def plain_path(path: Path) -> Path:
    """Where a recording is written to that shall be compressed to `path` after its close."""
    return path.with_suffix("")


def check_library() -> None:
    """Raises HettopError `missing` where nothing can be compressed: better said before than after measuring."""
    try:
        zst.library()
    except ImportError:
        raise HettopError("missing", "compression needs the zstandard package", zst.MISSING_HINT) from None


def check_place(path: Path, *, force: bool = False) -> None:
    """Raises HettopError (`missing`, `io`) when nothing could be compressed to `path`: to be asked before measuring."""
    check_library()
    NewFile(path, force=force, beginnings=(zst.MAGIC,)).discard()


def pack(plain: Path, path: Path, *, force: bool = False) -> Packed:
    """Compress the recording `plain` to `path`. Raises HettopError (`recording`, `io`, `missing`)."""
    check_library()
    file, _ = open_recording(plain)
    with file, NewFile(path, force=force, beginnings=(zst.MAGIC,)) as made:
        whole = _Summed(file)
        for frame in zst.packed(whole.frames()):
            made.file.write(frame)
        made.file.flush()
        os.fsync(made.file.fileno())
        _check_read_back(made.file.fileno(), whole.crc32, path)
        size = made.file.tell()
    return Packed(os.fspath(path), whole.length, size)


class _Summed:
    """Cuts a file into parts of about ten seconds that begin with a line, and adds up what it gave out."""

    def __init__(self, file: RecordingFile) -> None:
        self.length = 0
        self.crc32 = 0
        self._file = file

    def frames(self) -> Iterator[bytes]:
        part: list[bytes] = []
        size, ends_at, in_line = 0, FRAME_NS, False
        self._file.seek(0)
        while line := self._file.readline(LINE_LIMIT):
            head = None if in_line else LINE_HEAD.match(line)
            t = int(head[2]) if head else 0
            if part and (t >= ends_at or size + len(line) > FRAME_BYTES):
                yield self._counted(part)
                part, size = [], 0
            if t >= ends_at:
                ends_at = t - t % FRAME_NS + FRAME_NS
            part.append(line)
            size += len(line)
            in_line = not line.endswith(b"\n")
        if part:
            yield self._counted(part)

    def _counted(self, part: list[bytes]) -> bytes:
        data = b"".join(part)
        self.length += len(data)
        self.crc32 = zlib.crc32(data, self.crc32)
        return data


def _check_read_back(descriptor: int, crc32: int, path: Path) -> None:
    """A copy that differs from the original must not take its place, whatever the reason."""
    # Not closed with the object: the descriptor is the file's that is being written.
    plain = PlainBytes(descriptor, "rb", closefd=False)
    found = 0
    for part in _parts(zst.open_compressed(plain, path)):
        found = zlib.crc32(part, found)
    if found != crc32:
        raise HettopError("io", f"{clean(os.fspath(path))} does not match what was written", "check the disk")


def _parts(unpacked: Bytes) -> Iterator[bytes]:
    offset = 0
    while part := unpacked.pread(BUFFER_BYTES, offset):
        yield part
        offset += len(part)
