"""A co-execution as a page: what it gains in sentences, its rounds, units, order, energy, notes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hettop.format import UNKNOWN, count, milliseconds, per_second, percent, significant
from hettop.report.page import Block, Column, Columns, Items, Level, Paragraph, Table
from hettop.studies.coexec.rates import NOTHING_GAINED, Standing, standing
from hettop.studies.coexec.result import CoexecResult, WorkerRates

if TYPE_CHECKING:
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
    how = (
        f"measured in {rounds} of {significant(found.block_ms)} ms blocks: each unit alone and all "
        "together, interleaved"
    )
    stands = standing_of(found)
    if found.gain is not None and stands.least is not None and stands.proven is not False:
        how += f"; the gain per round is {percent(stands.least, signed=True)} to {percent(stands.most, signed=True)}"
    notes = [order(found), energy(found), how]
    yield Items([*filter(None, notes), *further_notes(found)])


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
        "inferences per second by round",
        f"{which}: inferences per second of all units together, the best unit alone, and the sum of each alone.",
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


def verdict(found: CoexecResult) -> str:
    """Rate of all together, what that gains over the best unit alone, and how much of the ideal it is."""
    dead = died(found)
    if not dead:
        return _together(found, "Together")
    left = len(found.units) - len(dead)
    now = next((rate for rate in reversed(found.together_by_round) if rate is not None), None)
    rate = "" if now is None else f", with {per_second(now)} in the last round"
    who = (
        "no unit continues"
        if not left
        else (f"{'the other unit continues' if left == 1 else f'the other {left} units continue'}{rate}")
    )
    # Totals are of the units that worked in the first block of all.
    words = "Until then together" if any(worker.share for worker in dead) else "Together"
    return f"{_fallen(dead)}: {who}. {_together(found, words)}"


def _fallen(dead: list[WorkerRates]) -> str:
    """Who died, and who did not even begin."""
    began = [worker.unit for worker in dead if worker.alone_per_s or worker.share]
    others = [worker.unit for worker in dead if worker.unit not in began]
    parts = [(began, "died"), (others, "did not start")]
    return ", ".join(f"{' and '.join(names)} {what}" for names, what in parts if names)


def _together(found: CoexecResult, words: str) -> str:
    if found.together_per_s is None:
        return f"{words} not yet measured: {each_alone(found)}."
    rate = f"{words} {per_second(found.together_per_s)}"
    if found.gain is None:
        return f"{rate}; gain {UNKNOWN}: {found.gain_why or 'measure longer'}."
    of_ideal = "" if found.of_ideal is None else f", {percent(found.of_ideal)} of the sum of each alone"
    stands = standing_of(found)
    if stands.concludes and found.gain < NOTHING_GAINED:
        less = f" ({percent(found.gain, signed=True)})"
        return f"{rate}: no gain over {found.best} alone{less}{of_ideal}."
    gain = f"{percent(found.gain, signed=True)} over {found.best} alone"
    return f"{rate}: {gain}{of_ideal}{''.join(f'; {each}' for each in reservations(stands))}."


def standing_of(found: CoexecResult) -> Standing:
    """Whether the gain can be relied on, by the rounds that are known."""
    return standing(found.together_by_round, found.best_by_round, found.ideal_by_round, found.of_ideal)


def reservations(stands: Standing) -> Iterator[str]:
    """Why nothing follows from a gain; nothing of one that stands."""
    if stands.untrue:
        yield "more than the sum is impossible: measure again"
    if stands.least is None:
        rounds = {0: "no whole round", 1: "a single round"}.get(stands.rounds, f"{count(stands.rounds)} rounds")
        yield f"of {rounds}, so there is no interval"
    elif stands.proven is False:
        yield f"not proven: {percent(stands.least, signed=True)} to {percent(stands.most, signed=True)} per round"


def each_alone(found: CoexecResult) -> str:
    known = [f"{unit.unit} alone {per_second(unit.alone_per_s)}" for unit in found.units if unit.alone_per_s]
    return ", ".join(known) or "the units are loading"


def order(found: CoexecResult) -> str:
    """How many results left, whether in order, how long they took, and what restoring the order needed."""
    if not found.delivered:
        return ""
    left = f"{count(found.delivered)} results, {'all in order' if found.in_order else 'NOT IN ORDER'}"
    guess = " (a guess)" if found.p90_needs else ""
    took = f"P50 {milliseconds(found.p50_ms)} ms, P90 {milliseconds(found.p90_ms)} ms{guess} until delivered in order"
    reorder = f"reorder buffer held at most {count(found.max_reorder)} of {count(found.depth)}"
    redone = f", {count(found.redone)} redone" if found.redone else ""
    return f"{left}; {took}; {reorder}; {count(found.steals)} stolen{redone}"


def energy(found: CoexecResult) -> str:
    if found.energy_mj is None:
        return f"energy {UNKNOWN}: {found.energy_why or 'no power was measured'}"
    source = f", measured by {found.power_source}" if found.power_source else ""
    power = f"{significant(found.mean_mw)} mW with all units running{source}"
    return f"energy {significant(found.energy_mj)} mJ/inference: {power}"


def died(found: CoexecResult) -> list[WorkerRates]:
    """Workers that did not start, or did not go on."""
    return [unit for unit in found.units if unit.error is not None]


def deaths(found: CoexecResult) -> Iterator[str]:
    """Of each dead worker why, and what became of its work."""
    for unit in died(found):
        numbers = "1 number" if unit.redone == 1 else f"{count(unit.redone)} numbers"
        redone = f"; {numbers} that were completed by the others" if unit.redone else ""
        yield f"{unit.unit}: {unit.error}{redone}"


def of_alone(unit: WorkerRates) -> float | None:
    """What the unit does together by what it does alone."""
    if unit.together_per_s is None or not unit.alone_per_s:
        return None
    return unit.together_per_s / unit.alone_per_s


def further_notes(found: CoexecResult) -> list[str]:
    """Without those on deaths, which are separate."""
    deaths_noted = [unit.death for unit in found.units]
    return [note for note in found.notes if note not in deaths_noted]
