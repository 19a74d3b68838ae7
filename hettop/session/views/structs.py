"""What the screen draws: frozen views of a session at a moment, one per panel.

Pure data, made by `session_view`; panels are functions of these and hold no numbers of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hettop.session.views.machine import HostView, PowerView
from hettop.session.views.spikes import SpikesView

if TYPE_CHECKING:
    # The screen imports this module for its first paint, which must not wait for the codec's libraries.
    pass

if TYPE_CHECKING:
    # The screen imports this module for its first paint, which must not wait for the codec's libraries.
    from hettop.events import Failure, LogEntry, Study


@dataclass(frozen=True, slots=True)
class ViewRequest:
    """What to look at: the moment, the trailing window, the unit (None: the active one), and the room to draw in.

    conditions: whether a row for each condition is wanted too; spikes: whether the list of spikes is; studies: whether
    what studies have found is.
    pointed_ns: a moment to mark on the timeline.
    """

    now_ns: int
    window_ns: int
    unit: str | None = None
    histogram_columns: int = 60
    timeline_slots: int = 60
    violin_columns: int = 30
    power_slots: int = 60
    conditions: bool = False
    spikes: bool = False
    studies: bool = False
    pointed_ns: int | None = None


@dataclass(frozen=True, slots=True)
class HeaderView:
    """The line on top. `rate_per_s` is of the last seconds; `simulated` marks every view of simulated data.

    `study` is the name of the study for which inference rests.
    `advised` is the unit that is proven to do better under this load than what runs.
    `model_note` says what one should know of the model: that its weights are synthetic, or that it was translated.
    """

    model: str
    backend: str | None
    chip: str | None
    simulated: bool
    units: tuple[str, ...]
    mode: str
    paused: bool
    elapsed_ns: int
    rate_per_s: float | None
    samples: int
    dropped: int
    load: str
    rate_hz: float | None
    model_note: str | None = None
    advised: str | None = None
    study: str | None = None


@dataclass(frozen=True, slots=True)
class LatencyView:
    """Histogram of the trailing window of one unit under the load in force.

    `counts[i]` is of column i between `low_ms` and `high_ms` (linear).
    Samples above `high_ms` are counted in `above` and drawn as a mark at the right edge. Percentiles are of the
    window; one that has too few samples behind it is None and `p99_needs` says how many more it takes.
    """

    unit: str | None
    window_ns: int
    n: int
    counts: tuple[int, ...]
    low_ms: float
    high_ms: float
    above: int
    p50_ms: float | None
    p90_ms: float | None
    p99_ms: float | None
    max_ms: float | None
    p99_needs: int | None


@dataclass(frozen=True, slots=True)
class TimelineSlot:
    """One column of the timeline: the P90 and maximum of the samples that ended in it, and whether one is a spike."""

    p90_ms: float
    max_ms: float
    spike: bool
    unit: str


@dataclass(frozen=True, slots=True)
class TimelineView:
    """The trailing window in slots of `slot_ns`, oldest first; None where no sample ended.

    Each sample is judged by the fence that its own condition had when it came, as everywhere where spikes are counted
    while they come; `fence_ms` is the one that the viewed unit has now, under the load in force. `spikes` is None while
    there is no fence. `marks` are (slot, kind of event): marks, unit and load changes.
    `pointed` is the slot of the moment that the user has pointed at, if that is in the window.
    """

    window_ns: int
    slot_ns: int
    slots: tuple[TimelineSlot | None, ...]
    fence_ms: float | None
    spikes: int | None
    marks: tuple[tuple[int, str], ...]
    pointed: int | None = None


@dataclass(frozen=True, slots=True)
class UnitRow:
    """One unit under the load now in force.

    `difference` is the mean over the best mean of the units that one could ship, minus one (0 = best); None for the
    others. `energy_mj` is per inference; `warning` says that its answers are not those of the reference; `details` are
    its first load, plan, placement and outputs in words, a line each. `waiting`: its engine loads, or gives no answer.
    `violin` is the density over `violin_low_ms`..`violin_high_ms` (the same axis for all rows), scaled to 0..1.
    """

    unit: str
    state: str
    active: bool
    n: int
    mean_ms: float | None
    std_ms: float | None
    min_ms: float | None
    p50_ms: float | None
    p90_ms: float | None
    max_ms: float | None
    throughput_per_s: float | None
    difference: float | None
    spikes: int
    placed: str | None
    error: Failure | None
    energy_mj: float | None
    warning: str | None
    details: tuple[str, ...]
    violin: tuple[float, ...]
    waiting: bool = False


@dataclass(frozen=True, slots=True)
class UnitsView:
    """A row per unit, in the order of first appearance. `absent` maps units that cannot run here to the reason.

    beside: a sentence on each variant of a unit against that unit.
    """

    rows: tuple[UnitRow, ...]
    violin_low_ms: float
    violin_high_ms: float
    absent: tuple[tuple[str, str], ...]
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionView:
    """All the panels' views of one session at one moment. `log` is oldest first."""

    header: HeaderView
    latency: LatencyView
    timeline: TimelineView
    units: UnitsView
    power: PowerView
    host: HostView | None
    log: tuple[LogEntry, ...]
    conditions: tuple[ConditionRow, ...] = ()
    spikes: SpikesView | None = None
    studies: tuple[Study, ...] = ()


@dataclass(frozen=True, slots=True)
class ConditionRow:
    """One unit under one load in one thermal state; times in ms, energy in mJ an inference, None where unknown.

    current: whether samples of a unit in use go here now. p90_change: relative, against the same unit without load, in
    the same thermal state where that was measured, else in the first it was measured in.
    """

    unit: str
    load: str
    thermal: str | None
    current: bool
    n: int
    p50_ms: float | None
    p90_ms: float | None
    p99_ms: float | None
    max_ms: float | None
    throughput_per_s: float | None
    energy_mj: float | None
    p90_change: float | None
