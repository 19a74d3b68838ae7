"""A plan for a model that was measured here, and how it ran, as a page for a terminal and as a JSON document.

Pure; names come from a model's file and were cleaned when it was read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hettop.format import count, percent, significant
from hettop.report.grid import grid, wrapped
from hettop.stats.resampling import block_length, resampled_levels, resamples_for
from hettop.studies.plan.contradiction import contradiction
from hettop.studies.plan.cutting.costs import Costs
from hettop.studies.plan.cutting.result import Ran, Survey
from hettop.studies.plan.findings import off_by
from hettop.studies.plan.slicing.costs import CostTable
from hettop.studies.plan.slicing.planner import Plan, Slice, notation, slice_cost
from hettop.studies.plan.text import plan_document, plan_text
from hettop.text import clean
from hettop.units import BYTES_PER_MB

ERROR = "error (- too low)"
RAN_HEADING = ("slice", "layers", "device", "predicted ms", "adjusted ms", "measured ms", ERROR, "adjusted error")
LINES_HEADING = ("device", "whole model ms", "cut: ms per MB", "plus ms", "R²", "cuts tried")
INTERVAL = (0.025, 0.975)
SEED = 20_260_101


@dataclass(frozen=True, slots=True)
class Sliced:
    """A plan and all that it is made of. `table` is in the objective's unit, `costs` in ms; `ran` if it was run.

    given: whether the plan is the user's own.
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

    @property
    def singles(self) -> tuple[float, ...]:
        """What the whole model costs on each device alone, infinite where it cannot run."""
        last = self.table.layers - 1
        return tuple(slice_cost(self.table, Slice(0, last, device)) for device in range(len(self.table.devices)))

    @property
    def best_single(self) -> int | None:
        """The device that runs the whole model cheapest, None if none can."""
        costs = self.singles
        best = int(np.argmin(costs))
        return best if np.isfinite(costs[best]) else None

    @property
    def predicted_ms(self) -> tuple[float, ...]:
        """Of each slice."""
        return tuple(slice_cost(self.costs.table, each) for each in self.plan.slices)


def sliced_text(model: str, sliced: Sliced, width: int) -> str:
    """Which plan, from which costs, and how it ran; ends with a line feed."""
    plan = plan_text(
        sliced.table,
        sliced.plan,
        sliced.baselines,
        objective=sliced.objective,
        unit_told=True,
        planner_ms=sliced.planner_ms,
        width=width,
        origin=_origin(sliced),
    )
    doubt = _contradiction(sliced)
    above = [] if doubt is None else [*wrapped(doubt, width), ""]
    lines = [*wrapped(model, width), "", *above, *plan.splitlines(), ""]
    rows = [_line_row(sliced, device) for device in range(len(sliced.costs.communication))]
    lines += grid(LINES_HEADING, rows, left=LINES_HEADING[:1], width=width, drop=("cuts tried", "plus ms"))
    lines.append("")
    if sliced.ran is not None:
        ran = [_ran_row(sliced, sliced.ran, index) for index in range(len(sliced.plan.slices))]
        lines += grid(
            RAN_HEADING, ran, left=RAN_HEADING[:3], width=width, drop=("device", "layers", "adjusted ms", ERROR)
        )
        lines.append("")
    ran_notes = _ran_notes(sliced, sliced.ran) if sliced.ran else ["not run: --run runs it"]
    for note in (*ran_notes, *_further_notes(sliced)):
        lines += wrapped(note, width)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def sliced_document(model: dict[str, Any], sliced: Sliced) -> dict[str, Any]:
    """`plan MODEL --json`: that of a table, with what was measured. Layers count from 1."""
    document = plan_document(
        sliced.table,
        sliced.plan,
        sliced.baselines,
        objective=sliced.objective,
        unit_told=True,
        planner_ms=sliced.planner_ms,
    )
    devices = sliced.table.devices
    best = sliced.best_single
    measured = devices[: len(sliced.survey.end_to_end_ms)]
    return {
        **document,
        "model": model,
        "devices": list(devices),
        "described": list(devices[len(measured) :]),
        "given": sliced.given,
        "estimated": sliced.survey.estimated,
        "end_to_end_ms": dict(zip(measured, sliced.survey.end_to_end_ms, strict=True)),
        "best_single": None if best is None else devices[best],
        "singles": {
            device: cost if np.isfinite(cost) else None for device, cost in zip(devices, sliced.singles, strict=True)
        },
        "layer_costs": _layer_costs(sliced),
        "communication": [_line_document(sliced, device) for device in range(len(sliced.costs.communication))],
        "layers": [
            {
                "number": number,
                "name": layer.name,
                "op": layer.op,
                "ms": dict(zip(measured, layer.ms, strict=True)),
                "weight_bytes": layer.weight_bytes,
                "output_bytes": layer.output_bytes,
                "crossing": layer.crossing,
                "crossing_bytes": layer.crossing_bytes,
            }
            for number, layer in enumerate(sliced.survey.layers, start=1)
        ],
        "run": None if sliced.ran is None else _ran_document(sliced, sliced.ran),
        "contradiction": _contradiction(sliced),
        "notes": list(notes(sliced)),
    }


