"""Energy: during which condition each power sample was taken, and what follows per inference, with how far to trust it.

Pure. Definitions and their reasons are in docs/method/statistics.md.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec
import numpy as np

from hettop.compute_units import USED_BY, uses
from hettop.events import (
    Baseline,
    Column,
    EnergyState,
    PendingPower,
    Power,
    PowerStatus,
    Samples,
    SpanState,
    is_capture,
    split_row,
)
from hettop.session.condition import Condition, ConditionKey
from hettop.session.rails import (
    PJ_PER_MJ,
    RAILS,
    SUM,
    EnergyBatches,
    PowerWindow,
    RailSums,
    estimate,
    estimate_rails,
    measured,
    sum_of,
)
from hettop.session.unit import Unit
from hettop.stats.quantiles import CONFIDENCE

MJ_PER_J = 1000.0

LEAST_COVERAGE = 0.5
"""Of the running time. Where power samples cover less, most of what was drawn is not known, and no figure is given."""


UNTOLD_STEP_MJ = 1.0
"""Assumed of a source that does not report the step of its counters: the coarsest that is known."""

SETTLING_NS = 500_000_000
"""After a stretch begins, power still moves from that of the unit before (clocks, sensors that average): windows that
begin so early do not count for the interval. A ramp with a time constant of 100 ms has 0.7% of its height left."""

MOSTLY = 0.5
"""A sample of which less than this share is new: more of an overlap than being heard of a little early makes."""


@dataclass(frozen=True, slots=True)
class EnergyFigures:
    """Energy of one condition. `rails` are those that make up its power (`estimate_rails`), empty without one.

    Energies are mJ per inference, powers mW. `coverage` is the share of the running time that power samples cover, 0
    when none did; below `LEAST_COVERAGE` there are no energies, and `lacking` says so. `uncertainty` is relative: what
    the step of the source's counter, `resolution_mj`, leaves open. `window_ns` is the mean length of a power sample.
    `validated` are the rails of which a 0 is a reading. `batches` are the power windows that show how it spreads.
    """

    rails: tuple[str, ...]
    coverage: float | None
    mj: float | None
    net_mj: float | None
    uncertainty: float | None
    mj_by_rail: dict[str, float | None]
    mean_mw: dict[str, float | None]
    resolution_mj: float | None = None
    window_ns: float | None = None
    lacking: str = ""
    validated: frozenset[str] = frozenset()
    batches: EnergyBatches | None = None

    @property
    def windows(self) -> int:
        """How many power windows the interval is of."""
        return 0 if self.batches is None else self.batches.windows

    def interval_mj(self, confidence: float = CONFIDENCE) -> tuple[float, float] | None:
        """Interval of the energy per inference, by the spread of the power windows; None of too few.

        It always holds the mean, which is of the windows at the beginning of stretches, too.
        """
        mean_mw = sum_of(self.mean_mw, self.rails)
        found = None if self.batches is None else self.batches.interval_mw(confidence)
        if found is None or not self.mj or not mean_mw:
            return None
        low, high = (self.mj * mw / mean_mw for mw in found)
        return max(0.0, min(low, self.mj)), max(high, self.mj)

    @property
    def inferences_per_joule(self) -> float | None:
        return MJ_PER_J / self.mj if self.mj else None


class Energy:
    """The fold's part that turns power samples into energy of conditions; `total` is of the whole session.

    overlapping: number of power samples that mostly overlap earlier ones.
    source: the one that gives the samples, None before any; a capture is none.
    """

    def __init__(self) -> None:
        self.total = RailSums()
        self.resolution_mj: float | None = None
        self.overlapping = 0
        self.source: str | None = None
        self._seen = False
        self._validated_before: frozenset[str] = frozenset()
        self._readings = RailSums()
        self._attribution = Attribution()

    @property
    def step_mj(self) -> float:
        """The step of the source's counters; what is assumed of one that does not report it."""
        return UNTOLD_STEP_MJ if self.resolution_mj is None else self.resolution_mj

    @property
    def validated(self) -> frozenset[str]:
        """The rails of which a 0 is a reading: `source` read them above 0 here, in this session or before it.

        Above 0 is by more than one step of the source's counter. A counter that never moved may be one that does not
        count: macOS 27 has been seen to give 0 for an accelerator at work.
        """
        if not self._seen:
            return frozenset()
        return self._validated_before.union(rail for rail in RAILS if self._readings[rail].energy_mj > self.step_mj)

    def is_of_one_source(self, rail: str) -> bool:
        """Whether all that was measured of the rail was measured by `source`."""
        return self.total[rail].windows == self._readings[rail].windows

    @property
    def seen(self) -> bool:
        """Whether there was a power sample of this machine, whatever it reported; one of a capture is none."""
        return self._seen

    def samples(self, window: Samples, ends: Column, continues: bool, wait_ns: int = 0) -> None:
        self._attribution.samples(window, ends, continues, wait_ns)

    def power(
        self,
        event: Power,
        units: Iterable[Unit],
        conditions: Mapping[ConditionKey, Condition],
        before: Power | None = None,
    ) -> None:
        """Take in a power sample. `before` is the one reported before it: no time is counted twice."""
        event = self._without_overlap(event, before)
        window = measured(event)
        if window is not None:
            self.total.add(window)
            self.total.add_rail(SUM, estimate(window.known), window.elapsed_ns)
        if is_capture(event.source):
            return
        self._change_source(event.source)
        if window is not None:
            self._readings.add(window)
        if not self._seen:
            self._seen = True
            self._attribution.begin(units)
        for found in self._attribution.take(event, units):
            if found.key in conditions:
                conditions[found.key].energy.add(found.window)
                if found.settled:
                    conditions[found.key].energy_batches.add(found.window, split_row(found.key.unit)[0])

    def _without_overlap(self, event: Power, before: Power | None) -> Power:
        """Sources that were held up report many windows at one moment: all but the first lie over each other."""
        if before is None or event.t - event.elapsed_ns >= before.t:
            return event
        left = max(0, event.t - before.t)
        self.overlapping += left < MOSTLY * event.elapsed_ns
        return msgspec.structs.replace(event, elapsed_ns=left)

    def status(self, event: PowerStatus) -> None:
        """A source that ends reports no resolution any more, but what it measured had one."""
        if is_capture(event.source):
            return
        if event.state == "running" or self.source is None:
            self._change_source(event.source)
        if event.source != self.source:  # it was tried and gave nothing
            return
        if event.resolution_mj is not None:
            self.resolution_mj = event.resolution_mj
        self._validated_before = self._validated_before.union(event.validated).intersection(RAILS)

    def _change_source(self, source: str) -> None:
        """A counter of another source may not count where this one's did: start anew."""
        if source != self.source:
            self.source, self.resolution_mj = source, None
            self._validated_before, self._readings = frozenset(), RailSums()

    def reset(self, units: Iterable[Unit]) -> None:
        """Forget what was attributed to conditions; what the session drew in all stays."""
        self._attribution = Attribution()
        if self._seen:
            self._attribution.begin(units)

    def of(self, condition: Condition) -> RailSums:
        """What is attributed to a condition, with the power samples that can be judged by now."""
        sums = condition.energy
        pending = [found.window for found in self._attribution.pending() if found.key == condition.key]
        if pending:
            sums = sums.copy()
            for window in pending:
                sums.add(window)
        return sums

    def batches_of(self, condition: Condition) -> EnergyBatches:
        """The settled power windows among what `of` sums up."""
        batches = condition.energy_batches.copy()
        for found in self._attribution.pending():
            if found.settled and found.key == condition.key:
                batches.add(found.window, split_row(found.key.unit)[0])
        return batches

    def state(self) -> EnergyState | None:
        """For a keyframe; None while there was no power, and no source of it."""
        if self.source is None and not self.total:
            return None
        pending, spans = self._attribution.state()
        return EnergyState(
            begun=self._seen,
            pending=pending,
            spans=spans,
            total=self.total.state(peaks=True),
            resolution_mj=self.resolution_mj,
            overlapping=self.overlapping,
            validated=sorted(self._validated_before),
            source=self.source,
            readings=self._readings.state(),
        )

    @classmethod
    def restored(cls, state: EnergyState | None, source: str | None = None) -> Energy:
        """As a keyframe describes it. ValueError when it contradicts itself.

        `source` is for keyframes that do not name it, as some of format [1,0]: all of `total` is taken to be its.
        """
        energy = cls()
        energy.source = source
        if state is not None:
            energy._seen = state.begun
            energy.resolution_mj = state.resolution_mj
            energy.overlapping = state.overlapping
            energy._validated_before = frozenset(state.validated).intersection(RAILS)
            energy.total = RailSums.restored(state.total)
            is_earlier = state.source is None and source is not None
            energy.source = source if is_earlier else state.source
            energy._readings = RailSums.restored(state.total if is_earlier else state.readings)
            energy._attribution = Attribution.restored(state)
        return energy


