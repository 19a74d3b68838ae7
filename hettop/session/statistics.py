"""The statistics of one unit under one load, the same in live view, replay, JSON and table.

Pure; unknown is None, never 0, and a percentile with too few samples behind it is None with what it needs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from hettop.events import Failure, Outputs, Plan, ProviderNodes, split_row
from hettop.session.answers import answers_of, gives_answers
from hettop.session.condition import Condition, DurationSeries
from hettop.session.energy import EnergyFigures, energy_figures
from hettop.session.placement import evidence_of
from hettop.session.session import Session
from hettop.session.states import drift_fields, mode_stays
from hettop.session.tokens import tokens_per_call, tokens_per_s
from hettop.session.unit import Unit
from hettop.session.views.spikes import cause_rows
from hettop.stats.histogram import bucket_middle
from hettop.stats.modes import Modes, find_modes, find_modes_weighted
from hettop.stats.quantiles import samples_needed
from hettop.stats.steady import steady_at
from hettop.units import NS_PER_MS


class Spikes(msgspec.Struct, frozen=True, kw_only=True):
    """Samples above the spike threshold of their condition when they came, and the threshold by now.

    Both None while none was judged. `as_they_came` is `n`: they differed up to version 0.1.
    """

    n: int | None
    fence_ms: float | None
    as_they_came: int | None = None


class ModeShare(msgspec.Struct, frozen=True, kw_only=True):
    """One of several modes: where it is, the share of samples in it, and how many in a row on average."""

    center_ms: float
    share: float
    stay_calls: float | None = None


class Misses(msgspec.Struct, frozen=True, kw_only=True):
    """Paced samples whose response exceeded the limit, and arrivals that were never served."""

    n: int
    limit_ms: float | None
    unfinished: int | None


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """Why a unit could not be measured."""

    kind: str
    message: str
    hint: str


class PlanSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What the framework's plan claims: operations, and which share of them (and of their cost) falls back."""

    accelerator: str | None
    ops: int
    fallback_ratio_count: float | None
    fallback_ratio_cost: float | None


class Statistics(msgspec.Struct, frozen=True, kw_only=True):
    """One unit under one load. Times in ms, memory in MB, energy in mJ, power in mW; std is population std.

    `energy_rails` are the rails whose sum the energy is (CPU+GPU+ANE, an estimate); `energy_by_rail_mj` and
    `power_mean_mw` have every rail, null where it was not measured. `energy_uncertainty` is relative and is what
    the step of the source's counter leaves open. `energy_ci_mj` is the 95% interval of `energy_mj_per_inference` by the
    spread of `energy_windows` power windows. `output_difference` is the largest absolute difference to the
    outputs of `output_reference`, `output_top1` the lowest share of rows with the same largest entry, `output_top5`
    of those whose largest entry there is among the five largest here,
    `output_not_finite` how many values are no numbers in this unit alone. `energy_reason` says why there is no
    energy although there was power; `evidence` what the plan claims beside what the rails drew; `plan_reason` why
    there is no plan. `p90_effective_n` is how many independent samples the n are worth for `p90_ci_ms`, the 95%
    interval of P90. `p90_early_stopping_ms` is MLPerf LoadGen's estimate of P90: at 99% confidence not too low.
    `canary_missed` of `canary_due` frames came too late for a 60 Hz screen. `warmup_steady` says whether a warm-up
    until steady ended so. `binding_overhead_ms` is the mean wall less the mean native time. `tokens_per_s` is
    `tokens_per_call` by the median latency. Response times are of the arrivals that were served.
    """

    unit: str
    variant: str | None = None
    model: str | None = None
    load: str
    thermal: str | None = None
    backend: str | None = None
    placed: str | None = None
    provider_nodes: list[ProviderNodes] | None = None
    simulated: bool = False
    n: int = 0
    exact: bool | None = None
    mean_ms: float | None = None
    std_ms: float | None = None
    min_ms: float | None = None
    p50_ms: float | None = None
    p90_ms: float | None = None
    p99_ms: float | None = None
    p999_ms: float | None = None
    max_ms: float | None = None
    p90_ci_ms: tuple[float | None, float | None] | None = None
    p90_effective_n: int | None = None
    p90_early_stopping_ms: float | None = None
    p90_needs: int | None = None
    p99_needs: int | None = None
    throughput_per_s: float | None = None
    tokens_per_call: int | None = None
    tokens_per_s: float | None = None
    spikes: Spikes | None = None
    spike_causes: list[SpikeCause] | None = None
    modes: list[ModeShare] | None = None
    modes_tentative: bool | None = None
    drift: dict[str, float] | None = None
    steady_from: int | None = None
    compile_ms: float | None = None
    cached: bool | None = None
    load_ms: float | None = None
    first_ms: float | None = None
    warmup_ms: list[float] = []
    warmup_steady: bool | None = None
    native_mean_ms: float | None = None
    native_p90_ms: float | None = None
    binding_overhead_ms: float | None = None
    deadline_misses: Misses | None = None
    response_p50_ms: float | None = None
    response_p90_ms: float | None = None
    idle_gap: list[IdleGap] | None = None
    energy_mj_per_inference: float | None = None
    energy_net_mj_per_inference: float | None = None
    energy_coverage: float | None = None
    energy_by_rail_mj: dict[str, float | None] | None = None
    energy_rails: list[str] | None = None
    energy_uncertainty: float | None = None
    energy_ci_mj: tuple[float, float] | None = None
    energy_windows: int | None = None
    inferences_per_joule: float | None = None
    power_mean_mw: dict[str, float | None] | None = None
    energy_reason: str | None = None
    evidence: str | None = None
    canary_missed: int | None = None
    canary_due: int | None = None
    output_difference: float | None = None
    output_top1: float | None = None
    output_top5: float | None = None
    output_not_finite: int | None = None
    output_reference: str | None = None
    plan: PlanSummary | None = None
    plan_reason: str | None = None
    peak_memory_mb: float | None = None
    qos: str | None = None
    error: Reason | None = None


