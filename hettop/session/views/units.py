"""The views of units: a row for each unit under the active load, and a row for each condition."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from hettop.compute_units import is_reference_unit
from hettop.events import FIRST_TOKENS, OutputDifference, Outputs, Plan, split_row
from hettop.format import UNKNOWN, milliseconds, significant
from hettop.session.beside import sentence
from hettop.session.canary import Frames
from hettop.session.condition import Condition, DurationSeries
from hettop.session.energy import EnergyFigures
from hettop.session.placement import evidence_of
from hettop.session.session import Session, current_condition
from hettop.session.states import drift_words, stay_words
from hettop.session.statistics import binding_overhead_ms, energy_of
from hettop.session.unit import Unit
from hettop.session.views.latency import latest_unit
from hettop.session.views.structs import ConditionRow, Percentile, UnitRow, UnitsView, ViewRequest
from hettop.stats.histogram import bucket_high, bucket_low
from hettop.stats.quantiles import further_samples
from hettop.units import NS_PER_MS

if TYPE_CHECKING:
    # The screen imports this module before its first paint, which must not wait for the codec's libraries.
    from hettop.session.condition import Condition
    from hettop.session.session import Session

SILENT_NS = 5 * 10**9
SILENT_FACTOR = 20
"""A unit does not answer if it has no sample for this long and for this many times its longest latency: well above the
second that a line of a recording may cover."""

SLOW_STATES = ("spawning", "compiling", "loading", "warming")


def units(session: Session, request: ViewRequest) -> UnitsView:
    """A row per unit under the active load."""
    chosen = {name: current_condition(session, name) for name in session.units}
    measured = [condition for condition in chosen.values() if condition is not None and condition.wall.n]
    usable = [condition for condition in measured if is_usable(session.units[condition.key.unit])]
    best = _best_means(usable)
    low, high = _violin_axis(measured)
    active = session.control.units if session.control else []
    turns = session.control is not None and session.control.mode == "interleave"
    running = [latest_unit(session)] if turns else active
    rows = tuple(
        replace(
            _row(
                session,
                request,
                chosen[name],
                unit=unit,
                active=name in active,
                best_mean=best.get(_has_first_tokens(name)),
                axis_ns=(low, high),
            ),
            runs_now=name in active and name in running,
        )
        for name, unit in session.units.items()
    )
    absent = session.header.settings.get("absent", {}) if session.header else {}
    pairs = tuple((str(name), str(why)) for name, why in absent.items()) if isinstance(absent, dict) else ()
    besides = tuple(sentence(each) for each in session.comparisons.at(session, request.now_ns))
    advice = session.advice if session.advice is not None and session.advice.load == session.load else None
    return UnitsView(rows, low / NS_PER_MS, high / NS_PER_MS, pairs, besides, advice)


def _best_means(usable: list[Condition]) -> dict[bool, float]:
    """The lowest mean (ns) among the rows of first tokens (True) and among all others (False), which are other work.

    Where there are both, a row that is the only one of its kind has none to be compared with.
    """
    means: dict[bool, list[float]] = {}
    for condition in usable:
        means.setdefault(_has_first_tokens(condition.key.unit), []).append(condition.wall.moments.mean_ns or 0.0)
    return {kind: min(each) for kind, each in means.items() if len(means) == 1 or len(each) > 1}


def _has_first_tokens(row: str) -> bool:
    return split_row(row)[1] == FIRST_TOKENS


def _row(
    session: Session,
    request: ViewRequest,
    condition: Condition | None,
    *,
    unit: Unit,
    active: bool,
    best_mean: float | None,
    axis_ns: tuple[float, float],
) -> UnitRow:
    wall = condition.wall if condition is not None and condition.wall.n else None
    moments = wall.moments if wall else None
    mean = moments.mean_ns if moments else None
    energy = energy_of(session, condition) if condition is not None and wall is not None else None
    baseline = session.baselines.get(session.load)
    frames = session.canary.conditions.get(condition.key) if condition is not None else None
    silent_s = _silent_s(unit, condition if active and _runs_alone(session) else None, request.now_ns)
    warned = warning(unit.outputs)
    p50, p90, p99 = wall.quantiles_ms((0.5, 0.9, 0.99)) if wall else (None, None, None)
    needs = further_samples(wall.n, 0.99) if wall else 0
    return UnitRow(
        unit=unit.name,
        state=_state(unit, silent_s, request.now_ns),
        waiting=unit.state in SLOW_STATES or silent_s is not None,
        active=active,
        n=moments.n if moments else 0,
        mean_ms=_ms(mean),
        std_ms=_ms(moments.std_ns if moments else None),
        min_ms=_ms(moments.min_ns if moments else None),
        p50_ms=p50,
        p90_ms=p90,
        p99_ms=None if needs else p99,
        p99_needs=needs or None,
        max_ms=_ms(moments.max_ns if moments else None),
        throughput_per_s=condition.throughput_per_s if condition else None,
        difference=mean / best_mean - 1 if mean and best_mean and is_usable(unit) else None,
        spikes=condition.known_spikes if condition else None,
        placed=unit.placed,
        error=unit.error,
        missed=_missed(condition),
        energy_mj=energy.mj if energy else None,
        net_mj=energy.net_mj if energy else None,
        energy_lacking=energy.lacking if energy else "",
        further=percentiles(wall) if wall and request.percentiles else (),
        warning=warned,
        warning_detail=_outputs(unit.outputs) if warned else None,
        details=unit_details(unit, condition, energy, baseline.mw if baseline else {}, frames),
        violin=density(condition, *axis_ns, request.violin_columns),
    )


def _state(unit: Unit, silent_s: int | None, now_ns: int) -> str:
    """The engine's state as a row shows it; for a slow state with its duration."""
    if unit.state == "stopped" and unit.load_ns is None:
        return "not loaded"
    if unit.state in SLOW_STATES:
        seconds = max(0, now_ns - unit.since_ns) // 10**9
        return f"{unit.state} {seconds // 60}:{seconds % 60:02}" if seconds else unit.state
    if silent_s is not None:
        return f"no answer for {silent_s // 60}:{silent_s % 60:02}"
    return unit.state


