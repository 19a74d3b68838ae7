"""Studies: what was found out about the model itself, beside the running measurement, and how far one has got.

What was found is a summary that fits a line, for every keyframe repeats it: the largest rows of each table, and counts
of the rest. Times are milliseconds, rates inferences (or items) a second, unless a name says otherwise.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from hettop.events.base import Count, Event, Failure, Nanoseconds, Ratio, Share, Text

ROWS_LIMIT = 64
"""Rows of one table in one event."""

STUDY_STATES = ("running", "done", "failed", "ended")

Signed = Annotated[float, msgspec.Meta(ge=-1e12, le=1e12)]
Notes = Annotated[list[Text], msgspec.Meta(max_length=16)]
_ROWS = msgspec.Meta(max_length=ROWS_LIMIT)


class FoundLayer(msgspec.Struct, frozen=True, array_like=True):
    """One layer, or the whole model: `share` of the layers' total, `oi` in MACs per byte.

    bound: `compute`, `memory`, or `ridge` where it is too near the ridge for either to be named.
    """

    name: Text
    op: Text
    ms: Ratio
    share: Share
    macs: Count | None = None
    nbytes: Count | None = None
    bound: Text | None = None
    cache_resident: bool | None = None
    device: Text | None = None
    fallback: bool | None = None

    @property
    def oi(self) -> float | None:
        """Operational intensity, MACs per byte; None where either is not known."""
        return self.macs / self.nbytes if self.macs and self.nbytes else None

    @property
    def gflops(self) -> float | None:
        """What was achieved, two FLOP for each MAC; None where it is not known."""
        return 2 * self.macs / self.ms / 1e6 if self.macs and self.ms else None


class FoundRoofs(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the machine can do, in GFLOP/s and GB/s; `measured` is false for published figures, with their `source`."""

    gflops: Ratio
    gbytes_per_s: Ratio
    threads: Count | None = None
    measured: bool = True
    source: Text | None = None

    @property
    def ridge(self) -> float:
        """The intensity, in MACs per byte, from which on computing limits and not memory."""
        return self.gflops / self.gbytes_per_s / 2 if self.gbytes_per_s else 0.0

    def attainable(self, oi: float) -> float:
        """GFLOP/s at so many MACs per byte: min(peak, intensity x bandwidth), Williams et al., CACM 52(4), 2009."""
        return min(self.gflops, 2 * oi * self.gbytes_per_s)


class FoundLayers(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="of", tag="layers"):
    """Time by layer: the largest, in the order in which they run, and `rest_n` more of `rest_ms` together.

    `whole` is the model as one layer by its end-to-end time, there where roofs are.
    """

    unit: Text
    threads: Count | None = None
    estimated: bool = False
    total_ms: Ratio
    end_to_end_ms: Ratio
    by_op: dict[Text, Share] = {}
    layers: Annotated[list[FoundLayer], _ROWS] = []
    rest_n: Count = 0
    rest_ms: Ratio = 0.0
    roofs: FoundRoofs | None = None
    whole: FoundLayer | None = None
    notes: Notes = []


class FoundPoint(msgspec.Struct, frozen=True, array_like=True):
    """One point of a sweep. The rates and times are None where it failed, and `error` says why.

    Under a `load` a call is an item, whatever the model's batch.
    """

    unit: Text
    batch: Count
    height: Count | None
    width: Count | None
    n: Count
    items_per_s: Ratio | None
    mean_ms: Ratio | None
    p90_ms: Ratio | None
    error: Text | None = None
    load: Text | None = None
    p50_ms: Ratio | None = None


