"""Finds the session at any moment of a recording without reading what came long before it.

Knows the file, the reader and the fold. There is no index: times rise through the file, so a moment is found by
halving, and the keyframes before it by reading backwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from hettop import events
from hettop.events import LINE_LIMIT, Header, Keyframe
from hettop.record.bytes import Bytes, RecordingFile
from hettop.record.defects import Report
from hettop.record.folding import fold
from hettop.record.limits import CLOCK_SLACK_NS
from hettop.record.lines import line_at
from hettop.record.reader import KEYFRAME_START, Placed, read_placed
from hettop.session.session import LONGEST_WINDOW_NS, Session

# Our lines begin with kind and time, so neither needs the rest of the line to be read.
LINE_HEAD = re.compile(rb'\{"k":"(\w{1,32})","t":(\d{1,16})[,}]')
HEAD_BYTES = 80
BLOCK_BYTES = 1 << 14
BACKWARD_BYTES = 1 << 18
# Halving ends here: the rest is read anyway, to find the keyframe.
NEAR_ENOUGH_BYTES = 1 << 16
# A probe that meets this much damage gives up, and the search goes on before it.
PROBE_BYTES = 1 << 22
PROBE_LINES = 256
# Folding this much takes about as long as seeking, which folds a minute; so it needs to trust no keyframe.
FOLDED_FROM_START_BYTES = 1 << 21
# Where this many keyframes in a row contradict their lines, none is trusted.
KEYFRAMES_TRIED = 8


class Start(NamedTuple):
    """A session, and the events that follow what it has folded."""

    session: Session
    following: Iterator[Placed]


class Found(NamedTuple):
    offset: int
    after: int
    keyframe: Keyframe


def session_at(file: RecordingFile, header: Header, t: int, raw_limit: int = 0) -> Session:
    """The session after all events up to `t`, the same as folding from the start.

    Raw samples are not in keyframes: with a `raw_limit` above 0 the file is folded from its start.
    """
    end, report = committed_end(file), Report()
    start = beginning(file, end, report, raw_limit) if raw_limit else start_before(file, header, t, end, report)
    for placed in start.following:
        if placed.t > t:
            break
        fold(start.session, placed.event, report, placed.offset)
    return start.session


def beginning(file: RecordingFile, end: int, report: Report, raw_limit: int = 0) -> Start:
    """The empty session, and all events up to byte `end`."""
    return Start(Session(raw_limit), read_placed(file, report, end=end))


def start_before(
    file: RecordingFile,
    header: Header,
    t: int,
    end: int,
    report: Report,
    *,
    folded_bytes: int = FOLDED_FROM_START_BYTES,
) -> Start:
    """A session from which folding on to `t` gives what folding from the start gives, trailing window included.

    It begins at the last keyframe that is old enough and agrees with its lines: folding from the keyframe before it
    must lead to it. Where keyframes are missing or damaged, an earlier one serves, and at worst the file's start, as
    it does for moments in the first `folded_bytes`. (Of lines lost before it, a keyframe still knows what they held.)
    """
    oldest_needed = t - LONGEST_WINDOW_NS - CLOCK_SLACK_NS
    if oldest_needed <= 0:
        return beginning(file, end, report)
    near = place_of(file, oldest_needed, end)
    if near <= folded_bytes:
        return beginning(file, end, report)
    later = keyframe_before(file, near, oldest_needed)
    for _ in range(KEYFRAMES_TRIED):
        earlier = later and keyframe_before(file, later.offset, oldest_needed)
        if later is None or earlier is None:
            break
        confirmed = _confirmed(file, header, earlier, later, end=end, report=report)
        if confirmed is not None:
            return confirmed
        later = earlier
    return beginning(file, end, report)


def committed_end(file: Bytes) -> int:
    """The byte after the last line feed: what a writer has committed by now."""
    position = file.size()
    while position > 0:
        begin = max(0, position - BACKWARD_BYTES)
        at = file.pread(position - begin, begin).rfind(b"\n")
        if at >= 0:
            return begin + at + 1
        position = begin
    return 0


def line_start_before(file: Bytes, offset: int) -> int:
    """The start of the last line that begins at or before `offset`, or 1 MiB before it where there is none so near."""
    begin = max(0, offset - LINE_LIMIT)
    return begin + file.pread(offset - begin, begin).rfind(b"\n") + 1


def _confirmed(
    file: RecordingFile, header: Header, earlier: Found, later: Found, *, end: int, report: Report
) -> Start | None:
    try:
        session = Session.restored(header, earlier.keyframe)
    except ValueError:
        return None
    following = read_placed(file, report, earlier.after, end=end, last_t=earlier.keyframe.t)
    for placed in following:
        if placed.offset >= later.offset:
            if placed.offset > later.offset or not _agrees(session, later.keyframe):
                return None
            fold(session, placed.event, report, placed.offset)
            return Start(session, following)
        fold(session, placed.event, report, placed.offset)
    return None


def _agrees(session: Session, keyframe: Keyframe) -> bool:
    return events.encode(session.keyframe(keyframe.t, keyframe.crc32)) == events.encode(keyframe)


def place_of(file: Bytes, t: int, end: int) -> int:
    """A byte shortly after the last line whose time is at most `t`, unless damage led the search astray."""
    low, high = 0, end
    while high - low > NEAR_ENOUGH_BYTES:
        middle = (low + high) // 2
        probe = _line_head_after(file, middle, high)
        if probe is None or probe[1] > t:
            high = middle
        else:
            low = probe[0]
    return high


def _line_head_after(file: Bytes, position: int, end: int) -> tuple[int, int] | None:
    """Offset and time of the first sound line that starts after `position` and before `end`."""
    give_up = min(end, position + PROBE_BYTES)
    tried = 0
    while position < give_up and tried < PROBE_LINES:
        block = file.pread(BLOCK_BYTES, position)
        at = block.find(b"\n")
        if at < 0:
            position += max(1, len(block))
            continue
        position += at + 1
        tried += 1
        head = LINE_HEAD.match(file.pread(HEAD_BYTES, position))
        if head is not None and position < end:
            return position, int(head[2])
    return None


def keyframe_before(file: Bytes, before: int, earlier_than: int) -> Found | None:
    """The last readable keyframe line that starts before byte `before` and whose time is below `earlier_than`."""
    marker = b"\n" + KEYFRAME_START
    searched_to = before - 1 + len(marker) - 1
    tried = 0
    while searched_to > 0 and tried < PROBE_LINES:
        begin = max(0, searched_to - BACKWARD_BYTES)
        at = file.pread(searched_to - begin, begin).rfind(marker)
        if at < 0:
            # Blocks overlap by all but one byte of the marker, so that one across the seam is found.
            searched_to = begin + len(marker) - 1 if begin else 0
            continue
        found = _keyframe_at(file, begin + at + 1, earlier_than)
        if found is not None:
            return found
        tried += 1
        searched_to = begin + at + len(marker) - 1
    return None


def _keyframe_at(file: Bytes, offset: int, earlier_than: int) -> Found | None:
    head = LINE_HEAD.match(file.pread(HEAD_BYTES, offset))
    if head is None or int(head[2]) >= earlier_than:
        return None
    line = line_at(file, offset)
    try:
        event = None if line is None else events.decode(line)
    except ValueError:
        return None
    if line is None or not isinstance(event, Keyframe) or event.t >= earlier_than:
        return None
    return Found(offset, offset + len(line) + 1, event)
