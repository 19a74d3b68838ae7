"""Notes below a result: on power and placement, on a drift of the level, on a clock that became slower.

Pure; whatever came from a file is cleaned here.
"""

from __future__ import annotations

from collections.abc import Sequence

from hettop.events import NO_LOAD
from hettop.format import UNKNOWN, clock, count, milliseconds, percent
from hettop.session.power_summary import power_summary
from hettop.session.session import Session
from hettop.session.statistics import Statistics
from hettop.stats.clock import has_lost
from hettop.text import clean
from hettop.units import NS_PER_S

CORE_ML = "coreml"


def power_line(session: Session) -> list[str]:
    """Why there is no power of this run, and what mends that, or that power was told of twice; else nothing."""
    line = power_summary(session).line
    return [*([] if line is None else [clean(line, 400)]), *_overlap_notes(session)]


def energy_notes(rows: Sequence[Statistics]) -> list[str]:
    """Why some have no energy although there was power."""
    return [f"mJ/inf {UNKNOWN} of {name(row)}: {clean(row.energy_reason)}" for row in rows if row.energy_reason]


def evidence_notes(rows: Sequence[Statistics]) -> list[str]:
    """What each unit's plan claims beside what the rails drew; why there is no plan; why no native time."""
    found = [f"{name(row)}: {clean(row.evidence, 300)}" for row in rows if row.n and row.evidence]
    by_unit = {row.unit: row for row in rows if row.n}
    for unit, row in by_unit.items():
        if row.plan_reason and not row.evidence:  # which says it
            found.append(f"{clean(unit, 30)}: no plan: {clean(row.plan_reason)}")
    silent = [name(row) for row in rows if row.n and row.native_mean_ms is None and row.backend == CORE_ML]
    if silent:
        why = "this coremltools does not tell them, or told some that cannot be"
        found.append(f"native times of {', '.join(silent)} are missing: {why}")
    return found


def power_notes(session: Session, rows: Sequence[Statistics]) -> list[str]:
    """All of it, most important first."""
    return [*power_line(session), *energy_notes(rows), *evidence_notes(rows)]


def _overlap_notes(session: Session) -> list[str]:
    """How many power samples told of time that others had told of."""
    n = session.energy.overlapping
    return [f"{n:,} power samples tell of time that others had told of: each moment is counted once"] if n else []


def name(row: Statistics) -> str:
    """The unit, with its load where there is one."""
    return clean(row.unit, 30) if row.load == NO_LOAD else f"{clean(row.unit, 30)} under {clean(row.load, 30)}"


def drift_notes(rows: Sequence[Statistics]) -> list[str]:
    """A sentence for each condition whose level has moved; nothing for the others."""
    return [_note(row, row.drift) for row in rows if row.drift is not None]


def _note(row: Statistics, drift: dict[str, float]) -> str:
    name = clean(row.unit, 30) + ("" if row.load == NO_LOAD else f" under {clean(row.load, 30)}")
    change = percent(drift["after_ms"] / drift["before_ms"] - 1, signed=True)
    moved = f"{milliseconds(drift['before_ms'])} → {milliseconds(drift['after_ms'])} ms ({change})"
    since = f"sample {count(round(drift['from_sample']))}, {clock(round(drift['from_s'] * NS_PER_S))}"
    return f"{name} drifted: median {moved} from {since} on, {milliseconds(drift['now_ms'])} ms at the end"


def clock_notes(session: Session) -> list[str]:
    """A sentence if the clock was slower at the end of something measured than at its beginning; else nothing."""
    worst = session.canary.worst
    if worst is None or not has_lost(worst[1]):
        return []
    situation, loss = worst
    units = ", ".join(clean(unit, 30) for unit in situation.units) or "nothing"
    load = "" if situation.load == NO_LOAD else f" under {clean(situation.load, 40)}"
    return [
        f"this machine's clock is {percent(loss)} slower than when the session began to measure {units}{load}: the "
        "canary's fixed work takes that much longer, so part of what changed may be the machine's doing"
    ]
