"""Ways to run a model in parallel, in a report: what is best under each load, speed-ups as bars, tables, notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hettop.events import NO_LOAD, FoundGranularities, FoundGranularity
from hettop.format import UNKNOWN, count, milliseconds, significant
from hettop.report.svg.figures import COLOURS, RIGHT, TOP, WIDTH, Axis, drawing, legend, text_at
from hettop.report.page import Block, Figure, Items, Paragraph, Table
from hettop.session.granularity_findings import SINGLE, by_load, granularity_sentences, what_runs

HEADING = ("way", "P50 ms", "P90 ms", "inferences/s", "times one thread", "by round", "calls", "best for")
LEFT = ("way", "best for")
NAME_CELLS, PITCH, BAR, GROUP_GAP = 130, 18, 13, 12
CHAIN = "Where layers form a chain, nothing runs between operators, and inter-operator only costs."
RATES = "Latency is from an input's begin to its end; rates are of blocks in turns; by round: the least and the most."


def blocks(found: FoundGranularities) -> Iterator[Block]:
    """Sentences, the figure, a table for each load, notes."""
    for text in granularity_sentences(found):
        yield Paragraph(text)
    if found.interrupted:
        yield Paragraph("It was ended before its time: this is what was measured until then.", warning=True)
    svg = speedups(found)
    if svg:
        yield Figure(svg, f"Throughput over one thread alone, with {count(found.threads)} threads; the line is 1.")
    for load, rows in by_load(found).items():
        for row in rows:
            if row.error is not None:
                yield Paragraph(f"Load {load}: not measured: {row.error}", warning=True)
        known = [row for row in rows if row.name]
        if known:
            yield Paragraph(_title(load))
            yield Table(HEADING, [_row(row) for row in known], left=LEFT)
    yield Items([*_ways(found), RATES, CHAIN, *found.notes])


def _ways(found: FoundGranularities) -> list[str]:
    """What runs in each."""
    names = dict.fromkeys(row.name for row in found.rows if row.name)
    known = [(name, what_runs(name, found.threads, found.stages)) for name in names]
    return [f"{name}: {what}" for name, what in known if what]


def _title(load: str) -> str:
    return "Without load:" if load == NO_LOAD else f"Under load {load}:"


def _row(row: FoundGranularity) -> tuple[str, ...]:
    best = [word for word, is_best in (("latency", row.lowest_latency), ("rate", row.highest_rate)) if is_best]
    spread = row.speedup_range if row.name != SINGLE else None
    return (
        row.name,
        milliseconds(row.p50_ms),
        milliseconds(row.p90_ms),
        significant(row.per_s),
        UNKNOWN if row.speedup is None else f"{significant(row.speedup)}x",
        "" if spread is None else f"{significant(spread[0])}–{significant(spread[1])}",
        count(row.calls),
        " and ".join(best),
    )


def speedups(found: FoundGranularities) -> str:
    """A group of bars for each way, a bar for each load, with a whisker from the least to the most of any round."""
    rows = [row for row in found.rows if row.name and row.speedup is not None]
    ways = list(dict.fromkeys(row.name for row in rows if row.name != SINGLE))
    loads = list(dict.fromkeys(row.load for row in rows))
    if not ways:
        return ""
    highest = max(1.0, *(max(row.speedup or 0.0, (row.speedup_range or (0.0, 0.0))[1]) for row in rows))
    across = Axis(0.0, highest * 1.08, NAME_CELLS, WIDTH - RIGHT)
    group = PITCH * len(loads) + GROUP_GAP
    height = TOP + group * len(ways) + GROUP_GAP
    parts = [legend([_title(load).rstrip(":").lower() for load in loads], TOP - 10)] if len(loads) > 1 else []
    for place, way in enumerate(ways):
        top = TOP + 6 + group * place
        parts.append(text_at(NAME_CELLS - 8, top + group / 2 - 2, way, "end"))
        parts += _group([row for row in rows if row.name == way], loads, across, top)
    one = across.at(1.0)
    parts.append(f'<path d="M{one:.1f} {TOP}V{height - 4:.1f}" stroke="var(--ink)" stroke-dasharray="3 2"/>')
    return drawing(height, parts, "speed-up over one thread")


def _group(rows: Sequence[FoundGranularity], loads: Sequence[str], across: Axis, top: float) -> Iterator[str]:
    for row in rows:
        index = loads.index(row.load)
        y, end = top + PITCH * index, across.at(row.speedup or 0.0)
        yield (
            f'<rect x="{across.begin:.1f}" y="{y:.1f}" width="{max(0.5, end - across.begin):.1f}" height="{BAR}" '
            f'fill="var(--c{index % COLOURS})"/>'
        )
        label = end
        if row.speedup_range is not None:
            low, high = (across.at(value) for value in row.speedup_range)
            yield f'<path d="M{low:.1f} {y + BAR / 2:.1f}H{high:.1f}" stroke="var(--ink)" stroke-width="1.4"/>'
            label = max(end, high)
        yield text_at(label + 5, y + BAR - 2, f"{significant(row.speedup)}x", soft=True)
