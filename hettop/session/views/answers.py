"""The view of a token stream: first tokens and later ones, latency by position, rates, and stalls with their events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hettop.session.views.spikes import SpikeRow, spike_rows
from hettop.units import NS_PER_MS, NS_PER_S

if TYPE_CHECKING:
    # The screen imports this module before its first paint, which must not wait for the codec's libraries.
    from hettop.session.answers import Answers, Octave
    from hettop.session.condition import Condition
    from hettop.session.session import Session

NOW_NS = 2 * NS_PER_S
"""Tokens of the last two seconds give the present rate."""

COLUMNS = 30
"""Cells of a distribution, in equal steps of the logarithm."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """Times in ms; None where there are too few. `counts` between `low_ms` and `high_ms`, in equal steps of the log."""

    n: int
    p50_ms: float | None = None
    p90_ms: float | None = None
    p99_ms: float | None = None
    max_ms: float | None = None
    low_ms: float = 0.0
    high_ms: float = 0.0
    counts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswersView:
    """The answers of `unit` under `load`. Rates are tokens per second, energy is mJ per token after the first.

    stalls: gaps above the spike threshold, newest first, with the events at the same time. canary: 60 Hz frames missed,
    and due, while the unit ran under this load.
    """

    unit: str
    load: str
    n: int
    failed: int
    last_error: str
    chunks: int
    several: int
    without_gaps: int
    first: Distribution
    later: Distribution
    by_position: tuple[Octave, ...]
    now_per_s: float | None
    answer_per_s: float | None
    mj_per_token: float | None
    why_no_energy: str
    canary: tuple[int, int] | None
    stalls: tuple[SpikeRow, ...]


def answers_view(session: Session, unit: str | None, now_ns: int) -> AnswersView | None:
    """Of the viewed unit under the active load, or of the first one where none is viewed alone.

    None for a session of single calls, and before the first answer.
    """
    from hettop.events import FIRST_TOKENS, row_name
    from hettop.session.session import current_condition
    from hettop.session.statistics import energy_of

    name = (unit or "").removesuffix(row_name("", FIRST_TOKENS))
    found = session.answers.get((name, session.load)) or next(
        (each for key, each in session.answers.items() if key[0] == name or not name), None
    )
    if found is None:
        return None
    later = current_condition(session, found.unit)
    first = current_condition(session, row_name(found.unit, FIRST_TOKENS))
    energy = None if later is None else energy_of(session, later)
    return AnswersView(
        unit=found.unit,
        load=found.load,
        n=found.n,
        failed=found.failed,
        last_error=found.last_error,
        chunks=found.chunks,
        several=found.several,
        without_gaps=found.without_gaps,
        first=_distribution(first),
        later=_distribution(later),
        by_position=tuple(found.by_position()),
        now_per_s=None if found.several or found.without_gaps else _now(session, (later, first), now_ns),
        answer_per_s=_over_answers(found),
        mj_per_token=None if energy is None else energy.mj,
        why_no_energy="" if energy is None else energy.lacking,
        canary=_canary(session, later),
        stalls=tuple(sorted(spike_rows(session, now_ns, found.unit), key=lambda row: -row.end_ns)),
    )


def _distribution(condition: Condition | None) -> Distribution:
    import numpy as np

    from hettop.stats.histogram import bucket_middle
    from hettop.stats.quantiles import samples_needed

    if condition is None or not condition.wall.n:
        return Distribution(0)
    wall = condition.wall
    buckets, counts = wall.histogram.nonzero()
    middles = np.log(np.maximum(bucket_middle(buckets), 1.0))
    low, high = float(middles[0]), float(middles[-1])
    cells = np.zeros(COLUMNS, dtype=np.int64)
    at = (
        np.zeros(middles.size, int)
        if high <= low
        else ((middles - low) / (high - low) * (COLUMNS - 1)).round().astype(int)
    )
    np.add.at(cells, at, counts)
    p90, p99 = (wall.quantile_ms(q) if wall.n >= samples_needed(q) else None for q in (0.9, 0.99))
    return Distribution(
        n=wall.n,
        p50_ms=wall.quantile_ms(0.5),
        p90_ms=p90,
        p99_ms=p99,
        max_ms=(wall.moments.max_ns or 0) / NS_PER_MS,
        low_ms=float(np.exp(low)) / NS_PER_MS,
        high_ms=float(np.exp(high)) / NS_PER_MS,
        counts=tuple(cells.tolist()),
    )


def _now(session: Session, conditions: tuple[Condition | None, ...], now_ns: int) -> float | None:
    """Tokens that came in the last seconds; None while nothing runs."""
    if session.paused:
        return None
    counted = sum(
        len(condition.trailing.between(now_ns - NOW_NS, now_ns)[0]) for condition in conditions if condition is not None
    )
    return counted * NS_PER_S / NOW_NS if counted else None


def _over_answers(found: Answers) -> float | None:
    from hettop.stats.quantiles import quantile

    rates = [rate for each in found.recent if (rate := each.tokens_per_s) is not None]
    return quantile(rates, 0.5) if rates else None


def _canary(session: Session, condition: Condition | None) -> tuple[int, int] | None:
    frames = None if condition is None else session.canary.conditions.get(condition.key)
    return None if frames is None else (frames.missed, frames.due)
