"""What the screen draws of units under loads: a row for each condition, and what each load does to each unit.

Pure, and cheap enough for every frame: figures come from running sums and histograms, not from raw samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hettop.units import NS_PER_MS

NO_LOAD = "none"
"""As `events.NO_LOAD`, which would have the first paint of the screen wait for the codec."""

if TYPE_CHECKING:
    # The screen imports this module for its first paint, which must not wait for the codec's libraries.
    from hettop.session.condition import Condition
    from hettop.session.session import Session

MOST_ROWS = 64


@dataclass(frozen=True, slots=True)
class ConditionRow:
    """One unit under one load in one thermal state; times in ms, energy in mJ an inference, None where unknown.

    current: whether samples of a unit in use go here now. p90_change: relative, against the same unit without load, in
    the same thermal state where that was measured, else in the first it was measured in.
    """

    unit: str
    load: str
    thermal: str | None
    current: bool
    n: int
    p50_ms: float | None
    p90_ms: float | None
    p99_ms: float | None
    max_ms: float | None
    throughput_per_s: float | None
    energy_mj: float | None
    p90_change: float | None


def conditions(session: Session) -> tuple[ConditionRow, ...]:
    """A row for each condition that has samples, units in the order they came, without load first."""
    measured = [condition for condition in session.conditions.values() if condition.wall.n]
    order = {unit: i for i, unit in enumerate(session.units)}
    measured.sort(key=lambda each: (order.get(each.key.unit, len(order)), each.key.load != NO_LOAD))
    idle = _without_load(measured)
    return tuple(_row(session, condition, idle) for condition in measured[:MOST_ROWS])


def _without_load(measured: list[Condition]) -> dict[tuple[str, str | None], float]:
    """P90 of each unit without load by thermal state; under (unit, None) also that of the first state."""
    found: dict[tuple[str, str | None], float] = {}
    for condition in measured:
        p90 = condition.wall.quantile_ms(0.9)
        if condition.key.load == NO_LOAD and p90:
            found.setdefault((condition.key.unit, condition.key.thermal), p90)
            found.setdefault((condition.key.unit, None), p90)
    return found


def _row(session: Session, condition: Condition, idle: dict[tuple[str, str | None], float]) -> ConditionRow:
    from hettop.session.statistics import energy_of
    from hettop.stats.quantiles import further_samples

    key, wall = condition.key, condition.wall
    p90 = wall.quantile_ms(0.9)
    before = idle.get((key.unit, key.thermal), idle.get((key.unit, None)))
    active = session.control.units if session.control and not session.paused else []
    energy = energy_of(session, condition)
    return ConditionRow(
        unit=key.unit,
        load=key.load,
        thermal=key.thermal,
        current=key.unit in active and key.load == session.load and key.thermal == session.thermal,
        n=wall.n,
        p50_ms=wall.quantile_ms(0.5),
        p90_ms=p90,
        p99_ms=None if further_samples(wall.n, 0.99) else wall.quantile_ms(0.99),
        max_ms=None if wall.moments.max_ns is None else wall.moments.max_ns / NS_PER_MS,
        throughput_per_s=condition.throughput_per_s,
        energy_mj=energy.mj if energy else None,
        p90_change=p90 / before - 1 if p90 and before and key.load != NO_LOAD else None,
    )
