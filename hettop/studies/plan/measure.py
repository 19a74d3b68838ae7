"""The result of a plan: made of costs, of how it ran, and of what in the measurement contradicts itself.

Pure; names of layers come from a model's file and were cleaned when it was read.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from msgspec.structs import asdict, replace

from hettop.format import count, significant
from hettop.stats.resampling import block_length, resampled_levels, resamples_for
from hettop.studies.plan.cutting.costs import Costs
from hettop.studies.plan.cutting.result import Ran, Survey
from hettop.studies.plan.energy import LayerPower
from hettop.studies.plan.findings import ESTIMATED
from hettop.studies.plan.result import (
    MOST_CELLS,
    CutRegression,
    MovingCost,
    OthersRun,
    PlanLayer,
    PlanResult,
    PlanRun,
    PlanSearch,
    PlanSlice,
    SliceRun,
    TriedCut,
)
from hettop.studies.plan.slicing.baselines import baseline_plans
from hettop.studies.plan.slicing.costs import ENERGY, UNITS, CostTable, for_objective
from hettop.studies.plan.slicing.planner import Plan, Slice, notation, plan_cost, slice_cost
from hettop.studies.plan.slicing.search import MOST_TRIED, Search
from hettop.text import clean
from hettop.units import BYTES_PER_MB

INTERVAL = (0.025, 0.975)
RANDOM = "random"
SEED = 20_260_101
MOST_POSSIBLE = 10**300
"""Plans: a double holds no larger number."""

FEW_DIGITS = 3
"""Of what is only drawn."""


@dataclass(frozen=True, slots=True)
class Other:
    """A plan that is run beside the best one; `of` is a baseline's name, or `random`."""

    of: str
    slices: tuple[Slice, ...]


@dataclass(frozen=True, slots=True)
class Sliced:
    """A plan and all that it is made of. `table` is in the objective's unit, `costs` in ms; `ran` if it was run.

    given: whether the plan is the user's own. others: what ran beside the plan. assumed: of the baselines.
    power: of each layer, where it was measured; slice_power: of each slice that ran.
    """

    survey: Survey
    costs: Costs
    table: CostTable
    plan: Plan
    baselines: Mapping[str, float | None]
    objective: str
    planner_ms: float
    given: bool = False
    ran: Ran | None = None
    search: Search | None = None
    others: Sequence[Other] = ()
    assumed: Sequence[str] = ()
    power: LayerPower | None = None
    slice_power: LayerPower | None = None


def table_result(
    table: CostTable,
    best: Plan,
    baselines: Mapping[str, float | None],
    *,
    objective: str,
    planner_ms: float,
    unit_told: bool = True,
    search: Search | None = None,
    notes: Sequence[str] = (),
) -> PlanResult:
    """Of a table from a file. unit_told: whether it names the unit of its costs, or watts to make it with."""
    singles = [slice_cost(table, Slice(0, table.layers - 1, device)) for device in range(len(table.devices))]
    costs = _layer_costs(table, best)
    return PlanResult(
        objective=objective,
        cost_unit=UNITS[objective],
        unit_told=unit_told,
        from_file=True,
        cost=best.cost,
        plan=notation(table, best.slices),
        devices=list(table.devices),
        devices_n=len(table.devices),
        slices=[_slice(table, each) for each in best.slices],
        slices_n=len(best.slices),
        baselines=dict(baselines),
        planner_ms=planner_ms,
        singles={
            device: cost if math.isfinite(cost) else None for device, cost in zip(table.devices, singles, strict=True)
        },
        strip=_strip(best),
        layer_costs=costs,
        layer_cost=_drawn(costs),
        layers=[],
        search=None if search is None else _search(table, search),
        notes=list(notes),
    )