def statistics(session: Session, *, modes: bool = True) -> list[Statistics]:
    """One object per unit and condition, in order of first appearance; a unit without samples has one with n = 0.

    modes: whether to look for modes, which costs more than all the rest; else they are None.
    """
    found = []
    for unit in session.units.values():
        conditions = [c for key, c in session.conditions.items() if key.unit == unit.name and c.wall.n]
        if conditions:
            found += [_measured(session, unit, condition, modes=modes) for condition in conditions]
        else:
            found.append(_unmeasured(session, unit))
    return found


def _measured(session: Session, unit: Unit, condition: Condition, *, modes: bool) -> Statistics:
    wall = condition.wall
    moments = wall.moments
    frames = session.canary.conditions.get(condition.key)
    found = modes_of(wall) if modes else None
    energy = energy_of(session, condition)
    known = _of_unit(session, unit)
    effective = _at_most_answers(session, condition, condition.effective_samples(0.9))
    return msgspec.structs.replace(
        known,
        load=condition.key.load,
        thermal=condition.key.thermal,
        n=wall.n,
        exact=wall.raw() is not None,
        mean_ms=_ms(moments.mean_ns),
        std_ms=_ms(moments.std_ns),
        min_ms=_ms(moments.min_ns),
        p50_ms=wall.quantile_ms(0.5),
        p90_ms=wall.quantile_ms(0.9),
        p99_ms=_if_enough(wall, 0.99),
        p999_ms=_if_enough(wall, 0.999),
        max_ms=_ms(moments.max_ns),
        p90_ci_ms=None if effective is None else wall.quantile_interval_ms(0.9, effective),
        p90_effective_n=effective,
        p90_early_stopping_ms=None if effective is None else wall.early_stopping_ms(0.9, effective),
        p90_needs=_needs(wall.n, 0.9),
        p99_needs=_needs(wall.n, 0.99),
        throughput_per_s=condition.throughput_per_s,
        tokens_per_s=tokens_per_s(known.tokens_per_call, wall.quantile_ms(0.5)),
        spikes=_spikes(condition),
        spike_causes=spike_causes(session, condition),
        drift=drift_fields(condition.drift.found()),
        modes=_shares(found, wall) if found else None,
        modes_tentative=found.tentative if found else None,
        native_mean_ms=_ms(condition.native.moments.mean_ns) if condition.native else None,
        native_p90_ms=condition.native.quantile_ms(0.9) if condition.native else None,
        binding_overhead_ms=binding_overhead_ms(condition),
        deadline_misses=_misses(unit, condition),
        response_p50_ms=condition.response.quantile_ms(0.5) if condition.response else None,
        response_p90_ms=condition.response.quantile_ms(0.9) if condition.response else None,
        idle_gap=idle_gap(condition),
        canary_missed=frames.missed if frames else None,
        canary_due=frames.due if frames else None,
        error=_reason(unit.error),
        evidence=evidence_of(unit.plan, condition, energy, _idle_mw(session, condition), unit.name),
        **({} if energy is None else _energy_fields(energy)),
    )


