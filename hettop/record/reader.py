"""Reads a recording line by line, in bounded memory: damaged lines are skipped and counted."""

from __future__ import annotations

import os
import stat
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Container, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol, TypeVar

import msgspec

from hettop import events
from hettop.errors import HettopError
from hettop.events import FORMAT, LINE_LIMIT, VERSION, AnyEvent, End, Header, Keyframe, Samples
from hettop.record.bytes import Lines, PlainBytes, RecordingFile
from hettop.record.defects import BACKWARDS, BAD_LINE, BLANK, JOINED, OVERSIZE, TORN, UNFOLDABLE, UNKNOWN_KIND, Report
from hettop.record.limits import clock_fault
from hettop.record.zst import MAGIC as ZSTD_MAGIC
from hettop.record.zst import open_compressed
from hettop.session.session import Session
from hettop.text import clean

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
KEYFRAME_START = b'{"k":"keyframe"'
END_START = b'{"k":"end"'
# First bytes of what is often mistaken for plain text, and what unpacks it.
COMPRESSED = (
    (b"\x1f\x8b", "gzip", "gunzip -k"),
    (b"\xfd7zXZ\x00", "xz", "xz -dk"),
    (b"BZh", "bzip2", "bunzip2 -k"),
    (b"PK\x03\x04", "zip", "unzip"),
)


class Placed(NamedTuple):
    """An event, and where in the file its line starts and the next one does."""

    offset: int
    after: int
    event: AnyEvent

    @property
    def t(self) -> int:
        return self.event.t


def open_recording(path: Path) -> tuple[RecordingFile, Header]:
    """The opened file, which may be compressed by zstd, and its header.

    Raises HettopError `recording` when it is not a recording that this hettop can read.
    """
    file = _open(path)
    try:
        return file, _read_header(file, path)
    except BaseException:
        file.close()
        raise


def read_events(
    file: BinaryIO, report: Report, start: int = 0, *, end: int | None = None, last_t: int = 0, check_crc: bool = False
) -> Iterator[AnyEvent]:
    """All sound events from byte `start` (0, or the start of a line) on, in order; the header first.

    Never raises for what the file holds. `last_t` is the time of the event before `start`; lines that begin at `end`
    or later are not looked at. Whatever is skipped is counted in `report`.
    """
    for placed in read_placed(file, report, start, end=end, last_t=last_t, check_crc=check_crc):
        yield placed.event


def read_placed(
    file: BinaryIO,
    report: Report,
    start: int = 0,
    *,
    end: int | None = None,
    last_t: int = 0,
    check_crc: bool = False,
    mistrusted: Container[int] = (),
) -> Iterator[Placed]:
    """As `read_events`, with the place of each event. At bytes `mistrusted` begin lines whose time is not believed."""

    def out_of_order(placed: Placed) -> None:
        report.skip(placed.offset, BACKWARDS)

    sound = _trusted(_sound(file, report, start, end, check_crc), mistrusted, out_of_order)
    for placed in in_order(sound, last_t, out_of_order):
        report.ended = False  # by an end that something follows
        match placed.event:
            case Samples():
                report.samples += placed.event.n
            case Keyframe():
                report.keyframes += 1
            case End():
                report.ended = True
            case Header():
                report.newer_minor = placed.event.version[1] > VERSION[1]
        yield placed


def _trusted(sound: Iterator[Placed], mistrusted: Container[int], drop: Callable[[Placed], None]) -> Iterator[Placed]:
    for placed in sound:
        if placed.offset in mistrusted:
            drop(placed)
        else:
            yield placed


def _sound(file: BinaryIO, report: Report, start: int, end: int | None, check_crc: bool) -> Iterator[Placed]:
    """The lines that hold an event, whatever their time, up to a second header."""
    lines = Lines(file, start, end, with_crc=check_crc)
    checksums = _Checksums(lines, report, start)
    for offset, line in lines:
        report.lines += 1
        if line is None:
            report.skip(offset, OVERSIZE)
            continue
        event = _event(line, offset, report)
        if check_crc:
            checksums.check(event, line, offset)
        if isinstance(event, Header) and offset > 0:
            report.skip(offset, JOINED, "reading stops where it starts")
            return
        if event is not None:
            yield Placed(offset, offset + len(line) + 1, event)
    report.torn_bytes = lines.torn_bytes
    report.uncovered_bytes += max(lines.committed_end - checksums.covered, 0) if check_crc else 0
    if lines.torn_bytes and end is None:
        report.skip(lines.committed_end, TORN)


