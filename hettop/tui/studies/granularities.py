"""Ways to run one model in parallel, compared: latency and speed-up of each as bars, under each load.

Pure: what was found and a size in, lines out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hettop.format import UNKNOWN, count, milliseconds, significant
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span, line
from hettop.session.granularity_findings import SINGLE, by_load, granularity_sentences, what_runs
from hettop.text import clean
from hettop.report.terminal.tables import bar, table
from hettop.report.terminal.rows import cut_middle, notes, sentences

if TYPE_CHECKING:
    from hettop.events import FoundGranularities, FoundGranularity

_NAME, _LOAD = 16, 60
_OTHER_CELLS = 46  # of the columns beside the two bars; further ones from so many cells on
_SPREAD_CELLS, _WIDE = 20, 96
_WHAT_CELLS, _WIDEST = 46, 140
_SHORTEST_BAR, _LONGEST_BAR = 8, 34


def drawn(found: FoundGranularities, width: int, height: int) -> list[Line]:  # noqa: ARG001 - scrolled
    """What is best under each load, a table for each, notes."""
    told = list(granularity_sentences(found))
    parts = [[*sentences(told[:1], width, "strong"), *sentences(told[1:], width)]]
    if found.interrupted:
        parts.append(sentences(["Ended before its time: this is what was measured until then."], width, "warning"))
    scales = _scales(found)
    parts += [_under(found, load, rows, width, scales) for load, rows in by_load(found).items()]
    parts.append(notes(_explained(found), width))
    return [row for i, part in enumerate(filter(None, parts)) for row in ([(), *part] if i else part)]


def _scales(found: FoundGranularities) -> tuple[float, float]:
    """The longest latency and the highest speed-up: bars of all loads have one scale, so that they compare."""
    longest = max((row.p50_ms or 0.0 for row in found.rows), default=0.0)
    highest = max((row.speedup or 0.0 for row in found.rows), default=0.0)
    return longest or 1.0, max(1.0, highest)


def _under(
    found: FoundGranularities, load: str, rows: Sequence[FoundGranularity], width: int, scales: tuple[float, float]
) -> list[Line]:
    others = _OTHER_CELLS + (width >= _WIDE) * _SPREAD_CELLS + (width >= _WIDEST) * _WHAT_CELLS
    cells = min(_LONGEST_BAR, max(_SHORTEST_BAR, (width - others) // 2))
    title = line((f"load {clean(load, _LOAD)}", "title"), (f"  {count(found.threads)} threads", "muted"))
    known = [row for row in rows if row.name]
    failed = [row for row in rows if row.error is not None]
    heading = ("", "way", "P50 ms", "latency", "P90", "inf/s", "times", "speed-up", "by round", "runs")
    shown = [_row(found, row, cells, scales) for row in known]
    left = ("", "way", "latency", "speed-up", "by round", "runs")
    drop = ("runs", "P90", "by round")
    return [
        title,
        *(table(heading, shown, width, left=left, drop=drop) if shown else []),
        *sentences((f"{glyphs.FAILED} not measured: {row.error}" for row in failed), width, "error"),
    ]


def _row(
    found: FoundGranularities, row: FoundGranularity, cells: int, scales: tuple[float, float]
) -> tuple[Span | str, ...]:
    longest, highest = scales
    latency = bar((row.p50_ms or 0.0) / longest, cells)[0].ljust(cells)
    spread = row.speedup_range
    return (
        _mark(row),
        (cut_middle(row.name, _NAME), "strong" if row.lowest_latency or row.highest_rate else "text"),
        milliseconds(row.p50_ms),
        (latency, "good" if row.lowest_latency else "mid"),
        milliseconds(row.p90_ms),
        significant(row.per_s),
        UNKNOWN if row.speedup is None else f"{significant(row.speedup)}x",
        (_speedup(row.speedup or 0.0, highest, cells), _ink(row)),
        ("" if spread is None or row.name == SINGLE else f"{significant(spread[0])}–{significant(spread[1])}", "muted"),
        (what_runs(row.name, found.threads, found.stages), "muted"),
    )


def _speedup(speedup: float, highest: float, cells: int) -> str:
    """A bar, and a mark where one thread alone would end."""
    shown = bar(speedup / highest, cells)[0].ljust(cells)
    one = min(cells - 1, round(cells / highest))
    return f"{shown[:one]}{glyphs.GUIDE}{shown[one + 1 :]}" if shown[one] == " " else shown


def _ink(row: FoundGranularity) -> str:
    if row.highest_rate:
        return "good"
    return "low" if (row.speedup or 0.0) >= 1 else "high"


def _mark(row: FoundGranularity) -> Span:
    """Best for latency, for rate, for both."""
    both = row.lowest_latency and row.highest_rate
    if both:
        return f"{glyphs.RECORD}{glyphs.UP}", "good"
    return (glyphs.RECORD, "good") if row.lowest_latency else (glyphs.UP, "good") if row.highest_rate else ("", "text")


def _explained(found: FoundGranularities) -> Sequence[str]:
    marks = f"{glyphs.RECORD} lowest latency, {glyphs.UP} highest rate; speed-up: over one thread, {glyphs.GUIDE}"
    what = "latency is from an input's begin to its end; rates are of blocks in turns; bars of all loads have one scale"
    chain = "where layers form a chain, nothing runs between operators, and inter-operator only costs"
    return [marks, what, chain, *found.notes]
