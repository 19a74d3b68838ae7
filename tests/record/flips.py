"""Damages recordings at random, and says whether `hettop verify` notices."""

from __future__ import annotations

import random
import zlib
from pathlib import Path

import msgspec

from hettop import events
from hettop.errors import HettopError
from hettop.record.verify import verify


def sealed(recording: bytes) -> bytes:
    """The recording with all checksums that the writer of today gives it; older ones have fewer."""
    lines, crc32 = [], 0
    for line in recording.splitlines(keepends=True):
        event, written = events.decode(line), line
        if isinstance(event, events.Keyframe):
            written = events.with_line_crc32(line) + b"\n"
        elif isinstance(event, events.End):
            written = events.encode(msgspec.structs.replace(event, crc32=crc32)) + b"\n"
        crc32 = 0 if isinstance(event, events.Keyframe) else zlib.crc32(written, crc32)
        lines.append(written)
    return b"".join(lines)


def flipped_bit(recording: bytes, rng: random.Random) -> bytes:
    """With one bit flipped, anywhere."""
    changed = bytearray(recording)
    changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def changed_digit(recording: bytes, rng: random.Random) -> bytes:
    """With one digit replaced by another, so that it most likely still parses."""
    changed = bytearray(recording)
    place = rng.choice([place for place, byte in enumerate(changed) if 48 <= byte <= 57])
    changed[place] = rng.choice([digit for digit in b"0123456789" if digit != changed[place]])
    return bytes(changed)


def is_silent(path: Path) -> bool:
    """Whether `verify` finds the recording closed, valid and covered by checksums to its last byte."""
    try:
        found = verify(path)
    except HettopError:
        return False
    return found.ok and found.report.ended and not found.report.uncovered_bytes
