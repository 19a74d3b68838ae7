"""Makes the frozen views the screen draws, from a session and a request.

Pure: the same session and request give the same view, which is why replay and live cannot disagree.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hettop.events import Column, LogEntry
from hettop.session import details, machine_views
from hettop.session.condition import Condition, ConditionKey
from hettop.session.conditions_view import conditions
from hettop.session.series import NS_PER_MS
from hettop.session.session import LONGEST_WINDOW_NS, Session
from hettop.session.spikes import RECENT
from hettop.session.spikes_view import SpikesView, spikes
from hettop.session.statistics import energy_of
from hettop.session.timeline import timeline
from hettop.session.unit import Unit
from hettop.session.views import (
    HeaderView,
    LatencyView,
    SessionView,
    UnitRow,
    UnitsView,
    ViewRequest,
)
from hettop.stats.histogram import bucket_high, bucket_low
from hettop.stats.quantiles import further_samples, linear_quantiles

RATE_WINDOW_NS = 2 * 10**9
# File windows gather up to a second, so in a replay the newest samples may be that old and still be the present.
# Well beyond the second that files gather, and many times the longest latency so far.
SILENT_NS = 5 * 10**9
SILENT_FACTOR = 20
NO_ANSWER = "no answer"
SLOW_STATES = ("spawning", "compiling", "loading", "warming")
STALE_AFTER_NS = 1_500_000_000


def view(session: Session, request: ViewRequest) -> SessionView:
    """Every panel's view of `session` at `request.now_ns`."""
    unit = viewed_unit(session, request)
    return SessionView(
        header=header(session, request),
        latency=latency(session, unit, request),
        timeline=timeline(session, unit, request),
        units=units(session, request),
        power=machine_views.power(session, unit, request),
        host=machine_views.host(session),
        log=log(session, request),
        conditions=conditions(session) if request.conditions else (),
        spikes=_spikes(session, unit, request) if request.spikes else None,
        studies=session.studies.all if request.studies else (),
    )


def _spikes(session: Session, unit: str | None, request: ViewRequest) -> SpikesView:
    return spikes(session, current_condition(session, unit) if unit else None, unit, request.now_ns)


def viewed_unit(session: Session, request: ViewRequest) -> str | None:
    """The unit that was asked for, else the first active one, else the first known."""
    if request.unit is not None:
        return request.unit
    active = session.control.units if session.control else []
    return next(iter(active), next(iter(session.units), None))


def header(session: Session, request: ViewRequest) -> HeaderView:
    opening, control = session.header, session.control
    return HeaderView(
        model=(opening.model.name if opening else None) or "",
        backend=opening.model.backend if opening else None,
        chip=opening.host.chip if opening else None,
        simulated=session.simulated,
        units=tuple(control.units) if control else (),
        mode=control.mode if control else "single",
        paused=session.paused,
        elapsed_ns=request.now_ns,
        rate_per_s=_rate(session, request.now_ns),
        samples=session.samples,
        dropped=session.dropped,
        load=session.load,
        rate_hz=control.rate_hz if control else None,
        model_note=opening.model.note if opening else None,
        advised=session.advice.unit if session.advice else None,
        study=study.name if (study := session.studies.running) is not None else None,
    )


def _rate(session: Session, now_ns: int) -> float | None:
    """Steady samples a second over the last two seconds that have any."""
    ends = [condition.trailing.last_end_ns for condition in session.conditions.values()]
    newest = max((end for end in ends if end is not None), default=None)
    if newest is None or newest < now_ns - STALE_AFTER_NS or session.paused:
        return None
    counted = 0
    oldest = newest
    for condition in session.conditions.values():
        inside, latencies = condition.trailing.between(newest - RATE_WINDOW_NS, newest)
        if len(inside):
            counted += len(inside)
            oldest = min(oldest, int(inside[0] - latencies[0]))
    span = newest - oldest
    return counted / span * 1e9 if span > 0 else None


