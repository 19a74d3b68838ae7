"""Views of a session at a moment, one for each panel: immutable data, made by `session_view`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from hettop.format import clock, count
from hettop.session.views.answers import AnswersView
from hettop.session.views.contrast import ContrastView
from hettop.session.views.machine import HostView, PowerView
from hettop.session.views.spikes import SpikesView
from hettop.units import NS_PER_S

if TYPE_CHECKING:
    # The screen imports this module before its first paint, which must not wait for the codec's libraries.
    from hettop.events import Advice, Failure, Study


YOUNG_SPANS_NS = tuple(seconds * NS_PER_S for seconds in (5, 10, 15, 20, 30, 60))
"""Charts over time grow in these steps until the session is as old as the time window."""


class Scale(Enum):
    """How distributions are drawn: by itself linear or logarithmic in latency, or as the user wants them.

    LOG_Y: the counts by their logarithm. CDF: the share of samples up to each latency. The latencies of both are
    spread as AUTO would.
    """

    AUTO = "auto"
    LINEAR = "linear"
    LOG_X = "log x"
    LOG_Y = "log y"
    CDF = "CDF"


@dataclass(frozen=True, slots=True)
class ViewRequest:
    """The requested view: the moment, the time window, the unit (None: the active one), and the columns of charts.

    conditions, spikes, studies, percentiles, answers: whether to include a row for each condition, the list of spikes,
    the studies' results, further percentiles of each unit, and the times of a token stream.
    pointed_ns: a moment to mark on the timeline. contrast_columns: of the distributions without and under load; 0: no
    comparison of loads.
    all_units: whether charts are of all units, where several have samples, instead of the viewed unit's alone.
    scale: how distributions are drawn. ridge_columns: columns of each unit's density.
    budget_ms, budget_quantile: the latency budget, and the quantile that is to meet it; None where there is none.
    log_lines: how many of the newest lines of the event log.
    spike: end in ns and unit of the spike whose surroundings to show, in `spike_slots` columns; None: the newest one.
    reused: an earlier view, whose distributions, tables and log are shown again; None: all are computed.
    earlier_timeline: of the same session; its slots in which no sample came since are not computed again.
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
    answers: bool = False
    percentiles: bool = False
    pointed_ns: int | None = None
    contrast_columns: int = 0
    all_units: bool = True
    scale: Scale = Scale.AUTO
    ridge_columns: int = 60
    budget_ms: float | None = None
    budget_quantile: float = 0.99
    log_lines: int = 128
    spike: tuple[int, str] | None = None
    spike_slots: int = 60
    reused: SessionView | None = None
    earlier_timeline: TimelineView | None = None

    @property
    def span_ns(self) -> int:
        """How much time charts show: the time window, or a shorter step for a session that is younger than that."""
        return min(self.window_ns, next((span for span in YOUNG_SPANS_NS if span >= self.now_ns), self.window_ns))


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of the event log: when first, how grave (`info`, `warning`, `error`), what, and the kind of event.

    n: how often that happened with nothing else in between, `last_ns` when for the last time.
    """

    t: int
    level: str
    words: str
    kind: str = ""
    n: int = 1
    last_ns: int = 0
    unit: str = ""

    @property
    def text(self) -> str:
        """All of it in words: `×12 spikes CPU_ONLY, max 70.9 ms, to 00:14.20`."""
        return self.words if self.n == 1 else f"×{count(self.n)} {self.words}, to {clock(self.last_ns, 2)}"


@dataclass(frozen=True, slots=True)
class LogCounts:
    """How many lines of the event log are in memory, and how many came before those.

    counts: events by kind, a spike as one, of the whole session. `earlier` and `counts` are None where the log goes on
    from a keyframe of another fold, which does not know them.
    """

    held: int = 0
    earlier: int | None = 0
    counts: tuple[tuple[str, int], ...] | None = ()


@dataclass(frozen=True, slots=True)
class HeaderView:
    """The top line. `rate_per_s` is of the last seconds; `simulated` marks every view of simulated data.

    `study` is the name of the study for which inference is paused.
    `advised` is the unit that is proven to be better under this load than the active one.
    `model_note`: for example that the model's weights are synthetic, or that it was converted.
    `reset_ns` is when the statistics were reset; None: never, so they are since the start.
    `answering`: the model answers token by token.
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
    answering: bool = False


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of latencies from `low_ms` to `high_ms`, linear or by logarithms (`log`)."""

    low_ms: float
    high_ms: float
    log: bool = False

    def place(self, value_ms: float) -> float:
        """Where a latency is: 0 at `low_ms`, 1 at `high_ms`; below 0 or above 1 beyond the ends."""
        if not self.log:
            return (value_ms - self.low_ms) / (self.high_ms - self.low_ms)
        if value_ms <= 0:
            return -math.inf
        return math.log(value_ms / self.low_ms) / math.log(self.high_ms / self.low_ms)


@dataclass(frozen=True, slots=True)
class BudgetShare:
    """A latency budget against a time window: `above` of `n` samples were above it.

    responses: the samples are response times, as where arrivals are planned; else the latencies that are drawn.
    """

    limit_ms: float
    quantile: float
    n: int
    above: int
    responses: bool = False


@dataclass(frozen=True, slots=True)
class LatencyView:
    """Histogram of the time window of one unit under the active load.

    `counts[i]` is of column i, of as many as the samples can fill, between `low_ms` and `high_ms`, on an axis that is
    linear or by logarithms (`log`).
    Samples beyond the ends are counted in `below` and `above`, and drawn as marks at the edges. Percentiles are of the
    window; one with insufficient data is None, and `p99_needs` is the number of further samples that it needs; `needs`
    is that number for anything to be drawn. `scale` is the one that was requested. `last_ns` is the end of the unit's
    last sample, whatever the load; None where there is none.
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
    log: bool = False
    below: int = 0
    needs: int | None = None
    scale: Scale = Scale.AUTO
    budget: BudgetShare | None = None
    last_ns: int | None = None

    @property
    def axis(self) -> Axis:
        """The axis of the columns."""
        return Axis(self.low_ms, self.high_ms, self.log)


