"""A drift of the level in words, for report and headless table.

Pure; whether there is one is known by the fold.
"""

from __future__ import annotations

from collections.abc import Sequence

from hettop.events import NO_LOAD
from hettop.format import NS_PER_SECOND, clock, count, milliseconds, percent
from hettop.session.statistics import Statistics
from hettop.text import clean


def drift_notes(rows: Sequence[Statistics]) -> list[str]:
    """A sentence for each condition whose level has moved; nothing for the others."""
    return [_note(row, row.drift) for row in rows if row.drift is not None]


def _note(row: Statistics, drift: dict[str, float]) -> str:
    name = clean(row.unit, 30) + ("" if row.load == NO_LOAD else f" under {clean(row.load, 30)}")
    change = percent(drift["after_ms"] / drift["before_ms"] - 1, signed=True)
    moved = f"{milliseconds(drift['before_ms'])} → {milliseconds(drift['after_ms'])} ms ({change})"
    since = f"sample {count(round(drift['from_sample']))}, {clock(round(drift['from_s'] * NS_PER_SECOND))}"
    return f"{name} drifted: median {moved} from {since} on, {milliseconds(drift['now_ms'])} ms at the end"
