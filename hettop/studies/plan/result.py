"""What a slicing plan found: layers by device, its cost predicted and measured, and what cutting costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

import msgspec

from hettop.events.base import Count, Ratio, Text
from hettop.studies.result import ROWS, Notes, Signed, StudyResult


class PlanSlice(msgspec.Struct, frozen=True, omit_defaults=True):
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


class MovingCost(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a cut costs on a device: ms = slope x MB + offset by regression, and the (MB, ms) that were tried."""

    device: Text
    ms_per_mb: Signed
    offset_ms: Signed
    r2: Signed | None
    tried: Annotated[list[tuple[Ratio, Signed]], ROWS] = []


class PlanRun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
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


class PlanResult(StudyResult, frozen=True, kw_only=True, omit_defaults=True):
    """Which layers on which device: `plan` in the notation `N_1, G_9, N_18`, its cost in `cost_unit`.

    `baselines` maps a name to its cost, None where it is not feasible; `strip` is the device of each layer, as an index
    of `devices`; `layer_cost` the cost of each layer there, without communication. Of more layers than a line holds,
    both are told of equally many at a time: entry i of n is of layers i x layers // n up to the next entry's, from 0.
    `contradiction`: what was measured twice and differs too much to predict anything. `singles` is what the whole model
    costs on each device alone, None where it cannot run. `given`: the plan is the user's own; `described`: devices of
    which nothing was measured.
    """

    OF: ClassVar[str] = "plan"
    ROW_TYPES: ClassVar[Mapping[str, type[msgspec.Struct]]] = {"slices": PlanSlice, "moving": MovingCost}

    objective: Text
    cost_unit: Text
    cost: Ratio
    plan: Text
    devices: Annotated[list[Text], ROWS] = []
    slices: Annotated[list[PlanSlice], ROWS] = []
    baselines: dict[Text, Ratio | None] = {}
    planner_ms: Ratio | None = None
    strip: Annotated[list[Count], msgspec.Meta(max_length=1024)] = []
    layer_cost: Annotated[list[Ratio], msgspec.Meta(max_length=1024)] = []
    run: PlanRun | None = None
    notes: Notes = []
    singles: dict[Text, Ratio | None] = {}
    moving: Annotated[list[MovingCost], ROWS] = []
    layers: Count = 0
    slices_n: Count = 0
    given: bool = False
    described: Annotated[list[Text], ROWS] = []
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


RESULT = PlanResult
