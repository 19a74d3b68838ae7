"""Layers of an ML Program, and what they cost by the estimates of a compute plan: shares of calls that were measured.

Pure; calls nothing measured that was not.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hettop.compute_units import wanted_device
from hettop.errors import HettopError
from hettop.sources.engine.placement import CPU, GPU, NEURAL_ENGINE, OpFacts, is_constant
from hettop.studies.plan.cutting.coreml_program import Program
from hettop.studies.plan.cutting.graph import Part, crossings, ends, layers, step_of
from hettop.studies.plan.cutting.result import SurveyedLayer
from hettop.text import clean

JOINED = frozenset({
    "abs", "add", "batch_norm", "cast", "clamped_relu", "clip", "elu", "exp", "expand_dims", "floor", "gelu",
    "identity", "leaky_relu", "linear_activation", "mul", "prelu", "real_div", "relu", "relu6", "reshape",
    "rsqrt", "scaled_tanh", "sigmoid", "sigmoid_hard", "silu", "softplus", "softsign", "sqrt", "square",
    "squeeze", "sub", "tanh", "thresholded_relu", "transpose",
})  # fmt: skip
"""What a framework usually computes in passing, with the operation before: no layer of its own. Core ML does not report
what it fuses, and a cut there would cost what no estimate says."""

MOST_TRIED = 3
"""Cuts that are tried on each unit: two compilations each, of seconds."""

DEVICES = {"CPU_ONLY": (CPU,), "CPU_AND_GPU": (CPU, GPU), "CPU_AND_NE": (CPU, NEURAL_ENGINE)}
MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Fit:
    """Steps that a unit loaded and ran as one model, and the plan's facts of them. ms: of a call, once measured.

    plan_lost: why the plan could not be read; "" if it was.
    """

    part: Part
    facts: tuple[OpFacts, ...]
    ms: float = math.nan
    plan_lost: str = ""


def layers_of(program: Program, facts: Collection[Sequence[OpFacts]] | None) -> tuple[Part, ...]:
    """Layers begin with operations that do work of their own, and that some plan has an estimate of.

    facts: of each model that was loaded; None before there are any. Where a value cannot cross, there is no cut.
    """
    flow = program.flow
    known = step_of(flow, {})
    costed = set(range(len(flow.steps)))
    if facts is not None:
        costed = {known[fact.name] for each in facts for fact in each if fact.cost is not None and fact.name in known}
    together: list[tuple[int, int]] = []
    begun, leading = 0, True
    for index, step in enumerate(flow.steps):
        inside = {name for each in flow.steps[begun:index] for name in each.writes}
        passing = index not in costed or (step.op in JOINED and not inside.isdisjoint(step.reads))
        if index and (passing or leading):
            together.append((begun, index))
        else:
            begun = index
        leading = leading and (step.op in JOINED or index not in costed)
    for after, values in enumerate(crossings(flow)):
        if not program.can_cross(values):
            together.append((after, after + 1))
    return layers(flow, together)


def times(program: Program, parts: Sequence[Part], unit: str, fits: Sequence[Fit]) -> list[float | None]:
    """Ms of each layer on the unit: the plan's share of the call it was measured in; None where the unit cannot run it,
    or where there is no plan.

    Raises HettopError: `plan`, if a plan estimates nothing.
    """
    known = step_of(program.flow, {})
    layer_of = {step: index for index, part in enumerate(parts) for step in range(part.first, part.last + 1)}
    found: list[float | None] = [None] * len(parts)
    refused = set()
    for fit in planned(fits):
        inside = [index for index, part in enumerate(parts) if fit.part.first <= part.first <= fit.part.last]
        costs = dict.fromkeys(inside, 0.0)
        current = inside[0]
        for fact in fit.facts:
            current = layer_of.get(known.get(fact.name, -1), current)
            if current in costs and not is_constant(fact):
                costs[current] += fact.cost or 0.0
                if cannot_run(unit, fact):
                    refused.add(current)
        whole = math.fsum(costs.values())
        if not whole > 0:
            hint = "plans with costs need macOS 14.4 and a model for iOS 15 or later"
            raise HettopError("plan", f"{unit}: the plan has no cost estimates", hint)
        for index, cost in costs.items():
            found[index] = cost / whole * fit.ms
    return [None if index in refused else ms for index, ms in enumerate(found)]


def planned(fits: Sequence[Fit]) -> list[Fit]:
    """Those whose plan was read."""
    return [fit for fit in fits if not fit.plan_lost]


def without_plan(unit: str, fits: Sequence[Fit]) -> Iterator[str]:
    """A note on what was measured as a whole alone."""
    why = next((fit.plan_lost for fit in fits if fit.plan_lost), None)
    if why is not None:
        yield f"{unit}: its plan could not be read ({why}): it is measured as a whole, without slices"


def cannot_run(unit: str, fact: OpFacts) -> bool:
    """Whether the plan names devices for the operation of which the unit has none."""
    here = DEVICES.get(unit)
    return here is not None and bool(fact.supported) and not set(here) & set(fact.supported)


def fallbacks(unit: str, fits: Sequence[Fit]) -> Iterator[str]:
    """A note on operations that the unit leaves to another device than the one that it is asked for."""
    wanted = wanted_device(unit)
    away = [
        fact
        for fit in fits
        for fact in fit.facts
        if wanted is not None and fact.preferred not in (None, wanted) and not is_constant(fact)
    ]
    if away:
        kinds = list(dict.fromkeys(clean(fact.op) for fact in away))
        more = f" and {len(kinds) - MOST_NAMED} more kinds" if len(kinds) > MOST_NAMED else ""
        yield (
            f"{unit}: by its plan {len(away)} operations fall back from the {wanted} ({', '.join(kinds[:MOST_NAMED])}"
            f"{more}); their estimates are for the fallback device"
        )


def without_estimates(unit: str, fits: Sequence[Fit]) -> Iterator[str]:
    """A note on operations whose layers have the estimates of others alone."""
    lacking = sum(fact.cost is None and not is_constant(fact) for fit in fits for fact in fit.facts)
    if lacking:
        yield f"{unit}: {lacking} operations have no estimate and count as free"


def tried(program: Program, parts: Sequence[Part], fits: Sequence[Fit]) -> list[tuple[int, Part, int]]:
    """Cuts to try: the step each is after, the steps that the unit runs as one around it, and the bytes that cross.

    Of sizes as different as there are.
    """
    cut = crossings(program.flow)
    by_size = {}
    for part in parts[:-1]:
        around = next((each.part for each in fits if each.part.first <= part.last < each.part.last), None)
        if around is not None:
            nbytes = nbytes_of(program, cut[part.last])
            by_size[nbytes] = (part.last, around, nbytes)
    sizes = sorted(by_size)
    picked = {sizes[round(index * (len(sizes) - 1) / max(1, MOST_TRIED - 1))] for index in range(MOST_TRIED) if sizes}
    return [by_size[size] for size in sorted(picked)]


def surveyed(program: Program, parts: Sequence[Part], ms: Sequence[Sequence[float | None]]) -> Iterator[SurveyedLayer]:
    """The layers. ms: by unit, then by layer."""
    flow = program.flow
    cut = crossings(flow)
    for index, part in enumerate(parts):
        steps = flow.steps[part.first : part.last + 1]
        heart = next((step for step in steps if step.op not in JOINED), steps[0])
        over = cut[part.last] if index < len(parts) - 1 else ()
        yield SurveyedLayer(
            name=heart.name,
            op=heart.op,
            ops=tuple(dict.fromkeys(step.op for step in steps)),
            first=part.first,
            last=part.last,
            ms=tuple(each[index] for each in ms),
            weight_bytes=program.weight_bytes(part),
            output_bytes=nbytes_of(program, [name for name in ends(flow, part)[1] if name in program.values]),
            crossing=len(over),
            crossing_bytes=nbytes_of(program, over),
        )


def nbytes_of(program: Program, names: Sequence[str]) -> int:
    return sum(program.values[name].nbytes for name in names)


def megabytes(layer_sizes: Mapping[Part, int], part: Part) -> float:
    """Of the layers in `part`, as a cost table counts them."""
    return sum(size for each, size in layer_sizes.items() if part.first <= each.first <= part.last) / 1e6
