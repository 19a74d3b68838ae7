"""The units view: a row for each unit under the load in force, comparable with each other.

Knows what is known of units, and nothing of how a table looks.
"""

from __future__ import annotations

import numpy as np

from hettop.session import details
from hettop.session.beside import sentence
from hettop.session.condition import Condition
from hettop.session.session import Session, current_condition
from hettop.session.statistics import energy_of
from hettop.session.unit import Unit
from hettop.session.views import UnitRow, UnitsView, ViewRequest
from hettop.stats.histogram import bucket_high, bucket_low
from hettop.units import NS_PER_MS

SILENT_NS = 5 * 10**9
SILENT_FACTOR = 20
"""Without a sample for this long, and for so many times the longest latency so far, a unit gives no answer: well
beyond the second that a recording's lines gather."""

NO_ANSWER = "no answer"
SLOW_STATES = ("spawning", "compiling", "loading", "warming")


def units(session: Session, request: ViewRequest) -> UnitsView:
    """A row per unit under the load now in force."""
    chosen = {name: current_condition(session, name) for name in session.units}
    measured = [condition for condition in chosen.values() if condition is not None and condition.wall.n]
    usable = [condition for condition in measured if details.is_usable(session.units[condition.key.unit])]
    best = min((condition.wall.moments.mean_ns or 0.0 for condition in usable), default=None)
    low, high = _violin_axis(measured)
    active = session.control.units if session.control else []
    rows = tuple(
        _row(session, request, chosen[name], unit=unit, active=name in active, best_mean=best, axis_ns=(low, high))
        for name, unit in session.units.items()
    )
    absent = session.header.settings.get("absent", {}) if session.header else {}
    pairs = tuple((str(name), str(why)) for name, why in absent.items()) if isinstance(absent, dict) else ()
    besides = tuple(sentence(each) for each in session.comparisons.at(session, request.now_ns))
    return UnitsView(rows, low / NS_PER_MS, high / NS_PER_MS, pairs, besides)


def _row(
    session: Session,
    request: ViewRequest,
    condition: Condition | None,
    *,
    unit: Unit,
    active: bool,
    best_mean: float | None,
    axis_ns: tuple[float, float],
) -> UnitRow:
    wall = condition.wall if condition is not None and condition.wall.n else None
    moments = wall.moments if wall else None
    mean = moments.mean_ns if moments else None
    energy = energy_of(session, condition) if condition is not None and wall is not None else None
    baseline = session.baselines.get(session.load)
    frames = session.canary.conditions.get(condition.key) if condition is not None else None
    state = _state(unit, condition if active and _runs_alone(session) else None, request.now_ns)
    return UnitRow(
        unit=unit.name,
        state=state,
        waiting=unit.state in SLOW_STATES or state.startswith(NO_ANSWER),
        active=active,
        n=moments.n if moments else 0,
        mean_ms=_ms(mean),
        std_ms=_ms(moments.std_ns if moments else None),
        min_ms=_ms(moments.min_ns if moments else None),
        p50_ms=wall.quantile_ms(0.5) if wall else None,
        p90_ms=wall.quantile_ms(0.9) if wall else None,
        max_ms=_ms(moments.max_ns if moments else None),
        throughput_per_s=condition.throughput_per_s if condition else None,
        difference=mean / best_mean - 1 if mean and best_mean and details.is_usable(unit) else None,
        spikes=condition.spikes if condition else 0,
        placed=unit.placed,
        error=unit.error,
        energy_mj=energy.mj if energy else None,
        warning=details.warning(unit.outputs),
        details=details.details(unit, condition, energy, baseline.mw if baseline else {}, frames),
        violin=density(condition, *axis_ns, request.violin_columns),
    )


def _state(unit: Unit, condition: Condition | None, now_ns: int) -> str:
    """The engine's state, in the words a row shows: one that never ran has not stopped; a slow one says how long."""
    if unit.state == "stopped" and unit.load_ns is None:
        return "not loaded"
    if unit.state in SLOW_STATES:
        seconds = max(0, now_ns - unit.since_ns) // 10**9
        return f"{unit.state} {seconds // 60}:{seconds % 60:02}" if seconds else unit.state
    if unit.state == "running" and (silent_s := _silent_s(unit, condition, now_ns)) is not None:
        return f"{NO_ANSWER} for {silent_s // 60}:{silent_s % 60:02}"
    return unit.state


def _runs_alone(session: Session) -> bool:
    """Whether the active unit has no other's turn to wait for."""
    return session.control is not None and session.control.mode != "interleave" and not session.paused


def _silent_s(unit: Unit, condition: Condition | None, now_ns: int) -> int | None:
    """Seconds without a sample of a unit that runs, once they are many times its longest latency; else None."""
    if unit.last_end_ns is None or condition is None or not condition.wall.n:
        return None
    silent_ns = now_ns - max(unit.last_end_ns, unit.since_ns)
    usual_ns = SILENT_FACTOR * (condition.wall.moments.max_ns or 0)
    return silent_ns // 10**9 if silent_ns > max(SILENT_NS, usual_ns) else None


def _ms(nanoseconds: float | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / NS_PER_MS


def _violin_axis(measured: list[Condition]) -> tuple[float, float]:
    """One axis for all rows, so that they can be compared: from the fastest to the slowest unit's P99."""
    lows = [condition.wall.histogram.quantile(0.005) or 0.0 for condition in measured]
    highs = [condition.wall.histogram.quantile(0.99) or 0.0 for condition in measured]
    if not lows:
        return 0.0, NS_PER_MS
    low, high = min(lows), max(highs)
    margin = max(0.05 * (high - low), 0.02 * high)
    return max(0.0, low - margin), high + margin


def density(condition: Condition | None, low: float, high: float, columns: int) -> tuple[float, ...]:
    """Share of samples per column between `low` and `high` (ns), scaled so that the fullest is 1.

    Each bucket's count is spread evenly over its width; at its middle alone, columns about as wide as buckets would
    show a comb.
    """
    if condition is None or columns < 1 or not condition.wall.n:
        return ()
    indices, counts = condition.wall.histogram.nonzero()
    edges = np.column_stack((bucket_low(indices), bucket_high(indices))).ravel()
    below = np.repeat(np.concatenate(([0], np.cumsum(counts))), 2)[1:-1]
    binned = np.diff(np.interp(np.linspace(low, high, columns + 1), edges, below))
    top = float(binned.max())
    return tuple((binned / top).tolist()) if top > 0 else ()
