"""What is to be said of power, and of what it shows of placement, wherever a result is printed: the same sentences.

Pure; whatever came from a file is cleaned here.
"""

from __future__ import annotations

from collections.abc import Sequence

from hettop.events import NO_LOAD
from hettop.format import UNKNOWN
from hettop.session.power_summary import power_summary
from hettop.session.session import Session
from hettop.session.statistics import Statistics
from hettop.text import clean

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
