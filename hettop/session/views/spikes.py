"""The view of spikes for screen and report: a list of them, and the events correlated with them.

Pure. The counts cover all of a condition; the list covers the last minute and a few spikes before it, which a replay
can rebuild at any moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hettop.units import NS_PER_MS

if TYPE_CHECKING:
    # The screen imports this module before its first paint, which must not wait for the codec's libraries.
    from hettop.session.condition import Condition, ConditionKey
    from hettop.session.session import Session

LISTED_NS = 60 * 10**9
MOST_ROWS = 256


@dataclass(frozen=True, slots=True)
class CauseRow:
    """One candidate cause under one condition.

    inside: share of the spikes at which it was present; outside: the share expected at other moments of the same ten
    seconds. p: the probability of so many by chance, None where it never occurred. verdict: as text; more: whether
    it is correlated with spikes. whose: ` in hettop's engine process`, for texts with room; empty for the machine's.
    """

    name: str
    words: str
    inside: float | None
    outside: float
    p: float | None
    verdict: str
    more: bool
    whose: str = ""


@dataclass(frozen=True, slots=True)
class SpikeRow:
    """One spike. `times_median` is its latency over the condition's median. `causes` are the events at the same time,
    first the `likely` ones that are correlated with the spikes of its condition."""

    end_ns: int
    latency_ms: float
    times_median: float | None
    unit: str
    load: str
    thermal: str | None
    causes: tuple[str, ...]
    likely: int


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What there was within a second of one spike, before and after it.

    slots: the slowest call of its unit that ended in each part of these two seconds, in ms; None where none ended.
    calls: how many ended. before_ms, after_ms: their medians; None without calls, for which `reason` then says why.
    verdicts: the candidate causes present at it, with what is to be said of each under its condition. happened: lines
    of the event log, by their distance to it in ns. power: each rail in W, of the power sample that covers it; empty
    where there was none.
    """

    row: SpikeRow
    slots: tuple[float | None, ...]
    calls: int
    before_ms: float | None
    after_ms: float | None
    reason: str
    verdicts: tuple[tuple[str, str], ...]
    happened: tuple[tuple[int, str], ...]
    power: tuple[tuple[str, float], ...]
    thermal: str | None


@dataclass(frozen=True, slots=True)
class SpikesView:
    """Spikes of all conditions, newest first, and the candidate causes under the viewed unit's active condition.

    `total` counts those of all conditions; `rows` lists the last of them. `evidence` of the condition's `n` spikes are
    at least a second apart and count. `unwatched` are the candidates that this session did not watch; `unjudged` first
    samples make the first threshold.
    """

    rows: tuple[SpikeRow, ...]
    unit: str | None
    load: str
    thermal: str | None
    n: int
    evidence: int
    threshold_ms: float | None
    causes: tuple[CauseRow, ...]
    unwatched: tuple[str, ...]
    total: int = 0
    around: Surroundings | None = None
    unjudged: int = 0


def spikes(session: Session, condition: Condition | None, unit: str | None, now_ns: int) -> SpikesView:
    """The list, and the table of `condition` (of `unit`)."""
    from hettop.session.condition import FIRST_FENCE_AT

    rows = sorted(spike_rows(session, now_ns), key=lambda row: -row.end_ns)[:MOST_ROWS]
    key = condition.key if condition is not None else None
    return SpikesView(
        rows=tuple(rows),
        unit=unit,
        load=key.load if key else session.load,
        thermal=key.thermal if key else None,
        n=condition.spikes if condition else 0,
        evidence=condition.found.evidence() if condition else 0,
        threshold_ms=condition.fence_ns / NS_PER_MS if condition and condition.fence_ns is not None else None,
        causes=cause_rows(session, condition) if condition else (),
        unwatched=unwatched(session, key) if key else (),
        total=sum(each.spikes for each in session.conditions.values()),
        unjudged=FIRST_FENCE_AT,
    )


def cause_rows(session: Session, condition: Condition) -> tuple[CauseRow, ...]:
    """The candidates that were watched, the likeliest first."""
    from hettop.session.causes import CAUSES, OF_ENGINE
    from hettop.stats.causes import Verdict

    judged = condition.found.judged(session.causes.of(condition.key.unit))
    rows = [
        CauseRow(
            name=CAUSES[cause].name,
            words=CAUSES[cause].words,
            inside=each.inside,
            outside=each.outside,
            p=each.p,
            verdict=each.verdict.value,
            more=each.verdict is Verdict.MORE,
            whose=" in hettop's engine process" if cause in OF_ENGINE else "",
        )
        for cause, each in judged.items()
    ]
    return tuple(sorted(rows, key=lambda row: (not row.more, 2.0 if row.p is None else row.p)))


def unwatched(session: Session, key: ConditionKey) -> tuple[str, ...]:
    """The candidates that were not watched."""
    from hettop.session.causes import CAUSES, IDLE

    watched = {IDLE, *(cause for marks in session.causes.of(key.unit) for cause in marks.watched)}
    return tuple(cause.words for i, cause in enumerate(CAUSES) if i not in watched)


def spike_rows(session: Session, now_ns: int, unit: str | None = None) -> list[SpikeRow]:
    """The spikes of all units, or of one."""
    from hettop.session.causes import CAUSES

    found = []
    for condition in session.conditions.values():
        if not condition.spikes or unit not in (None, condition.key.unit):
            continue
        key = condition.key
        median = condition.wall.histogram.quantile(0.5)
        likely = {row.words for row in cause_rows(session, condition) if row.more}
        for spike, present in condition.found.recent(now_ns - LISTED_NS, session.causes.of(key.unit)):
            if spike.end_ns > now_ns:
                continue
            causes = [cause.words for i, cause in enumerate(CAUSES) if present >> i & 1]
            causes.sort(key=lambda words: words not in likely)
            found.append(
                SpikeRow(
                    end_ns=spike.end_ns,
                    latency_ms=spike.latency_ns / NS_PER_MS,
                    times_median=spike.latency_ns / median if median else None,
                    unit=key.unit,
                    load=key.load,
                    thermal=key.thermal,
                    causes=tuple(causes),
                    likely=sum(words in likely for words in causes),
                )
            )
    return found
