"""The folded state of a session, as a keyframe line carries it: enough to go on folding from there.

Pure data; what it means is known by `hettop.session`.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from hettop.events.base import LARGEST_EXACT, NO_LOAD, Count, Event, Failure, Milliwatts, Nanoseconds, Ratio, Runs, Text
from hettop.events.inference import Engine, Interrupted, Outputs, Plan, ProviderNodes
from hettop.events.machine import Baseline, HostLoad, Load, Power, PowerStatus
from hettop.events.session_events import Advice, Control, Dropped, End, Header, Mark
from hettop.events.studies import Study

Distance = Annotated[float, msgspec.Meta(ge=-100, le=100)]  # logarithm of a ratio of latencies
STUDIES_LIMIT = 16
SLOTS_NAMED = 1024  # numbers in one set of slots: some seconds' of 50 ms each


class SeriesState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Moments and histogram of one series of nanoseconds. `sum` and `sum_sq` are exact, as decimal text."""

    n: Count
    sum: Text
    sum_sq: Text
    min_ns: Nanoseconds
    max_ns: Nanoseconds
    runs: Runs


class RailState(msgspec.Struct, frozen=True, array_like=True):
    """What was counted of one rail: time covered, exact energy in pJ (mW x ns) as decimal text, power samples.

    `peak_mw` is the highest power seen, for sums that keep one.
    """

    covered_ns: Nanoseconds
    energy: Text
    windows: Count
    peak_mw: Milliwatts | None = None


class PendingPower(msgspec.Struct, frozen=True, array_like=True):
    """A power sample of which it is not yet known what ran meanwhile; `mw` has a place for each rail, those of
    accelerators, which `others` names, last."""

    end_ns: Nanoseconds
    elapsed_ns: Nanoseconds
    mw: Annotated[list[Milliwatts | None], msgspec.Meta(max_length=64)]
    others: Annotated[list[Text], msgspec.Meta(max_length=32)] = []


class SpanState(msgspec.Struct, frozen=True, array_like=True):
    """A unit was at work from `start_ns` to `end_ns`: steadily under `load`, or otherwise where that is None."""

    unit: Text
    start_ns: Nanoseconds
    end_ns: Nanoseconds
    load: Text | None = None
    thermal: Text | None = None


class EnergyState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Power that still has to be attributed, what the units were doing of late, and power over the whole session.

    `begun` is false while there is a source and no power sample yet. `overlapping` power samples covered again time
    that one before them had covered: that much of them is not counted. `source` gives the power samples; `validated`
    are the rails listed so in its `power-source` lines, `readings` are what it measured since it became the source.
    """

    begun: bool = True
    pending: Annotated[list[PendingPower], msgspec.Meta(max_length=1024)] = []
    spans: Annotated[list[SpanState], msgspec.Meta(max_length=1 << 17)] = []
    total: dict[Text, RailState] = {}
    resolution_mj: Ratio | None = None
    overlapping: Count = 0
    validated: Annotated[list[Text], msgspec.Meta(max_length=16)] = []
    source: Text | None = None
    readings: dict[Text, RailState] = {}


class CauseMarks(msgspec.Struct, frozen=True, array_like=True):
    """When a candidate cause of spikes was present: its number, the last slot before those not judged yet, and these.

    A slot is 50 ms. `runs` counts from the first slot that is not judged: so many left out, so many taken, by turns.
    """

    cause: Count
    last: Count | None
    runs: Annotated[list[Count], msgspec.Meta(max_length=SLOTS_NAMED)]


class CausesState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Candidate causes not judged yet, from slot `settled` on: of the machine, and of each unit's engine."""

    settled: Count = 0
    machine: Annotated[list[CauseMarks], msgspec.Meta(max_length=16)] = []
    engines: dict[Text, Annotated[list[CauseMarks], msgspec.Meta(max_length=16)]] = {}


