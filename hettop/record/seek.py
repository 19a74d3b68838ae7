"""Finds the session at any moment of a recording without reading what came long before it.

Without an index: times rise through the file, so a moment is found by halving, and the keyframes before it by
reading backwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from hettop import events
from hettop.events import LINE_LIMIT, Header, Keyframe
from hettop.record.bytes import Bytes, RecordingFile, line_at
from hettop.record.defects import Report
from hettop.record.limits import CLOCK_SLACK_NS
from hettop.record.reader import KEYFRAME_START, Placed, fold, is_changed, read_placed
from hettop.record.verify import contradiction
from hettop.session.session import FIRST_FOLD, FOLD, LONGEST_WINDOW_NS, Session

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
    """A session, and the events that follow what it has folded; `folded_by` names the version whose fold made it.

    None: this fold did, or one that gives the same.
    """

    session: Session
    following: Iterator[Placed]
    folded_by: str | None = None


class KeyframeLine(NamedTuple):
    """A keyframe, where its line starts and the next one does, and whether a right `line_crc32` vouches for it."""

    offset: int
    after: int
    keyframe: Keyframe
    checked: bool


def beginning(file: RecordingFile, end: int, report: Report) -> Start:
    """The empty session, and all events up to byte `end`."""
    return Start(Session(0), read_placed(file, report, end=end))


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

    It begins at the last keyframe that is old enough and can be trusted: by its own checksum, or, where it has none
    (format [1,0]), because folding from the keyframe before it leads to the same counts, sums, extremes and histograms.
    Where keyframes are missing or damaged, an earlier one serves, and at worst the file's start, as it does for moments
    in the first `folded_bytes`. (Of lines lost before it, a keyframe still knows what they held.)
    """
    oldest_needed = t - LONGEST_WINDOW_NS - CLOCK_SLACK_NS
    if oldest_needed <= 0:
        return beginning(file, end, report)
    near = place_of(file, oldest_needed, end)
    if near <= folded_bytes:
        return beginning(file, end, report)
    later = keyframe_before(file, near, oldest_needed)
    for _ in range(KEYFRAMES_TRIED):
        if later is None:
            break
        if later.checked and (start := _resumed(file, header, later, end, report)) is not None:
            return start
        earlier = keyframe_before(file, later.offset, oldest_needed)
        if earlier is not None and not later.checked:
            start = _confirmed(file, header, earlier, later, end=end, report=report)
            if start is not None:
                return start
        later = earlier
    return beginning(file, end, report)


def folded_by(header: Header, keyframe: Keyframe) -> str | None:
    """The version whose fold made a keyframe's state, if that may be another state than this one would have made."""
    if (FIRST_FOLD if keyframe.fold is None else keyframe.fold) == FOLD:
        return None
    return f"hettop {header.host.hettop}" if header.host.hettop else "another version of hettop"


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


def _resumed(file: RecordingFile, header: Header, found: KeyframeLine, end: int, report: Report) -> Start | None:
    """The session that a keyframe describes; None where it contradicts itself."""
    try:
        session = Session.restored(header, found.keyframe)
    except ValueError:
        return None
    following = read_placed(file, report, found.after, end=end, last_t=found.keyframe.t)
    return Start(session, following, folded_by(header, found.keyframe))


def _confirmed(
    file: RecordingFile, header: Header, earlier: KeyframeLine, later: KeyframeLine, *, end: int, report: Report
) -> Start | None:
    """The session at `later`, folded from `earlier`; None where the two disagree on what the format defines."""
    start = _resumed(file, header, earlier, end, report)
    if start is None:
        return None
    for placed in start.following:
        if placed.offset >= later.offset:
            if placed.offset > later.offset or contradiction(start.session, later.keyframe) is not None:
                return None
            fold(start.session, placed.event, report, placed.offset)
            return start
        fold(start.session, placed.event, report, placed.offset)
    return None


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


def keyframe_before(file: Bytes, before: int, earlier_than: int) -> KeyframeLine | None:
    """The last keyframe line that starts before byte `before` and whose time is below `earlier_than`.

    Lines that cannot be read, and those that their `line_crc32` says were changed, are passed over.
    """
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


def _keyframe_at(file: Bytes, offset: int, earlier_than: int) -> KeyframeLine | None:
    head = LINE_HEAD.match(file.pread(HEAD_BYTES, offset))
    if head is None or int(head[2]) >= earlier_than:
        return None
    line = line_at(file, offset)
    try:
        event = None if line is None else events.decode(line)
    except ValueError:
        return None
    if line is None or not isinstance(event, Keyframe) or event.t >= earlier_than or is_changed(event, line):
        return None
    return KeyframeLine(offset, offset + len(line) + 1, event, checked=event.line_crc32 is not None)