def _at_most_answers(session: Session, condition: Condition, effective: int | None) -> int | None:
    """The tokens of an answer count as one sample at most."""
    answers = answers_of(session, condition.key.unit, condition.key.load) if gives_answers(session) else None
    return effective if effective is None or answers is None else min(effective, max(1, answers.n))


def _unmeasured(session: Session, unit: Unit) -> Statistics:
    error = unit.error or Failure(kind="none-measured", message="no steady sample was taken")
    return msgspec.structs.replace(
        _of_unit(session, unit), p90_needs=samples_needed(0.9), p99_needs=samples_needed(0.99), error=_reason(error)
    )


def _of_unit(session: Session, unit: Unit) -> Statistics:
    """What is known of the unit whatever it measured."""
    outputs = unit.outputs if unit.outputs and unit.outputs.outputs else None
    variant, model = variant_of(session, unit)
    per_call = tokens_per_call(session)
    return Statistics(
        unit=unit.name,
        variant=variant,
        model=model,
        load=session.load,
        backend=unit.backend or (session.header.model.backend if session.header else None),
        placed=unit.placed,
        provider_nodes=unit.provider_nodes,
        simulated=session.simulated,
        compile_ms=_ms(unit.compile_ns),
        cached=unit.cached,
        tokens_per_call=None if per_call is None else per_call.of(unit.name),
        load_ms=_ms(unit.load_ns),
        first_ms=_ms(unit.first_ns),
        warmup_ms=[value / NS_PER_MS for value in unit.warmup_ns],
        warmup_steady=warmed_up(session, unit),
        peak_memory_mb=unit.peak_memory_mb,
        qos=unit.qos,
        output_difference=output_difference(unit.outputs),
        output_top1=min((o.top1 for o in outputs.outputs if o.top1 is not None), default=None) if outputs else None,
        output_top5=min((o.top5 for o in outputs.outputs if o.top5 is not None), default=None) if outputs else None,
        output_not_finite=sum(output.not_finite for output in outputs.outputs) if outputs else None,
        output_reference=outputs.reference if outputs else None,
        plan=plan_summary(unit.plan),
        plan_reason=_why_no_plan(session, unit),
    )


def energy_of(session: Session, condition: Condition) -> EnergyFigures | None:
    """Energy under a condition, net of the baseline taken under the same load; None while there is no power."""
    if not session.energy.seen:
        return None
    figures = energy_figures(
        session.energy.of(condition),
        condition.active_ns,
        condition.wall.n,
        session.baselines.get(condition.key.load),
        session.energy.resolution_mj,
        validated=session.energy.validated,
        unit=split_row(condition.key.unit)[0],
        batches=session.energy.batches_of(condition),
    )
    answers = answers_of(session, condition.key.unit, condition.key.load)
    if answers is None or not answers.why_no_energy:
        return figures
    by_rail = dict.fromkeys(figures.mj_by_rail, None)
    return replace(
        figures, mj=None, net_mj=None, uncertainty=None, mj_by_rail=by_rail, batches=None, lacking=answers.why_no_energy
    )


def _idle_mw(session: Session, condition: Condition) -> dict[str, float | None]:
    baseline = session.baselines.get(condition.key.load)
    return baseline.mw if baseline is not None else {}


def _why_no_plan(session: Session, unit: Unit) -> str | None:
    """Of Core ML alone: no other framework has plans that could be missing."""
    if unit.plan is not None:
        if unit.plan.error is not None:
            return unit.plan.error.message
        return None if unit.plan.ops else "it is empty: no operation is placed"
    backend = unit.backend or (session.header.model.backend if session.header else None)
    if backend != "coreml":
        return None
    return "not read before the end" if split_row(unit.name)[1] is None else "plans of variants are not read"


def _energy_fields(energy: EnergyFigures) -> dict[str, Any]:
    return {
        "energy_mj_per_inference": energy.mj,
        "energy_net_mj_per_inference": energy.net_mj,
        "energy_coverage": energy.coverage,
        "energy_by_rail_mj": energy.mj_by_rail,
        "energy_rails": list(energy.rails) or None,
        "energy_uncertainty": energy.uncertainty,
        "energy_ci_mj": energy.interval_mj(),
        "energy_windows": energy.windows,
        "inferences_per_joule": energy.inferences_per_joule,
        "power_mean_mw": energy.mean_mw,
        "energy_reason": energy.lacking or None,
    }


