"""Start-up on a page: which unit answers first, from how many calls on another wins, and what a start consists of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hettop.format import UNKNOWN, count, milliseconds
from hettop.report.explain import footnote
from hettop.report.page import Bar, Block, Cell, Items, Paragraph, Stack, Table
from hettop.studies.cold.result import BreakEven, ColdResult, ColdRow, Spread

PARTS = (
    ("process", "start_ms"),
    ("compile", "compile_ms"),
    ("load", "load_ms"),
    ("first call", "first_ms"),
    ("other", "other_ms"),
)
"""Of the time to the first answer, in the order in which most of them come; `other` is spread between them."""

HEADING = (
    *("unit", "compiled", "starts", "process", "compile", "load", "first call", "other", "ready", "range", ""),
    *("steady", "warm-ups", "call"),
)
LEFT = ("unit", "compiled", "")
DROP = ("", "warm-ups", "other", "process", "first call", "range", "starts", "load", "compile")
PAIR_HEADING = ("starts faster", "starts slower", "compiled", "from call", "95% interval", "")
PAIR_LEFT = ("starts faster", "starts slower", "compiled", "")
PAIR_DROP = ("compiled", "95% interval")
CACHED = {None: "", True: "before", False: "anew"}
MOST_STACKS = 3
MOST_NAMED = 3
"""Break-even numbers in sentences; all are in the table."""

SIMULATED = "SIMULATED start-up: nothing was loaded or run on this device."
FILE_CACHE = (
    "the system's file cache is left as it is: after the first start the model and the libraries are usually in memory"
)
UNPROVEN = (
    "not proven: fewer than 95% of resamples have the same unit ahead in start-up and the same in calls; --repeat "
    "takes more starts"
)


def blocks(found: ColdResult) -> Iterator[Block]:
    """Sentences, the parts of each start, the tables, and how it was measured."""
    if found.simulated:
        yield Paragraph(SIMULATED, tone="warning")
    yield from _sentences(found)
    complete = [row for row in found.rows if row.ready_ms is not None]
    if complete:
        longest = max(row.ready_ms.median for row in complete if row.ready_ms is not None)
        yield Table(HEADING, [_row(row, longest) for row in complete], LEFT, _drop(complete))
    if found.break_even:
        yield Table(PAIR_HEADING, [_pair(pair) for pair in found.break_even], PAIR_LEFT, PAIR_DROP)
    for row in complete[:MOST_STACKS]:
        yield from _stack(row)
    if complete:
        yield Paragraph(f"Times in ms; {footnote('cold')}.", "muted")
    rest = [f"{count(found.rest_n)} more rows are only in --json"] if found.rest_n else []
    unproven = [UNPROVEN] if any(pair.agree is not None and pair.why for pair in found.break_even) else []
    notes = [*unproven, *found.notes, *([FILE_CACHE] if complete else []), *rest]
    if notes:
        yield Items(notes)


def _sentences(found: ColdResult) -> Iterator[Paragraph]:
    """The unit that answers first; what wins in the end; what failed."""
    first = next((row for row in found.rows if row.ready_ms is not None), None)
    if first is not None and first.ready_ms is not None:
        others = next((row for row in found.rows if row.ready_ms is not None and row.unit != first.unit), None)
        than = "" if others is None or others.ready_ms is None else f"; {_called(others)} {_ms(others.ready_ms)}"
        yield Paragraph(
            f"{_called(first)} answers first, {_ms(first.ready_ms)} after its process starts{than}.", "strong"
        )
        named = [pair for pair in found.break_even if (pair.faster_start, pair.cached) == (first.unit, first.cached)]
        for pair in named[:MOST_NAMED]:
            yield Paragraph(_in_words(pair))
    for row in found.rows:
        if row.error is not None:
            hint = f" ({row.error.hint})" if row.error.hint else ""
            after = f" after {count(row.n)} starts" if row.n else ""
            yield Paragraph(f"{row.unit} failed{after}: {row.error.message}{hint}", "error")


def _in_words(pair: BreakEven) -> str:
    faster, slower = pair.faster_start, pair.slower_start
    if pair.calls is not None:
        ends = (
            "" if pair.low is None or pair.high is None else f" (95% interval {count(pair.low)} to {count(pair.high)})"
        )
        calls = f"From {count(pair.calls)} calls on{ends}"
        return f"{calls}, {slower} takes less time in total than {faster}, start-up included."
    if pair.faster_in_both is not None:
        other = slower if pair.faster_in_both == faster else faster
        return f"{pair.faster_in_both} starts and calls faster than {other}: there is no break-even."
    return f"Break-even of {faster} and {slower}: {UNKNOWN} ({pair.why or 'not measured'})."


def _called(row: ColdRow) -> str:
    return row.unit if row.cached is None else f"{row.unit}, compiled {CACHED[row.cached]},"


def _ms(spread: Spread) -> str:
    return f"{milliseconds(spread.median)} ms"


def _stack(row: ColdRow) -> Iterator[Paragraph | Stack]:
    """The parts by their share of the sum of their medians; none where one of them is not known."""
    known = [(name, spread.median) for name, part in PARTS if (spread := getattr(row, part)) is not None]
    total = sum(value for _, value in known)
    if row.ready_ms is None or row.other_ms is None or total <= 0:
        return
    caption = f"{_called(row).rstrip(',')}: parts of the {_ms(row.ready_ms)} to the first answer, by their medians"
    yield Paragraph(f"{caption}:", "muted")
    yield Stack([(name, value / total) for name, value in known], caption)


def _drop(rows: Sequence[ColdRow]) -> Sequence[str]:
    """Where no backend reports a compilation, that is the first column to do without."""
    return DROP if any(row.compile_ms is not None for row in rows) else ("compile", *DROP)


def _row(row: ColdRow, longest_ms: float) -> Sequence[Cell]:
    ready = row.ready_ms
    cells = [_median(getattr(row, part)) for _, part in PARTS]
    share = 0.0 if ready is None or longest_ms <= 0 else ready.median / longest_ms
    return (
        row.unit,
        CACHED[row.cached],
        count(row.n),
        *cells,
        _median(ready),
        "" if ready is None else f"{milliseconds(ready.lowest)}–{milliseconds(ready.highest)}",
        Bar(share),
        _median(row.steady_ms),
        UNKNOWN if row.warmups is None else count(round(row.warmups.median)),
        _median(row.call_ms),
    )


def _median(spread: Spread | None) -> str:
    return UNKNOWN if spread is None else milliseconds(spread.median)


def _pair(pair: BreakEven) -> Sequence[Cell]:
    wins = count(pair.calls) if pair.calls is not None else "none" if pair.faster_in_both is not None else UNKNOWN
    why = pair.why or ("" if pair.faster_in_both is None else f"{pair.faster_in_both} is faster in both")
    ends = "" if pair.low is None or pair.high is None else f"{count(pair.low)}–{count(pair.high)}"
    return (pair.faster_start, pair.slower_start, CACHED[pair.cached], wins, ends, why)
