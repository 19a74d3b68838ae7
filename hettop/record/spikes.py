"""Finds the next moment of a recording at which a spike was committed, before or after a given one.

Keyframes count the spikes so far, so stretches without any are passed over.
"""

from __future__ import annotations

from typing import NamedTuple

from hettop.errors import HettopError
from hettop.events import AnyEvent, Header, Keyframe, Samples
from hettop.record.bytes import RecordingFile, second_reader
from hettop.record.defects import Report
from hettop.record.overview import was_reset
from hettop.record.reader import fold, read_placed
from hettop.record.seek import FOLDED_FROM_START_BYTES, KeyframeLine, keyframe_before, place_of
from hettop.session.condition import ConditionKey
from hettop.session.session import Session
from hettop.session.views.replay import SpikeMoment
from hettop.units import NS_PER_MS

# A second of folding. More is only to be looked through where keyframes are far apart or damaged.
SEARCH_BYTES = 1 << 26


class _Place(NamedTuple):
    """A moment, the byte from which lines follow it, and what was known there; without a keyframe, an end of it all."""

    t: int
    after: int
    keyframe: Keyframe | None


class SpikeSearch:
    """Looks for spikes in the first `end` bytes of a recording that lasts `duration_ns`."""

    def __init__(
        self,
        file: RecordingFile,
        header: Header,
        end: int,
        duration_ns: int,
        *,
        folded_bytes: int = FOLDED_FROM_START_BYTES,
        search_bytes: int = SEARCH_BYTES,
    ) -> None:
        """Recordings of up to `folded_bytes` are folded without looking for keyframes."""
        self._file, self._header, self._end = second_reader(file), header, end
        self._duration_ns = duration_ns
        self._keyframes = end > folded_bytes
        self._search_bytes = search_bytes
        self._left = search_bytes

    def find(self, position_ns: int, direction: int) -> SpikeMoment | None:
        """The first one after (`direction` > 0) or the last one before a moment; None where there is none.

        Raises HettopError (`recording`) where that would take too long to find out.
        """
        self._left = self._search_bytes
        beginning, ending = _Place(0, 0, None), _Place(self._duration_ns + 1, self._end, None)
        if direction > 0:
            start = self._place_before(position_ns + 1) or beginning
            return self._within(start, ending, position_ns, self._duration_ns, direction)
        return self._within(beginning, ending._replace(t=position_ns), -1, position_ns - 1, direction)

    def _within(self, low: _Place, high: _Place, after: int, until: int, direction: int) -> SpikeMoment | None:
        """The spike of (after, until] that comes first, or last, of those between two places."""
        if high.keyframe is not None and not _spiked(low.keyframe, high.keyframe):
            return None
        middle = self._between(low, high)
        if middle is None:
            return self._folded(low, high, after, until, direction)
        halves = [(low, middle), (middle, high)]
        for first, second in halves if direction > 0 else reversed(halves):
            found = self._within(first, second, after, until, direction)
            if found is not None:
                return found
        return None

    def _between(self, low: _Place, high: _Place) -> _Place | None:
        """A keyframe somewhere between two places."""
        if not self._keyframes:
            return None
        for moment in ((low.t + high.t) // 2, high.t):
            found = self._place_before(moment)
            if found is not None and low.t < found.t < high.t:
                return found
        return None

    def _place_before(self, t: int) -> _Place | None:
        """The last keyframe before `t` that can be gone on from."""
        if not self._keyframes:
            return None
        found = keyframe_before(self._file, place_of(self._file, t, self._end), t)
        return (
            None if found is None or not self._holds(found) else _Place(found.keyframe.t, found.after, found.keyframe)
        )

    def _holds(self, found: KeyframeLine) -> bool:
        try:
            Session.restored(self._header, found.keyframe)
        except ValueError:
            return False
        return True

    def _folded(self, low: _Place, high: _Place, after: int, until: int, direction: int) -> SpikeMoment | None:
        session = Session(0) if low.keyframe is None else Session.restored(self._header, low.keyframe)
        found: SpikeMoment | None = None
        for placed in read_placed(self._file, Report(), low.after, end=high.after, last_t=low.t):
            if placed.t > until:
                break
            self._spend(placed.after - placed.offset)
            spike = fold_and_look(session, placed.event)
            if spike is not None and placed.t > after:
                if direction > 0:
                    return spike
                # Of several windows committed at one moment the slowest is reported.
                found = max(found, spike, key=_rank) if found is not None else spike
        return found

    def _spend(self, length: int) -> None:
        self._left -= length
        if self._left < 0:
            raise HettopError(
                "recording", "no spike nearby; searching further would take too long", "its keyframes are missing"
            )


def fold_and_look(session: Session, event: AnyEvent) -> SpikeMoment | None:
    """Fold an event; the slowest of the spikes that it brought, if it brought any."""
    if not isinstance(event, Samples) or event.phase != "steady":
        fold(session, event, Report())
        return None
    key = ConditionKey(event.unit, event.condition, event.thermal)
    before = session.conditions[key].spikes if key in session.conditions else 0
    fold(session, event, Report())
    condition = session.conditions.get(key)
    new = 0 if condition is None else condition.spikes - before
    if condition is None or new <= 0:
        return None
    recent = list(condition.recent_spikes)[-new:]
    return SpikeMoment(event.t, event.unit, max(latency for _, latency in recent) / NS_PER_MS)


def _rank(spike: SpikeMoment) -> tuple[int, float]:
    return spike.t, spike.latency_ms


def _spiked(before: Keyframe | None, after: Keyframe) -> bool:
    """Whether there may have been a spike between two keyframes (None: the beginning)."""
    if before is None:
        return _spikes(after) > 0
    return _spikes(after) != _spikes(before) or was_reset(before, after)


def _spikes(keyframe: Keyframe) -> int:
    return sum(state.spikes for state in keyframe.conditions)
