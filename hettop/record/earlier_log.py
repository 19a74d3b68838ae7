"""Reads the lines of the event log that a keyframe does not hold any more, from the recording.

A stretch at a time, each folded from a keyframe at least a minute before the first line that is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hettop.events import Header
from hettop.record.bytes import RecordingFile, second_reader
from hettop.record.defects import Report
from hettop.record.limits import CLOCK_SLACK_NS
from hettop.record.reader import fold
from hettop.record.seek import FOLDED_FROM_START_BYTES, start_before
from hettop.session.event_log import KEPT, EventLog, Logged
from hettop.session.session import LONGEST_WINDOW_NS

READ_AT_ONCE_BYTES = 1 << 20
COMMITTED_WITHIN_NS = LONGEST_WINDOW_NS + CLOCK_SLACK_NS
"""A spike is in the file at most so long after it ended."""


class EarlierLog:
    """Puts lines before those of `log`, the one of a session that goes on from a keyframe.

    `poll` reads on until it is `done`. Nothing is found where the log has all lines or as many as it may have, or where
    the keyframes are of an older fold, which did not count spikes as lines.
    """

    def __init__(
        self,
        file: RecordingFile,
        header: Header,
        end: int,
        log: EventLog,
        *,
        folded_bytes: int = FOLDED_FROM_START_BYTES,
    ) -> None:
        """Of the first `end` bytes of `file`; see `seek.start_before` for `folded_bytes`."""
        self.log = log
        self.done = not log.earlier or not log.held or len(log) >= KEPT
        self._work = self._read(second_reader(file), header, end, folded_bytes)

    def poll(self) -> None:
        """Read the next part; takes some tens of milliseconds."""
        if not self.done:
            self.done = next(self._work, None) is None

    def _read(self, file: RecordingFile, header: Header, end: int, folded_bytes: int) -> Iterator[bool]:
        first_ns = self.log.held[0].t
        report = Report()
        session, following, _ = start_before(file, header, first_ns, end, report, folded_bytes=folded_bytes)
        pause = 0
        for placed in following:
            if placed.t > first_ns + COMMITTED_WITHIN_NS:
                break
            fold(session, placed.event, report)
            pause = pause or placed.offset + READ_AT_ONCE_BYTES
            if placed.offset >= pause:
                pause = placed.offset + READ_AT_ONCE_BYTES
                yield True
        if session.log.lines is not None:
            self.log.prepend(lines_before(session.log.held, self.log.held)[-(KEPT - len(self.log)) :])


def lines_before(lines: Sequence[Logged], known: Sequence[Logged]) -> list[Logged]:
    """Those that came before the known ones, also where several began at the same moment as the first of these."""
    first_ns = known[0].t
    same = [line for line in lines if line.t == first_ns]
    lacking = len(same) - sum(line.t == first_ns for line in known)
    return [*(line for line in lines if line.t < first_ns), *same[: max(0, lacking)]]
