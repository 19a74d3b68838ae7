"""Compressed recordings: independent frames of about ten seconds, and a table of them, so that seeking needs one frame.

The table is that of zstd's seekable format, so `zstd -d` and other readers take the file as well. Decompression is
bounded: no frame, no window and no whole file may unpack to more than a recording plausibly does.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import struct
import tempfile
from collections.abc import Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from hettop.errors import HettopError
from hettop.record.bytes import PlainBytes, RawBytes
from hettop.text import clean

MAGIC = b"\x28\xb5\x2f\xfd"
SKIPPABLE_MAGIC = b"\x5e\x2a\x4d\x18"
TABLE_MAGIC = 0x8F92EAB1
FOOTER = struct.Struct("<IBI")  # frames, descriptor, magic
ENTRY = struct.Struct("<II")  # compressed and unpacked bytes of a frame
FRAME_HEADER_BYTES = 18  # at most
NOT_TOLD = -1  # by a frame that was made as a stream
CHECKSUM_BYTES = 4  # of each entry, where the descriptor's highest bit is set
HAS_CHECKSUMS = 0x80

LEVEL = 3  # 4.6 bytes a sample; higher levels save a tenth and take thrice the time
FRAMES_KEPT = 4  # unpacked: reading on, and looking back from there
LARGEST_FRAME = 1 << 24
MOST_FRAMES = 1 << 20
# Recordings shrink to a third, monotonous ones to a thirtieth; what claims more is made to fill memory or disk.
LARGEST_RATIO = 100
ALWAYS_ALLOWED = 1 << 26
LARGEST_WINDOW = 1 << 25  # what `zstd --ultra -20` uses; the memory that unpacking takes
CHUNK_BYTES = 1 << 20

MISSING_HINT = "pip install 'hettop[zst]'"


class Frame(NamedTuple):
    """Where a frame lies in the compressed file and in what it unpacks to."""

    offset: int
    length: int
    start: int
    unpacked: int


def library() -> Any:
    """The zstandard package. Raises ImportError where it is not installed."""
    return importlib.import_module("zstandard")


def open_compressed(file: PlainBytes, path: Path) -> PlainBytes | RawBytes:
    """What a zstd file unpacks to. Raises HettopError `recording` when that cannot be had, or would be too much.

    With a table of frames it is unpacked as it is read; without, into a nameless temporary file.
    """
    shown = clean(os.fspath(path))
    try:
        zstandard = library()
    except ImportError:
        hint = f"{MISSING_HINT}, or unpack it first: zstd -d {shown}"
        raise HettopError("recording", f"{shown} is compressed (zstd)", hint) from None
    frames = read_table(file)
    if frames is None or not all(_agrees(zstandard, file, frame) for frame in frames):
        return _unpacked(zstandard, file, shown)
    _check_ratio(sum(frame.unpacked for frame in frames), file.size(), shown)
    return FramedBytes(zstandard, file, frames)


class FramedBytes(RawBytes):
    """Unpacks the frames that are asked for. A damaged one reads as far as it goes, then NUL bytes and a line feed."""

    def __init__(self, zstandard: Any, file: PlainBytes, frames: list[Frame]) -> None:
        super().__init__()
        self._file = file
        self._frames = frames
        self._size = frames[-1].start + frames[-1].unpacked if frames else 0
        self._error: type[Exception] = zstandard.ZstdError
        self._decompressor = zstandard.ZstdDecompressor(max_window_size=LARGEST_WINDOW)
        self._kept: dict[int, bytes] = {}

    def size(self) -> int:
        return self._size

    def pread(self, length: int, offset: int) -> bytes:
        parts = []
        end = min(offset + length, self._size)
        index = self._frame_at(offset)
        while offset < end:
            frame = self._frames[index]
            part = self._unpack(index)[offset - frame.start : end - frame.start]
            parts.append(part)
            offset += len(part)
            index += 1
        return b"".join(parts)

    def close(self) -> None:
        self._file.close()
        super().close()

    def _frame_at(self, offset: int) -> int:
        """Index of the last frame that starts at or before `offset` and holds something."""
        low, high = 0, len(self._frames)
        while low < high:
            middle = (low + high) // 2
            if self._frames[middle].start + self._frames[middle].unpacked <= offset:
                low = middle + 1
            else:
                high = middle
        return low

    def _unpack(self, index: int) -> bytes:
        data = self._kept.pop(index, None)
        if data is None:
            frame = self._frames[index]
            packed = io.BytesIO(self._file.pread(frame.length, frame.offset))
            data = b"".join(self._read(packed, frame.unpacked))
            if len(data) < frame.unpacked:
                data = (data.ljust(frame.unpacked - 1, b"\0") + b"\n")[: frame.unpacked]
            if len(self._kept) >= FRAMES_KEPT:
                self._kept.pop(next(iter(self._kept)))
        self._kept[index] = data
        return data

    def _read(self, packed: io.BytesIO, wanted: int) -> Iterator[bytes]:
        """Up to `wanted` bytes, as far as they can be unpacked."""
        with contextlib.suppress(self._error), self._decompressor.stream_reader(packed) as reader:
            while wanted > 0 and (part := reader.read(min(wanted, CHUNK_BYTES))):
                yield part
                wanted -= len(part)


def read_table(file: PlainBytes) -> list[Frame] | None:
    """The frames by the table at the file's end; None when there is none, or none that can be right."""
    size = file.size()
    footer = file.pread(FOOTER.size, max(0, size - FOOTER.size))
    if len(footer) < FOOTER.size:
        return None
    count, descriptor, magic = FOOTER.unpack(footer)
    entry_bytes = ENTRY.size + (CHECKSUM_BYTES if descriptor & HAS_CHECKSUMS else 0)
    table_bytes = 8 + count * entry_bytes + FOOTER.size
    if magic != TABLE_MAGIC or not 0 < count <= MOST_FRAMES or table_bytes > size:
        return None
    table = file.pread(table_bytes, size - table_bytes)
    if table[:8] != SKIPPABLE_MAGIC + struct.pack("<I", table_bytes - 8):
        return None
    sizes = [ENTRY.unpack_from(table, 8 + index * entry_bytes) for index in range(count)]
    offsets = accumulate((length for length, _ in sizes), initial=0)
    starts = accumulate((unpacked for _, unpacked in sizes), initial=0)
    frames = [Frame(at, length, start, unpacked) for (length, unpacked), at, start in zip(sizes, offsets, starts)]  # noqa: B905 - the last sums are the ends
    whole = sum(length for length, _ in sizes) == size - table_bytes
    return frames if whole and max(unpacked for _, unpacked in sizes) <= LARGEST_FRAME else None