def _origin(sliced: Sliced) -> str:
    if sliced.given:
        return "the plan is yours"
    if sliced.survey.estimated:
        return "layers are ESTIMATED: shares of measured calls by the framework's plan; cuts were measured"
    return "costs were measured here, layer by layer, and predict the plan"


def interval(gains: Sequence[float]) -> tuple[float, float, float]:
    """The median of paired gains, and its 95 % interval by block bootstrap (docs/method/statistics.md)."""
    samples = np.asarray(gains, dtype=np.float64)
    rng = np.random.default_rng(SEED)
    levels = resampled_levels(samples, (0.5,), block_length(samples), resamples_for(samples.size), rng)[:, 0]
    low, high = np.quantile(levels, INTERVAL).tolist()
    return float(np.median(samples)), low, high


def _contradiction(sliced: Sliced) -> str | None:
    return contradiction(sliced.table.devices, sliced.survey, sliced.ran)


def notes(sliced: Sliced) -> Iterator[str]:
    if (told := _contradiction(sliced)) is not None:
        yield told
    yield from _further_notes(sliced)


def _further_notes(sliced: Sliced) -> Iterator[str]:
    if any(line.offset < 0 for line in sliced.costs.communication):
        yield (
            "what a cut costs is a line through the cuts that were tried; where it begins below 0 ms, small cuts count "
            "as the median of the smaller ones tried, not as less than nothing"
        )
    several = sum(layer.crossing > 1 for layer in sliced.survey.layers)
    if several:
        yield f"at {count(several)} cuts several values cross, and all of them are paid for"
    described = sliced.table.devices[len(sliced.survey.end_to_end_ms) :]
    if described:
        yield f"described, not measured: {', '.join(clean(name, 30) for name in described)}"
    if sliced.survey.estimated and sliced.given:
        yield "layers are ESTIMATED: shares of measured calls by the framework's plan; cuts were measured"
    if len(sliced.survey.layers) == 1:
        yield "the model is one layer: it cannot be cut"
    yield from (clean(note) for note in sliced.survey.notes)


def _layer_costs(sliced: Sliced) -> list[float]:
    """Of each layer on its device, without communication."""
    execution = sliced.table.execution
    return [
        float(execution[layer, part.device])
        for part in sliced.plan.slices
        for layer in range(part.first, part.last + 1)
    ]


def _line_row(sliced: Sliced, device: int) -> tuple[str, ...]:
    line = sliced.costs.communication[device]
    return (
        clean(sliced.table.devices[device], 30),
        significant(sliced.survey.end_to_end_ms[device]),
        significant(line.slope * BYTES_PER_MB),
        significant(line.offset),
        significant(line.r_squared),
        count(line.n),
    )


def _line_document(sliced: Sliced, device: int) -> dict[str, Any]:
    line = sliced.costs.communication[device]
    return {
        "device": sliced.table.devices[device],
        "ms_per_byte": line.slope,
        "offset_ms": line.offset,
        "r_squared": line.r_squared,
        "n": line.n,
        "tried": [{"bytes": each.nbytes, "ms": each.ms} for each in sliced.survey.moved if each.device == device],
    }


def _ran_row(sliced: Sliced, ran: Ran, index: int) -> tuple[str, ...]:
    part, predicted, measured = sliced.plan.slices[index], sliced.predicted_ms[index], ran.slice_ms[index]
    adjusted = _adjusted_ms(sliced, ran)[index]
    first, last = part.first + 1, part.last + 1
    return (
        notation(sliced.table, [part]),
        f"{first}" if first == last else f"{first}–{last}",
        clean(sliced.table.devices[part.device], 30),
        significant(predicted),
        significant(adjusted),
        significant(measured),
        percent(_error(predicted, measured), signed=True),
        percent(_error(adjusted, measured), signed=True),
    )


