"""What is worth knowing of a unit beside its latency, in words: first load, what the framework claims and power shows,
and whether its answers are those of the reference.

Pure; the numbers are the session's.
"""

from __future__ import annotations

from hettop.events import OutputDifference, Outputs, Plan
from hettop.session.condition import Condition
from hettop.session.energy import EnergyFigures
from hettop.session.placement import evidence
from hettop.session.series import NS_PER_MS
from hettop.session.statistics import binding_overhead_ms
from hettop.session.unit import Unit

SAME_TOP1 = 1.0
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
    if any((_relative(output) or 0.0) > CLEAR_DIFFERENCE for output in outputs.outputs):
        return "outputs differ"
    return None


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
    lines = (_ledger(unit), _overhead(condition), _plan(unit.plan), shown, _outputs(unit.outputs), _peak(unit))
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


def _peak(unit: Unit) -> str:
    return "" if unit.peak_memory_mb is None else f"peak memory {unit.peak_memory_mb:.0f} MB"


def _relative(output: OutputDifference) -> float | None:
    if output.max_abs is None or not output.largest:
        return None
    return output.max_abs / output.largest


def _ms(nanoseconds: int | None) -> str:
    if nanoseconds is None:
        return "n/a"
    milliseconds = nanoseconds / NS_PER_MS
    return f"{milliseconds / 1000:.1f} s" if milliseconds >= 10_000 else f"{milliseconds:.3g} ms"
