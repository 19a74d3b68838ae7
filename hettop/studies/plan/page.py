"""A slicing plan in a report: what it comes to, layers by device, slices, what it is compared with, communication."""

from __future__ import annotations

import string
from collections.abc import Iterator, Mapping, Sequence

from hettop.events import TEXT_LIMIT
from hettop.format import UNKNOWN, count, percent, significant, unit_name
from hettop.report.page import Block, Column, Columns, Items, Paragraph, Plot, Scale, Series, Spot, Table, Tone
from hettop.studies.plan.findings import BAD, ESTIMATED, begins, gain_words, output_notes, plan_sentences
from hettop.studies.plan.result import MovingCost, PlanResult, PlanSlice, cheapest_first
from hettop.text import clean

PREDICTED = "predicted"
SLICES = (
    *("slice", "layers", "device", "starts with", "execution", "entry", "exit"),
    *(PREDICTED, "predicted ms", "adjusted ms", "measured ms", "error", "adjusted error"),
)
SLICES_LEFT = ("slice", "device", "starts with")
SLICES_DROP = ("exit", "entry", "execution", "adjusted ms", "starts with", "error", "layers")
COMPARED = ("instead of the plan", "cost", "gain of the plan")
DEVICES = ("device", "whole model ms", "in the run ms", "cut, ms per MB", "plus ms", "R²", "cuts tried")
DEVICES_DROP = ("plus ms", "cuts tried")
ERRORS = "error: negative = predicted too low; adjusted: for device speed during the run"
MEASURED = "costs were measured here, layer by layer; the plan is predicted from them"
INKS: tuple[Tone, ...] = ("low", "accent", "mid", "good", "strong")
MOST_ROWS = 40
"""A page is for reading; JSON has all."""


def blocks(found: PlanResult) -> Iterator[Block]:
    """Sentences, the strip, tables, the regression, notes."""
    for sentence in plan_sentences(found):
        yield Paragraph(sentence.text, tone="warning" if sentence.means == BAD else "text")
    yield Paragraph(f"The plan: {clean(found.plan, TEXT_LIMIT)} ({', '.join(_facts(found))}).")
    yield from _strip(found)
    if found.slices:
        yield _slices(found)
    if found.baselines:
        compared = [*_searched(found), *cheapest_first(found.baselines)][:MOST_ROWS]
        yield Table(COMPARED, [_compared(found, name, cost) for name, cost in compared], left=COMPARED[:1])
    yield from _devices(found)
    notes = list(_notes(found))
    if notes:
        yield Items(notes)


def _facts(found: PlanResult) -> Iterator[str]:
    yield f"{found.objective} {significant(found.cost)} {found.cost_unit}"
    yield f"layers: {count(found.layers_n)}"
    if found.devices_n:
        yield f"candidate devices: {count(found.devices_n)}"
    if found.planner_ms is not None and not found.given:
        yield f"found in {significant(found.planner_ms)} ms"


def _strip(found: PlanResult) -> Iterator[Columns]:
    """Only where each layer's device and cost are known."""
    if not found.strip or len(found.strip) != len(found.layer_cost) or not any(found.layer_cost):
        return
    starts = begins(found)
    columns = [
        Column(cost, device, str(starts[place]) if place in starts else "")
        for place, (cost, device) in enumerate(zip(found.layer_cost, found.strip, strict=True))
    ]
    used = [device for index, device in enumerate(found.devices) if index in found.strip]
    yield Columns(
        columns,
        [(device, INKS[index % len(INKS)]) for index, device in enumerate(found.devices)],
        f"cost of layers, {found.cost_unit}, without transfers",
        f"Layers in execution order, coloured by device ({', '.join(used)}); numbered where slices begin.",
        letters=letters(found.devices),
    )


def _slices(found: PlanResult) -> Table:
    heading = [f"{PREDICTED} {found.cost_unit}" if name == PREDICTED else name for name in SLICES]
    rows = [_slice(number, each, found.cost_unit) for number, each in enumerate(found.slices[:MOST_ROWS], start=1)]
    return Table(heading, rows, left=SLICES_LEFT, drop=SLICES_DROP)


def _slice(number: int, part: PlanSlice, cost_unit: str) -> tuple[str, ...]:
    """A cost in ms is what was predicted, and is reported once."""
    return (
        count(number),
        count(part.first) if part.first == part.last else f"{count(part.first)}–{count(part.last)}",
        part.device,
        part.begins or "",
        *(_known(each) for each in (part.execution, part.entry, part.exit)),
        significant(part.cost),
        "" if cost_unit == "ms" else _known(part.predicted_ms),
        _known(part.adjusted_ms),
        _known(part.measured_ms),
        *("" if part.measured_ms is None else percent(each, signed=True) for each in (part.error, part.adjusted_error)),
    )