def _ran_notes(sliced: Sliced, ran: Ran) -> Iterator[str]:
    predicted = sum(sliced.predicted_ms)
    yield (
        f"the plan takes {significant(ran.plan_ms)} ms, {significant(predicted)} ms were predicted "
        f"({off_by(_error(predicted, ran.plan_ms))})"
    )
    best = _best_now(ran)
    name = clean(sliced.table.devices[best], 30)
    adjusted = sum(_adjusted_ms(sliced, ran))
    yield (
        f"had each device been as fast then as while the plan ran, {significant(adjusted)} ms would have been "
        f"predicted ({off_by(_error(adjusted, ran.plan_ms))}); whole model: "
        + ", ".join(_drift(sliced, ran, device) for device, ms in enumerate(ran.whole_ms) if ms is not None)
    )
    gain, low, high = interval(ran.gains)
    proven = "" if low > 0 or high < 0 else ": no difference is proven"
    what = f"gain over {name} alone"
    if [each.device for each in sliced.plan.slices] == [best]:
        what, proven = f"{name} alone measured against itself:", ": that is the machine, not a gain"
    yield (
        f"{what} {percent(gain, signed=True)} ({percent(low, signed=True)} to "
        f"{percent(high, signed=True)}, 95 %){proven}"
    )
    whole = ran.whole_ms[best]
    apart = None if whole is None or ran.plan_ms <= 0 else whole / ran.plan_ms - 1
    if apart is not None and apart * gain < 0:
        yield (
            f"that is the median over pairs of calls; by the medians of each it is {percent(apart, signed=True)}: they "
            "contradict each other, so rely on neither"
        )
    if ran.reference is not None:
        yield from _reference_notes(sliced, ran)
    if ran.equal and ran.difference == 0:
        yield "outputs are those of the whole model, exactly"
        return
    if ran.equal:
        yield f"outputs are those of the whole model, within {ran.difference:.1e} of the largest element"
    elif ran.difference is None:
        yield "outputs are NOT those of the whole model: other shapes, whole numbers or words"
    else:
        yield (
            f"outputs are NOT those of the whole model: {ran.difference:.1e} of the largest element apart, where "
            f"{ran.tolerance:.0e} is rounding"
        )


def _best_now(ran: Ran) -> int:
    """The device that runs the whole model fastest in that run."""
    return min(range(len(ran.whole_ms)), key=lambda device: np.inf if (ms := ran.whole_ms[device]) is None else ms)


def _reference_notes(sliced: Sliced, ran: Ran) -> Iterator[str]:
    """How far apart the devices themselves are, and what the cutting alone changes."""
    reference = clean(ran.reference or "", 30)
    changed = "other shapes or whole numbers" if ran.cut_difference is None else f"{ran.cut_difference:.1e}"
    yield (
        f"outputs are compared with those of the whole model on {reference}. Cut, and all of it run there: {changed} "
        f"of the largest element apart ({ran.cut_tolerance or 0.0:.0e} is rounding)"
    )
    others = [
        f"{clean(device, 30)} {difference:.1e}"
        for device, difference in zip(sliced.table.devices, ran.apart, strict=False)
        if device != ran.reference and difference is not None
    ]
    if others:
        yield f"the whole model on other units is itself apart by: {', '.join(others)}; twice that is allowed"


def _ran_document(sliced: Sliced, ran: Ran) -> dict[str, Any]:
    predicted, adjusted = sliced.predicted_ms, _adjusted_ms(sliced, ran)
    gain, low, high = interval(ran.gains)
    best = _best_now(ran)
    return {
        "slices": [
            {
                "predicted_ms": told,
                "adjusted_ms": fair,
                "measured_ms": took,
                "error": _error(told, took),
                "adjusted_error": _error(fair, took),
            }
            for told, fair, took in zip(predicted, adjusted, ran.slice_ms, strict=True)
        ],
        "predicted_ms": sum(predicted),
        "measured_ms": ran.plan_ms,
        "error": _error(sum(predicted), ran.plan_ms),
        "adjusted_ms": sum(adjusted),
        "adjusted_error": _error(sum(adjusted), ran.plan_ms),
        "alone_ms": dict(zip(sliced.table.devices, ran.whole_ms, strict=False)),  # the described ran nothing
        "best_single": sliced.table.devices[best],
        "gain": gain,
        "gain_ci": [low, high],
        "output_difference": ran.difference,
        "outputs_equal": ran.equal,
        "tolerance": ran.tolerance,
        "reference": ran.reference,
        "cut_difference": ran.cut_difference,
        "cut_tolerance": ran.cut_tolerance,
        "apart": dict(zip(sliced.table.devices, ran.apart, strict=False)),
        "runs": ran.runs,
    }


def _adjusted_ms(sliced: Sliced, ran: Ran) -> list[float]:
    """The prediction of each slice, had its device been as fast when the table was measured as when the plan ran."""
    speeds = [
        now / then if then and now is not None else 1.0
        for then, now in zip(sliced.survey.end_to_end_ms, ran.whole_ms, strict=True)
    ]
    return [
        predicted * speeds[part.device] for predicted, part in zip(sliced.predicted_ms, sliced.plan.slices, strict=True)
    ]


def _drift(sliced: Sliced, ran: Ran, device: int) -> str:
    then, now = sliced.survey.end_to_end_ms[device], ran.whole_ms[device]
    return f"{clean(sliced.table.devices[device], 30)} {significant(then)} ms then, {significant(now)} now"


def _error(predicted: float, measured: float) -> float | None:
    return predicted / measured - 1 if measured > 0 else None