class CauseCounts(msgspec.Struct, frozen=True, array_like=True):
    """Spikes that count as evidence and had a cause present; moments by the time since it was (`stats.causes`)."""

    cause: Count
    hits: Count
    distances: Annotated[list[Count], msgspec.Meta(max_length=16)]


class SpikesState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was counted of candidate causes at the spikes of a condition and at its other moments (`session.spikes`).

    `trials`, `moments` and the distances of `counts` are of one `stratum` (ten seconds, by number); `past` are the
    spikes of those before it, `expected` their hits by chance by cause, `idle` samples and those after a pause by
    stratum, `intervals` those between the last spikes that count, in slots. `idle_samples` is of the first fold.
    """

    moments: Count = 0
    idle_samples: Count = 0
    idle_hits: Count = 0
    last_trial: Count | None = None
    trials: Annotated[list[Count], msgspec.Meta(max_length=16)] = []
    counts: Annotated[list[CauseCounts], msgspec.Meta(max_length=16)] = []
    waiting: Annotated[list[Count], msgspec.Meta(max_length=SLOTS_NAMED)] = []
    waiting_trials: Annotated[list[tuple[Count, Count, bool]], msgspec.Meta(max_length=SLOTS_NAMED)] = []
    recent_causes: Annotated[list[Count], msgspec.Meta(max_length=64)] = []
    recent_idle: Annotated[list[Count], msgspec.Meta(max_length=64)] = []
    stratum: Count = 0
    past: Count = 0
    expected: Annotated[list[tuple[Count, Ratio]], msgspec.Meta(max_length=16)] = []
    idle: Annotated[list[tuple[Count, Count, Count]], msgspec.Meta(max_length=SLOTS_NAMED)] = []
    intervals: Annotated[list[Count], msgspec.Meta(max_length=64)] = []


class FramesState(msgspec.Struct, frozen=True, array_like=True):
    """The canary's frames under one condition."""

    unit: Text
    load: Text
    thermal: Text | None
    due: Count
    missed: Count


class KernelState(msgspec.Struct, frozen=True, array_like=True):
    """Times of the canary's fixed work while `units` were measured under `load`: of the first reports, and the last."""

    units: Annotated[list[Text], msgspec.Meta(max_length=512)]
    load: Text
    first: Annotated[list[Nanoseconds], msgspec.Meta(max_length=16)]
    recent: Annotated[list[Nanoseconds], msgspec.Meta(max_length=16)]


class CanaryState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known by the canary of each condition and of the clock, and since when the load is what it is.

    `situation` is what was measured during its last report: units and load; None if that changed meanwhile.
    """

    load_since_ns: Nanoseconds = 0
    load_settled: bool = True
    situation: tuple[Annotated[list[Text], msgspec.Meta(max_length=512)], Text] | None = None
    conditions: Annotated[list[FramesState], msgspec.Meta(max_length=512)] = []
    kernels: Annotated[list[KernelState], msgspec.Meta(max_length=64)] = []


class GapState(msgspec.Struct, frozen=True, array_like=True):
    """Samples after pauses of one bin, as histograms: steady ones, and the first ones after a break.

    `place` counts the bins from 0; -1 is for samples of which it is not known what they followed.
    """

    place: Annotated[int, msgspec.Meta(ge=-1, le=64)]
    steady: Runs
    resumed: Runs


class DriftState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How the search for drift stands: the level that samples had so far, and what may have begun since.

    `blocks` of 50 samples were looked at; `rest` waits for the next to fill (ns, `halved` so often that the first
    level's median has 11 bits, once there is a level). `level` is (median, distance that is ignored, unused); it is
    learned again from the first `due` samples or more. `above` and `below` are stays beside it (first block, last
    block, when it began), `longest` is the longest that ended, in blocks. `alarm` is (block where it began, block at
    which it was proven, and when each was). `after` and `recent` are distances of blocks from the level, as logarithms.
    `sums`, `sums_from` and `sums_ns` are of the first fold and are not read.
    """

    blocks: Count = 0
    reference: Annotated[list[Count], msgspec.Meta(max_length=64)] = []
    rest: Annotated[list[Count], msgspec.Meta(max_length=64)] = []
    rest_from_ns: Nanoseconds = 0
    level: tuple[Ratio, Ratio, Ratio] | None = None
    centers_ns: Annotated[list[Ratio], msgspec.Meta(max_length=32)] = []
    edges_ns: Annotated[list[Ratio], msgspec.Meta(max_length=32)] = []
    due: Count = 0
    halved: Annotated[int, msgspec.Meta(ge=0, le=63)] | None = None
    above: tuple[Count, Count, Nanoseconds] | None = None
    below: tuple[Count, Count, Nanoseconds] | None = None
    longest: Count = 0
    sums: tuple[Ratio, Ratio] | None = None
    sums_from: tuple[Count, Count] | None = None
    sums_ns: tuple[Nanoseconds, Nanoseconds] | None = None
    alarm: tuple[Count, Count, Nanoseconds, Nanoseconds] | None = None
    after: Annotated[list[Distance], msgspec.Meta(max_length=32)] = []
    recent: Annotated[list[Distance], msgspec.Meta(max_length=32)] = []