class FoundCurve(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A unit's points along one axis (`batch` or `size`), and t = a + b x fitted to their means.

    `knee` is an x, or None, for which `no_knee` says why; `best` maps objectives to an x. `knee_sure` and `best_sure`:
    the shares of resamples that have the same knee (or none, too), and the same x of most items a second.
    """

    unit: Text
    axis: Text
    along: Text = ""
    x: Annotated[list[Ratio], _ROWS] = []
    items_per_s: Annotated[list[Ratio], _ROWS] = []
    mean_ms: Annotated[list[Ratio], _ROWS] = []
    a_ms: Signed | None = None
    b_ms: Signed | None = None
    r2: Signed | None = None
    knee: Ratio | None = None
    no_knee: Text | None = None
    best: dict[Text, Ratio | None] = {}
    knee_sure: Share | None = None
    best_sure: Share | None = None


class FoundSweep(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="of", tag="sweep"):
    """Latency and rate over batch and input size."""

    points: Annotated[list[FoundPoint], _ROWS] = []
    curves: Annotated[list[FoundCurve], _ROWS] = []
    rest_n: Count = 0
    notes: Notes = []


class FoundVariant(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One precision on one unit. `speed` is times as fast as the reference, with its interval.

    `front`: no other row is at least as good in latency, energy and output difference and better in one of them.
    """

    precision: Text
    unit: Text
    reference: bool = False
    size_bytes: Count | None = None
    n: Count = 0
    p50_ms: Ratio | None = None
    p90_ms: Ratio | None = None
    mean_ms: Ratio | None = None
    energy_mj: Ratio | None = None
    speed: Ratio | None = None
    speed_ci: tuple[Ratio, Ratio] | None = None
    max_abs: Ratio | None = None
    cosine: Signed | None = None
    top1: Share | None = None
    front: bool = False
    error: Text | None = None
    note: Text | None = None


class FoundVariants(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="of", tag="variants"):
    """Precision variants of the model: speed, size and output difference."""

    variants: Annotated[list[FoundVariant], _ROWS] = []
    rest_n: Count = 0
    notes: Notes = []


class FoundSlice(msgspec.Struct, frozen=True, array_like=True):
    """Layers `first` to `last` (from 1) on one device; `cost` as planned, ms as measured if it was run.

    `error` = predicted / measured - 1; `adjusted_error` the same, had the device been as fast while the costs were
    measured as while the plan ran. `begins` is its first layer's name.
    """

    first: Count
    last: Count
    device: Text
    cost: Ratio
    measured_ms: Ratio | None = None
    error: Signed | None = None
    predicted_ms: Ratio | None = None
    adjusted_error: Signed | None = None
    begins: Text | None = None


class FoundMoving(msgspec.Struct, frozen=True, array_like=True):
    """What a cut costs on a device: ms = slope x MB + offset by regression, and the (MB, ms) that were tried."""

    device: Text
    ms_per_mb: Signed
    offset_ms: Signed
    r2: Signed | None
    tried: Annotated[list[tuple[Ratio, Signed]], _ROWS] = []


class FoundRun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The plan as it ran, in turns with the best single device; `gain` is of throughput, 0.1 = a tenth more."""

    predicted_ms: Ratio
    measured_ms: Ratio
    error: Signed | None
    alone_ms: dict[Text, Ratio] = {}
    best_single: Text | None = None
    gain: Signed | None = None
    gain_ci: tuple[Signed, Signed] | None = None
    output_difference: Ratio | None = None
    outputs_equal: bool | None = None
    tolerance: Ratio | None = None
    adjusted_error: Signed | None = None
    runs: Count = 0


class FoundPlan(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="of", tag="plan"):
    """Which layers on which device: `plan` in the notation `N_1, G_9, N_18`, its cost in `cost_unit`.

    `baselines` maps a name to its cost, None where it is not feasible; `strip` is the device of each layer, as an index
    of `devices`; `layer_cost` the cost of each layer there, without communication. Of more layers than a line holds,
    both are told of equally many at a time: entry i of n is of layers i x layers // n up to the next entry's, from 0.
    `contradiction`: what was measured twice and differs too much to predict anything. `singles` is what the whole model
    costs on each device alone, None where it cannot run. `given`: the plan is the user's own; `described`: devices of
    which nothing was measured.
    """

    objective: Text
    cost_unit: Text
    cost: Ratio
    plan: Text
    devices: Annotated[list[Text], _ROWS] = []
    slices: Annotated[list[FoundSlice], _ROWS] = []
    baselines: dict[Text, Ratio | None] = {}
    planner_ms: Ratio | None = None
    strip: Annotated[list[Count], msgspec.Meta(max_length=1024)] = []
    layer_cost: Annotated[list[Ratio], msgspec.Meta(max_length=1024)] = []
    run: FoundRun | None = None
    notes: Notes = []
    singles: dict[Text, Ratio | None] = {}
    moving: Annotated[list[FoundMoving], _ROWS] = []
    layers: Count = 0
    slices_n: Count = 0
    given: bool = False
    described: Annotated[list[Text], _ROWS] = []
    contradiction: Text | None = None

    @property
    def best_single(self) -> str | None:
        """The device that runs the whole model at the least cost, None if none can."""
        able = {device: cost for device, cost in self.singles.items() if cost is not None}
        return min(able, key=able.__getitem__) if able else None

    @property
    def gain(self) -> float | None:
        """As predicted, over the best single device: 0.1 = a tenth more for the same cost."""
        best = None if self.best_single is None else self.singles[self.best_single]
        return best / self.cost - 1 if best is not None and self.cost else None


class FoundWorker(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A unit as one of several workers on one stream of inputs."""

    unit: Text
    alone_per_s: Ratio | None = None
    together_per_s: Ratio | None = None
    share: Share | None = None
    redone: Count = 0
    placed: Text | None = None
    error: Text | None = None


class FoundCoexec(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="of", tag="coexec"):
    """Units that serve one stream together. Latencies are from handing a number out to its leaving in order.

    `together_by_round`, `best_by_round` and `ideal_by_round` are rates of the last rounds, oldest first: all together,
    the best unit alone, and the sum of what each does alone. `gain_why` tells why there is no gain, `energy_why` why no
    energy. A P90 of fewer than `p90_needs` results is a guess.
    """

    units: Annotated[list[FoundWorker], _ROWS] = []
    best: Text | None = None
    together_per_s: Ratio | None = None
    ideal_per_s: Ratio | None = None
    gain: Signed | None = None
    of_ideal: Ratio | None = None
    in_order: bool = True
    delivered: Count = 0
    p50_ms: Ratio | None = None
    p90_ms: Ratio | None = None
    max_reorder: Count = 0
    depth: Count = 0
    steals: Count = 0
    redone: Count = 0
    rounds: Count = 0
    block_ms: Ratio = 0.0
    together_by_round: Annotated[list[Ratio | None], msgspec.Meta(max_length=240)] = []
    best_by_round: Annotated[list[Ratio | None], msgspec.Meta(max_length=240)] = []
    energy_mj: Ratio | None = None
    energy_why: Text | None = None
    notes: Notes = []
    ideal_by_round: Annotated[list[Ratio | None], msgspec.Meta(max_length=240)] = []
    gain_why: Text | None = None
    p90_needs: Count | None = None
    mean_mw: Ratio | None = None
    power_source: Text | None = None


class FoundGranularity(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One way to run one model in parallel, under one load; `speedup` is of throughput over one thread alone.

    `speedup_range` is the least and the most of it in any round of blocks.
    """

    load: Text
    name: Text
    per_s: Ratio | None = None
    p50_ms: Ratio | None = None
    p90_ms: Ratio | None = None
    speedup: Ratio | None = None
    calls: Count = 0
    lowest_latency: bool = False
    highest_rate: bool = False
    error: Text | None = None
    speedup_range: tuple[Ratio, Ratio] | None = None


class FoundGranularities(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="of", tag="granularities"
):
    """Parallel within operators, between them, by slices and by inputs, on the threads of one processor.

    A load under which nothing was measured is a row without a name, with its error. `stages` is the number of layers in
    each stage of the pipeline of slices. `interrupted`: the user ended it before its time.
    """

    threads: Count
    rows: Annotated[list[FoundGranularity], _ROWS] = []
    notes: Notes = []
    stages: Annotated[list[Count], _ROWS] = []
    interrupted: bool = False


Found = FoundLayers | FoundSweep | FoundVariants | FoundPlan | FoundCoexec | FoundGranularities


FOUND_BY: dict[str, type[Found]] = {
    "layers": FoundLayers,
    "roofline": FoundLayers,
    "sweep": FoundSweep,
    "variants": FoundVariants,
    "plan": FoundPlan,
    "coexec": FoundCoexec,
    "granularities": FoundGranularities,
}
"""What each study finds; of one that is not among them nothing is known."""


class Study(Event, frozen=True, kw_only=True, tag="study", eq=False):
    """A study has begun, got further, or ended: `state` is `running`, `done`, `failed` or `ended` (by the user).

    It has taken `elapsed_ns` by now, and `share` of it is done; None where that is not known. `found` is all that is
    known by now; `earlier`: it is from the run before.
    """

    name: Text
    state: Text
    elapsed_ns: Nanoseconds
    arguments: Annotated[list[Text], msgspec.Meta(max_length=64)] = []
    doing: Text | None = None
    share: Share | None = None
    found: Found | None = None
    earlier: bool = False
    error: Failure | None = None
