"""Statistics of the samples between two moments of a recording, exactly as they stand in the file.

Read a piece at a time, because a selection may be a whole day.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hettop.events import Header, Samples
from hettop.record.bytes import RecordingFile, second_reader
from hettop.record.defects import Report
from hettop.record.limits import CLOCK_SLACK_NS
from hettop.record.reader import Placed, fold
from hettop.record.seek import FOLDED_FROM_START_BYTES, start_before
from hettop.record.window_coalescer import cut
from hettop.session.condition import ConditionKey, DurationSeries
from hettop.session.session import LONGEST_WINDOW_NS, Session
from hettop.session.views.replay import SelectedUnit
from hettop.units import NS_PER_MS

READ_AT_ONCE_BYTES = 1 << 21
RAW_KEPT = 1 << 21  # samples a unit, 16 MB; up to here quantiles are exact
# Samples are committed within a second or so of their end; after a standstill it can take longer.
COMMITTED_WITHIN_NS = LONGEST_WINDOW_NS + CLOCK_SLACK_NS


class SelectionReader:
    """Reads what lies between two moments, a piece at each `poll`, until it is `done`; then `units` is complete.

    A sample belongs to the selection if it is steady and ended in (start_ns, end_ns].
    """

    def __init__(
        self,
        file: RecordingFile,
        header: Header,
        end: int,
        start_ns: int,
        end_ns: int,
        *,
        folded_bytes: int = FOLDED_FROM_START_BYTES,
    ) -> None:
        """Of the first `end` bytes of `file`; see `seek.start_before` for `folded_bytes`."""
        self.start_ns, self.end_ns = start_ns, end_ns
        self.done = False
        self.share = 0.0
        self.folded_by: str | None = None
        """The version whose fold its spikes are by, where that is another (`seek.folded_by`)."""
        self._report = Report()
        self._found: dict[str, _Unit] = {}
        self._work = self._read(second_reader(file), header, end, folded_bytes)

    def poll(self) -> None:
        """Read the next part; takes some tens of milliseconds."""
        if not self.done and next(self._work, None) is None:
            self.done, self.share = True, 1.0

    @property
    def units(self) -> tuple[SelectedUnit, ...]:
        """In the order of their first sample in the selection."""
        return tuple(unit.statistics() for unit in self._found.values())

    def _read(self, file: RecordingFile, header: Header, end: int, folded_bytes: int) -> Iterator[bool]:
        start = start_before(file, header, self.start_ns, end, self._report, folded_bytes=folded_bytes)
        self.folded_by = start.folded_by
        pause: int | None = None
        for placed in start.following:
            if placed.t > self.end_ns + COMMITTED_WITHIN_NS:
                return
            self._take(start.session, placed)
            pause = pause or placed.offset + READ_AT_ONCE_BYTES
            if placed.offset >= pause:
                pause = placed.offset + READ_AT_ONCE_BYTES
                self.share = min(1.0, max(0, placed.t - self.start_ns) / max(1, self.end_ns - self.start_ns))
                yield True

    def _take(self, session: Session, placed: Placed) -> None:
        """Fold an event; a window is cut at the ends of the selection, which changes nothing of what the fold finds."""
        window = placed.event
        if not isinstance(window, Samples) or window.phase != "steady":
            fold(session, window, self._report)
            return
        # Overlapping samples end in another order than they start; the cut must be one place all the same.
        starts = window.starts_ns()
        ends = np.maximum.accumulate(starts + window.lat_ns)
        first, last = np.searchsorted(ends, (self.start_ns, self.end_ns), side="right").tolist()
        for begin, stop, inside in ((0, first, False), (first, last, True), (last, window.n, False)):
            if begin < stop:
                part = cut(window, slice(begin, stop), int(starts[begin]))
                if inside:
                    self._count(session, part)
                else:
                    fold(session, part, self._report)

    def _count(self, session: Session, part: Samples) -> None:
        key = ConditionKey(part.unit, part.condition, part.thermal)
        before = session.conditions[key].spikes if key in session.conditions else 0
        fold(session, part, self._report)
        condition = session.conditions.get(key)
        unit = self._found.setdefault(part.unit, _Unit(part.unit))
        unit.series.add(part.lat_ns)
        if condition is not None and condition.fence_ns is not None:
            unit.spikes = (unit.spikes or 0) + condition.spikes - before


class _Unit:
    def __init__(self, name: str) -> None:
        self.name = name
        self.series = DurationSeries(RAW_KEPT)
        self.spikes: int | None = None

    def statistics(self) -> SelectedUnit:
        p50, p90 = (self.series.quantile_ms(q) for q in (0.5, 0.9))
        maximum = self.series.moments.max_ns
        assert p50 is not None  # noqa: S101 - a unit is there from its first sample on
        assert p90 is not None  # noqa: S101
        assert maximum is not None  # noqa: S101
        exact = self.series.raw() is not None
        return SelectedUnit(self.name, self.series.n, p50, p90, maximum / NS_PER_MS, self.spikes, exact)
