"""Ways to run a model in parallel, in a report: what is best under each load, speed-ups as bars, tables, notes."""

from __future__ import annotations

from collections.abc import Iterator

from hettop.events import NO_LOAD
from hettop.format import UNKNOWN, count, milliseconds, significant
from hettop.report.explain import footnote
from hettop.report.page import Bar, Block, Cell, Items, Paragraph, Table, Tone
from hettop.studies.granularities.result import (
    SINGLE,
    GranularitiesResult,
    GranularityRow,
    by_load,
    granularity_sentences,
    what_runs,
)

HEADING = ("way", "P50 ms", "P90 ms", "inferences/s", "times one thread", "speed-up", "per round", "calls", "best for")
LEFT = ("way", "best for")
DROP = ("calls", "P90 ms", "per round")


def blocks(found: GranularitiesResult) -> Iterator[Block]:
    """Sentences, the figure, a table for each load, notes."""
    for text in granularity_sentences(found):
        yield Paragraph(text)
    if found.interrupted:
        yield Paragraph("Ended early: partial results.", tone="warning")
    highest = max((row.speedup or 0.0 for row in found.rows), default=0.0)
    for load, rows in by_load(found).items():
        for row in rows:
            if row.error is not None:
                yield Paragraph(f"Load {load}: not measured: {row.error}", tone="warning")
        known = [row for row in rows if row.name]
        if known:
            yield Paragraph(_title(load))
            yield Table(HEADING, [_row(row, max(1.0, highest)) for row in known], left=LEFT, drop=DROP)
    rest = [f"{count(found.rest_n)} more rows are only in --json"] if found.rest_n else []
    yield Items([*_ways(found), *found.notes, *rest, footnote("granularities")])


def _ways(found: GranularitiesResult) -> list[str]:
    """What runs in each."""
    names = dict.fromkeys(row.name for row in found.rows if row.name)
    known = [(name, what_runs(name, found.threads, found.stages)) for name in names]
    return [f"{name}: {what}" for name, what in known if what]


def _title(load: str) -> str:
    return "Without load:" if load == NO_LOAD else f"Under load {load}:"


def _row(row: GranularityRow, highest: float) -> tuple[Cell, ...]:
    """`highest` speed-up of all loads: their bars have one scale, so that they compare."""
    tone: Tone = "good" if row.highest_rate else "low" if (row.speedup or 0.0) >= 1 else "high"
    best = [word for word, is_best in (("latency", row.lowest_latency), ("rate", row.highest_rate)) if is_best]
    spread = row.speedup_range if row.name != SINGLE else None
    return (
        row.name,
        milliseconds(row.p50_ms),
        milliseconds(row.p90_ms),
        significant(row.per_s),
        UNKNOWN if row.speedup is None else f"{significant(row.speedup)}x",
        Bar((row.speedup or 0.0) / highest, tone, mark=1 / highest),
        "" if spread is None else f"{significant(spread[0])}–{significant(spread[1])}",
        count(row.calls),
        " and ".join(best),
    )
