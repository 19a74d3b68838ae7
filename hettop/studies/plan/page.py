"""A slicing plan in a report: what it comes to, layers by device, slices, what it is compared with, communication."""

from __future__ import annotations

import string
from collections.abc import Iterator, Sequence

from hettop.format import UNKNOWN, count, milliseconds, percent, significant, unit_name
from hettop.report.page import Block, Column, Columns, Items, Paragraph, Plot, Scale, Series, Spot, Table, Tone
from hettop.studies.plan.findings import BAD, against, begins, plan_sentences
from hettop.studies.plan.result import PlanResult

SLICES = ("slice", "layers", "device", "begins with", "predicted", "measured ms", "error", "adjusted error")
COMPARED = ("instead of the plan", "cost", "the plan costs")
MEASURED = ("measured in turns", "ms", "the plan takes")
ERRORS = "error: below 0 too little was predicted, above 0 too much; adjusted: to devices as fast as in the run"
INKS: tuple[Tone, ...] = ("low", "accent", "mid", "good", "strong")
MOVING = ("device", "ms per MB", "plus ms", "R²", "cuts tried")


def blocks(found: PlanResult) -> Iterator[Block]:
    """Sentences, the strip, tables, the regression, notes."""
    for sentence in plan_sentences(found):
        yield Paragraph(sentence.text, tone="warning" if sentence.means == BAD else "text")
    yield Paragraph(f"The plan: {found.plan}{_more(found)}.")
    yield from _strip(found)
    if found.slices:
        heading = [f"{each} {found.cost_unit}" if each == "predicted" else each for each in SLICES]
        yield Table(heading, _slices(found), left=("slice", "device", "begins with"))
    if found.baselines:
        yield Table(COMPARED, _compared(found.cost, list(found.baselines.items())), left=COMPARED[:1])
    if found.run is not None:
        alone = sorted(found.run.alone_ms.items(), key=lambda item: item[1])
        rows = _compared(found.run.measured_ms, [(f"{device} alone", ms) for device, ms in alone])
        yield Table(MEASURED, rows, left=MEASURED[:1])
    yield from _moving(found)
    notes = [*([ERRORS] if found.run is not None else []), *_described(found), *found.notes]
    if notes:
        yield Items(notes)


def _more(found: PlanResult) -> str:
    planned = "" if found.planner_ms is None or found.given else f", found in {significant(found.planner_ms)} ms"
    return f" ({count(found.layers)} layers{planned})"


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
        f"cost of layers, {found.cost_unit}, without moving",
        f"Layers in the order in which they run, coloured by their device ({', '.join(used)}); numbered where slices "
        f"begin.",
        letters=letters(found.devices),
    )


def _slices(found: PlanResult) -> list[tuple[str, ...]]:
    return [
        (
            f"{count(number)}",
            count(each.first) if each.first == each.last else f"{count(each.first)}–{count(each.last)}",
            each.device,
            each.begins or "",
            significant(each.cost),
            "" if found.run is None else milliseconds(each.measured_ms),
            "" if found.run is None else percent(each.error, signed=True),
            "" if found.run is None else percent(each.adjusted_error, signed=True),
        )
        for number, each in enumerate(found.slices, start=1)
    ]


def _compared(plan: float, others: Sequence[tuple[str, float | None]]) -> list[tuple[str, str, str]]:
    return [
        (
            name,
            significant(cost),
            "it cannot run" if cost is None else against(plan, cost),
        )
        for name, cost in others
    ]


def _moving(found: PlanResult) -> Iterator[Block]:
    """The regression of each device: a line through the cuts that were tried."""
    if not found.moving:
        return
    rows = [
        (
            each.device,
            significant(each.ms_per_mb),
            significant(each.offset_ms),
            UNKNOWN if each.r2 is None else f"{each.r2:.3f}",
            count(len(each.tried)),
        )
        for each in found.moving
    ]
    yield Table(MOVING, rows, left=MOVING[:1])
    tried = [mb for each in found.moving for mb, _ in each.tried]
    if len(set(tried)) < 2:
        return
    ends = (min(tried), max(tried))
    series = [Series(each.device, [Spot(mb, ms) for mb, ms in each.tried], joined=False) for each in found.moving]
    lines = [
        Series(f"line of {each.device}", [Spot(mb, each.ms_per_mb * mb + each.offset_ms) for mb in ends], dots=False)
        for each in found.moving
    ]
    caption = "What a cut costs by the bytes that cross it, as tried, and the line of each device."
    yield Plot([*series, *lines], Scale("MB across a cut", log=False), Scale("moving, ms", log=False), caption)


def _described(found: PlanResult) -> list[str]:
    """Where the notes do not say so."""
    if not found.described or any(note.startswith("described") for note in found.notes):
        return []
    return [f"described, not measured: {', '.join(found.described)}"]


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
