"""The view of what competing load does: each unit without load and under one load, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hettop.units import NS_PER_MS

if TYPE_CHECKING:
    # The screen imports this module before its first paint, which must not wait for the codec's libraries.
    from hettop.session.condition import Condition
    from hettop.session.session import Session

NO_LOAD = "none"
"""As `events.NO_LOAD`."""

QUANTILES = (0.5, 0.9, 0.99)
ROOM = 0.05
"""Of the axis of the distributions, left free on both sides."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with the ends of its 95% interval; None where there are too few samples for it."""

    value: float | None
    low: float | None = None
    high: float | None = None

    def is_apart_from(self, other: Estimate) -> bool | None:
        """Whether the intervals do not overlap; None where one of them has an open end in between."""
        if self.value is None or other.value is None:
            return None
        below, above = (self, other) if self.value <= other.value else (other, self)
        return None if below.high is None or above.low is None else below.high < above.low


@dataclass(frozen=True, slots=True)
class LoadFigures:
    """One unit under one load: times in ms, energy in mJ per inference."""

    n: int
    quantiles: tuple[Estimate, ...]
    throughput_per_s: float | None
    energy: Estimate
    thermal: str | None = None


@dataclass(frozen=True, slots=True)
class UnitContrast:
    """A unit without load and under the load; None where it was not measured."""

    unit: str
    without: LoadFigures | None
    under: LoadFigures | None


@dataclass(frozen=True, slots=True)
class ContrastView:
    """Every unit without load and under `load`: the active one, else the one measured last; None without any.

    rows: also of units that have not been measured, but of variants only where they have; none before the first sample.

    The distributions are of `unit`: shares of samples per column between `low_ms` and `high_ms`, each scaled so that
    its fullest is 1; empty where it was not measured. `beyond`: how many samples of both lie above `high_ms`.
    """

    load: str | None
    rows: tuple[UnitContrast, ...]
    unit: str | None
    low_ms: float = 0.0
    high_ms: float = 0.0
    without: tuple[float, ...] = ()
    under: tuple[float, ...] = ()
    beyond: int = 0


def contrast(session: Session, unit: str | None, columns: int) -> ContrastView:
    """Compare all units without load and under the active load; the distributions have so many columns."""
    from hettop.events import split_row

    measured = [condition for condition in session.conditions.values() if condition.wall.n]
    load = session.load if session.load != NO_LOAD else _last_load(measured)
    rows = []
    shown: tuple[Condition | None, Condition | None] = (None, None)
    for name in session.units:
        under = _newest([each for each in measured if each.key.unit == name and each.key.load == load])
        without = _without([each for each in measured if each.key.unit == name and each.key.load == NO_LOAD], under)
        if name == unit:
            shown = (without, under)
        if without is not None or under is not None or split_row(name)[1] is None:
            rows.append(UnitContrast(name, _figures(session, without), _figures(session, under)))
    if all(row.without is None and row.under is None for row in rows):
        rows = []
    return ContrastView(load, tuple(rows), unit, *_distributions(*shown, columns))


def _last_load(measured: Sequence[Condition]) -> str | None:
    newest = _newest([condition for condition in measured if condition.key.load != NO_LOAD])
    return None if newest is None else newest.key.load


def _newest(conditions: Sequence[Condition]) -> Condition | None:
    """The one that has the latest sample."""
    return max(conditions, key=lambda each: each.trailing.last_end_ns or -1, default=None)


def _without(idle: Sequence[Condition], under: Condition | None) -> Condition | None:
    """In the same thermal state where that was measured, else the newest."""
    alike = [each for each in idle if under is not None and each.key.thermal == under.key.thermal]
    return _newest(alike or idle)


def _figures(session: Session, condition: Condition | None) -> LoadFigures | None:
    from hettop.session.statistics import energy_of

    if condition is None:
        return None
    energy = energy_of(session, condition)
    interval = None if energy is None else energy.interval_mj()
    return LoadFigures(
        n=condition.wall.n,
        quantiles=tuple(_quantile(condition, q) for q in QUANTILES),
        throughput_per_s=condition.throughput_per_s,
        energy=Estimate(None if energy is None else energy.mj, *(interval or (None, None))),
        thermal=condition.key.thermal,
    )


def _quantile(condition: Condition, q: float) -> Estimate:
    from hettop.stats.quantiles import further_samples

    wall = condition.wall
    if further_samples(wall.n, q):
        return Estimate(None)
    effective = condition.effective_samples(q)
    interval = (None, None) if effective is None else wall.quantile_interval_ms(q, effective)
    return Estimate(wall.quantile_ms(q), *interval)


def _distributions(
    without: Condition | None, under: Condition | None, columns: int
) -> tuple[float, float, tuple[float, ...], tuple[float, ...], int]:
    """The axis in ms, both distributions on it, and how many samples are above it."""
    from hettop.session.views.units import density
    from hettop.stats.histogram import bucket_low

    series = [condition.wall for condition in (without, under) if condition is not None]
    if not series or columns < 1:
        return 0.0, 0.0, (), (), 0
    low = min(wall.histogram.quantile(0.005) or 0.0 for wall in series)
    high = max(wall.histogram.quantile(0.99) or 0.0 for wall in series)
    room = max(ROOM * (high - low), 0.02 * high)
    low, high = max(0.0, low - room), high + room
    beyond = 0
    for wall in series:
        indices, counts = wall.histogram.nonzero()
        beyond += int(counts[bucket_low(indices) > high].sum())
    shown = (density(without, low, high, columns), density(under, low, high, columns))
    return low / NS_PER_MS, high / NS_PER_MS, *shown, beyond
