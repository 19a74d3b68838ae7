"""What follows from the rows: the line of time against MACs, and the Pareto front of accuracy and rate."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import numpy as np

from hettop.analysis.pareto import pareto_front
from hettop.studies.embench.result import EmBenchResult, NetRow, OpShares, TimeFit

LEAST_NETWORKS = 3
"""Through two points there is always a line."""


def embench_result(rows: Sequence[NetRow], shares: Sequence[OpShares], notes: Sequence[str] = ()) -> EmBenchResult:
    """The rows with their residuals, and figures 1 and 3 of the paper, for each unit."""
    units = list(dict.fromkeys(row.unit for row in rows))
    fits = [fit for unit in units if (fit := time_fit([row for row in rows if row.unit == unit])) is not None]
    by_unit = {fit.unit: fit for fit in fits}
    return EmBenchResult(
        rows=[_with_residual(row, by_unit.get(row.unit)) for row in rows],
        fits=fits,
        front={unit: names for unit in units if (names := accuracy_front([row for row in rows if row.unit == unit]))},
        shares=list(shares),
        notes=list(notes),
    )


def time_fit(rows: Sequence[NetRow]) -> TimeFit | None:
    """The line through the networks of one unit at batch 1 on logarithmic axes; None with fewer than three."""
    found = [(row.network, row.macs, row.min_ms) for row in rows if row.batch == 1 and row.macs and row.min_ms]
    if len({macs for _, macs, _ in found}) < LEAST_NETWORKS:
        return None
    x = np.log([macs / 1e9 for _, macs, _ in found])
    y = np.log([time for _, _, time in found])
    exponent, intercept = np.polyfit(x, y, 1)
    off = y - (exponent * x + intercept)
    spread = float(((y - y.mean()) ** 2).sum())
    worst = int(np.argmax(np.abs(off)))
    return TimeFit(
        unit=rows[0].unit,
        networks=len(found),
        exponent=float(exponent),
        factor_ms=math.exp(float(intercept)),
        r2=min(1.0, max(0.0, 1 - float((off**2).sum()) / spread)) if spread else 1.0,
        worst=found[worst][0],
        worst_factor=math.exp(float(off[worst])),
    )


def expected_ms(fit: TimeFit, macs: int) -> float:
    """The time that the fitted line gives."""
    return float(fit.factor_ms * (macs / 1e9) ** fit.exponent)


def _with_residual(row: NetRow, fit: TimeFit | None) -> NetRow:
    if fit is None or row.batch != 1 or not row.min_ms or not row.macs:
        return row
    return msgspec.structs.replace(row, residual=row.min_ms / expected_ms(fit, row.macs))


def best_rates(rows: Sequence[NetRow]) -> list[NetRow]:
    """Of each network the row with the most items per second, in the order of the networks."""
    best: dict[str, NetRow] = {}
    for row in rows:
        before = best.get(row.network)
        if row.items_per_s and (before is None or row.items_per_s > (before.items_per_s or 0)):
            best[row.network] = row
    return list(best.values())


def accuracy_front(rows: Sequence[NetRow]) -> list[str]:
    """The networks of one unit that no other beats in both published accuracy and items per second, fastest first."""
    known = [row for row in best_rates(rows) if row.top1_percent is not None]
    if not known:
        return []
    costs = np.array([[-(row.items_per_s or 0.0), -(row.top1_percent or 0.0)] for row in known])
    kept = [row for row, stays in zip(known, pareto_front(costs), strict=True) if stays]
    return [row.network for row in sorted(kept, key=lambda row: -(row.items_per_s or 0.0))]
