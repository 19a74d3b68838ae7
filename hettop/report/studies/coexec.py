"""A co-execution in a report: what it gains, its course as a figure, units, order, energy, notes."""

from __future__ import annotations

from collections.abc import Iterator

from hettop.events import FoundCoexec, FoundWorker
from hettop.format import UNKNOWN, count, percent, significant
from hettop.report.page import Block, Figure, Items, Paragraph, Table
from hettop.report.rounds_plot import Rates, rounds_plot
from hettop.session.coexec_findings import deaths, energy, further_notes, of_alone, order, standing_of, verdict

HEADING = ("unit", "alone/s", "together/s", "of alone", "share", "redone by others", "runs on")
LEFT = ("unit", "runs on")


def blocks(found: FoundCoexec) -> Iterator[Block]:
    """The verdict first; a warning where it is not to be trusted. A dead unit is one, too."""
    yield Paragraph(
        verdict(found), warning=not found.in_order or (found.gain is not None and standing_of(found).untrue)
    )
    for text in deaths(found):
        yield Paragraph(text, warning=True)
    yield from _figure(found)
    yield Table(HEADING, [_row(unit) for unit in found.units], left=LEFT)
    rounds = f"{count(found.rounds)} round{'' if found.rounds == 1 else 's'}"
    how = f"measured in {rounds} of blocks of {significant(found.block_ms)} ms: each unit alone, and all, in turns"
    told = [order(found), energy(found), how]
    yield Items([*filter(None, told), *further_notes(found)])


def _figure(found: FoundCoexec) -> Iterator[Figure]:
    rounds: list[Rates] = list(zip(found.together_by_round, found.best_by_round, found.ideal_by_round, strict=False))
    svg = rounds_plot(rounds, found.rounds, found.best or UNKNOWN)
    if svg:
        last = f"The last {count(len(rounds))} of {count(found.rounds)} rounds"
        which = "Each round" if len(rounds) >= found.rounds else last
        yield Figure(svg, f"{which}: inferences a second of all together, against the best unit alone and the sum.")


def _row(unit: FoundWorker) -> tuple[str, ...]:
    return (
        f"{unit.unit} (died)" if unit.error is not None else unit.unit,
        significant(unit.alone_per_s),
        significant(unit.together_per_s),
        percent(of_alone(unit)),
        percent(unit.share),
        count(unit.redone),
        unit.placed or "",
    )
