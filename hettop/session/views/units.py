"""Units as the screen shows them: a row for each unit under the active load, and a row for each condition."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from hettop.events import OutputDifference, Outputs, Plan
from hettop.format import UNKNOWN, milliseconds, significant
from hettop.session.beside import sentence
from hettop.session.canary import Frames
from hettop.session.condition import Condition
from hettop.session.energy import EnergyFigures
from hettop.session.placement import evidence_of
from hettop.session.session import Session, current_condition
from hettop.session.states import drift_words, stay_words
from hettop.session.statistics import binding_overhead_ms, energy_of
from hettop.session.unit import Unit
from hettop.session.views.structs import ConditionRow, UnitRow, UnitsView, ViewRequest
from hettop.stats.histogram import bucket_high, bucket_low
from hettop.units import NS_PER_MS

if TYPE_CHECKING:
    # The screen imports this module for its first paint, which must not wait for the codec's libraries.
    from hettop.session.condition import Condition
    from hettop.session.session import Session

SILENT_NS = 5 * 10**9
SILENT_FACTOR = 20
"""Without a sample for this long, and for so many times the longest latency so far, a unit gives no answer: well
beyond the second that a recording's lines gather."""

SLOW_STATES = ("spawning", "compiling", "loading", "warming")


def units(session: Session, request: ViewRequest) -> UnitsView:
    """A row per unit under the load now in force."""
    chosen = {name: current_condition(session, name) for name in session.units}
    measured = [condition for condition in chosen.values() if condition is not None and condition.wall.n]
    usable = [condition for condition in measured if is_usable(session.units[condition.key.unit])]
    best = min((condition.wall.moments.mean_ns or 0.0 for condition in usable), default=None)
    low, high = _violin_axis(measured)
    active = session.control.units if session.control else []
    rows = tuple(
        _row(session, request, chosen[name], unit=unit, active=name in active, best_mean=best, axis_ns=(low, high))
        for name, unit in session.units.items()
    )
    absent = session.header.settings.get("absent", {}) if session.header else {}
    pairs = tuple((str(name), str(why)) for name, why in absent.items()) if isinstance(absent, dict) else ()
    besides = tuple(sentence(each) for each in session.comparisons.at(session, request.now_ns))
    return UnitsView(rows, low / NS_PER_MS, high / NS_PER_MS, pairs, besides)


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
    return UnitRow(
        unit=unit.name,
        state=_state(unit, silent_s, request.now_ns),
        waiting=unit.state in SLOW_STATES or silent_s is not None,
        active=active,
        n=moments.n if moments else 0,
        mean_ms=_ms(mean),
        std_ms=_ms(moments.std_ns if moments else None),
        min_ms=_ms(moments.min_ns if moments else None),
        p50_ms=wall.quantile_ms(0.5) if wall else None,
        p90_ms=wall.quantile_ms(0.9) if wall else None,
        max_ms=_ms(moments.max_ns if moments else None),
        throughput_per_s=condition.throughput_per_s if condition else None,
        difference=mean / best_mean - 1 if mean and best_mean and is_usable(unit) else None,
        spikes=condition.spikes if condition else 0,
        placed=unit.placed,
        error=unit.error,
        energy_mj=energy.mj if energy else None,
        warning=warning(unit.outputs),
        details=unit_details(unit, condition, energy, baseline.mw if baseline else {}, frames),
        violin=density(condition, *axis_ns, request.violin_columns),
    )


def _state(unit: Unit, silent_s: int | None, now_ns: int) -> str:
    """The engine's state, in the words a row shows: one that never ran has not stopped; a slow one says how long."""
    if unit.state == "stopped" and unit.load_ns is None:
        return "not loaded"
    if unit.state in SLOW_STATES:
        seconds = max(0, now_ns - unit.since_ns) // 10**9
        return f"{unit.state} {seconds // 60}:{seconds % 60:02}" if seconds else unit.state
    if silent_s is not None:
        return f"no answer for {silent_s // 60}:{silent_s % 60:02}"
    return unit.state


def _runs_alone(session: Session) -> bool:
    """Whether the active unit has no other's turn to wait for."""
    return session.control is not None and session.control.mode != "interleave" and not session.paused


def _silent_s(unit: Unit, condition: Condition | None, now_ns: int) -> int | None:
    """Seconds without a sample of a unit that runs, once they are many times its longest latency; else None."""
    if unit.state != "running" or unit.last_end_ns is None or condition is None or not condition.wall.n:
        return None
    silent_ns = now_ns - max(unit.last_end_ns, unit.since_ns)
    usual_ns = SILENT_FACTOR * (condition.wall.moments.max_ns or 0)
    return silent_ns // 10**9 if silent_ns > max(SILENT_NS, usual_ns) else None


