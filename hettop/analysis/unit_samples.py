"""The material a verdict or a comparison is made of: each unit's samples under one load, pooled over thermal states.

Pure; takes them from a folded session and from whatever kept the samples in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hettop.events import NO_LOAD, Column, split_row
from hettop.session.condition import Condition, ConditionKey, DurationSeries
from hettop.session.session import Session
from hettop.stats.histogram import Histogram
from hettop.stats.moments import Moments
from hettop.stats.quantiles import quantile
from hettop.units import NS_PER_MS

Float64Array = npt.NDArray[np.float64]
InOrder = Callable[[ConditionKey, str], Column | None]
"""Gives a condition's `wall`, `native` or `response` samples (ns) in order of arrival, or None."""

WALL, NATIVE, RESPONSE = "wall", "native", "response"


@dataclass(frozen=True, slots=True)
class Measured:
    """One unit under one load. Times in ms; `samples_ms` in order of arrival, all `n` of them or evenly spaced ones.

    `series` is what the times are of: `wall`, `native` or `response`. `thermal` are the thermal states, None unknown.
    """

    unit: str
    load: str
    series: str
    n: int
    samples_ms: Float64Array
    mean_ms: float
    min_ms: float
    max_ms: float
    p50_ms: float
    p90_ms: float
    thermal: tuple[str | None, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether `samples_ms` are all samples."""
        return self.samples_ms.size == self.n


def in_order_of(session: Session) -> InOrder:
    """The samples a session itself still has; None beyond its limit of raw values."""

    def column(key: ConditionKey, name: str) -> Column | None:
        series = _series(session.conditions[key], name)
        return None if series is None else series.raw()

    return column


def loads_of(session: Session) -> list[str]:
    """The loads under which steady samples were taken, in order of first appearance."""
    return list(dict.fromkeys(key.load for key, condition in session.conditions.items() if condition.wall.n))


def main_load(session: Session) -> str:
    """The load a verdict is about unless another one is asked for: none, or the first there was."""
    loads = loads_of(session)
    return loads[0] if loads and NO_LOAD not in loads else NO_LOAD


def measured(
    session: Session, load: str, in_order: InOrder, series: str = WALL, *, variants: bool = False
) -> list[Measured]:
    """The units that have such samples under this load, in order of first appearance; with `variants`, these too.

    The clocks of a pooled condition are one after another, thermal state by thermal state.
    """
    found = []
    for unit in session.units:
        if split_row(unit)[1] is not None and not variants:
            continue
        pooled = [c for key, c in session.conditions.items() if (key.unit, key.load) == (unit, load) and c.wall.n]
        if pooled and all(_series(condition, series) is not None for condition in pooled):
            found.append(_pooled(unit, load, series, pooled, in_order))
    return found


def _series(condition: Condition, name: str) -> DurationSeries | None:
    series: DurationSeries | None = getattr(condition, name)
    return series


def _pooled(unit: str, load: str, name: str, conditions: list[Condition], in_order: InOrder) -> Measured:
    parts = [series for condition in conditions if (series := _series(condition, name)) is not None]
    moments = Moments()
    for part in parts:
        moments.merge(part.moments)
    columns = [column for condition in conditions if (column := in_order(condition.key, name)) is not None]
    samples = np.concatenate(columns) if columns else np.empty(0, dtype=np.int64)
    complete = samples.size == moments.n
    p50, p90 = (quantile(samples, q) if complete else _binned(parts, moments, q) for q in (0.5, 0.9))
    return Measured(
        unit=unit,
        load=load,
        series=name,
        n=moments.n,
        samples_ms=samples / NS_PER_MS,
        mean_ms=(moments.mean_ns or 0.0) / NS_PER_MS,
        min_ms=(moments.min_ns or 0) / NS_PER_MS,
        max_ms=(moments.max_ns or 0) / NS_PER_MS,
        p50_ms=p50 / NS_PER_MS,
        p90_ms=p90 / NS_PER_MS,
        thermal=tuple(dict.fromkeys(condition.key.thermal for condition in conditions)),
    )


def _binned(parts: Iterable[DurationSeries], moments: Moments, q: float) -> float:
    """The quantile of all samples, from their histogram."""
    histogram = Histogram()
    for part in parts:
        histogram.merge(part.histogram)
    found = histogram.quantile(q) or 0.0
    return min(max(found, moments.min_ns or 0), moments.max_ns or 0)