def plan_result(sliced: Sliced) -> PlanResult:
    """Of a model that was measured, and how the plan ran if it did."""
    survey, devices, ran = sliced.survey, sliced.table.devices, sliced.ran
    result = table_result(
        sliced.table,
        sliced.plan,
        sliced.baselines,
        objective=sliced.objective,
        planner_ms=sliced.planner_ms,
        search=sliced.search,
    )
    run = None if ran is None else _run(sliced, ran)
    cuts = [_regression(sliced, device) for device in range(len(sliced.costs.communication))]
    conflict = contradiction(devices, survey, ran)
    return replace(
        result,
        from_file=False,
        slices=_slices(result.slices, survey, run),
        described=list(devices[len(survey.end_to_end_ms) :]),
        given=sliced.given,
        estimated=survey.estimated,
        end_to_end_ms=dict(zip(devices, survey.end_to_end_ms, strict=False)),
        layers=_layers(survey, devices, sliced.power),
        power_source=None if sliced.power is None else sliced.power.source,
        communication=cuts,
        moving=[_moving(each) for each in cuts],
        run=run,
        contradiction=conflict,
        notes=[*([] if conflict is None else [conflict]), *_notes(sliced), *sliced.assumed],
    )


def _search(table: CostTable, found: Search) -> PlanSearch:
    drawn, optimum = found.drawn.best(table), found.optimum
    plans = [slices for slices in baseline_plans(table).values() if slices is not None]
    best = [plan_cost(table, slices) for slices in plans] + ([] if drawn is None else [drawn.cost])
    return PlanSearch(
        possible=float(found.possible) if found.possible <= MOST_POSSIBLE else None,
        exhaustive=found.tried,
        most_tried=MOST_TRIED,
        optimum=None if optimum is None else optimum.cost,
        optimum_plan=None if optimum is None else notation(table, optimum.slices),
        random_n=len(found.drawn),
        seed=found.drawn.seed,
        random_best=None if drawn is None else drawn.cost,
        random_plan=None if drawn is None else notation(table, drawn.slices),
        random_median=float(np.median(found.drawn.costs)) if len(found.drawn) else None,
        random_or_baseline=_finite(min(best, default=math.inf)),
    )


def _finite(cost: float) -> float | None:
    return cost if math.isfinite(cost) else None


def interval(gains: Sequence[float]) -> tuple[float, float, float]:
    """The median of paired gains, and its 95% interval by block bootstrap (docs/method/statistics.md)."""
    samples = np.asarray(gains, dtype=np.float64)
    rng = np.random.default_rng(SEED)
    levels = resampled_levels(samples, (0.5,), block_length(samples), resamples_for(samples.size), rng)[:, 0]
    low, high = np.quantile(levels, INTERVAL).tolist()
    return float(np.median(samples)), low, high


def _slice(table: CostTable, part: Slice) -> PlanSlice:
    return PlanSlice(
        first=part.first + 1,
        last=part.last + 1,
        device=table.devices[part.device],
        cost=slice_cost(table, part),
        entry=float(table.entry[part.first, part.device]),
        exit=float(table.exit[part.last, part.device]),
    )


def _layer_costs(table: CostTable, best: Plan) -> list[float]:
    """Of each layer on its device, without communication."""
    return [float(table.execution[layer, device]) for layer, device in enumerate(_devices(best))]


def _devices(best: Plan) -> list[int]:
    """Of each layer."""
    return [part.device for part in best.slices for _ in range(part.first, part.last + 1)]


def _strip(best: Plan) -> list[int]:
    """The device of each entry, where a slice begins in it that of the slice."""
    devices = _devices(best)
    begins = {part.first for part in best.slices}
    return [devices[next((layer for layer in part if layer in begins), part[0])] for part in _parts(len(devices))]


def _drawn(costs: Sequence[float]) -> list[float]:
    """Of each entry of the strip."""
    sums = (math.fsum(costs[layer] for layer in part) for part in _parts(len(costs)))
    return [float(f"{cost:.{FEW_DIGITS}g}") for cost in sums]


