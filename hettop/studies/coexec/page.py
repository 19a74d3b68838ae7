"""A co-execution in a report: what it gains, its course as a figure, units, order, energy, notes."""

from __future__ import annotations

from collections.abc import Iterator

from hettop.format import UNKNOWN, count, percent, significant
from hettop.report.page import Block, Column, Columns, Items, Level, Paragraph, Table
from hettop.studies.coexec.findings import deaths, energy, further_notes, of_alone, order, standing_of, verdict
from hettop.studies.coexec.result import CoexecResult, WorkerRates

HEADING = ("unit", "alone/s", "together/s", "of alone", "share", "redone by others", "runs on")
WORDS = ("unit", "runs on")
MOST_LABELS = 10


def blocks(found: CoexecResult) -> Iterator[Block]:
    """The verdict first; a warning where it is not to be trusted. A dead unit is one, too."""
    untrue = not found.in_order or (found.gain is not None and standing_of(found).untrue)
    yield Paragraph(verdict(found), "warning" if untrue else "strong")
    for text in deaths(found):
        yield Paragraph(text, tone="warning")
    if found.together_by_round:
        yield _rounds(found)
    yield Table(HEADING, [_row(unit) for unit in found.units], left=WORDS)
    rounds = f"{count(found.rounds)} round{'' if found.rounds == 1 else 's'}"
    how = f"measured in {rounds} of blocks of {significant(found.block_ms)} ms: each unit alone, and all, in turns"
    stands = standing_of(found)
    if found.gain is not None and stands.least is not None:
        how += f"; the gain by round is {percent(stands.least, signed=True)} to {percent(stands.most, signed=True)}"
    told = [order(found), energy(found), how]
    yield Items([*filter(None, told), *further_notes(found)])


def _rounds(found: CoexecResult) -> Columns:
    """All together in each round, against the best unit alone and the sum of what each does alone."""
    shown = len(found.together_by_round)
    first = found.rounds - shown + 1
    step = max(1, -(-shown // MOST_LABELS))
    columns = [
        Column(rate, label=str(first + place) if place % step == 0 else "", name=f"round {first + place}")
        for place, rate in enumerate(found.together_by_round)
    ]
    levels = [
        Level(f"{found.best or UNKNOWN} alone", found.best_by_round),
        Level("sum of each alone", found.ideal_by_round),
    ]
    last = f"The last {count(shown)} of {count(found.rounds)} rounds"
    which = "Each round" if shown >= found.rounds else last
    return Columns(
        columns,
        [("together", "good")],
        "inferences a second by round",
        f"{which}: inferences a second of all together, against the best unit alone and the sum.",
        levels,
    )


def _row(unit: WorkerRates) -> tuple[str, ...]:
    return (
        f"{unit.unit} (died)" if unit.error is not None else unit.unit,
        significant(unit.alone_per_s),
        significant(unit.together_per_s),
        percent(of_alone(unit)),
        percent(unit.share),
        count(unit.redone),
        unit.placed or "",
    )
