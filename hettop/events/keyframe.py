"""The folded state of a session, as a keyframe line carries it: enough to go on folding from there.

Pure data; what it means is known by `hettop.session`.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from hettop.events.base import Event, Failure
from hettop.events.course import Control
from hettop.events.inference import Outputs, Plan
from hettop.events.limits import NO_LOAD, Count, Milliwatts, Nanoseconds, Ratio, Runs, Text
from hettop.events.machine import Baseline, HostLoad, Power, PowerStatus


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
    """A power sample of which it is not yet known what ran meanwhile; `mw` has a place for each rail."""

    end_ns: Nanoseconds
    elapsed_ns: Nanoseconds
    mw: Annotated[list[Milliwatts | None], msgspec.Meta(max_length=16)]


class SpanState(msgspec.Struct, frozen=True, array_like=True):
    """A unit was at work from `start_ns` to `end_ns`: steadily under `load`, or otherwise where that is None."""

    unit: Text
    start_ns: Nanoseconds
    end_ns: Nanoseconds
    load: Text | None = None
    thermal: Text | None = None


class EnergyState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Power that still has to be attributed, what the units were doing of late, and power over the whole session.

    `begun` is false while there is a source and no power sample yet.
    """

    begun: bool = True
    pending: Annotated[list[PendingPower], msgspec.Meta(max_length=1024)] = []
    spans: Annotated[list[SpanState], msgspec.Meta(max_length=1 << 17)] = []
    total: dict[Text, RailState] = {}
    resolution_mj: Ratio | None = None


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
    energy: dict[Text, RailState] = {}


class UnitState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All that was folded of one unit: its engine's state, first call and warm-up, and where its clock stands.

    `apart` counts the samples of every phase that does not enter the distribution. `since_ns` is when the state was
    entered, `stretch_ns` where the steady samples began of which the last one is a part.
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


class LogEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the event log: when, how grave (`info`, `warning`, `error`), the kind of event, and what."""

    t: Nanoseconds
    level: Text
    text: Text
    kind: Text = ""


class Keyframe(Event, frozen=True, kw_only=True, tag="keyframe", eq=False):
    """The whole folded state, from which folding can go on.

    `crc32` covers all bytes, line feeds included, after the previous keyframe line (or from the file's start).
    """

    crc32: Count
    samples: Count = 0
    dropped: Count = 0
    load: Text = NO_LOAD
    thermal: Text | None = None
    units: list[UnitState] = []
    conditions: list[ConditionState] = []
    control: Control | None = None
    power: Power | None = None
    power_status: PowerStatus | None = None
    energy: EnergyState | None = None
    baselines: Annotated[list[Baseline], msgspec.Meta(max_length=64)] = []
    host: HostLoad | None = None
    canary: tuple[Count, Count] | None = None
    log: list[LogEntry] = []
