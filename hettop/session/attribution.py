"""Finds out during which condition a power sample was taken: what ran from its first to its last nanosecond.

Knows samples and power samples as they come, in whatever order; what becomes of the energy is known by `energy`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from hettop.events import Column, EnergyState, PendingPower, Power, Samples, SpanState
from hettop.session.condition import ConditionKey
from hettop.session.rails import RAILS, PowerWindow, measured
from hettop.session.unit import Unit

# How long after its end a power sample waits for samples to turn up: a file gathers them for .84 s, an engine that is
# read late is seconds behind.
GRACE_NS = 5 * 10**9
# Units that are at work are waited for longer, as their inference may be slow. Beyond these bounds nobody is.
LONGEST_WAIT_NS = 60 * 10**9
MOST_PENDING = 256
MOST_SPANS = 256  # of one unit; a minute of interleaved blocks of .25 s
# Samples outside steady running that follow each other closer than this count as one span of work. By time and not by
# window, so that the result does not depend on how samples were windowed.
JOINED_NS = 100_000_000
AT_WORK = ("spawning", "warming", "running")  # a unit that is known by its samples alone counts as spawning


@dataclass(slots=True)
class Span:
    """A unit was at work: steadily under a condition (a *stretch*), or otherwise (`key` is None)."""

    start_ns: int
    end_ns: int
    key: ConditionKey | None


Attributed = list[tuple[ConditionKey, PowerWindow]]


class Attribution:
    """Judges each power sample: it belongs to a condition if it lies wholly inside one stretch of it and no other
    unit was at work meanwhile.

    A power sample is held until all samples that could overlap it have come (`take` returns it then), because a slow
    inference is told of only after its end. `pending` judges those held by what is known now.
    """

    def __init__(self) -> None:
        self._begun = False
        self._pending: deque[PowerWindow] = deque()
        self._spans: dict[str, list[Span]] = {}

    def begin(self, units: Iterable[Unit]) -> None:
        """Before the first power sample nothing is kept: where each unit stands says all that matters from here on."""
        self._begun = True
        for unit in units:
            if unit.last_end_ns is not None:
                start = unit.last_end_ns if unit.stretch_ns is None else unit.stretch_ns
                self._spans[unit.name] = [Span(start, unit.last_end_ns, _steady_key(unit))]

    def samples(self, window: Samples, ends: Column, continues: bool) -> None:
        """Take in a window of samples; `continues` when it directly follows steady samples of its condition."""
        if not self._begun:
            return
        spans = self._spans.setdefault(window.unit, [])
        if window.phase != "steady":
            _add_work(spans, ends - window.lat_ns, ends)
        elif continues and spans and spans[-1].key is not None:
            spans[-1].end_ns = int(ends[-1])
        else:
            spans.append(Span(window.t0, int(ends[-1]), ConditionKey(window.unit, window.condition, window.thermal)))
        if len(spans) > MOST_SPANS:
            self._forget_spans(spans)

    def take(self, event: Power, units: Iterable[Unit]) -> Attributed:
        """Take in a power sample; returns those that are judged for good, with the condition they belong to."""
        window = measured(event)
        if window is not None:
            self._pending.append(window)
        heard_until = _heard_until(units, event.t)
        judged: Attributed = []
        while self._pending and self._is_final(self._pending[0], event.t, heard_until):
            window = self._pending.popleft()
            judged += self._with_condition(window)
        self._forget_before(event.t - GRACE_NS - 2 * event.elapsed_ns)
        return judged

    def pending(self) -> Attributed:
        """The power samples held that belong to a condition by what is known now."""
        return [found for window in self._pending for found in self._with_condition(window)]

    def _is_final(self, window: PowerWindow, now_ns: int, heard_until_ns: int) -> bool:
        if len(self._pending) > MOST_PENDING or now_ns - window.end_ns > LONGEST_WAIT_NS:
            return True
        return now_ns - window.end_ns >= GRACE_NS and heard_until_ns >= window.end_ns

    def _with_condition(self, window: PowerWindow) -> Attributed:
        key = self._condition_of(window)
        return [] if key is None else [(key, window)]

    def _condition_of(self, window: PowerWindow) -> ConditionKey | None:
        """The condition of the one span that overlaps the window, if that is a stretch and holds all of it."""
        start, end = window.start_ns, window.end_ns
        found: ConditionKey | None = None
        for spans in self._spans.values():
            for span in reversed(spans):
                if span.end_ns <= start:
                    break
                if span.start_ns >= end:
                    continue
                if found is not None or span.key is None or span.start_ns > start or span.end_ns < end:
                    return None
                found = span.key
        return found

    def _forget_before(self, moment_ns: int) -> None:
        """Drop the spans that no power sample reaches any more. Each unit's last one stays: it may go on."""
        oldest = min(moment_ns, self._pending[0].start_ns) if self._pending else moment_ns
        for spans in self._spans.values():
            kept = 0
            while kept < len(spans) - 1 and spans[kept].end_ns <= oldest:
                kept += 1
            del spans[:kept]

    def _forget_spans(self, spans: list[Span]) -> None:
        """More than can be kept: the oldest go, and with them the power samples that would need them."""
        gone = spans[: len(spans) - MOST_SPANS]
        del spans[: len(gone)]
        until = max(span.end_ns for span in gone)
        self._pending = deque(window for window in self._pending if window.start_ns >= until)

    def state(self) -> tuple[list[PendingPower], list[SpanState]]:
        """For a keyframe."""
        pending = [PendingPower(window.end_ns, window.elapsed_ns, list(window.mw)) for window in self._pending]
        return pending, [_span_state(unit, span) for unit, spans in self._spans.items() for span in spans]

    @classmethod
    def restored(cls, state: EnergyState) -> Attribution:
        """As a keyframe describes it. ValueError when a power sample lacks rails."""
        found = cls()
        found._begun = state.begun
        for held in state.pending:
            if len(held.mw) != len(RAILS):
                raise ValueError("a keyframe's power sample has other rails")
            found._pending.append(PowerWindow(held.end_ns, held.elapsed_ns, tuple(held.mw)))
        for span in state.spans:
            key = None if span.load is None else ConditionKey(span.unit, span.load, span.thermal)
            found._spans.setdefault(span.unit, []).append(Span(span.start_ns, span.end_ns, key))
        return found


