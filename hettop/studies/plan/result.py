"""What a slicing plan found: layers by device, its cost predicted and measured, and what cutting costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

import msgspec
from msgspec.structs import replace

from hettop.events.base import Count, Ratio, Text
from hettop.studies.result import Signed, StudyResult

MOST_SLICES, MOST_BASELINES, MOST_DEVICES, MOST_OTHERS = 16, 8, 8, 4
"""In a line of a recording. Others are devices that are described, and those whose cuts or outputs were measured."""

MOST_CELLS = 256
"""Entries of the strip: of a model with more layers each is of several."""


class PlanSlice(msgspec.Struct, frozen=True, omit_defaults=True):
    """Layers `first` to `last` (from 1) on one device; `cost` as planned, ms as measured if it was run.

    `error` = predicted / measured - 1; `adjusted_ms` and `adjusted_error` are the prediction and its error, had the
    device been as fast while the costs were measured as while the plan ran. `begins` is its first layer's name.
    `entry` and `exit` are the communication before the first and after the last that is in `cost`.
    """

    first: Count
    last: Count
    device: Text
    cost: Ratio
    measured_ms: Ratio | None = None
    error: Signed | None = None
    predicted_ms: Ratio | None = None
    adjusted_error: Signed | None = None
    begins: str | None = None
    adjusted_ms: Ratio | None = None
    entry: Ratio | None = None
    exit: Ratio | None = None

    @property
    def execution(self) -> float | None:
        """The cost of the layers alone."""
        return None if self.entry is None or self.exit is None else self.cost - self.entry - self.exit


class MovingCost(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a cut costs on a device: ms = slope x MB + offset by regression, and the (MB, ms) that were tried."""

    device: Text
    ms_per_mb: Signed
    offset_ms: Signed
    r2: Signed | None
    tried: list[tuple[Ratio, Signed]] = []


class TriedCut(msgspec.Struct, frozen=True):
    """What a cut that so many bytes cross was measured to cost."""

    bytes: Count
    ms: Signed


class CutRegression(msgspec.Struct, frozen=True):
    """The same as `MovingCost` by bytes, over the `n` cuts that were tried."""

    device: Text
    ms_per_byte: Signed
    offset_ms: Signed
    r_squared: Signed | None
    n: Count
    tried: list[TriedCut]


class PlanLayer(msgspec.Struct, frozen=True):
    """A layer: its time on each device, and `mj`, its energy where power was measured; what crosses a cut after it."""

    number: Count
    name: str
    op: str
    ms: dict[Text, Ratio | None]
    weight_bytes: Count
    output_bytes: Count
    crossing: Count
    crossing_bytes: Count
    mj: dict[Text, Ratio | None] = {}


class SliceRun(msgspec.Struct, frozen=True):
    """A slice as predicted and as it ran."""

    predicted_ms: Ratio
    adjusted_ms: Ratio
    measured_ms: Ratio
    error: Signed | None
    adjusted_error: Signed | None


