"""What `hettop coexec` found, as one line of the stream tells it: figures, units, and the rates of the last rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hettop.studies.coexec.rates import Energy
from hettop.studies.coexec.result import CoexecResult
from hettop.studies.result import ROWS_LIMIT
from hettop.studies.texts import number, short

MOST_ROUNDS = 120
"""Kept of the course: every keyframe repeats them, and a screen has no more columns."""

MOST_NOTES = 6
NUMBERS = ("together_per_s", "ideal_per_s", "gain", "of_ideal", "p50_ms", "p90_ms", "block_ms", "mean_mw")
AS_THEY_ARE = ("in_order", "delivered", "max_reorder", "depth", "steals", "redone", "rounds", "p90_needs")
TEXTS = ("best", "gain_why", "energy_why", "power_source")
COURSES = ("together_by_round", "best_by_round", "ideal_by_round")


def found(document: Mapping[str, Any]) -> CoexecResult:
    """Raises ValueError and such for what is no such document."""
    raw = {
        "of": "coexec",
        "units": [_worker(unit) for unit in document["units"][:ROWS_LIMIT]],
        "energy_mj": number(document["energy_mj_per_inference"]),
        "notes": [short(text) for text in document["notes"][:MOST_NOTES]],
        **{name: number(document[name]) for name in NUMBERS},
        **{name: document[name] for name in AS_THEY_ARE},
        **{name: short(document[name]) for name in TEXTS},
        **{name: _course(document[name]) for name in COURSES},
    }
    return CoexecResult.from_line(raw)


def together_ns(document: Mapping[str, Any]) -> list[tuple[int, int]]:
    """When all units of the last blocks worked at the same time, on the machine's monotonic clock."""
    return [(int(since), int(until)) for since, until in document["together_ns"]]


def with_energy(found: CoexecResult, energy: Energy) -> CoexecResult:
    """The same with the energy that somebody else measured."""
    return msgspec.structs.replace(
        found,
        energy_mj=number(energy.mj),
        energy_why=short(energy.why) if energy.mj is None else None,
        mean_mw=number(energy.mw),
        power_source=short(energy.source),
    )


def _worker(unit: Mapping[str, Any]) -> dict[str, Any]:
    error = unit["error"]
    return {
        "unit": short(unit["unit"]),
        "alone_per_s": number(unit["alone_per_s"]),
        "together_per_s": number(unit["together_per_s"]),
        "share": number(unit["share"]),
        "redone": unit["redone"],
        "placed": short(unit["placed"]),
        "error": None if error is None else short(error["message"]),
    }


def _course(rates: Sequence[float | None]) -> list[float | None]:
    return [number(rate) for rate in rates[-MOST_ROUNDS:]]