def _parts(layers: int) -> Iterator[range]:
    """The layers of each entry of the strip."""
    parts = min(layers, MOST_CELLS)
    for part in range(parts):
        yield range(part * layers // parts, (part + 1) * layers // parts)


def _slices(slices: Sequence[PlanSlice], survey: Survey, run: PlanRun | None) -> list[PlanSlice]:
    """With the names of layers that they begin with, and as they ran."""
    named = [replace(each, begins=survey.layers[each.first - 1].name) for each in slices]
    if run is None:
        return named
    return [replace(each, **asdict(ran)) for each, ran in zip(named, run.slices, strict=True)]


def _layers(survey: Survey, devices: Sequence[str], power: LayerPower | None) -> list[PlanLayer]:
    return [
        PlanLayer(
            number=number,
            name=layer.name,
            op=layer.op,
            ms=dict(zip(devices, layer.ms, strict=False)),
            weight_bytes=layer.weight_bytes,
            output_bytes=layer.output_bytes,
            crossing=layer.crossing,
            crossing_bytes=layer.crossing_bytes,
            mj={} if power is None else dict(zip(devices, power.mj[number - 1], strict=False)),
        )
        for number, layer in enumerate(survey.layers, start=1)
    ]


def _regression(sliced: Sliced, device: int) -> CutRegression:
    line = sliced.costs.communication[device]
    return CutRegression(
        device=sliced.table.devices[device],
        ms_per_byte=line.slope,
        offset_ms=line.offset,
        r_squared=line.r_squared,
        n=line.n,
        tried=[TriedCut(each.nbytes, each.ms) for each in sliced.survey.moved if each.device == device],
    )


def _moving(cuts: CutRegression) -> MovingCost:
    tried = [(each.bytes / BYTES_PER_MB, each.ms) for each in cuts.tried]
    return MovingCost(cuts.device, cuts.ms_per_byte * BYTES_PER_MB, cuts.offset_ms, cuts.r_squared, tried)


def _run(sliced: Sliced, ran: Ran) -> PlanRun:
    """Of described devices, which ran nothing, it has nothing."""
    predicted = [slice_cost(sliced.costs.table, each) for each in sliced.plan.slices]
    adjusted = _adjusted_ms(sliced, ran, predicted)
    gain, low, high = interval(ran.gains)
    return PlanRun(
        predicted_ms=sum(predicted),
        measured_ms=ran.plan_ms,
        error=_error(sum(predicted), ran.plan_ms),
        adjusted_ms=sum(adjusted),
        adjusted_error=_error(sum(adjusted), ran.plan_ms),
        alone_ms=dict(zip(sliced.table.devices, ran.whole_ms, strict=False)),
        best_single=sliced.table.devices[_best_now(ran)],
        gain=gain,
        gain_ci=(low, high),
        output_difference=ran.difference,
        outputs_equal=ran.equal,
        tolerance=ran.tolerance,
        reference=ran.reference,
        cut_difference=ran.cut_difference,
        cut_tolerance=ran.cut_tolerance,
        apart=dict(zip(sliced.table.devices, ran.apart, strict=False)),
        runs=ran.runs,
        slices=[
            SliceRun(expected, fair, took, _error(expected, took), _error(fair, took))
            for expected, fair, took in zip(predicted, adjusted, ran.slice_ms, strict=True)
        ],
        estimation_error=estimation_error(predicted, ran.slice_ms),
        others=_others(sliced, ran),
        **_energy_run(sliced),
    )


def _energy_run(sliced: Sliced) -> dict[str, float | None]:
    """The energy of an inference by slices, as the layers' predict it and as measured: fields of `PlanRun`."""
    measured = [] if sliced.slice_power is None else [mj for (mj,) in sliced.slice_power.mj if mj is not None]
    if len(measured) < len(sliced.plan.slices) or sliced.costs.table.watts is None:
        return {}
    energy = for_objective(sliced.costs.table, ENERGY)
    predicted = [slice_cost(energy, each) for each in sliced.plan.slices]
    return {
        "predicted_mj": math.fsum(predicted),
        "measured_mj": math.fsum(measured),
        "energy_estimation_error": estimation_error(predicted, measured),
    }


def estimation_error(predicted: Sequence[float], measured: Sequence[float]) -> float | None:
    """The mean of |predicted - measured| / measured, as the paper averages (figures 14 and 15)."""
    errors = [abs(one - other) / other for one, other in zip(predicted, measured, strict=True) if other > 0]
    return math.fsum(errors) / len(errors) if errors else None


def _others(sliced: Sliced, ran: Ran) -> OthersRun | None:
    """The best of what ran beside the plan, relative to the plan in the same turns: machines change in the meantime."""
    if not ran.others_ms:
        return None
    table, others = sliced.costs.table, sliced.others
    best = min(range(len(others)), key=lambda each: ran.others_ms[each] / ran.beside_ms[each])
    predicted = [plan_cost(table, each.slices) for each in others]
    return OthersRun(
        n=len(others),
        random_n=sum(each.of == RANDOM for each in others),
        runs=ran.others_runs,
        plan_ms=ran.beside_ms[best],
        best_ms=ran.others_ms[best],
        best_of=others[best].of,
        best_plan=notation(sliced.table, others[best].slices),
        gap=_error(ran.beside_ms[best], ran.others_ms[best]),
        estimation_error=estimation_error(predicted, ran.others_ms),
    )


def _adjusted_ms(sliced: Sliced, ran: Ran, predicted: Sequence[float]) -> list[float]:
    """The prediction of each slice, had its device been as fast when the table was measured as when the plan ran."""
    speeds = [
        now / then if then and now is not None else 1.0
        for then, now in zip(sliced.survey.end_to_end_ms, ran.whole_ms, strict=True)
    ]
    return [ms * speeds[part.device] for ms, part in zip(predicted, sliced.plan.slices, strict=True)]


def _best_now(ran: Ran) -> int:
    """The device that runs the whole model fastest in that run."""
    return min(range(len(ran.whole_ms)), key=lambda device: math.inf if (ms := ran.whole_ms[device]) is None else ms)


def _error(predicted: float, measured: float) -> float | None:
    return predicted / measured - 1 if measured > 0 else None


def _notes(sliced: Sliced) -> Iterator[str]:
    if any(line.offset < 0 for line in sliced.costs.communication):
        yield (
            "the cost of a cut is a line fitted to the tried cuts; where it is below 0 ms, small "
            "cuts cost the median of the smaller ones tried"
        )
    several = sum(layer.crossing > 1 for layer in sliced.survey.layers)
    if several:
        yield f"several values cross {count(several)} of the cuts, and all are counted"
    described = sliced.table.devices[len(sliced.survey.end_to_end_ms) :]
    if described:
        yield f"described or interpolated, not measured: {', '.join(clean(name, 30) for name in described)}"
    yield _energy(sliced.power)
    if sliced.survey.estimated and sliced.given:
        yield ESTIMATED
    if len(sliced.survey.layers) == 1:
        yield "the model is a single layer and cannot be cut"
    yield from (clean(note) for note in sliced.survey.notes)


def _energy(power: LayerPower | None) -> str:
    if power is None:
        return "energy per layer: n/a, power was not measured; use --power SRC"
    if power.why:
        some = " for some" if any(mj is not None for row in power.mj for mj in row) else ""
        return f"energy per layer: n/a{some}, {power.why}"
    return f"energy per layer: measured with {power.source}, idle power included; --json has it"


LEAST, MOST = 0.67, 1.5
"""Of the same call at two times: a machine that is half as slow again had something else to do."""

LONGEST_NAME = 20
"""The sentence has to fit into a line of the stream."""


@dataclass(frozen=True, slots=True)
class _Twice:
    """The whole model on a device, in ms, and when that was."""

    device: str
    one: tuple[float, str]
    other: tuple[float, str]

    @property
    def times(self) -> float:
        """How much longer the longer one took."""
        return max(self.one[0], self.other[0]) / min(self.one[0], self.other[0])

    @property
    def contradicts(self) -> bool:
        return not LEAST <= self.other[0] / self.one[0] <= MOST


def contradiction(devices: Sequence[str], survey: Survey, ran: Ran | None) -> str | None:
    """The worst of them in words; None where all was as fast each time."""
    found = [each for each in _measured_twice(devices, survey, ran) if each.contradicts]
    if not found:
        return None
    worst = max(found, key=lambda each: each.times)
    (one, when), (other, then) = worst.one, worst.other
    more = f" ({count(len(found) - 1)} more)" if len(found) > 1 else ""
    return (
        f"costs are inconsistent: the whole model on {clean(worst.device, LONGEST_NAME)} took "
        f"{significant(one)} ms {when}, {significant(other)} ms {then}{more}; "
        "measure again on a quieter machine"
    )


def _measured_twice(devices: Sequence[str], survey: Survey, ran: Ran | None) -> Iterator[_Twice]:
    """Layers first: their sum was set to the whole model's time, so it is by the time that their profile saw."""
    for device, profiled, whole in zip(devices, survey.profiled_ms, survey.end_to_end_ms, strict=False):
        if profiled and whole:
            yield _Twice(device, (profiled, "while layers were profiled"), (whole, "while it ran whole"))
    for device, then, now in zip(devices, survey.end_to_end_ms, () if ran is None else ran.whole_ms, strict=False):
        if then and now:
            yield _Twice(device, (then, "while costs were measured"), (now, "while the plan ran"))