def binding_overhead_ms(condition: Condition) -> float | None:
    """Mean wall less mean native time; None unless both are of the same samples."""
    native = condition.native
    if native is None or native.n != condition.wall.n or native.moments.mean_ns is None:
        return None
    return ((condition.wall.moments.mean_ns or 0.0) - native.moments.mean_ns) / NS_PER_MS


def output_difference(outputs: Outputs | None) -> float | None:
    """The largest absolute difference of any output to the reference; None where nothing was compared."""
    return max((o.max_abs for o in outputs.outputs if o.max_abs is not None), default=None) if outputs else None


def plan_summary(plan: Plan | None) -> PlanSummary | None:
    """The plan in a line; None without one."""
    if plan is None or plan.error is not None:
        return None
    return PlanSummary(
        accelerator=plan.accelerator,
        ops=plan.ops,
        fallback_ratio_count=plan.fallback_ratio_count,
        fallback_ratio_cost=plan.fallback_ratio_cost,
    )


def modes_of(series: DurationSeries) -> Modes:
    """The modes of a series, from its raw values while there are any, else from its histogram."""
    raw = series.raw()
    if raw is not None:
        return find_modes(raw)
    indices, counts = series.histogram.nonzero()
    return find_modes_weighted(bucket_middle(indices), counts)


def _shares(found: Modes, wall: DurationSeries) -> list[ModeShare]:
    stays = mode_stays(found, wall.raw())
    return [
        ModeShare(center_ms=mode.center_ns / NS_PER_MS, share=mode.share, stay_calls=stay)
        for mode, stay in zip(found.modes, stays, strict=True)
    ]


def _spikes(condition: Condition) -> Spikes:
    n = condition.known_spikes
    limit = None if n is None or condition.fence_ns is None else condition.fence_ns / NS_PER_MS
    return Spikes(n=n, fence_ms=limit, as_they_came=n)


def _if_enough(series: DurationSeries, q: float) -> float | None:
    return series.quantile_ms(q) if series.n >= samples_needed(q) else None


def _needs(n: int, q: float) -> int | None:
    needed = samples_needed(q)
    return needed if n < needed else None


def _misses(unit: Unit, condition: Condition) -> Misses | None:
    if not condition.paced:
        return None
    return Misses(n=condition.misses, limit_ms=_ms(condition.limit_ns), unfinished=unit.unfinished)


def _reason(failure: Failure | None) -> Reason | None:
    return None if failure is None else Reason(kind=failure.kind, message=failure.message, hint=failure.hint)


def _ms(nanoseconds: float | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / NS_PER_MS


class IdleGap(msgspec.Struct, frozen=True):
    """Latency of the samples after a pause of `from_ms` to `to_ms` (null: or longer), within 0.4%."""

    from_ms: float
    to_ms: float | None
    n: int
    p50_ms: float
    p90_ms: float


def idle_gap(condition: Condition) -> list[IdleGap] | None:
    """Latency against the pause before it; None where no sample came after a pause."""
    rows = condition.gaps.rows(condition.wall.histogram)
    return [IdleGap(r.from_ms, r.to_ms, r.n, r.p50_ms, r.p90_ms) for r in rows] or None


def variant_of(session: Session, unit: Unit) -> tuple[str | None, str | None]:
    """The variant of a unit that this row is, None for the unit itself, and its model where that is another one."""
    variant = split_row(unit.name)[1]
    variants = session.header.settings.get("variants") if session.header else None
    what = variants.get(variant) if isinstance(variants, dict) and variant is not None else None
    model = what.get("model") if isinstance(what, dict) else None
    return variant, model if isinstance(model, str) else None


def warmed_up(session: Session, unit: Unit) -> bool | None:
    """Whether the unit was steady when its warm-up ended; None where the warm-up was a number of calls."""
    settings = session.header.settings if session.header else {}
    if settings.get("warmup") != "auto" or not unit.warmup_ns:
        return None
    return steady_at(unit.warmup_ns) is not None


class SpikeCause(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate under one condition. `inside`: share of the spikes that count (`spikes`, at least a second apart)
    at which it was present; `outside`: what spikes as long would have at other moments of the same ten
    seconds; `p`: of so many by chance.
    """

    cause: str
    inside: float | None
    outside: float
    spikes: int
    p: float | None
    verdict: str


def spike_causes(session: Session, condition: Condition) -> list[SpikeCause]:
    """The candidates that were watched, the likeliest first."""
    return [
        SpikeCause(
            cause=row.name,
            inside=row.inside,
            outside=row.outside,
            spikes=condition.found.evidence(),
            p=row.p,
            verdict=row.verdict,
        )
        for row in cause_rows(session, condition)
    ]