def _span_state(unit: str, span: Span) -> SpanState:
    load, thermal = (span.key.load, span.key.thermal) if span.key else (None, None)
    return SpanState(unit, span.start_ns, span.end_ns, load, thermal)


def _add_work(spans: list[Span], starts: Column, ends: Column) -> None:
    """Add samples outside steady running, joined to spans where they follow each other closely."""
    breaks = np.flatnonzero(starts[1:] - ends[:-1] > JOINED_NS) + 1
    firsts = [0, *breaks.tolist()][-MOST_SPANS - 1 :]
    lasts = [*(breaks - 1).tolist(), len(ends) - 1][-MOST_SPANS - 1 :]
    for first, last in zip(firsts, lasts, strict=True):
        start, end = int(starts[first]), int(ends[last])
        if spans and spans[-1].key is None and 0 <= start - spans[-1].end_ns <= JOINED_NS:
            spans[-1].end_ns = end
        else:
            spans.append(Span(start, end, None))


def _steady_key(unit: Unit) -> ConditionKey | None:
    if unit.last_condition is None or unit.last_condition[0] != "steady":
        return None
    _, load, thermal = unit.last_condition
    return ConditionKey(unit.name, load, thermal)


def _heard_until(units: Iterable[Unit], now_ns: int) -> int:
    """Up to here every inference has been told of: of units at rest up to now, of the others up to their last end."""
    ends = [unit.last_end_ns or 0 if unit.state in AT_WORK else now_ns for unit in units]
    return min(ends, default=0)
