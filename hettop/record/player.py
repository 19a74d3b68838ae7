"""Plays a recording: where it stands, the session at that moment, and marks, changes and seams in it.

All memory is bounded, however long the recording.
"""

from __future__ import annotations

import io
import sys
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from hettop import events
from hettop.events import AnyEvent, Header, Samples
from hettop.record.bytes import Bytes, line_at
from hettop.record.defects import Report
from hettop.record.earlier_log import EarlierLog
from hettop.record.overview import Overview
from hettop.record.reader import Placed, count_crc_errors, fold, open_recording, read_placed
from hettop.record.seek import (
    FOLDED_FROM_START_BYTES,
    Start,
    beginning,
    committed_end,
    line_start_before,
    start_before,
)
from hettop.record.selection import SelectionReader
from hettop.record.spikes import SpikeSearch
from hettop.session.session import LONGEST_WINDOW_NS, Session
from hettop.session.views.replay import SpikeMoment

# Small recordings are looked through when they are opened, which takes some 30 ms for this much.
SCAN_AT_OPEN_BYTES = 1 << 26
# Checksums of this much are compared when it is opened, some 30 ms; `hettop verify` compares those of all.
CHECKED_AT_OPEN_BYTES = 1 << 24
# Up to this far ahead folding on is as fast as seeking, which folds the trailing window anyway.
FOLD_ON_NS = LONGEST_WINDOW_NS
# Lines before a place are looked at in blocks of this much.
LOOK_BACK_BYTES = 1 << 18


class Player:
    """One opened recording. What was committed when it was opened is what is played.

    Positions are nanoseconds of the recording, clamped to 0..`duration_ns`. `report` has what was skipped since the
    file was opened or last sought. `crc_errors` are counted on opening in recordings of up to 16 MiB.
    """

    def __init__(self, path: Path, *, folded_bytes: int = FOLDED_FROM_START_BYTES, refold: bool = False) -> None:
        """Open `path` at position 0; see `seek.start_before` for `folded_bytes`. refold: trust no keyframe at all.

        Raises HettopError `recording` when it cannot be played.
        """
        self._folded_bytes = sys.maxsize if refold else folded_bytes
        self._file, self._header = open_recording(path)
        self._path = path
        self._scan = Scan(self._file, committed_end(self._file))
        self._scan.poll(SCAN_AT_OPEN_BYTES)
        checked = self._scan.end <= CHECKED_AT_OPEN_BYTES
        self.crc_errors = count_crc_errors(self._file, self._scan.end) if checked else 0
        self._duration = self._last_time()
        self._position = 0
        self.report = Report()
        self._begin(beginning(self._file, self._scan.end, self.report))
        self._fold_until(0)

    @property
    def path(self) -> str:
        return str(self._path)

    @property
    def header(self) -> Header:
        return self._header

    @property
    def session(self) -> Session:
        """The session after all events up to `position_ns`. It is replaced, not changed, by seeking back."""
        return self._session

    @property
    def folded_by(self) -> str | None:
        """The version whose fold `session` goes on from, where that is another; None where this one folded it all."""
        return self._folded_by

    @property
    def position_ns(self) -> int:
        return self._position

    @property
    def duration_ns(self) -> int:
        """The moment of the last committed line."""
        return self._duration

    @property
    def marks_ns(self) -> tuple[int, ...]:
        """The moments of the user's marks, ascending; of a long recording those found by `scan` so far."""
        marks = self._scan.marks_ns
        return tuple(marks[: bisect_right(marks, self._duration)])

    @property
    def changes(self) -> tuple[tuple[int, str], ...]:
        """The moments at which units (`control`) or the competing load (`load`) changed, found by `scan` so far."""
        return tuple((t, kind) for t, kind in self._scan.changes if t <= self._duration)

    @property
    def scanned(self) -> bool:
        return self._scan.done

    def scan(self, budget_bytes: int = SCAN_AT_OPEN_BYTES) -> None:
        """Look through the next part of a long recording for marks; of no effect when all is looked through."""
        end = self._scan.end
        self._scan.poll(budget_bytes)
        if self._scan.end < end:
            # A second recording was joined to this one: nothing from it may be shown.
            self._duration = self._last_time()
            self._jump(min(self._position, self._duration))

    def advance(self, to_ns: int) -> None:
        """Move on to `to_ns`, folding what lies between; backwards it is a seek."""
        target = self._clamped(to_ns)
        if target < self._position:
            self._jump(target)
        else:
            self._fold_until(target)

    def seek(self, position_ns: int) -> None:
        """Go to any moment."""
        target = self._clamped(position_ns)
        if self._position <= target <= self._position + FOLD_ON_NS:
            self._fold_until(target)
        else:
            self._jump(target)

    def step_window(self, direction: int) -> None:
        """Go to the moment the next (`direction` > 0) or previous window of samples was committed, or to the end."""
        if direction > 0:
            self._step_forward()
        else:
            self._jump(self._window_before(self._position))

    def next_mark(self, direction: int) -> None:
        """Go to the next (`direction` > 0) or previous mark; stay where there is none."""
        while not self.scanned:
            self.scan()
        marks = self.marks_ns
        index = bisect_right(marks, self._position) if direction > 0 else bisect_left(marks, self._position) - 1
        if 0 <= index < len(marks):
            self.seek(marks[index])

    def next_spike(self, direction: int) -> SpikeMoment | None:
        """Go to where the next (`direction` > 0) or previous spike was committed; stay, and None, where there is none.

        Raises HettopError (`recording`) where that would take too long to find out.
        """
        search = SpikeSearch(self._file, self._header, self._scan.end, self._duration, folded_bytes=self._folded_bytes)
        found = search.find(self._position, direction)
        if found is not None:
            self.seek(found.t)
        return found

    def overview(self) -> Overview:
        """An overview of the whole recording, to be looked at piece by piece."""
        return Overview(self._file, self._scan.end, self._duration)

    def select(self, start_ns: int, end_ns: int) -> SelectionReader:
        """The statistics of a part of the recording, to be read piece by piece."""
        return SelectionReader(
            self._file, self._header, self._scan.end, start_ns, end_ns, folded_bytes=self._folded_bytes
        )

    def earlier_log(self) -> EarlierLog:
        """What comes before the lines of the log that the session has, to be read piece by piece."""
        return EarlierLog(self._file, self._header, self._scan.end, self._session.log, folded_bytes=self._folded_bytes)

    def close(self) -> None:
        self._file.close()

    def _clamped(self, position_ns: int) -> int:
        return max(0, min(position_ns, self._duration))

    def _jump(self, target: int) -> None:
        self.report = Report()
        start = start_before(
            self._file, self._header, target, self._scan.end, self.report, folded_bytes=self._folded_bytes
        )
        self._begin(start)
        self._fold_until(target)

    def _begin(self, start: Start) -> None:
        self._session, self._following, self._folded_by = start
        self._next = next(self._following, None)

    def _fold_until(self, target: int) -> None:
        while self._next is not None and self._next.t <= target:
            self._fold_next(self._next)
        self._position = target

    def _fold_next(self, placed: Placed) -> None:
        fold(self._session, placed.event, self.report, placed.offset)
        self._next = next(self._following, None)

    def _step_forward(self) -> None:
        while self._next is not None:
            placed = self._next
            self._fold_next(placed)
            if isinstance(placed.event, Samples):
                self._fold_until(placed.t)
                return
        self._position = self._duration

    def _window_before(self, position_ns: int) -> int:
        """The time of the last window committed before `position_ns`; 0 when there is none."""
        until = self._scan.end if self._next is None else self._next.offset
        for block in self._blocks_before(until):
            times = [line.t for line in block if isinstance(line.event, Samples) and line.t < position_ns]
            if times:
                return max(times)
        return 0

    def _last_time(self) -> int:
        """The time of the last sound line."""
        for block in self._blocks_before(self._scan.end):
            if block:
                return block[-1].t
        return 0

    def _blocks_before(self, until: int) -> Iterator[list[Placed]]:
        """The sound lines before the line start `until`, a block at a time, backwards."""
        while until > 0:
            begin = line_start_before(self._file, until - LOOK_BACK_BYTES) if until > LOOK_BACK_BYTES else 0
            part = io.BytesIO(self._file.pread(until - begin, begin))
            yield list(read_placed(part, Report()))
            until = begin


