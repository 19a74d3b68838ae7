"""Repairs a recording into a new file: committed, valid lines are kept, missing samples declared."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from hettop import events
from hettop.errors import HettopError
from hettop.events import WINDOW_LIMIT, AnyEvent, Dropped, End, Header, Keyframe
from hettop.record.bytes import Lines, RecordingFile
from hettop.record.defects import Report
from hettop.record.disk import RECORDING_BEGINNING, NewFile
from hettop.record.limits import readable
from hettop.record.reader import BYTE_ORDER_MARK, Placed, fold, in_order, is_changed, open_recording, read_placed
from hettop.record.verify import contradiction
from hettop.session.session import Session
from hettop.text import clean

CRC = re.compile(rb'"crc32":\d{1,16}')


class Written(NamedTuple):
    """A line of the new recording: its time, and at which byte of the damaged one the line begins it is there for."""

    t: int
    source: int


@dataclass(slots=True)
class Repaired:
    """What was done. `left_out` maps kinds of defect to lines; `dropped` samples were found missing and declared."""

    path: str
    lines: int = 0
    samples: int = 0
    dropped: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    torn_bytes: int = 0
    checksums_renewed: int = 0
    keyframes_renewed: int = 0
    keyframes_left_out: int = 0
    end_added: bool = False
    end_renewed: bool = False
    joined_at: int | None = None
    """Where a second recording begins, of which nothing was taken."""


def repair(path: Path, out: Path, *, force: bool = False) -> Repaired:
    """Write to `out` what of `path` can be used. Raises HettopError (`recording`, `io`, `usage`)."""
    if out.suffix == ".zst":
        hint = f"choose a .jsonl name, then compress: hettop export {clean(out.stem)} --to zst"
        raise HettopError("usage", "a repaired recording is written uncompressed", hint)
    file, _ = open_recording(path)
    with file:
        if out.exists() and out.samefile(path):
            raise HettopError("usage", "the damaged file itself is never overwritten", "choose another file with -o")
        again, _ = open_recording(path)
        with again, NewFile(out, force=force, beginnings=(RECORDING_BEGINNING,)) as made:
            return _until_in_order(file, again, made)


def _until_in_order(file: RecordingFile, again: RecordingFile, made: NewFile) -> Repaired:
    """Repair until a reader finds nothing out of order in what was made.

    A line can have been believed for the sake of one behind it that is now left out: then it must be left out, too.
    Each round mistrusts lines that those before it kept, so there is a last one.
    """
    mistrusted: set[int] = set()
    while True:
        repairing = _Repair(made.file, Report(), Repaired(os.fspath(made.path)))
        unordered: list[Written] = []
        for _ in in_order(_repair_lines(file, again, repairing, mistrusted), 0, unordered.append):
            pass
        if not unordered:
            return repairing.done
        mistrusted.update(written.source for written in unordered)
        made.start_again()


def _repair_lines(
    file: RecordingFile, again: RecordingFile, repairing: _Repair, mistrusted: Container[int]
) -> Iterator[Written]:
    """Write the usable lines of `file`, and yield each as it is written."""
    done, report = repairing.done, repairing.report
    after = 0
    for placed in read_placed(file, report, mistrusted=mistrusted):
        if placed.offset > after:
            _take_between(again, after, placed.offset, repairing)
        repairing.take(placed, _line(file, placed))
        yield from repairing.written()
        after = placed.after
    done.joined_at = _take_between(again, after, None, repairing)
    done.torn_bytes = report.torn_bytes
    done.left_out = {
        kind: lines for kind, lines in sorted(report.skipped.items()) if kind not in ("unknown kind", "blank line")
    }
    repairing.close()
    yield from repairing.written()


def _line(file: RecordingFile, placed: Placed) -> bytes:
    line = file.pread(placed.after - placed.offset, placed.offset).rstrip(b"\r\n")
    return line.removeprefix(BYTE_ORDER_MARK) if placed.offset == 0 else line


def _take_between(file: RecordingFile, start: int, end: int | None, repairing: _Repair) -> int | None:
    """Of lines that the reader skipped, keep the kinds that a newer hettop knows, and count the damaged ones.

    Returns where a second recording begins, if one does.
    """
    for offset, line in Lines(file, start, end):
        if line is None:
            repairing.damaged += 1
            continue
        try:
            event = events.decode(line)
        except ValueError:
            repairing.damaged += 1 if line.strip() else 0
            continue
        if isinstance(event, Header) and offset > 0:
            return offset
        if event is None:
            repairing.write(line.rstrip(b"\r"))
        else:
            repairing.damaged += 1  # its time contradicts those around it
    return None


class _Repair:
    """Writes the lines of the new recording, and folds them as it goes."""

    def __init__(self, out: BinaryIO, report: Report, done: Repaired) -> None:
        self.done = done
        self.report = report
        self._out = out
        self._session = Session(raw_limit=0, trailing=False)
        self.damaged = 0
        """Lines left out since the last known number of samples."""
        self._crc32 = 0
        self._last: AnyEvent | None = None
        self._source = 0
        self._written: list[Written] = []

    def written(self) -> list[Written]:
        """The lines written since this was last asked, in their order; without those of unknown kinds."""
        written, self._written = self._written, []
        return written

    def take(self, placed: Placed, line: bytes) -> None:
        event = placed.event
        self._source = placed.offset
        match event:
            case Keyframe():
                self._declare(event.samples, event.t)
                self._take_keyframe(event, line)
            case End():
                self._declare(event.samples, event.t)
                self._take_end(event, line)
            case _:
                self._put(event, line)

    def write(self, line: bytes) -> None:
        self._out.write(line + b"\n")
        self._crc32 = zlib.crc32(line + b"\n", self._crc32)
        self.done.lines += 1

    def close(self) -> None:
        """Say what is missing at the end, and end the recording if it was not."""
        if not isinstance(self._last, End):
            for why in self._unaccounted():
                self._put_new(Dropped(t=self._session.t, n=0, why=why))
            self._put_new(self._end("repaired: the recording was not closed"))
            self.done.end_added = True
        self.done.samples = self._session.samples

    def _put(self, event: AnyEvent, line: bytes) -> None:
        if not fold(self._session, event, self.report):
            self.damaged += 1
            return
        self.write(line)
        self._last = event
        self._written.append(Written(event.t, self._source))

    def _put_new(self, event: AnyEvent) -> None:
        self._put(event, events.encode(event))

    def _unaccounted(self) -> Iterator[str]:
        if self.damaged:
            yield f"{self.damaged} damaged lines were removed; the number of samples in them is unknown"
        if self.report.torn_bytes:
            yield f"the last line was incomplete ({self.report.torn_bytes} bytes)"

    def _declare(self, declared: int | None, t: int) -> None:
        """Declare the missing samples, by the number in a keyframe or the end."""
        if declared is None:
            return
        missing = declared - self._session.samples - self.done.dropped
        # More than the damaged lines can have held is a damaged number.
        if 0 <= missing <= self.damaged * WINDOW_LIMIT:
            self.damaged = 0
            self.done.dropped += missing
            if missing:
                self._put_new(Dropped(t=t, n=missing, why="in damaged lines removed by repair"))

    def _take_keyframe(self, keyframe: Keyframe, line: bytes) -> None:
        crc32 = self._crc32
        if is_changed(keyframe, line) or contradiction(self._session, keyframe) is not None:
            try:
                _, line = readable(self._session.keyframe(keyframe.t, crc32))
            except ValueError:
                self.done.keyframes_left_out += 1
                return
            self.done.keyframes_renewed += 1
        elif keyframe.crc32 != crc32:
            line = _with_crc(keyframe, line, crc32)
            self.done.checksums_renewed += 1
        self._put(keyframe, line)
        self._crc32 = 0

    def _take_end(self, end: End, line: bytes) -> None:
        if end.samples in (None, self._session.samples) and end.dropped in (None, self._session.dropped):
            if is_changed(end, line) or end.crc32 not in (None, self._crc32):
                line = events.encode(msgspec.structs.replace(end, crc32=self._crc32))
                self.done.checksums_renewed += 1
            self._put(end, line)
            return
        self._put_new(self._end(end.why, end.t))
        self.done.end_renewed = True

    def _end(self, why: str, t: int | None = None) -> End:
        session = self._session
        t = session.t if t is None else t
        return End(t=t, why=why, samples=session.samples, dropped=session.dropped, crc32=self._crc32)


def _with_crc(keyframe: Keyframe, line: bytes, crc32: int) -> bytes:
    """The keyframe with another checksum; if possible the same line, for a newer hettop's fields are in it, too."""
    changed = CRC.sub(b'"crc32":%d' % crc32, line, count=1)
    if keyframe.line_crc32 is not None:
        changed = events.with_line_crc32(changed)
    try:
        found = events.decode(changed)
    except ValueError:
        found = None
    if isinstance(found, Keyframe) and found.crc32 == crc32:
        return changed
    return events.encode(msgspec.structs.replace(keyframe, crc32=crc32))
