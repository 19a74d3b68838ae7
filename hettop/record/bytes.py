"""The bytes of a recording: read on from a place, or a piece at any place, whether the file is plain or compressed.

Knows nothing of lines and events.
"""

from __future__ import annotations

import io
import os
from typing import Protocol

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