class PlanSearch(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What other ways to search found in the same table; costs in the result's unit, None where nothing can run.

    `possible`: all plans there are, None if more than 1e300. `exhaustive`: whether all were tried, which they are
    up to `most_tried`, and `optimum` is the best of all. `random_n` different plans were drawn; `random_or_baseline` is
    the best of these and of the baselines at fixed frequencies: what the paper calls exhaustive.
    """

    possible: Annotated[float, msgspec.Meta(ge=0)] | None = None
    exhaustive: bool = False
    most_tried: Count = 0
    optimum: Ratio | None = None
    optimum_plan: str | None = None
    random_n: Count = 0
    seed: Count = 0
    random_best: Ratio | None = None
    random_plan: str | None = None
    random_median: Ratio | None = None
    random_or_baseline: Ratio | None = None


class OthersRun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Random plans and those of the baselines as they ran, each in turns with the plan.

    `best_ms` is of the best one, relative to the plan, which took `plan_ms` in the same turns; `best_of`: `random`, or
    a baseline's name. `gap` = plan_ms / best_ms - 1: how far the plan is from the best of all.
    `estimation_error`: mean of |predicted - measured| / measured over these plans.
    """

    n: Count
    random_n: Count
    runs: Count
    plan_ms: Ratio
    best_ms: Ratio
    best_of: Text
    best_plan: str = ""
    gap: Signed | None = None
    estimation_error: Ratio | None = None


class PlanRun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The plan as it ran, in turns with the best single device; `gain` is of throughput, 0.1 = a tenth more.

    Differences are of outputs, in units of the largest element. `reference`: the device whose whole model the outputs
    are compared with, where devices compute differently; `cut_difference` is that of all slices run there, and `apart`
    that of the whole model on each device. `slices`: a detail that lines leave out, for `PlanResult.slices` has it.
    `estimation_error`: mean of |predicted - measured| / measured over the slices, as the paper averages; the same of
    energy where power was measured, beside the energy per inference.
    """

    predicted_ms: Ratio
    measured_ms: Ratio
    error: Signed | None
    alone_ms: dict[Text, Ratio | None] = {}
    best_single: Text | None = None
    gain: Signed | None = None
    gain_ci: tuple[Signed, Signed] | None = None
    output_difference: Ratio | None = None
    outputs_equal: bool | None = None
    tolerance: Ratio | None = None
    adjusted_error: Signed | None = None
    runs: Count = 0
    adjusted_ms: Ratio | None = None
    reference: Text | None = None
    cut_difference: Ratio | None = None
    cut_tolerance: Ratio | None = None
    apart: dict[Text, Ratio | None] = {}
    slices: list[SliceRun] = []
    estimation_error: Ratio | None = None
    predicted_mj: Ratio | None = None
    measured_mj: Ratio | None = None
    energy_estimation_error: Ratio | None = None
    others: OthersRun | None = None


class PlanResult(StudyResult, frozen=True, kw_only=True, omit_defaults=True):
    """Which layers on which device: `plan` in the notation `N_1, G_9, N_18`, its cost in `cost_unit`.

    `baselines` maps a name to its cost, None where it is not feasible; `strip` is the device of each layer, as an index
    of `devices`; `layer_cost` the cost of each layer there, without communication, with the three digits that can be
    drawn. Of many layers both are reported equally many at a time: entry i of n is of layers i x layers // n up to the
    next entry's, from 0. `contradiction`: what was measured twice and differs too much to predict anything. `singles`
    is what the whole model costs on each device alone, None where it cannot run. `given`: the plan is the user's own;
    `described`: devices of which nothing was measured; `end_to_end_ms` is of the whole model on the others.
    `estimated`: whether layers' times are shares of measured calls; None: not known. `from_file`: costs are a file's,
    which names their unit if `unit_told`.

    In full only in `--json`: `layer_costs`, `communication` (as `moving`, by bytes) and `layers`, of which a line has
    how many there are; of a file's they have no more than costs.
    """

    OF: ClassVar[str] = "plan"
    ROW_TYPES: ClassVar[Mapping[str, type[msgspec.Struct]]] = {"slices": PlanSlice, "moving": MovingCost}
    DETAILS: ClassVar[frozenset[str]] = frozenset(
        {"layer_costs", "communication", "optimum_plan", "random_plan", "best_plan"}
    )
    LONGEST: ClassVar[int] = 30

    objective: Text
    cost_unit: Text
    cost: Ratio
    plan: str
    devices: list[Text] = []
    slices: list[PlanSlice] = []
    baselines: dict[str, Ratio | None] = {}
    planner_ms: Ratio | None = None
    strip: Annotated[list[Count], msgspec.Meta(max_length=1024)] = []
    layer_cost: Annotated[list[Ratio], msgspec.Meta(max_length=1024)] = []
    run: PlanRun | None = None
    notes: list[str] = []
    singles: dict[Text, Ratio | None] = {}
    moving: list[MovingCost] = []
    layers: list[PlanLayer] | Count = 0
    slices_n: Count = 0
    given: bool = False
    described: list[Text] = []
    contradiction: Text | None = None
    devices_n: Count = 0
    estimated: bool | None = None
    end_to_end_ms: dict[Text, Ratio | None] = {}
    from_file: bool = False
    unit_told: bool = True
    layer_costs: list[Ratio] = []
    communication: list[CutRegression] = []
    search: PlanSearch | None = None
    power_source: Text | None = None

    @property
    def layers_n(self) -> int:
        """Each has a cost, whether or not it has a name."""
        return self.layers if isinstance(self.layers, int) else len(self.layer_costs)

    @property
    def best_single(self) -> str | None:
        """The device that runs the whole model at the least cost, None if none can."""
        able = {device: cost for device, cost in self.singles.items() if cost is not None}
        return min(able, key=able.__getitem__) if able else None

    @property
    def gain(self) -> float | None:
        """As predicted, over the best single device: 0.1 = a tenth more for the same cost."""
        return None if self.best_single is None else self.gain_over(self.singles[self.best_single])

    def gain_over(self, cost: float | None) -> float | None:
        """The same over what costs so much."""
        return cost / self.cost - 1 if cost is not None and self.cost else None

    @property
    def further_notes(self) -> list[str]:
        """Without the contradiction, which is reported above all others."""
        return [note for note in self.notes if note != self.contradiction]

    def document(self) -> dict[str, Any]:
        return {**super().document(), "unit": self.cost_unit, "best_single": self.best_single}

    def summary(self) -> Self:
        """Slices from the first on with their devices, and the cheapest of what the plan is compared with."""
        first = list(dict.fromkeys([*(each.device for each in self.slices), *self.devices]))[:MOST_DEVICES]
        devices = [device for device in self.devices if device in first]
        return replace(
            self,
            devices=devices,
            slices=self.slices[:MOST_SLICES],
            baselines=dict(cheapest_first(self.baselines)[:MOST_BASELINES]),
            strip=self._strip(devices),
            run=None if self.run is None else _run_summary(self.run),
            notes=self.further_notes,
            singles={device: cost for device, cost in self.singles.items() if device in devices},
            moving=self.moving[:MOST_OTHERS],
            layers=self.layers_n,
            described=self.described[:MOST_OTHERS],
            end_to_end_ms=_few(self.end_to_end_ms, MOST_DEVICES),
        )

    def _strip(self, devices: list[str]) -> list[int]:
        """By places in `devices`; empty if one of its own has none."""
        places = {place: devices.index(name) for place, name in enumerate(self.devices) if name in devices}
        return [places[device] for device in self.strip] if places.keys() >= set(self.strip) else []


def cheapest_first(costs: Mapping[str, float | None]) -> list[tuple[str, float | None]]:
    """Those that cannot run come last."""
    return sorted(costs.items(), key=lambda item: (item[1] is None, item[1] or 0.0))


def _run_summary(run: PlanRun) -> PlanRun:
    return replace(run, alone_ms=_few(run.alone_ms, MOST_DEVICES), apart=_few(run.apart, MOST_OTHERS), slices=[])


def _few(by_device: Mapping[str, float | None], most: int) -> dict[str, float | None]:
    return dict(list(by_device.items())[:most])


RESULT = PlanResult