@dataclass(frozen=True, slots=True)
class RidgeRow:
    """One unit's distribution in the time window under the active load, on the axis that all units share.

    `curve` is its height in each column, 0..1: the density relative to the unit's own highest, or the share of samples
    up to the column. It is empty without `n` samples enough: `needs` more have to come. `measured`: whether it is the
    unit that was measured last. `last_ns` is the end of its last sample, whatever the load; None where there is none.
    """

    unit: str
    n: int
    needs: int | None
    curve: tuple[float, ...]
    below: int
    above: int
    p50_ms: float | None
    p90_ms: float | None
    p99_ms: float | None
    measured: bool = False
    last_ns: int | None = None
    budget: BudgetShare | None = None


@dataclass(frozen=True, slots=True)
class RidgeView:
    """A row per unit. `axis` is None while no unit has enough samples for one."""

    rows: tuple[RidgeRow, ...]
    axis: Axis | None
    window_ns: int
    scale: Scale
    budget_ms: float | None
    budget_quantile: float


@dataclass(frozen=True, slots=True)
class TimelineSlot:
    """A unit's samples that ended in a time slot, or in the cell of the history that holds it.

    n, spikes: how many, and how many of them are spikes; of a cell's that is wider than the slot, all.
    """

    p50_ms: float
    p90_ms: float
    max_ms: float
    spikes: int = 0
    n: int = 0

    @property
    def spike(self) -> bool:
        return self.spikes > 0


@dataclass(frozen=True, slots=True)
class TimelineLane:
    """One unit's samples in slots, oldest first; None where none ended.

    `p90_ms` is of its samples under the active load in the window of the latency panel. `threshold_ms` is its current
    spike threshold under that load; each sample was judged by the one that was active when it came. `spikes` is None
    while there is no threshold.
    """

    unit: str
    slots: tuple[TimelineSlot | None, ...]
    p90_ms: float | None
    threshold_ms: float | None
    spikes: int | None


