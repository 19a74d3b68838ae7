"""The statistics object: what is said of one unit under one load, the same in live, replay, JSON and table.

Pure; unknown is None, never 0, and a percentile with too few samples behind it is None with what it needs.
"""

from __future__ import annotations

import msgspec

from hettop.events import Failure
from hettop.session.condition import Condition
from hettop.session.series import NS_PER_MS, Series
from hettop.session.session import Session
from hettop.session.unit import Unit
from hettop.stats.histogram import bucket_middle
from hettop.stats.modes import Modes, find_modes, find_modes_weighted
from hettop.stats.quantiles import samples_needed
from hettop.stats.spikes import fence


class Spikes(msgspec.Struct, frozen=True, kw_only=True):
    """How many samples lie above the fence of the whole distribution, and where it stands; both unknown without one."""

    n: int | None
    fence_ms: float | None


class ModeShare(msgspec.Struct, frozen=True, kw_only=True):
    """One mode: where it is and the share of samples in it."""

    center_ms: float
    share: float


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


class Statistics(msgspec.Struct, frozen=True, kw_only=True):
    """One unit under one load. Times in ms, memory in MB, energy in mJ; std is population std."""

    unit: str
    load: str
    thermal: str | None = None
    backend: str | None = None
    placed: str | None = None
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
    p90_needs: int | None = None
    p99_needs: int | None = None
    throughput_per_s: float | None = None
    spikes: Spikes | None = None
    modes: list[ModeShare] | None = None
    modes_tentative: bool | None = None
    drift: dict[str, float] | None = None
    steady_from: int | None = None
    load_ms: float | None = None
    first_ms: float | None = None
    warmup_ms: list[float] = []
    native_mean_ms: float | None = None
    native_p90_ms: float | None = None
    deadline_misses: Misses | None = None
    response_p50_ms: float | None = None
    response_p90_ms: float | None = None
    energy_mj_per_inference: float | None = None
    energy_net_mj_per_inference: float | None = None
    energy_coverage: float | None = None
    canary_missed: int | None = None
    output_difference: float | None = None
    peak_memory_mb: float | None = None
    error: Reason | None = None


def statistics(session: Session) -> list[Statistics]:
    """One object per unit and condition, in order of first appearance; a unit without samples has one with n = 0."""
    found = []
    for unit in session.units.values():
        conditions = [c for key, c in session.conditions.items() if key.unit == unit.name and c.wall.n]
        if conditions:
            found += [_measured(session, unit, condition) for condition in conditions]
        else:
            found.append(_unmeasured(session, unit))
    return found


def _measured(session: Session, unit: Unit, condition: Condition) -> Statistics:
    wall = condition.wall
    moments = wall.moments
    modes = modes_of(wall)
    return Statistics(
        unit=unit.name,
        load=condition.key.load,
        thermal=condition.key.thermal,
        backend=unit.backend or (session.header.model.backend if session.header else None),
        placed=unit.placed,
        simulated=session.simulated,
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
        p90_ci_ms=wall.quantile_interval_ms(0.9),
        p90_needs=_needs(wall.n, 0.9),
        p99_needs=_needs(wall.n, 0.99),
        throughput_per_s=condition.throughput_per_s,
        spikes=spikes_of(wall),
        modes=[ModeShare(center_ms=m.center_ns / NS_PER_MS, share=m.share) for m in modes.modes],
        modes_tentative=modes.tentative,
        load_ms=_ms(unit.load_ns),
        first_ms=_ms(unit.first_ns),
        warmup_ms=[value / NS_PER_MS for value in unit.warmup_ns],
        native_mean_ms=_ms(condition.native.moments.mean_ns) if condition.native else None,
        native_p90_ms=condition.native.quantile_ms(0.9) if condition.native else None,
        deadline_misses=_misses(unit, condition),
        response_p50_ms=condition.response.quantile_ms(0.5) if condition.response else None,
        response_p90_ms=condition.response.quantile_ms(0.9) if condition.response else None,
        peak_memory_mb=unit.peak_memory_mb,
        error=_reason(unit.error),
    )


def _unmeasured(session: Session, unit: Unit) -> Statistics:
    error = unit.error or Failure(kind="none-measured", message="no steady sample was taken")
    return Statistics(
        unit=unit.name,
        load=session.load,
        backend=unit.backend or (session.header.model.backend if session.header else None),
        placed=unit.placed,
        simulated=session.simulated,
        p90_needs=samples_needed(0.9),
        p99_needs=samples_needed(0.99),
        load_ms=_ms(unit.load_ns),
        first_ms=_ms(unit.first_ns),
        warmup_ms=[value / NS_PER_MS for value in unit.warmup_ns],
        peak_memory_mb=unit.peak_memory_mb,
        error=_reason(error),
    )


def modes_of(series: Series) -> Modes:
    """The modes of a series, from its raw values while there are any, else from its histogram."""
    raw = series.raw()
    if raw is not None:
        return find_modes(raw)
    indices, counts = series.histogram.nonzero()
    return find_modes_weighted(bucket_middle(indices), counts)


def spikes_of(series: Series) -> Spikes:
    """Samples above the fence of the whole series; while there are too few for a fence nobody knows."""
    raw = series.raw()
    limit = fence(series.histogram if raw is None else raw)
    if limit is None:
        return Spikes(n=None, fence_ms=None)
    above = series.histogram.count_above(limit) if raw is None else int((raw > limit).sum())
    return Spikes(n=above, fence_ms=limit / NS_PER_MS)


def _if_enough(series: Series, q: float) -> float | None:
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
