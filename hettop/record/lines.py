"""Cuts a file into lines without ever holding more than one of bounded length.

Knows bytes alone: a line is committed when it ends with a line feed; what follows the last line feed is torn.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import BinaryIO

from hettop.events import LINE_LIMIT
from hettop.record.bytes import Bytes

SKIP_BYTES = 1 << 16
FIRST_TRY_BYTES = 1 << 13


class Lines:
    """Iterates over (offset, line without line feed, or None when it is over 1 MiB) from `start` to before `end`.

    Afterwards `torn_bytes` tells how much follows the last committed line, which ends at `committed_end`.
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
