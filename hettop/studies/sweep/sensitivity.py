"""How sensitive each unit is to each competing load: ratios of P50 and P90 to those without load."""

from __future__ import annotations

import numpy as np

from hettop.analysis.comparison import LEAST_EFFECTIVE
from hettop.analysis.quantile_differences import QuantileDifference, quantile_differences
from hettop.analysis.runs import LEVELS
from hettop.analysis.unit_samples import Measured, in_order_of, loads_of, measured
from hettop.events import NO_LOAD
from hettop.session.session import Session
from hettop.stats.quantiles import samples_needed
from hettop.stats.resampling import MIN_SAMPLES, SEED, dependence_time
from hettop.studies.sweep.result import Sensitivity

RATIOS = ("p50", "p90")


def sensitivities(session: Session, *, certain: bool = True) -> list[Sensitivity]:
    """Of each unit under each load, the most sensitive by P50 first; thermal states are pooled.

    certain: whether to work out intervals, which takes long. P90 needs `samples_needed` on both sides.
    """
    in_order = in_order_of(session)
    idle = {each.unit: each for each in measured(session, NO_LOAD, in_order, variants=True)}
    loads = [load for load in loads_of(session) if load != NO_LOAD]
    busy = [each for load in loads for each in measured(session, load, in_order, variants=True)]
    pairs = [
        (idle[each.unit], each)
        for each in busy
        if each.unit in idle and min(each.n, idle[each.unit].n) >= MIN_SAMPLES and idle[each.unit].p50_ms > 0
    ]
    found = [_sensitivity(*pair, looked_at=len(RATIOS) * len(pairs) if certain else None) for pair in pairs]
    return sorted(found, key=lambda each: -each.p50_ratio)


def _sensitivity(idle: Measured, busy: Measured, looked_at: int | None) -> Sensitivity:
    enough = min(idle.n, busy.n) >= samples_needed(LEVELS["p90"])
    names = RATIOS if enough else RATIOS[:1]
    found: dict[str, QuantileDifference] = {}
    if looked_at is not None and min(_effective(idle), _effective(busy)) >= LEAST_EFFECTIVE:
        rng = np.random.default_rng(SEED)
        found = quantile_differences(idle.samples_ms, busy.samples_ms, names, 0.0, rng, looked_at=looked_at)
    return Sensitivity(
        unit=busy.unit,
        load=busy.load,
        n=busy.n,
        idle_n=idle.n,
        p50_ratio=busy.p50_ms / idle.p50_ms,
        p50_ci=_ratios(found.get("p50")),
        p90_ratio=busy.p90_ms / idle.p90_ms if enough else None,
        p90_ci=_ratios(found.get("p90")),
    )


def _effective(each: Measured) -> float:
    """Independent samples that those are worth; 0 where they were not all kept in order."""
    return each.n / dependence_time(each.samples_ms, 0.5) if each.complete else 0.0


def _ratios(found: QuantileDifference | None) -> tuple[float, float] | None:
    return None if found is None else (1 + found.change_ci[0], 1 + found.change_ci[1])
