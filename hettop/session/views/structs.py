"""Views of a session at a moment, one for each panel: immutable data, made by `session_view`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hettop.session.views.machine import HostView, PowerView
from hettop.session.views.spikes import SpikesView

if TYPE_CHECKING:
    # The screen imports this module before its first paint, which must not wait for the codec's libraries.
    from hettop.events import Failure, LogEntry, Study


@dataclass(frozen=True, slots=True)
class ViewRequest:
    """The requested view: the moment, the time window, the unit (None: the active one), and the columns of charts.

    conditions, spikes, studies: whether to include a row for each condition, the list of spikes, the studies' results.
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
    """The top line. `rate_per_s` is of the last seconds; `simulated` marks every view of simulated data.

    `study` is the name of the study for which inference is paused.
    `advised` is the unit that is proven to be better under this load than the active one.
    `model_note`: for example that the model's weights are synthetic, or that it was converted.
    `reset_ns` is when the statistics were reset; None: never, so they are since the start.
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
    reset_ns: int | None = None


@dataclass(frozen=True, slots=True)
class LatencyView:
    """Histogram of the time window of one unit under the active load.

    `counts[i]` is of column i between `low_ms` and `high_ms` (linear).
    Samples above `high_ms` are counted in `above` and drawn as a mark at the right edge. Percentiles are of the
    window; one with insufficient data is None, and `p99_needs` is the number of further samples that it needs.
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
    """The time window in slots of `slot_ns`, oldest first; None where no sample ended.

    Each sample is judged by the spike threshold of its own condition at its time; `threshold_ms` is the current one of
    the viewed unit under the active load. `spikes` is None while there is no threshold. `marks` are (slot, kind of
    event): marks, unit and load changes. `pointed` is the slot of the moment that the user selected, if it is in the
    window.
    """

    window_ns: int
    slot_ns: int
    slots: tuple[TimelineSlot | None, ...]
    threshold_ms: float | None
    spikes: int | None
    marks: tuple[tuple[int, str], ...]
    pointed: int | None = None


@dataclass(frozen=True, slots=True)
class UnitRow:
    """One unit under the active load.

    `difference` is the mean over the best mean of the usable units, minus one (0 = best); None for the others.
    `energy_mj` is per inference; `warning`: its outputs differ from the reference's; `details` are its first load,
    plan, placement and outputs as text, a line each; `warning_detail` is the one that shows why there is a warning.
    `waiting`: its engine loads or does not answer.
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
    warning_detail: str | None = None


@dataclass(frozen=True, slots=True)
class UnitsView:
    """A row per unit, in the order of first appearance. `absent` maps units that cannot run here to the reason.

    beside: a sentence on each variant of a unit compared with that unit.
    """

    rows: tuple[UnitRow, ...]
    violin_low_ms: float
    violin_high_ms: float
    absent: tuple[tuple[str, str], ...]
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionView:
    """The views of all panels at one moment. `log` is oldest first."""

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
    """One unit under one load in one thermal state; times in ms, energy in mJ per inference, None where unknown.

    current: whether current samples belong to it. p90_change: relative to the same unit without load, in the same
    thermal state where that was measured, else in the first one measured.
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