def _runs_alone(session: Session) -> bool:
    """Whether the active unit is not interleaved with others."""
    return session.control is not None and session.control.mode != "interleave" and not session.paused


def _silent_s(unit: Unit, condition: Condition | None, now_ns: int) -> int | None:
    """Seconds without a sample of a running unit, once they are many times its longest latency; else None."""
    if unit.state != "running" or unit.last_end_ns is None or condition is None or not condition.wall.n:
        return None
    silent_ns = now_ns - max(unit.last_end_ns, unit.since_ns)
    usual_ns = SILENT_FACTOR * (condition.wall.moments.max_ns or 0)
    return silent_ns // 10**9 if silent_ns > max(SILENT_NS, usual_ns) else None


def _missed(condition: Condition | None) -> float | None:
    """The share of responses later than the budget; None where arrivals were not planned or there is no budget."""
    if condition is None or condition.response is None or condition.limit_ns is None or not condition.response.n:
        return None
    return condition.misses / condition.response.n


LEVELS = (0.5, 0.75, 0.9, 0.95, 0.99, 0.999)


def percentiles(wall: DurationSeries) -> tuple[Percentile, ...]:
    """All percentiles that hettop shows; those for which there are too few samples with what they need."""
    found = []
    for q, ms in zip(LEVELS, wall.quantiles_ms(LEVELS), strict=True):
        further = further_samples(wall.n, q)
        found.append(Percentile(q, None if further else ms, further))
    return tuple(found)


