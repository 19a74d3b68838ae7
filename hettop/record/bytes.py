"""The bytes of a recording, plain or compressed, read from any place, and the bounded lines that they make up."""

from __future__ import annotations

import io
import os
import zlib
from collections.abc import Iterator
from typing import BinaryIO, Protocol

from hettop.events import LINE_LIMIT

BUFFER_BYTES = 1 << 18


class Bytes(Protocol):
    """Bytes that stand still, or grow at their end."""

    def pread(self, length: int, offset: int) -> bytes:
        """Up to `length` bytes from `offset` on; fewer where they end. Does not move the reading position."""
        ...

    def size(self) -> int:
        """How many bytes there are at this moment."""
        ...


class PlainBytes(io.FileIO):
    """A file as it lies on the disk."""

    def pread(self, length: int, offset: int) -> bytes:
        return os.pread(self.fileno(), length, offset)

    def size(self) -> int:
        return os.fstat(self.fileno()).st_size


class RecordingFile(io.BufferedReader):
    """An opened recording: a stream to read lines from that can be asked for a piece at any place, too."""

    def __init__(self, raw: PlainBytes | RawBytes) -> None:
        super().__init__(raw, BUFFER_BYTES)
        self._bytes: Bytes = raw

    def pread(self, length: int, offset: int) -> bytes:
        return self._bytes.pread(length, offset)

    def size(self) -> int:
        return self._bytes.size()


class RawBytes(io.RawIOBase):
    """A base for bytes that are made on demand: reading on is asking for pieces one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self._position = 0

    def pread(self, length: int, offset: int) -> bytes:
        raise NotImplementedError

    def size(self) -> int:
        raise NotImplementedError

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]  # any writable buffer
        found = self.pread(len(buffer), self._position)
        buffer[: len(found)] = found
        self._position += len(found)
        return len(found)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self.size()}[whence]
        self._position = max(0, base + offset)
        return self._position

    def tell(self) -> int:
        return self._position


def second_reader(file: RecordingFile) -> RecordingFile:
    """The same bytes with a reading position of its own: reading on there moves nobody else. Closing it closes nothing.

    For whatever looks at other parts of a recording while it is being played.
    """
    return RecordingFile(_Elsewhere(file))


class _Elsewhere(RawBytes):
    def __init__(self, file: RecordingFile) -> None:
        super().__init__()
        self._of = file

    def pread(self, length: int, offset: int) -> bytes:
        return self._of.pread(length, offset)

    def size(self) -> int:
        return self._of.size()


SKIP_BYTES = 1 << 16
FIRST_TRY_BYTES = 1 << 13


class Lines:
    """Iterates over (offset, line without line feed, or None when it is over 1 MiB) from `start` to before `end`.

    Afterwards `torn_bytes` reports how much follows the last committed line, which ends at `committed_end`.
    With `with_crc`, `crc32` is that of all bytes since `restart_crc`, up to and with the line given out last;
    `crc32_before` is the same without that line.
    """

    def __init__(self, file: BinaryIO, start: int = 0, end: int | None = None, *, with_crc: bool = False) -> None:
        self.torn_bytes = 0
        self.committed_end = start
        self.crc32 = 0
        self.crc32_before = 0
        self._file = file
        self._start = start
        self._end = end
        self._with_crc = with_crc

    def __iter__(self) -> Iterator[tuple[int, bytes | None]]:
        file = self._file
        offset = self._start
        file.seek(offset)
        while self._end is None or offset < self._end:
            line = file.readline(LINE_LIMIT + 1)
            self.crc32_before = self.crc32
            self._count(line)
            if line.endswith(b"\n"):
                yield offset, line[:-1]
                offset += len(line)
                continue
            length = len(line)
            if length > LINE_LIMIT:
                length, committed = self._skip(length)
                if committed:
                    yield offset, None
                    offset += length
                    continue
            self.torn_bytes = length
            break
        self.committed_end = offset

    def restart_crc(self) -> None:
        """Let the CRC-32 cover the bytes after the line given out last."""
        self.crc32 = 0

    def _skip(self, length: int) -> tuple[int, bool]:
        """Read to the end of a line that is too long; its length, and whether a line feed ended it."""
        while part := self._file.readline(SKIP_BYTES):
            self._count(part)
            length += len(part)
            if part.endswith(b"\n"):
                return length, True
        return length, False

    def _count(self, data: bytes) -> None:
        if self._with_crc:
            self.crc32 = zlib.crc32(data, self.crc32)


def line_at(file: Bytes, offset: int) -> bytes | None:
    """The line that starts at `offset`, without its line feed; None when it is not committed or over 1 MiB."""
    length = FIRST_TRY_BYTES
    while True:
        # Most lines are short, and some files hold a million of them: do not read 1 MiB for each.
        line, feed, _ = file.pread(length, offset).partition(b"\n")
        if feed:
            return line
        if len(line) < length or length > LINE_LIMIT:
            return None
        length = min(16 * length, LINE_LIMIT + 1)
