"""What a slicing plan found: layers by device, its cost predicted and measured, and what cutting costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

import msgspec
from msgspec.structs import replace

from hettop.events.base import Count, Ratio, Text
from hettop.studies.result import Signed, StudyResult
from hettop.studies.texts import notes, rounded, short

MOST_SLICES, MOST_BASELINES, MOST_DEVICES, MOST_MOVING = 16, 8, 8, 4
"""In a line of a recording."""

LONGEST_NAME, LONGEST_BASELINE, LONGEST_LAYER = 30, 42, 24
FEW_DIGITS = 3
"""Of what is only drawn."""


class PlanSlice(msgspec.Struct, frozen=True, omit_defaults=True):
    """Layers `first` to `last` (from 1) on one device; `cost` as planned, ms as measured if it was run.

    `error` = predicted / measured - 1; `adjusted_ms` and `adjusted_error` are the prediction and its error, had the
    device been as fast while the costs were measured as while the plan ran. `begins` is its first layer's name.
    `cost` is `execution` of the layers, and communication: `entry` before the first, `exit` after the last.
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
    execution: Signed | None = None
    entry: Ratio | None = None
    exit: Ratio | None = None


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
    """A layer: its time on each device, and how many values cross a cut after it."""

    number: Count
    name: str
    op: str
    ms: dict[Text, Ratio | None]
    weight_bytes: Count
    output_bytes: Count
    crossing: Count
    crossing_bytes: Count


class SliceRun(msgspec.Struct, frozen=True):
    """A slice as predicted and as it ran."""

    predicted_ms: Ratio
    adjusted_ms: Ratio
    measured_ms: Ratio
    error: Signed | None
    adjusted_error: Signed | None


class PlanRun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The plan as it ran, in turns with the best single device; `gain` is of throughput, 0.1 = a tenth more.

    Differences are of outputs, in units of the largest element. `reference`: the device whose whole model the outputs
    are compared with, where devices compute differently; `cut_difference` is that of all slices run there, and `apart`
    that of the whole model on each device. `slices`: a detail that lines leave out, for `PlanResult.slices` has it.
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

    def summary(self) -> Self:
        return replace(
            self,
            alone_ms=_few(self.alone_ms),
            best_single=short(self.best_single, LONGEST_NAME),
            reference=short(self.reference, LONGEST_NAME),
            apart=_few(self.apart),
            slices=[],
        )


class PlanResult(StudyResult, frozen=True, kw_only=True, omit_defaults=True):
    """Which layers on which device: `plan` in the notation `N_1, G_9, N_18`, its cost in `cost_unit`.

    `baselines` maps a name to its cost, None where it is not feasible; `strip` is the device of each layer, as an index
    of `devices`; `layer_cost` the cost of each layer there, without communication. Of many layers both are told of
    equally many at a time: entry i of n is of layers i x layers // n up to the next entry's, from 0.
    `contradiction`: what was measured twice and differs too much to predict anything. `singles` is what the whole model
    costs on each device alone, None where it cannot run. `given`: the plan is the user's own; `described`: devices of
    which nothing was measured. `estimated`: whether layers' times are shares of measured calls; None: not known.
    `from_file`: costs are a file's, which named their unit if `unit_told`.

    Lines leave out `unit`, `layer_costs` and `communication`, which are `cost_unit`, `layer_cost` and `moving` in full
    under the names that `--json` had first; and all of `layers` but how many there are.
    """

    OF: ClassVar[str] = "plan"
    ROW_TYPES: ClassVar[Mapping[str, type[msgspec.Struct]]] = {"slices": PlanSlice, "moving": MovingCost}

    objective: Text
    cost_unit: Text
    cost: Ratio
    plan: str
    devices: Annotated[list[Text], msgspec.Meta(max_length=512)] = []
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
    best_single: Text | None = None
    estimated: bool | None = None
    end_to_end_ms: dict[Text, Ratio | None] = {}
    from_file: bool = False
    unit_told: bool = True
    unit: Text | None = None
    layer_costs: list[Ratio] = []
    communication: list[CutRegression] = []

    @property
    def layers_n(self) -> int:
        return self.layers if isinstance(self.layers, int) else len(self.layers)

    @property
    def best_device(self) -> str | None:
        """The device that runs the whole model at the least cost, None if none can."""
        able = {device: cost for device, cost in self.singles.items() if cost is not None}
        return min(able, key=able.__getitem__) if able else None

    @property
    def gain(self) -> float | None:
        """As predicted, over the best single device: 0.1 = a tenth more for the same cost."""
        best = None if self.best_device is None else self.singles[self.best_device]
        return best / self.cost - 1 if best is not None and self.cost else None

    def line(self) -> dict[str, Any]:
        plain: dict[str, Any] = rounded(msgspec.to_builtins(self.summary()))
        return {"of": self.OF, **plain}

    def summary(self) -> Self:
        """Slices from the first on with their devices, and the cheapest of what the plan is compared with."""
        order = list(dict.fromkeys([*(each.device for each in self.slices), *self.devices]))[:MOST_DEVICES]
        return replace(
            self,
            objective=_name(self.objective),
            cost_unit=_name(self.cost_unit),
            plan=str(short(self.plan)),
            devices=[_name(device) for device in order],
            slices=[_short_slice(each) for each in self.slices[:MOST_SLICES]],
            slices_n=max(self.slices_n, len(self.slices)),
            baselines=_few(dict(cheapest_first(self.baselines)), MOST_BASELINES, LONGEST_BASELINE),
            strip=self._strip(order),
            layer_cost=[_short_number(cost) for cost in self.layer_cost],
            run=None if self.run is None else self.run.summary(),
            notes=notes(note for note in self.notes if note != self.contradiction),
            singles=_few({device: cost for device, cost in self.singles.items() if device in order}),
            moving=[_short_moving(each) for each in self.moving[:MOST_MOVING]],
            layers=self.layers_n,
            described=[_name(device) for device in self.described[:MOST_DEVICES]],
            contradiction=short(self.contradiction),
            best_single=short(self.best_single, LONGEST_NAME),
            end_to_end_ms=_few(self.end_to_end_ms),
            unit=None,
            layer_costs=[],
            communication=[],
        )

    def _strip(self, order: list[str]) -> list[int]:
        """By places in `order`; empty if one of its devices has none."""
        places = {place: order.index(name) for place, name in enumerate(self.devices) if name in order}
        return [places[device] for device in self.strip] if places.keys() >= set(self.strip) else []


def cheapest_first(costs: Mapping[str, float | None]) -> list[tuple[str, float | None]]:
    """Those that cannot run come last."""
    return sorted(costs.items(), key=lambda item: (item[1] is None, item[1] or 0.0))


def _name(text: str) -> str:
    return str(short(text, LONGEST_NAME))


def _few(
    numbers: Mapping[str, float | None], most: int = MOST_DEVICES, longest: int = LONGEST_NAME
) -> dict[str, float | None]:
    return {str(short(name, longest)): value for name, value in list(numbers.items())[:most]}


def _short_slice(part: PlanSlice) -> PlanSlice:
    begins = short(part.begins, LONGEST_LAYER)
    return replace(part, device=_name(part.device), begins=begins, execution=None, entry=None, exit=None)


def _short_moving(cost: MovingCost) -> MovingCost:
    tried = [(_short_number(mb), _short_number(ms)) for mb, ms in cost.tried]
    return replace(cost, device=_name(cost.device), tried=tried)


def _short_number(value: float) -> float:
    return float(f"{value:.{FEW_DIGITS}g}")


RESULT = PlanResult
