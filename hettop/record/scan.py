"""Looks through a recording, a piece at a time, for what no search by time can find: marks, changes and seams.

Knows bytes and four kinds of line. A seam is a second header: two recordings were joined, and reading stops there.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from itertools import islice

from hettop import events
from hettop.events import AnyEvent
from hettop.record.bytes import Bytes
from hettop.record.lines import line_at

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
