"""A co-execution in a report: what it gains, its course as a figure, units, order, energy, notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hettop.events import FoundCoexec, FoundWorker
from hettop.format import UNKNOWN, count, percent, significant
from hettop.report.svg.figures import BOTTOM, LEFT, RIGHT, TOP, WIDTH, Axis, drawing, legend, side_axis, text_at
from hettop.report.page import Block, Figure, Items, Paragraph, Table
from hettop.session.coexec_findings import deaths, energy, further_notes, of_alone, order, standing_of, verdict

HEADING = ("unit", "alone/s", "together/s", "of alone", "share", "redone by others", "runs on")
WORDS = ("unit", "runs on")


def blocks(found: FoundCoexec) -> Iterator[Block]:
    """The verdict first; a warning where it is not to be trusted. A dead unit is one, too."""
    yield Paragraph(
        verdict(found), warning=not found.in_order or (found.gain is not None and standing_of(found).untrue)
    )
    for text in deaths(found):
        yield Paragraph(text, warning=True)
    yield from _figure(found)
    yield Table(HEADING, [_row(unit) for unit in found.units], left=WORDS)
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


Rates = tuple[float | None, float | None, float | None]
"""Of one round, inferences a second: all together, the best alone, the sum of each alone."""

HEIGHT, HEADROOM = 260, 1.05
BAR = 0.72  # of a round's width
MOST_LABELS = 10


def rounds_plot(rounds: Sequence[Rates], last: int, best: str) -> str:
    """The newest is round `last`; empty without any rate. `best` is the unit that does most alone."""
    known = [rate for each in rounds for rate in each if rate is not None]
    if not known:
        return ""
    up = Axis(0.0, max(known) * HEADROOM or 1.0, HEIGHT - BOTTOM, TOP + 16)
    across = Axis(0.0, float(len(rounds)), LEFT, WIDTH - RIGHT)
    parts = [side_axis(up, "/s"), legend(["together", f"{best} alone", "sum of each alone"], TOP)]
    parts += _bars(rounds, across, up)
    for index, dashes in ((1, ""), (2, ' stroke-dasharray="4 3"')):
        path = "".join(_level(place, rates[index], across, up) for place, rates in enumerate(rounds))
        parts.append(f'<path d="{path}" stroke="var(--c{index})" stroke-width="2.5" fill="none"{dashes}/>')
    parts += _numbers(len(rounds), last, across)
    return drawing(HEIGHT, parts, "rates by round")


def _bars(rounds: Sequence[Rates], across: Axis, up: Axis) -> Iterator[str]:
    pitch = (across.end - across.begin) / len(rounds)
    for place, (together, _, _) in enumerate(rounds):
        if together is not None:
            x, top = across.at(place) + pitch * (1 - BAR) / 2, up.at(together)
            size = f'width="{pitch * BAR:.1f}" height="{up.begin - top:.1f}"'
            yield f'<rect x="{x:.1f}" y="{top:.1f}" {size} fill="var(--c0)" fill-opacity=".75"/>'


def _level(place: int, rate: float | None, across: Axis, up: Axis) -> str:
    if rate is None:
        return ""
    return f"M{across.at(place):.1f} {up.at(rate):.1f}H{across.at(place + 1):.1f}"


def _numbers(n: int, last: int, across: Axis) -> Iterator[str]:
    step = -(-n // MOST_LABELS)
    for place in range(0, n, step):
        yield text_at(across.at(place + 0.5), HEIGHT - BOTTOM + 20, str(last - n + 1 + place), "middle", soft=True)
    yield text_at(LEFT - 6, HEIGHT - BOTTOM + 20, "round", "end", soft=True)