def _ms(nanoseconds: float | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / NS_PER_MS


def _violin_axis(measured: list[Condition]) -> tuple[float, float]:
    """One axis for all rows, so that they can be compared: from the fastest to the slowest unit's P99."""
    lows = [condition.wall.histogram.quantile(0.005) or 0.0 for condition in measured]
    highs = [condition.wall.histogram.quantile(0.99) or 0.0 for condition in measured]
    if not lows:
        return 0.0, NS_PER_MS
    low, high = min(lows), max(highs)
    margin = max(0.05 * (high - low), 0.02 * high)
    return max(0.0, low - margin), high + margin


def density(condition: Condition | None, low: float, high: float, columns: int) -> tuple[float, ...]:
    """Share of samples per column between `low` and `high` (ns), scaled so that the fullest is 1.

    Each bucket's count is spread evenly over its width; at its middle alone, columns about as wide as buckets would
    show a comb.
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
REFERENCE = "CPU_ONLY"
_SECONDS_FROM_MS = 10_000
CLEAR_DIFFERENCE = 0.05
"""Of the reference's largest value. FP16 alone moves values by thousandths; beyond this something else is at work."""


def warning(outputs: Outputs | None) -> str | None:
    """In a word or two, why the answers of a unit are not to be trusted; None while nothing speaks against them."""
    if outputs is None or outputs.error is not None:
        return None
    if any(output.not_finite for output in outputs.outputs):
        return "outputs are no numbers"
    if not tells_right_from_wrong(outputs.reference):
        return f"outputs unlike {outputs.reference}'s" if _differ(outputs) else None
    if any(output.top1 is not None and output.top1 < SAME_TOP1 for output in outputs.outputs):
        return "top 1 differs"
    return "outputs differ" if are_wrong(outputs) else None


def are_wrong(outputs: Outputs | None) -> bool:
    """Whether the answers are another model's: no numbers, or far off. A near tie that falls differently is none.

    Against a reference that may be the wrong one itself, nobody is wrong but who answers no numbers.
    """
    if outputs is None or outputs.error is not None:
        return False
    broken = any(output.not_finite for output in outputs.outputs)
    return broken or (tells_right_from_wrong(outputs.reference) and _differ(outputs))


def is_usable(unit: Unit) -> bool:
    """Whether anybody could ship it: it did not fail, and its answers are not known to be wrong."""
    return unit.error is None and not are_wrong(unit.outputs)


def tells_right_from_wrong(reference: str) -> bool:
    """Whether this unit's answers may be taken for the right ones: the CPU computes in the model's own precision."""
    return reference.partition("@")[0] == REFERENCE


def disagree(outputs: Outputs | None) -> bool:
    """Whether the answers are far from those of a reference, and nobody knows which of the two is right."""
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
    """A line for each thing that is known."""
    shown = evidence_of(unit.plan, condition, energy, baseline_mw)
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
    """What the first use cost."""
    parts = []
    if unit.cached is not None:
        parts.append("compiled before" if unit.cached else f"compiled in {_ms_text(unit.compile_ns)}")
    if unit.load_ns is not None:
        parts.append(f"loaded in {_ms_text(unit.load_ns)}")
    if unit.first_ns is not None:
        parts.append(f"first call {_ms_text(unit.first_ns)}")
    return ", ".join(parts)


def _overhead(condition: Condition | None) -> str:
    overhead = binding_overhead_ms(condition) if condition is not None and condition.wall.n else None
    return "" if overhead is None else f"the binding adds {overhead:.3g} ms to each call of the framework"


def _plan(plan: Plan | None) -> str:
    """The claim, with the operation that breaks the accelerator's run first."""
    if plan is None or plan.error is not None or plan.fallback_ratio_count is None:
        return ""
    cost = "" if plan.fallback_ratio_cost is None else f", {plan.fallback_ratio_cost:.0%} of the estimated cost"
    words = (
        f"plan (a claim): {plan.fallback_ratio_count:.0%} of {plan.ops} operations{cost} not on the {plan.accelerator}"
    )
    if plan.breaks:
        first = plan.breaks[0]
        words += f"; first {first.op} {first.name}" + (f" ({first.why})" if first.why else "")
    return words


def _energy(energy: EnergyFigures | None) -> str:
    """The estimate, what it is made of, and how far it can be trusted; or why there is none."""
    if energy is None or energy.coverage is None:
        return ""
    if energy.mj is None:
        return f"mJ an inference {UNKNOWN}: {energy.lacking}" if energy.lacking else ""
    figures = [f"{energy.mj:.3g} mJ an inference"]
    figures.append(f"net {energy.net_mj:.3g}" if energy.net_mj is not None else "")
    figures.append(f"{energy.inferences_per_joule:.3g} inferences per joule" if energy.inferences_per_joule else "")
    made_of = f"CPU+GPU+ANE (estimate) from {'+'.join(energy.rails)}"
    sure = "" if energy.uncertainty is None else f", ±{energy.uncertainty:.2%} by the counter's step"
    return f"{', '.join(filter(None, figures))}; {made_of}, power samples cover {energy.coverage:.0%}{sure}"


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
    figures.append(f"{worst.not_finite} values are no numbers" if worst.not_finite else "")
    told = " ".join(filter(None, figures[:2]))
    rest = ", ".join(filter(None, [told, *figures[2:]]))
    return f"outputs against {outputs.reference} on {outputs.inputs} inputs, {worst.name}: {rest}"


def _canary(frames: Frames | None) -> str:
    """What the user of this machine saw stutter meanwhile."""
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
    """Of the reference's largest value; beyond all bounds where that is 0 and the answer is not."""
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
"""As `events.NO_LOAD`, which would have the first paint of the screen wait for the codec."""

MOST_ROWS = 64


def conditions(session: Session) -> tuple[ConditionRow, ...]:
    """A row for each condition that has samples, units in the order they came, without load first."""
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