@dataclass(frozen=True, slots=True)
class TimelineLoad:
    """A competing load in the slots `first` to `last`; whether it began and ended within the window."""

    first: int
    last: int
    load: str
    begins: bool
    ends: bool


@dataclass(frozen=True, slots=True)
class TimelineMark:
    """What happened in a slot: the kind of event and its name: the unit switched to, the note of a mark."""

    slot: int
    kind: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class TimelineView:
    """The time window in slots of `slot_ns`: a lane for each unit with samples in it, or the viewed unit's alone.

    `first` is the number of the first slot, counted from the start of the session. `spikes` are those of all lanes.
    `pointed` is the slot of the moment that the user selected, if it is in the window.
    `cells_ns`: the narrowest and widest cells that the lanes are made of, where the window is longer than the samples
    are kept. `whole`: whether the window is the whole session so far.
    """

    window_ns: int
    slot_ns: int
    lanes: tuple[TimelineLane, ...]
    spikes: int | None
    marks: tuple[TimelineMark, ...] = ()
    loads: tuple[TimelineLoad, ...] = ()
    budget_ms: float | None = None
    pointed: int | None = None
    cells_ns: tuple[int, int] | None = None
    whole: bool = False
    first: int = 0


@dataclass(frozen=True, slots=True)
class Percentile:
    """The `q`-quantile (0..1) in ms; None where it needs `further` samples."""

    q: float
    ms: float | None
    further: int = 0


@dataclass(frozen=True, slots=True)
class UnitRow:
    """One unit under the active load.

    `difference` is the mean over the best mean of the usable units, minus one (0 = best); None for the others.
    `energy_mj` is per inference; `warning`: its outputs differ from the reference's; `details` are its first load,
    plan, placement and outputs as text, a line each; `warning_detail` is the one that shows why there is a warning.
    `waiting`: its engine loads or does not answer. `runs_now`: it is active, and of units that are interleaved the one
    whose turn it is.
    `missed`: the share of paced samples whose response was later than the budget; None without one. `p99_needs`: the
    further samples without which there is no P99. `energy_lacking`: why there is no energy although power is read.
    `further`: percentiles for the zoomed panel, where they were requested.
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
    spikes: int | None
    placed: str | None
    error: Failure | None
    energy_mj: float | None
    warning: str | None
    details: tuple[str, ...]
    violin: tuple[float, ...]
    waiting: bool = False
    runs_now: bool = False
    warning_detail: str | None = None
    p99_ms: float | None = None
    p99_needs: int | None = None
    missed: float | None = None
    net_mj: float | None = None
    energy_lacking: str = ""
    further: tuple[Percentile, ...] = ()


@dataclass(frozen=True, slots=True)
class UnitsView:
    """A row per unit, in the order of first appearance. `absent` maps units that cannot run here to the reason.

    beside: a sentence on each variant of a unit compared with that unit. advice: what is proven so far under this
    load: that one unit does better than the active one; None where nothing is.
    """

    rows: tuple[UnitRow, ...]
    violin_low_ms: float
    violin_high_ms: float
    absent: tuple[tuple[str, str], ...]
    beside: tuple[str, ...] = ()
    advice: Advice | None = None


@dataclass(frozen=True, slots=True)
class SessionView:
    """The views of all panels at one moment.

    `log` is oldest first, `logged` says how much more of it there is; `ridge` is None where one unit is viewed alone.
    """

    header: HeaderView
    latency: LatencyView
    timeline: TimelineView
    units: UnitsView
    power: PowerView
    host: HostView | None
    log: tuple[LogLine, ...]
    conditions: tuple[ConditionRow, ...] = ()
    spikes: SpikesView | None = None
    studies: tuple[Study, ...] = ()
    answers: AnswersView | None = None
    logged: LogCounts = LogCounts()
    contrast: ContrastView | None = None
    ridge: RidgeView | None = None


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
