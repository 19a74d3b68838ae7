"""What the statistics object holds beside a distribution: idle gaps, causes of spikes, variants, end of the warm-up."""

from __future__ import annotations

import msgspec

from hettop.events import split_row
from hettop.session.condition import Condition
from hettop.session.session import Session
from hettop.session.spikes_view import cause_rows
from hettop.session.unit import Unit
from hettop.stats.steady import steady_at


class IdleGap(msgspec.Struct, frozen=True):
    """Latency of the samples after a pause of `from_ms` to `to_ms` (null: or longer), within 0.4 %."""

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
    told = session.header.settings.get("variants") if session.header else None
    what = told.get(variant) if isinstance(told, dict) and variant is not None else None
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
    at which it was present; `outside`: what spikes as long would have at all other moments; `p`: of so many by chance.
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