class PartState(msgspec.Struct, frozen=True, array_like=True):
    """Samples of a cell that is not complete: `runs` are the first bucket, then counts from there on as in `Runs`."""

    max_ns: Nanoseconds
    spikes: Count
    runs: Runs


class LevelState(msgspec.Struct, frozen=True, array_like=True):
    """Cells of one width in a unit's history, oldest first (`session.history`).

    `runs` counts cells since the session began: so many left out, so many there, by turns. The others have a place for
    each that is there: `p50` as the bucket's difference to the cell before, `p90` as the buckets above P50; `spikes`
    in the form of `Runs`. `open` is what is known of the cell after these from the complete cells of the level before.
    """

    runs: Annotated[list[Count], msgspec.Meta(max_length=1024)]
    n: Annotated[list[Count], msgspec.Meta(max_length=1024)]
    p50: Annotated[list[Annotated[int, msgspec.Meta(ge=-8192, le=8192)]], msgspec.Meta(max_length=1024)]
    p90: Annotated[list[Count], msgspec.Meta(max_length=1024)]
    max_ns: Annotated[list[Nanoseconds], msgspec.Meta(max_length=1024)]
    spikes: Runs
    open: PartState | None = None


class UnitHistoryState(msgspec.Struct, frozen=True, array_like=True):
    """A unit's history: `at` is the open cell of the first level."""

    at: Count
    levels: Annotated[list[LevelState], msgspec.Meta(max_length=16)]


class MomentState(msgspec.Struct, frozen=True, array_like=True):
    """Something to mark on the timeline: when, the kind of event, and what it is called."""

    t: Nanoseconds
    kind: Text
    text: Text