def _agrees(zstandard: Any, file: PlainBytes, frame: Frame) -> bool:
    """Whether a frame, by its own beginning, unpacks to the size in the table, if it states one."""
    try:
        said: int = zstandard.frame_content_size(file.pread(FRAME_HEADER_BYTES, frame.offset))
    except zstandard.ZstdError:
        return True  # then it is the frame that is damaged, which costs that frame
    return said in (NOT_TOLD, frame.unpacked)


def packed(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Frames of these parts, and the table of them. Raises ImportError without the zstandard package."""
    zstandard = library()
    # Single frames are asked for long after they were written: a checksum in each shows damage at once.
    compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True, write_content_size=True)
    sizes = []
    for part in parts:
        frame: bytes = compressor.compress(part)
        sizes.append((len(frame), len(part)))
        yield frame
    entries = b"".join(ENTRY.pack(*pair) for pair in sizes) + FOOTER.pack(len(sizes), 0, TABLE_MAGIC)
    yield SKIPPABLE_MAGIC + struct.pack("<I", len(entries)) + entries


def _unpacked(zstandard: Any, file: PlainBytes, shown: str) -> PlainBytes:
    """All of it, in a temporary file without a name, which is gone when it is closed."""
    decompressor = zstandard.ZstdDecompressor(max_window_size=LARGEST_WINDOW)
    size, done = file.size(), 0
    fault = ""
    with file, tempfile.TemporaryFile(buffering=0) as unpacked:
        try:
            with decompressor.stream_reader(file, read_across_frames=True) as reader:
                while part := reader.read(CHUNK_BYTES):
                    done += len(part)
                    _check_ratio(done, size, shown)
                    unpacked.write(part)
        except zstandard.ZstdError as error:
            fault = str(error)  # what was unpacked until then is as good as a torn file
        except OSError as error:
            what = f"{shown} cannot be unpacked: {error.strerror or 'the disk failed'}"
            raise HettopError("recording", what, f"free disk space, or unpack it yourself: zstd -d {shown}") from None
        if not done:
            why = clean(fault) or "it is empty"
            hint = f"check it with zstd: zstd -d {shown}"
            raise HettopError("recording", f"{shown} is compressed (zstd) and cannot be unpacked: {why}", hint)
        unpacked.seek(0)
        return PlainBytes(os.dup(unpacked.fileno()), "rb")


def _check_ratio(unpacked: int, size: int, shown: str) -> None:
    if unpacked > max(ALWAYS_ALLOWED, LARGEST_RATIO * size):
        raise HettopError(
            "recording",
            f"{shown} unpacks to over {LARGEST_RATIO} times its size, which no recording does",
            f"if you trust it, unpack it first: zstd -d {shown}",
        )