def _ms(nanoseconds: float | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / NS_PER_MS


def _violin_axis(measured: list[Condition]) -> tuple[float, float]:
    """A common axis for all rows: from the fastest unit to the slowest unit's P99."""
    lows = [condition.wall.histogram.quantile(0.005) or 0.0 for condition in measured]
    highs = [condition.wall.histogram.quantile(0.99) or 0.0 for condition in measured]
    if not lows:
        return 0.0, NS_PER_MS
    low, high = min(lows), max(highs)
    margin = max(0.05 * (high - low), 0.02 * high)
    return max(0.0, low - margin), high + margin


def density(condition: Condition | None, low: float, high: float, columns: int) -> tuple[float, ...]:
    """Share of samples per column between `low` and `high` (ns), scaled so that the fullest is 1.

    Each bucket's count is spread evenly over its width, which avoids a comb where columns are as wide as buckets.
    """
    if condition is None or columns < 1 or not condition.wall.n:
        return ()
    indices, counts = condition.wall.histogram.nonzero()
    edges = np.column_stack((bucket_low(indices), bucket_high(indices))).ravel()
    below = np.repeat(np.concatenate(([0], np.cumsum(counts))), 2)[1:-1]
    binned = np.diff(np.interp(np.linspace(low, high, columns + 1), edges, below))
    top = float(binned.max())
    return tuple((binned / top).tolist()) if top > 0 else ()


SAME_TOP1 = 1.0
_SECONDS_FROM_MS = 10_000
CLEAR_DIFFERENCE = 0.05
"""Relative to the reference's largest value. FP16 changes values by thousandths; this has another cause."""


def warning(outputs: Outputs | None) -> str | None:
    """In a word or two, why the outputs of a unit may be wrong; None if they agree with the reference's."""
    if outputs is None or outputs.error is not None:
        return None
    if any(output.not_finite for output in outputs.outputs):
        return "outputs not finite"
    if not tells_right_from_wrong(outputs.reference):
        return f"outputs differ from {outputs.reference}" if _differ(outputs) else None
    if any(output.top1 is not None and output.top1 < SAME_TOP1 for output in outputs.outputs):
        return "top 1 differs"
    return "outputs differ" if are_wrong(outputs) else None


def are_wrong(outputs: Outputs | None) -> bool:
    """Whether the outputs are wrong: not finite, or far from the reference's. A near tie in top 1 is not.

    Against a reference that may be wrong itself, only outputs that are not finite are wrong.
    """
    if outputs is None or outputs.error is not None:
        return False
    broken = any(output.not_finite for output in outputs.outputs)
    return broken or (tells_right_from_wrong(outputs.reference) and _differ(outputs))


def is_usable(unit: Unit) -> bool:
    """Whether it did not fail and its outputs are not known to be wrong."""
    return unit.error is None and not are_wrong(unit.outputs)


def tells_right_from_wrong(reference: str) -> bool:
    """Whether this unit's outputs count as correct: the CPU computes in the model's own precision."""
    return is_reference_unit(reference)


def disagree(outputs: Outputs | None) -> bool:
    """Whether the outputs are far from those of a reference that may be wrong itself."""
    if outputs is None or outputs.error is not None:
        return False
    return not tells_right_from_wrong(outputs.reference) and _differ(outputs)


def _differ(outputs: Outputs) -> bool:
    return any((_relative(output) or 0.0) > CLEAR_DIFFERENCE for output in outputs.outputs)


def unit_details(
    unit: Unit,
    condition: Condition | None,
    energy: EnergyFigures | None,
    baseline_mw: dict[str, float | None],
    frames: Frames | None = None,
) -> tuple[str, ...]:
    """The details of a unit, a line each."""
    shown = evidence_of(unit.plan, condition, energy, baseline_mw, unit.name)
    lines = (
        _ledger(unit),
        _overhead(condition),
        drift_words(condition.drift.found()) if condition is not None else "",
        stay_words(condition) if condition is not None else "",
        _plan(unit.plan),
        shown,
        _energy(energy),
        _outputs(unit.outputs),
        _canary(frames),
        _worker(unit),
    )
    return tuple(line for line in lines if line)


def _ledger(unit: Unit) -> str:
    """The cost of the first use."""
    parts = []
    if unit.cached is not None:
        parts.append("already compiled" if unit.cached else f"compiled in {_ms_text(unit.compile_ns)}")
    if unit.load_ns is not None:
        parts.append(f"loaded in {_ms_text(unit.load_ns)}")
    if unit.first_ns is not None:
        parts.append(f"first call {_ms_text(unit.first_ns)}")
    return ", ".join(parts)


def _overhead(condition: Condition | None) -> str:
    overhead = binding_overhead_ms(condition) if condition is not None and condition.wall.n else None
    return "" if overhead is None else f"the Python binding adds {overhead:.3g} ms to each call of the framework"


def _plan(plan: Plan | None) -> str:
    """The framework's plan, with the first operation that is not on the accelerator."""
    if plan is None or plan.error is not None or plan.fallback_ratio_count is None:
        return ""
    cost = "" if plan.fallback_ratio_cost is None else f", {plan.fallback_ratio_cost:.0%} of the estimated cost"
    share = f"{plan.fallback_ratio_count:.0%} of {plan.ops} operations{cost}"
    words = f"plan (not measured): {share} not on the {plan.accelerator}"
    if plan.breaks:
        first = plan.breaks[0]
        words += f"; first {first.op} {first.name}" + (f" ({first.why})" if first.why else "")
    return words


def _energy(energy: EnergyFigures | None) -> str:
    """The estimate with its parts and uncertainty, or why there is none."""
    if energy is None or energy.coverage is None:
        return ""
    if energy.mj is None:
        return f"mJ/inference {UNKNOWN}: {energy.lacking}" if energy.lacking else ""
    interval = energy.interval_mj()
    figures = [f"{energy.mj:.3g} mJ/inference"]
    figures.append("" if interval is None else f"95% interval {interval[0]:.3g} to {interval[1]:.3g}")
    figures.append(f"net {energy.net_mj:.3g}" if energy.net_mj is not None else "")
    figures.append(f"{energy.inferences_per_joule:.3g} inferences per joule" if energy.inferences_per_joule else "")
    parts = f"CPU+GPU+ANE (estimate) from {'+'.join(energy.rails)}"
    uncertainty = "" if energy.uncertainty is None else f", ±{energy.uncertainty:.2%} from the counter's resolution"
    return f"{', '.join(filter(None, figures))}; {parts}, power samples cover {energy.coverage:.0%}{uncertainty}"


def _outputs(outputs: Outputs | None) -> str:
    if outputs is None:
        return ""
    if outputs.error is not None:
        return f"outputs not compared: {outputs.error.message}"
    if not outputs.outputs:
        return ""
    worst = outputs.outputs[0]
    figures = [f"max difference {worst.max_abs:.3g}" if worst.max_abs is not None else ""]
    figures.append(f"of {worst.largest:.3g}" if worst.max_abs is not None and worst.largest is not None else "")
    figures.append(f"cosine {worst.cosine:.5f}" if worst.cosine is not None else "")
    figures.append(f"same top 1 in {worst.top1:.0%}" if worst.top1 is not None else "")
    figures.append(f"within the top 5 in {worst.top5:.0%}" if worst.top5 is not None else "")
    figures.append(f"{worst.not_finite} values not finite" if worst.not_finite else "")
    difference = " ".join(filter(None, figures[:2]))
    rest = ", ".join(filter(None, [difference, *figures[2:]]))
    return f"outputs compared with {outputs.reference} on {outputs.inputs} inputs, {worst.name}: {rest}"


def _canary(frames: Frames | None) -> str:
    """The frames that a 60 Hz screen would have missed."""
    if frames is None or frames.share is None:
        return ""
    return (
        f"a 60 Hz screen would have missed {frames.missed} of {frames.due} frames ({frames.share:.1%}) under this load"
    )


def _worker(unit: Unit) -> str:
    memory = "" if unit.peak_memory_mb is None else f"peak memory {unit.peak_memory_mb:.0f} MB"
    quality = "" if unit.qos is None else f"quality of service {unit.qos}"
    return ", ".join(filter(None, (memory, quality)))


def _relative(output: OutputDifference) -> float | None:
    """Relative to the reference's largest value; infinite where that is 0 and the difference is not."""
    if output.max_abs is None or output.largest is None:
        return None
    if not output.largest:
        return math.inf if output.max_abs else 0.0
    return output.max_abs / output.largest


def _ms_text(nanoseconds: int | None) -> str:
    value = None if nanoseconds is None else nanoseconds / NS_PER_MS
    if value is not None and value >= _SECONDS_FROM_MS:
        return f"{significant(value / 1000)} s"
    return f"{milliseconds(value)} ms"


NO_LOAD = "none"
"""As `events.NO_LOAD`, whose import would delay the first paint of the screen."""

MOST_ROWS = 64


def conditions(session: Session) -> tuple[ConditionRow, ...]:
    """A row for each condition with samples: units in order of appearance, without load first."""
    measured = [condition for condition in session.conditions.values() if condition.wall.n]
    order = {unit: i for i, unit in enumerate(session.units)}
    measured.sort(key=lambda each: (order.get(each.key.unit, len(order)), each.key.load != NO_LOAD))
    idle = _without_load(measured)
    return tuple(_load_row(session, condition, idle) for condition in measured[:MOST_ROWS])


def _without_load(measured: list[Condition]) -> dict[tuple[str, str | None], float]:
    """P90 of each unit without load by thermal state; under (unit, None) also that of the first state."""
    found: dict[tuple[str, str | None], float] = {}
    for condition in measured:
        p90 = condition.wall.quantile_ms(0.9)
        if condition.key.load == NO_LOAD and p90:
            found.setdefault((condition.key.unit, condition.key.thermal), p90)
            found.setdefault((condition.key.unit, None), p90)
    return found


def _load_row(session: Session, condition: Condition, idle: dict[tuple[str, str | None], float]) -> ConditionRow:
    from hettop.session.statistics import energy_of
    from hettop.stats.quantiles import further_samples

    key, wall = condition.key, condition.wall
    p90 = wall.quantile_ms(0.9)
    before = idle.get((key.unit, key.thermal), idle.get((key.unit, None)))
    active = session.control.units if session.control and not session.paused else []
    energy = energy_of(session, condition)
    return ConditionRow(
        unit=key.unit,
        load=key.load,
        thermal=key.thermal,
        current=key.unit in active and key.load == session.load and key.thermal == session.thermal,
        n=wall.n,
        p50_ms=wall.quantile_ms(0.5),
        p90_ms=p90,
        p99_ms=None if further_samples(wall.n, 0.99) else wall.quantile_ms(0.99),
        max_ms=None if wall.moments.max_ns is None else wall.moments.max_ns / NS_PER_MS,
        throughput_per_s=condition.throughput_per_s,
        energy_mj=energy.mj if energy else None,
        p90_change=p90 / before - 1 if p90 and before and key.load != NO_LOAD else None,
    )