class HistoryState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The course of the session in cells for each unit; `loads` are (since when, load), before the first one none."""

    units: dict[Text, UnitHistoryState] = {}
    loads: Annotated[list[tuple[Nanoseconds, Text]], msgspec.Meta(max_length=64)] = []
    moments: Annotated[list[MomentState], msgspec.Meta(max_length=64)] = []


class BatchesState(msgspec.Struct, frozen=True, kw_only=True):
    """Samples above a threshold (ns), counted in consecutive batches of `size`; `last` of `filled` in the open one."""

    threshold: Nanoseconds
    size: Count
    counts: Annotated[list[Count], msgspec.Meta(max_length=64)]
    last: Count
    filled: Count


class EnergyBatchesState(msgspec.Struct, frozen=True, kw_only=True):
    """Consecutive power windows of a condition, `size` to a batch of (time, energy in pJ as decimal text).

    `windows` of them in all; the last batch may still be open.
    """

    size: Count
    windows: Count
    batches: Annotated[list[tuple[Nanoseconds, Text]], msgspec.Meta(max_length=64)]


class ConditionState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All that was folded of one condition: enough to go on folding."""

    unit: Text
    load: Text
    wall: SeriesState
    thermal: Text | None = None
    native: SeriesState | None = None
    response: SeriesState | None = None
    active_ns: Nanoseconds = 0
    misses: Count = 0
    limit_ns: Nanoseconds | None = None
    fence_ns: Nanoseconds | None = None
    spikes: Count = 0
    recent_spikes: Annotated[list[tuple[Nanoseconds, Nanoseconds]], msgspec.Meta(max_length=64)] = []
    causes: SpikesState | None = None
    drift: DriftState | None = None
    energy: dict[Text, RailState] = {}
    energy_batches: EnergyBatchesState | None = None
    gaps: Annotated[list[GapState], msgspec.Meta(max_length=64)] = []
    dependence: Annotated[list[BatchesState], msgspec.Meta(max_length=2)] = []


class UnitState(msgspec.Struct, kw_only=True, omit_defaults=True):
    """All that was folded of one unit: its engine's state, first call and warm-up, and where its clock stands.

    `hettop.session.unit.Unit` is this with what events do to it.

    `apart` counts the samples of every phase that does not enter the distribution. `since_ns` is when the state was
    entered, `stretch_ns` where the steady samples began of which the last one is a part. `stops` and
    `sleeps` count interruptions of its process, `stopped_ns` and `slept_ns` are how long they lasted in all.
    """

    unit: Text
    state: Text
    since_ns: Nanoseconds = 0
    backend: Text | None = None
    load_ns: Nanoseconds | None = None
    first_ns: Nanoseconds | None = None
    compile_ns: Nanoseconds | None = None
    cached: bool | None = None
    qos: Text | None = None
    warmup_ns: Annotated[list[Nanoseconds], msgspec.Meta(max_length=1000)] = []
    placed: Text | None = None
    provider_nodes: Annotated[list[ProviderNodes], msgspec.Meta(max_length=16)] | None = None
    note: Text | None = None
    peak_memory_mb: Ratio | None = None
    unfinished: Count | None = None
    error: Failure | None = None
    plan: Plan | None = None
    outputs: Outputs | None = None
    apart: dict[Text, Count] = {}
    last_end_ns: Nanoseconds | None = None
    last_phase: Text | None = None
    last_load: Text | None = None
    last_thermal: Text | None = None
    stretch_ns: Nanoseconds | None = None
    stops: Count = 0
    stopped_ns: Nanoseconds = 0
    sleeps: Count = 0
    slept_ns: Nanoseconds = 0


class LevelDrift(Event, frozen=True, kw_only=True, tag="drift", eq=False):
    """The fold found at `t` that a unit's median latency has moved, from one value to another, since `since_ns`."""

    unit: Text
    since_ns: Nanoseconds
    before_ns: Annotated[float, msgspec.Meta(ge=0, le=LARGEST_EXACT)]
    after_ns: Annotated[float, msgspec.Meta(ge=0, le=LARGEST_EXACT)]


class PowerOverlap(Event, frozen=True, kw_only=True, tag="power-overlap", eq=False):
    """The fold found that a source reports the same time more than once."""

    source: Text


class WorkerLeft(Event, frozen=True, kw_only=True, tag="worker-left", eq=False):
    """The fold found that a unit no longer co-executes; others repeated `redone` of its inputs."""

    unit: Text
    error: Text
    redone: Count = 0


LogEvent = (
    Header
    | Engine
    | Plan
    | Outputs
    | PowerStatus
    | Baseline
    | Control
    | Advice
    | Load
    | Study
    | Mark
    | Dropped
    | Interrupted
    | End
    | LevelDrift
    | PowerOverlap
    | WorkerLeft
)
"""What has a line in the event log: an event, with the fields that its line is made of, or a finding of the fold."""


class LogEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the event log in words: when, how grave (`info`, `warning`, `error`), what, and the kind of event.

    Keyframes of format [1,0] hold these; later ones hold `LogEvent`s, and the words are made when they are shown.
    """

    t: Nanoseconds
    level: Text
    text: Text
    kind: Text = ""


AnswerTimes = tuple[Nanoseconds, Nanoseconds, Nanoseconds, Count | None, Nanoseconds | None]


class AnswersState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The answers of one unit under one load: counts, the latest ones, and latencies by octaves of the position.

    `overlapping` began before another one's end; `last_end_ns` is the latest end. `recent` are (start, time to the
    first token, to the last, tokens, longest gap); `by_position` maps an octave k,
    positions 2^(k-1) to 2^k - 1, to a histogram.
    """

    unit: Text
    load: Text
    n: Count = 0
    failed: Count = 0
    cut: Count = 0
    several: Count = 0
    chunks: Count = 0
    tokens: Count = 0
    uncounted: Count = 0
    without_gaps: Count = 0
    overlapping: Count = 0
    prompt_tokens: Count = 0
    cached_tokens: Count = 0
    last_end_ns: Count = 0
    last_error: Text = ""
    recent: Annotated[list[AnswerTimes], msgspec.Meta(max_length=500)] = []
    by_position: Annotated[dict[str, Runs], msgspec.Meta(max_length=40)] = {}


class SpikeRun(msgspec.Struct, frozen=True, array_like=True):
    """Spikes of one unit that nothing else in the log came between: when the first and the last one ended, how many
    they are, and the slowest, in ns."""

    t: Nanoseconds
    last_ns: Nanoseconds
    unit: Text
    n: Count
    max_ns: Nanoseconds


class LogState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of the event log beside the last of its events, which the keyframe has in `log` and `log_events`.

    `lines` counts all lines of the session, those too that no keyframe has any more; `counts` its events by kind, a
    spike as one. `spikes` are the runs between the events. `repeats` are (place in `log_events`, how often, when last)
    of events that came again unchanged.
    """

    lines: Count = 0
    counts: dict[Text, Count] = {}
    spikes: Annotated[list[SpikeRun], msgspec.Meta(max_length=256)] = []
    repeats: Annotated[list[tuple[Count, Count, Nanoseconds]], msgspec.Meta(max_length=256)] = []


class Keyframe(Event, frozen=True, kw_only=True, tag="keyframe", eq=False):
    """The whole folded state, from which folding can go on.

    `crc32` covers all bytes, line feeds included, after the previous keyframe line (or from the file's start).
    `fold` says which fold made the state (`hettop.session.session.FOLD`). `line_crc32` covers its own line up to that
    field. Keyframes of format [1,0] have neither. `reset_ns`: when the statistics were reset last.
    """

    crc32: Count
    samples: Count = 0
    dropped: Count = 0
    load: Text = NO_LOAD
    thermal: Text | None = None
    units: list[UnitState] = []
    conditions: list[ConditionState] = []
    control: Control | None = None
    advice: Advice | None = None
    power: Power | None = None
    power_status: PowerStatus | None = None
    energy: EnergyState | None = None
    baselines: Annotated[list[Baseline], msgspec.Meta(max_length=64)] = []
    host: HostLoad | None = None
    canary: tuple[Count, Count] | None = None
    canary_state: CanaryState | None = None
    causes: CausesState | None = None
    studies: Annotated[list[Study], msgspec.Meta(max_length=STUDIES_LIMIT)] = []
    log: list[LogEntry] = []
    log_events: list[LogEvent] = []
    history: HistoryState | None = None
    log_state: LogState | None = None
    reset_ns: Nanoseconds | None = None
    answers: list[AnswersState] = []
    fold: Count | None = None
    line_crc32: Count | None = None