def _known(value: float | None) -> str:
    return "" if value is None else significant(value)


def _compared(found: PlanResult, name: str, cost: float | None) -> tuple[str, str, str]:
    return name, significant(cost), "it cannot run" if cost is None else gain_words(found.gain_over(cost))


def _searched(found: PlanResult) -> Iterator[tuple[str, float | None]]:
    """The best by other ways to search."""
    if (known := found.search) is None:
        return
    if known.exhaustive and known.possible is not None:
        yield f"exhaustive search of {count(int(known.possible))} plans", known.optimum
    if known.random_n:
        yield f"best of {count(known.random_n)} random plans", known.random_best
        yield "best random or baseline plan", known.random_or_baseline
        yield "median random plan", known.random_median


def _devices(found: PlanResult) -> Iterator[Block]:
    """The whole model on each device, and what a cut costs there: a line through the cuts that were tried."""
    alone = {} if found.run is None else found.run.alone_ms
    cuts = {each.device: each for each in found.moving}
    names = dict.fromkeys([*found.end_to_end_ms, *alone, *cuts])
    if not names:
        return
    rows = [
        (
            name,
            _whole(found.end_to_end_ms, name),
            _whole(alone, name),
            *(_line(cuts[name]) if name in cuts else [""] * len(DEVICES[3:])),
        )
        for name in names
    ]
    yield Table(DEVICES, rows, left=DEVICES[:1], drop=DEVICES_DROP)
    moving = [each for each in found.moving if each.tried]
    tried = [mb for each in moving for mb, _ in each.tried]
    if len(set(tried)) < 2:
        return
    ends = (min(tried), max(tried))
    series = [Series(each.device, [Spot(mb, ms) for mb, ms in each.tried], joined=False) for each in moving]
    lines = [
        Series(f"line of {each.device}", [Spot(mb, each.ms_per_mb * mb + each.offset_ms) for mb in ends], dots=False)
        for each in moving
    ]
    caption = "Cost of a cut by the bytes that cross it: tried cuts, and the fitted line of each device."
    yield Plot([*series, *lines], Scale("MB across a cut", log=False), Scale("transfer, ms", log=False), caption)


def _whole(by_device: Mapping[str, float | None], device: str) -> str:
    """Nothing where it was not tried, and `n/a` where it cannot run."""
    return significant(by_device[device]) if device in by_device else ""


def _line(cost: MovingCost) -> tuple[str, ...]:
    if not cost.tried:  # its line is not a measurement
        return UNKNOWN, UNKNOWN, UNKNOWN, "0"
    r2 = UNKNOWN if cost.r2 is None else f"{cost.r2:.3f}"
    return significant(cost.ms_per_mb), significant(cost.offset_ms), r2, count(len(cost.tried))


def _notes(found: PlanResult) -> Iterator[str]:
    """How to read the tables, where costs come from, and what else was found."""
    if found.run is not None:
        yield ERRORS
        yield from output_notes(found.run)
    if found.from_file:
        unit = f", in {found.cost_unit}"
        assumed = f", which has no unit: {found.cost_unit} assumed"
        yield f"costs come from the file{unit if found.unit_told else assumed}"
    elif found.estimated is not None and ESTIMATED not in found.notes:
        yield ESTIMATED if found.estimated else MEASURED
    if found.search is not None and not found.search.exhaustive:
        possible = "more than 1e300" if found.search.possible is None else f"{found.search.possible:.2g}"
        yield f"exhaustive search: n/a, {possible} possible plans; up to {count(found.search.most_tried)} are tried"
    yield from found.further_notes
    shown = len(found.slices[:MOST_ROWS])
    if found.slices_n > shown:
        yield f"only the first {count(shown)} of {count(found.slices_n)} slices are shown; --json has all"
    if len(found.baselines) > MOST_ROWS:
        yield f"only the {count(MOST_ROWS)} cheapest baselines are shown; --json has all"


def letters(devices: Sequence[str]) -> list[str]:
    """One letter for each: initials as the paper has them, numbers of threads, or A, B, C where these clash."""
    short = [unit_name(device, short=True) for device in devices]
    threads = [name.rpartition("@")[2] for name in short]
    for found in ([name[:1].upper() for name in short], threads):
        if len(set(found)) == len(found) and all(map(_is_letter, found)):
            return found
    return [string.ascii_uppercase[place % len(string.ascii_uppercase)] for place in range(len(devices))]


def _is_letter(text: str) -> bool:
    return len(text) == 1 and text.isascii() and text.isalnum()
