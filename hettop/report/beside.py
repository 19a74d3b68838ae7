"""What stands beside a row: its variants, with how much faster or slower they are; and latency against idle time.

Pure text and plain data; numbers come from the session.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hettop.format import count, milliseconds
from hettop.report.page import Block, Paragraph, Table
from hettop.session.beside import beside, sentence
from hettop.session.session import Session
from hettop.session.statistics import IdleGap, Statistics
from hettop.text import clean

SIDE_BY_SIDE = ("unit", "load")
GAP_HEADING = ("unit", "load", "idle before, ms", "n", "P50", "P90")
FEW = 8
"""Bins of fewer samples are in JSON alone: their P90 is their slowest sample."""


def beside_notes(session: Session) -> list[str]:
    """A sentence on each variant, and what the variants are."""
    told = session.header.settings.get("variants") if session.header else None
    what = told if isinstance(told, dict) else {}
    known = {str(name): each.get("words") for name, each in what.items() if isinstance(each, dict)}
    notes = [f"~{clean(name, 20)}: {clean(str(words), 120)}" for name, words in known.items() if words]
    return notes + [clean(sentence(each), 300) for each in beside(session)]


def beside_document(session: Session) -> list[dict[str, Any]]:
    """The same for programs; empty without variants."""
    return [
        {
            "unit": each.unit,
            "variant": each.variant,
            "load": each.load,
            "thermal": each.thermal,
            "n": list(each.n),
            "change": {
                level: {"share": change.share, "ci": [change.low, change.high]}
                for level, change in each.changes.items()
            },
        }
        for each in beside(session)
    ]


def gap_rows(rows: Sequence[Statistics]) -> list[tuple[str, ...]]:
    """A row for each bin of pauses, where calls came at a rate; elsewhere, pauses are the scheduler's."""
    if not any(row.deadline_misses for row in rows):
        return []
    return [
        (clean(row.unit, 30), clean(row.load, 30), gap_words(gap), count(gap.n), *_quantiles(gap))
        for row in rows
        for gap in row.idle_gap or ()
        if gap.n >= FEW
    ]


def gap_blocks(rows: Sequence[Statistics]) -> list[Block]:
    """The curve as a table, below a sentence that says what it is; empty where calls did not come at a rate."""
    cells = gap_rows(rows)
    if not cells:
        return []
    return [
        Paragraph("Latency in milliseconds against the idle time before the call."),
        Table(GAP_HEADING, cells, SIDE_BY_SIDE, ("load",)),
    ]


def gap_words(gap: IdleGap) -> str:
    """`below 0.1`, `10 to 30`, `3000 and more`."""
    if gap.from_ms == 0:
        return f"below {gap.to_ms:g}"
    return f"{gap.from_ms:g} and more" if gap.to_ms is None else f"{gap.from_ms:g} to {gap.to_ms:g}"


def _quantiles(gap: IdleGap) -> tuple[str, str]:
    return milliseconds(gap.p50_ms), milliseconds(gap.p90_ms)
