"""What is worth knowing of a unit beside its latency, in words: first load, what the framework claims and power shows,
and whether its answers are those of the reference.

Pure; the numbers are the session's.
"""

from __future__ import annotations

import math

from hettop.events import OutputDifference, Outputs, Plan
from hettop.format import UNKNOWN, milliseconds, significant
from hettop.session.canary import Frames
from hettop.session.condition import Condition
from hettop.session.energy import EnergyFigures
from hettop.session.placement import evidence_of
from hettop.session.states import drift_words, stay_words
from hettop.session.statistics import binding_overhead_ms
from hettop.session.unit import Unit
from hettop.units import NS_PER_MS

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


def details(
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


def _ms(nanoseconds: int | None) -> str:
    value = None if nanoseconds is None else nanoseconds / NS_PER_MS
    if value is not None and value >= _SECONDS_FROM_MS:
        return f"{significant(value / 1000)} s"
    return f"{milliseconds(value)} ms"