def latency(session: Session, unit: str | None, request: ViewRequest) -> LatencyView:
    """The trailing window's distribution of one unit, binned into the columns at hand."""
    window_ns = min(request.window_ns, LONGEST_WINDOW_NS)
    known = current_condition(session, unit) if unit else None
    if known is None:
        latencies: Column = np.empty(0, dtype=np.int64)
    else:
        _, latencies = known.trailing.between(request.now_ns - window_ns, request.now_ns)
    n = len(latencies)
    if n == 0:
        return LatencyView(
            unit, window_ns, 0, (0,) * request.histogram_columns, 0.0, 1.0, 0, None, None, None, None, None
        )
    smallest, p01, p50, p90, p99, largest = linear_quantiles(latencies, (0.0, 0.01, 0.5, 0.9, 0.99, 1.0))
    low, high = axis(smallest, p01, p99, largest)
    needs = further_samples(n, 0.99)
    return LatencyView(
        unit=unit,
        window_ns=window_ns,
        n=n,
        counts=_columns(latencies, low, high, request.histogram_columns),
        low_ms=low / NS_PER_MS,
        high_ms=high / NS_PER_MS,
        above=int(np.count_nonzero(latencies > high)),
        p50_ms=p50 / NS_PER_MS,
        p90_ms=p90 / NS_PER_MS,
        p99_ms=None if needs else p99 / NS_PER_MS,
        max_ms=largest / NS_PER_MS,
        p99_needs=needs or None,
    )


def _columns(latencies: Column, low: float, high: float, columns: int) -> tuple[int, ...]:
    """How many latencies fall into each of equal columns between `low` and `high`, those at `high` into the last one.

    `np.histogram` does the same, and takes six times as long for what a redraw needs.
    """
    places = ((latencies - low) * (columns / (high - low))).astype(np.int64)
    places = places[(latencies >= low) & (latencies <= high)]
    return tuple(np.bincount(np.minimum(places, columns - 1), minlength=columns).tolist())


def axis(smallest: float, p01: float, p99: float, largest: float) -> tuple[float, float]:
    """Ends of a linear axis: all but the far tail, on round numbers so that it does not twitch with every sample."""
    spread = max(p99 - p01, 0.02 * p99, 1.0)
    low = max(smallest, p01 - 0.2 * spread)
    high = min(largest, p99 + spread)
    step = _round_step((high - low) / 8 if high > low else spread / 8)
    return math.floor(low / step) * step, (math.floor(high / step) + 1) * step


def _round_step(rough: float) -> float:
    """The next larger of 1, 2 or 5 times a power of ten."""
    magnitude = 10.0 ** math.floor(math.log10(max(rough, 1e-9)))
    return next(factor * magnitude for factor in (1.0, 2.0, 5.0, 10.0) if factor * magnitude >= rough)


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
    besides = session.beside_lines.at(session, request.now_ns)
    return UnitsView(rows, low / NS_PER_MS, high / NS_PER_MS, pairs, besides)


def current_condition(session: Session, unit: str) -> Condition | None:
    """The unit's condition under the load (and thermal state) in force; else its latest under that load."""
    found = session.conditions.get(ConditionKey(unit, session.load, session.thermal))
    if found is not None:
        return found
    same_load = [c for key, c in session.conditions.items() if key.unit == unit and key.load == session.load]
    return same_load[-1] if same_load else None


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


def log(session: Session, request: ViewRequest) -> tuple[LogEntry, ...]:
    """What happened, with the latest spikes in their places, oldest first."""
    spikes = [
        _Spike(end, latency_ns, condition.key.unit)
        for condition in session.conditions.values()
        for end, latency_ns in condition.recent_spikes
        if end <= request.now_ns
    ]
    entries: list[LogEntry] = []
    between: dict[str, list[_Spike]] = {}
    happened: list[LogEntry | _Spike] = [*session.log, *spikes]
    for each in sorted(happened, key=lambda entry: entry.t):
        if isinstance(each, _Spike):
            between.setdefault(each.unit, []).append(each)
        else:
            entries += [*_told_together(between), each]
            between = {}
    return (*entries, *_told_together(between))


class _Spike(NamedTuple):
    t: int
    latency_ns: int
    unit: str


def _told_together(spikes: dict[str, list[_Spike]]) -> list[LogEntry]:
    """A line for each unit's spikes between two other events: a restless machine must not push those off the screen."""
    lines = []
    for unit, found in spikes.items():
        largest = max(spike.latency_ns for spike in found) / NS_PER_MS
        more = "+" if len(found) >= RECENT else ""  # older ones are forgotten
        text = f"spike {largest:.2f} ms"
        if len(found) > 1:
            text = f"{len(found)}{more} recent spikes, up to {largest:.2f} ms"
        lines.append(LogEntry(t=found[-1].t, level="warning", text=f"{text} {unit}", kind="spike"))
    return sorted(lines, key=lambda entry: entry.t)