def energy_figures(
    sums: RailSums,
    active_ns: int,
    n: int,
    baseline: Baseline | None = None,
    resolution_mj: float | None = None,
    *,
    validated: frozenset[str] = frozenset(),
    unit: str = "",
    batches: EnergyBatches | None = None,
) -> EnergyFigures:
    """What `sums` mean for a condition that ran for `active_ns` and took `n` samples.

    `unit`, without variant, decides which rails must be `validated`: of an accelerator that it may use, a
    reading that may be the zero of a stuck counter is not an energy. `batches` show the spread of the power; they do
    not where some of the windows lack a rail that others have.
    """
    means = {rail: sums[rail].mean_mw for rail in sums.rails}
    unknown = [rail for rail in USED_BY if uses(rail, unit) and rail not in validated]
    unknown = [rail for rail in unknown if means[rail] is not None]
    per_mw = active_ns / n / PJ_PER_MJ if n else 0.0
    rails = estimate_rails(means, unit)
    mean = sum_of(means, rails)
    idle = None if baseline is None else sum_of(baseline.mw, rails)
    covered = min((sums[rail].covered_ns for rail in rails), default=0)
    energy = sum(sums[rail].energy_mj for rail in rails)
    windows = max((sums[rail].windows for rail in rails), default=0)
    coverage = min(1.0, covered / active_ns) if active_ns else None
    uncertainty = windows * resolution_mj / energy if resolution_mj is not None and energy else None
    # Of a PC's package its GPU is a part, whatever the GPU's own rail reads.
    doubtful = [rail for rail in unknown if rail in rails or "combined" in rails]
    lacking = _lacking(coverage, uncertainty, doubtful)
    if not rails and any(mw is not None for mw in means.values()):
        lacking = NO_RAIL
    by_rail = {
        rail: mw
        for rail, mw in means.items()
        if rail not in unknown and sums[rail].covered_ns >= LEAST_COVERAGE * active_ns
    }
    return EnergyFigures(
        rails=rails,
        coverage=coverage,
        mj=None if mean is None or lacking else mean * per_mw,
        net_mj=None if mean is None or idle is None or lacking else (mean - idle) * per_mw,
        uncertainty=None if lacking else uncertainty,
        mj_by_rail={rail: None if (mw := by_rail.get(rail)) is None else mw * per_mw for rail in means},
        mean_mw=means,
        resolution_mj=resolution_mj,
        window_ns=covered / windows if windows else None,
        lacking=lacking,
        validated=validated,
        batches=batches if all(sums[rail].windows == windows for rail in rails) else None,
    )