class _Checksums:
    """Compares the checksums that lines state with the bytes read; they cover the file up to byte `covered`."""

    def __init__(self, lines: Lines, report: Report, covered: int) -> None:
        self.covered = covered
        self._lines = lines
        self._report = report

    def check(self, event: AnyEvent | None, line: bytes, offset: int) -> None:
        fault = None
        match event:
            case Keyframe() | End(crc32=int()) | End(line_crc32=int()):
                fault = _checksum_fault(event, line, self._lines.crc32_before)
                self._report.uncovered_bytes += 0 if event.line_crc32 is not None else len(line) + 1
            # A keyframe too damaged to be read still ends the stretch that the next one covers.
            case None if line.startswith(KEYFRAME_START):
                pass
            case _:
                return
        if fault is not None:
            self._report.crc_errors += 1
            self._report.note(offset, "checksum", fault)
        if not isinstance(event, End):
            self._lines.restart_crc()
        self.covered = offset + len(line) + 1


def count_crc_errors(file: BinaryIO, end: int) -> int:
    """How many checksums of the lines before byte `end` do not match; only the lines that state one are decoded."""
    report = Report()
    lines = Lines(file, 0, end, with_crc=True)
    checksums = _Checksums(lines, report, 0)
    for offset, line in lines:
        if line is not None and line.startswith((KEYFRAME_START, END_START)):
            checksums.check(_event(line, offset, Report()), line, offset)
    return report.crc_errors


def _checksum_fault(event: Keyframe | End, line: bytes, crc32: int) -> str | None:
    """What the checksums say was changed, its own line's first: without that the rest says nothing."""
    if is_changed(event, line):
        return "this keyframe was modified" if isinstance(event, Keyframe) else "the end line was modified"
    if event.crc32 == crc32:
        return None
    where = "before this keyframe" if isinstance(event, Keyframe) else "after the last keyframe"
    return f"the lines {where} were modified"


def is_changed(event: Keyframe | End, line: bytes) -> bool:
    """Whether a line that must finish with a `line_crc32` has a wrong one, or none."""
    must = event.fold if isinstance(event, Keyframe) else event.crc32
    return (must, event.line_crc32) != (None, None) and not events.line_crc32_holds(line)


def _event(line: bytes, offset: int, report: Report) -> AnyEvent | None:
    """The event on a line; None, and counted, when there is none to use."""
    if offset == 0:
        line = line.removeprefix(BYTE_ORDER_MARK)
    try:
        event = events.decode(line)
    except ValueError as error:
        if line.strip():
            report.skip(offset, BAD_LINE, error)
        else:
            report.skip(offset, BLANK)
        return None
    if event is None:
        report.skip(offset, UNKNOWN_KIND)
    elif isinstance(event, Samples):
        fault = clock_fault(event)
        if fault is not None:
            report.skip(offset, BAD_LINE, fault)
            return None
    return event


def _open(path: Path) -> RecordingFile:
    shown = clean(os.fspath(path))
    try:
        # Looked at before it is opened: opening a named pipe would wait for ever.
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            what = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
            raise HettopError("recording", f"{shown} is {what}", "pass a recording (.jsonl)")
        file = PlainBytes(path, "rb")
    except FileNotFoundError:
        raise HettopError("recording", f"file not found: {shown}", "check the name") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise HettopError("recording", f"cannot read {shown}: {why}", "check the name and its permissions") from None
    if file.pread(len(ZSTD_MAGIC), 0) != ZSTD_MAGIC:
        return RecordingFile(file)
    try:
        return RecordingFile(open_compressed(file, path))
    except BaseException:
        file.close()
        raise


