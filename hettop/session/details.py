"""What is worth knowing of a unit beside its latency, in words: first load, what the framework claims and power shows,
and whether its answers are those of the reference.

Pure; the numbers are the session's.
"""

from __future__ import annotations

from hettop.events import OutputDifference, Outputs, Plan
from hettop.format import milliseconds, significant
from hettop.session.condition import Condition
from hettop.session.energy import EnergyFigures
from hettop.session.placement import evidence
from hettop.session.series import NS_PER_MS
from hettop.session.statistics import binding_overhead_ms
from hettop.session.unit import Unit

SAME_TOP1 = 1.0
_SECONDS_FROM_MS = 10_000
CLEAR_DIFFERENCE = 0.05
"""Of the reference's largest value. FP16 alone moves values by thousandths; beyond this something else is at work."""


def warning(outputs: Outputs | None) -> str | None:
    """In a word or two, why the answers of a unit are not to be trusted; None while nothing speaks against them."""
    if outputs is None or outputs.error is not None:
        return None
    if any(output.not_finite for output in outputs.outputs):
        return "outputs are no numbers"
    if any(output.top1 is not None and output.top1 < SAME_TOP1 for output in outputs.outputs):
        return "decides otherwise"
    return "outputs differ" if are_wrong(outputs) else None


def are_wrong(outputs: Outputs | None) -> bool:
    """Whether the answers are another model's: no numbers, or far off. A near tie that falls differently is none."""
    if outputs is None or outputs.error is not None:
        return False
    return any(output.not_finite or (_relative(output) or 0.0) > CLEAR_DIFFERENCE for output in outputs.outputs)


def details(
    unit: Unit, condition: Condition | None, energy: EnergyFigures | None, baseline_mw: dict[str, float | None]
) -> tuple[str, ...]:
    """A line for each thing that is known."""
    means = energy.mean_mw if energy is not None else {}
    shown = evidence(
        unit.plan,
        ane_mw=means.get("ane"),
        gpu_mw=means.get("gpu"),
        idle_ane_mw=baseline_mw.get("ane"),
        idle_gpu_mw=baseline_mw.get("gpu"),
    )
    lines = (
        _ledger(unit),
        _overhead(condition),
        _plan(unit.plan),
        shown,
        _energy(energy),
        _outputs(unit.outputs),
        _worker(unit),
    )
    return tuple(line for line in lines if line)


def _ledger(unit: Unit) -> str:
    """What the first use cost."""
    parts = []
    if unit.cached is not None:
        parts.append("compiled before" if unit.cached else f"compiled in {_ms(unit.compile_ns)}")
    if unit.load_ns is not None:
        parts.append(f"loaded in {_ms(unit.load_ns)}")
    if unit.first_ns is not None:
        parts.append(f"first call {_ms(unit.first_ns)}")
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
    """The estimate, what it is made of, and how far it can be trusted."""
    if energy is None or energy.mj is None or energy.coverage is None:
        return ""
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


def _worker(unit: Unit) -> str:
    memory = "" if unit.peak_memory_mb is None else f"peak memory {unit.peak_memory_mb:.0f} MB"
    quality = "" if unit.qos is None else f"quality of service {unit.qos}"
    return ", ".join(filter(None, (memory, quality)))


def _relative(output: OutputDifference) -> float | None:
    if output.max_abs is None or not output.largest:
        return None
    return output.max_abs / output.largest


def _ms(nanoseconds: int | None) -> str:
    value = None if nanoseconds is None else nanoseconds / NS_PER_MS
    if value is not None and value >= _SECONDS_FROM_MS:
        return f"{significant(value / 1000)} s"
    return f"{milliseconds(value)} ms"