NO_RAIL = "no power reading is of the device that it runs on; hint: hettop doctor"


def _lacking(coverage: float | None, uncertainty: float | None, unknown: Sequence[str]) -> str:
    """Why no energy can be given, if so. unknown: rails that the unit may use and that may not count."""
    if coverage is None:
        return "it did not run"
    if not coverage:
        return "no power sample lies entirely within its running time"
    if coverage < LEAST_COVERAGE:
        return f"power samples cover {coverage:.0%} of its running time, {LEAST_COVERAGE:.0%} are needed"
    if uncertainty is not None and uncertainty > 1:
        return "the resolution of the energy counter is larger than the energy counted"
    if unknown:
        names = " and ".join(rail.upper() for rail in unknown)
        return f"the {names} power reading is not validated on this machine; hint: hettop doctor --control"
    return ""


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


class Attributed(NamedTuple):
    """A power window and the condition it belongs to; `settled`: it begins `SETTLING_NS` or more into the stretch."""

    key: ConditionKey
    window: PowerWindow
    settled: bool


class Attribution:
    """Judges each power sample: it belongs to a condition if it lies wholly inside one stretch of it and no other
    unit was at work meanwhile.

    A power sample is held until all samples that could overlap it have come (`take` returns it then), because a slow
    inference is reported only after its end. `pending` judges those held by what is known now.
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

    def samples(self, window: Samples, ends: Column, continues: bool, wait_ns: int = 0) -> None:
        """Take in a window of samples; `continues` when it directly follows steady samples of its condition.

        `wait_ns` is running time before a window that does not (`Unit.wait_before`).
        """
        if not self._begun:
            return
        spans = self._spans.setdefault(window.unit, [])
        if window.phase != "steady":
            _add_work(spans, ends - window.lat_ns, ends)
        elif continues and spans and spans[-1].key is not None:
            spans[-1].end_ns = int(ends[-1])
        else:
            key = ConditionKey(window.unit, window.condition, window.thermal)
            spans.append(Span(window.t0 - wait_ns, int(ends[-1]), key))
        if len(spans) > MOST_SPANS:
            self._forget_spans(spans)

    def take(self, event: Power, units: Iterable[Unit]) -> list[Attributed]:
        """Take in a power sample; returns those that are judged for good, with the condition they belong to."""
        window = measured(event)
        if window is not None:
            self._pending.append(window)
        heard_until = _heard_until(units, event.t)
        judged: list[Attributed] = []
        while self._pending and self._is_final(self._pending[0], event.t, heard_until):
            window = self._pending.popleft()
            judged += self._attributed(window)
        self._forget_before(event.t - GRACE_NS - 2 * event.elapsed_ns)
        return judged

    def pending(self) -> list[Attributed]:
        """The power samples held that belong to a condition by what is known now."""
        return [found for window in self._pending for found in self._attributed(window)]

    def _is_final(self, window: PowerWindow, now_ns: int, heard_until_ns: int) -> bool:
        if len(self._pending) > MOST_PENDING or now_ns - window.end_ns > LONGEST_WAIT_NS:
            return True
        return now_ns - window.end_ns >= GRACE_NS and heard_until_ns >= window.end_ns

    def _attributed(self, window: PowerWindow) -> list[Attributed]:
        stretch = self._stretch_of(window)
        if stretch is None or stretch.key is None:
            return []
        return [Attributed(stretch.key, window, window.start_ns >= stretch.start_ns + SETTLING_NS)]

    def _stretch_of(self, window: PowerWindow) -> Span | None:
        """The one span that overlaps the window, if that is a stretch and holds all of it."""
        start, end = window.start_ns, window.end_ns
        found: Span | None = None
        for spans in self._spans.values():
            for span in reversed(spans):
                if span.end_ns <= start:
                    break
                if span.start_ns >= end:
                    continue
                if found is not None or span.key is None or span.start_ns > start or span.end_ns < end:
                    return None
                found = span
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
        pending = [PendingPower(*window[:2], list(window.mw), list(window.others)) for window in self._pending]
        return pending, [_span_state(unit, span) for unit, spans in self._spans.items() for span in spans]

    @classmethod
    def restored(cls, state: EnergyState) -> Attribution:
        """As a keyframe describes it. ValueError when a power sample lacks rails."""
        found = cls()
        found._begun = state.begun
        for held in state.pending:
            if len(held.mw) != len(RAILS) + len(held.others):
                raise ValueError("a keyframe's power sample has other rails")
            found._pending.append(PowerWindow(held.end_ns, held.elapsed_ns, tuple(held.mw), tuple(held.others)))
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
    """Every inference up to here is known: of idle units up to now, of the others up to their last end."""
    ends = [unit.last_end_ns or 0 if unit.state in AT_WORK else now_ns for unit in units]
    return min(ends, default=0)