MARK_START = b'\n{"k":"mark"'
CHANGE_STARTS = (b'\n{"k":"control"', b'\n{"k":"load"')
HEADER_START = b'\n{"k":"header"'
OVERLAP = len(HEADER_START) - 1
PIECE_BYTES = 1 << 20
# More than a scrub bar can show; a hostile file may hold millions.
MARKS_KEPT = 10_000
CHANGES_KEPT = 10_000


class Scan:
    """Grows as `poll` is called: the times of the marks found so far, and where the recording ends.

    `changes` are the moments at which units or the load changed, with the kind of event, in the order of the file.
    """

    def __init__(self, file: Bytes, end: int) -> None:
        self.end = end
        self.marks_ns: list[int] = []
        self.changes: list[tuple[int, str]] = []
        self._file = file
        self._position = 0

    @property
    def done(self) -> bool:
        return self._position >= self.end

    def poll(self, budget_bytes: int) -> None:
        """Look through the next `budget_bytes` of the file."""
        until = self._position + budget_bytes
        while self._position < min(until, self.end):
            # The overlap finds a line that begins at the seam of two pieces, and none twice.
            piece = self._file.pread(PIECE_BYTES + OVERLAP, self._position)
            for offset in self._starts(piece, HEADER_START):
                if isinstance(self._event_at(offset), events.Header):
                    self.end = offset
            for offset in islice(self._starts(piece, MARK_START), MARKS_KEPT - len(self.marks_ns)):
                event = self._event_at(offset)
                if isinstance(event, events.Mark):
                    insort(self.marks_ns, event.t)
            for start in CHANGE_STARTS:
                self._note_changes(piece, start)
            self._position += PIECE_BYTES

    def _note_changes(self, piece: bytes, start: bytes) -> None:
        for offset in islice(self._starts(piece, start), CHANGES_KEPT - len(self.changes)):
            match self._event_at(offset):
                case events.Control(t=t):
                    self.changes.append((t, "control"))
                case events.Load(t=t):
                    self.changes.append((t, "load"))

    def _starts(self, piece: bytes, start: bytes) -> Iterator[int]:
        """Offsets before the end of lines in this piece that begin with `start` (a line feed ahead of it)."""
        at = piece.find(start)
        while 0 <= at < min(PIECE_BYTES, self.end - self._position):
            yield self._position + at + 1
            at = piece.find(start, at + 1)

    def _event_at(self, offset: int) -> AnyEvent | None:
        line = line_at(self._file, offset)
        try:
            return None if line is None else events.decode(line)
        except ValueError:
            return None