def _read_header(file: RecordingFile, path: Path) -> Header:
    shown = clean(os.fspath(path))
    line = file.readline(LINE_LIMIT + 1)
    for magic, name, unpack in COMPRESSED:
        if line.startswith(magic):
            raise HettopError("recording", f"{shown} is compressed ({name})", f"unpack it first: {unpack} {shown}")
    if not line:
        raise HettopError("recording", f"{shown} is empty", "record again with --record FILE")
    text = line.removeprefix(BYTE_ORDER_MARK)
    if b"\x00" in text or not text.lstrip().startswith(b"{"):
        raise _not_ours(shown, "it does not start with a header line")
    if not line.endswith(b"\n"):
        cut = len(line) <= LINE_LIMIT
        raise _not_ours(shown, "its header line is incomplete" if cut else "its first line is over 1 MiB long")
    major = _major(text)
    if major is None:
        raise _not_ours(shown, "its first line is not a hettop header")
    if major != VERSION[0]:
        raise HettopError(
            "recording",
            f"{shown} has format version {major}; this hettop reads version {VERSION[0]}",
            "update hettop: pip install -U hettop" if major > VERSION[0] else "",
        )
    try:
        header = events.decode(text)
    except ValueError as error:
        raise _not_ours(shown, f"its header is damaged: {clean(str(error), 120)}") from None
    if not isinstance(header, Header):
        raise _not_ours(shown, "its first line is not a hettop header")
    return header


def _major(line: bytes) -> int | None:
    """The major version a header of any version states; None when the line is not a header of ours."""
    try:
        found: Any = msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    match found:
        case {"k": "header", "format": str(name), "version": [int(major), *_]} if name == FORMAT:
            return None if isinstance(major, bool) else major
    return None


def _not_ours(shown: str, why: str) -> HettopError:
    return HettopError("recording", f"{shown} is not a hettop recording: {why}", "record one with --record FILE")


def fold(session: Session, event: AnyEvent, report: Report, byte: int | None = None) -> bool:
    """Fold an event that begins at `byte` of its file (None: not known); False, and counted, where that fails."""
    try:
        session.fold(event)
    except Exception as error:  # noqa: BLE001 - a recording is data: a line nobody foresaw must not take the others along
        words = f"{type(error).__name__}: {error}"
        if byte is None:
            report.skipped[UNFOLDABLE] += 1
        else:
            report.skip(byte, UNFOLDABLE, words)
        return False
    return True


# Enough that up to four damaged lines in a row are outvoted by the sound ones behind them.
LOOK_AHEAD = 9
# Nothing follows the last line to contradict it; a day without a keyframe is damage, not silence.
LONGEST_SILENCE_NS = 24 * 3600 * 10**9


class Timed(Protocol):
    """Anything with a moment of commit."""

    @property
    def t(self) -> int: ...


AnyTimed = TypeVar("AnyTimed", bound=Timed)


def in_order(items: Iterator[AnyTimed], last_t: int, drop: Callable[[AnyTimed], None]) -> Iterator[AnyTimed]:
    """The items whose time neither falls below `last_t` or the last one kept, nor is outvoted by what follows.

    One flipped digit must cost one line: without the look-ahead a time that jumped months ahead would make every
    later line look as if time ran backwards.
    """
    ahead: deque[AnyTimed] = deque()
    for item in items:
        ahead.append(item)
        if len(ahead) <= LOOK_AHEAD:
            continue
        first = ahead.popleft()
        if _believable(first.t, ahead, last_t):
            last_t = first.t
            yield first
        else:
            drop(first)
    while ahead:
        first = ahead.popleft()
        if _believable(first.t, ahead, last_t):
            last_t = first.t
            yield first
        else:
            drop(first)


def _believable(t: int, ahead: deque[AnyTimed], last_t: int) -> bool:
    """Whether keeping a line of time `t` loses no more of the lines ahead than dropping it does."""
    if t < last_t:
        return False
    times = [item.t for item in ahead]
    highest = max(times, default=-1)
    if highest < t and t - last_t > LONGEST_SILENCE_NS:
        return False
    if not times or min(times) >= t:
        return True
    kept_with = 1 + _longest_rise([time for time in times if time >= t])
    return kept_with >= _longest_rise([time for time in times if time >= last_t])


def _longest_rise(times: list[int]) -> int:
    """The length of the longest subsequence that never decreases (patience sorting)."""
    tails: list[int] = []
    for time in times:
        place = bisect_right(tails, time)
        tails[place : place + 1] = [time]
    return len(tails)
