"""A slicing plan in a report: what it comes to, layers by device, slices, what it is compared with, communication."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hettop.events import FoundPlan
from hettop.format import UNKNOWN, count, milliseconds, percent, significant
from hettop.report.svg.figures import BOTTOM, COLOURS, LEFT, RIGHT, TOP, WIDTH, Axis, bottom_axis, drawing, legend, text_at
from hettop.report.page import Block, Figure, Items, Paragraph, Table
from hettop.report.svg.plot import Scale, Series, Spot, plane
from hettop.session.plan_findings import BAD, against, begins, plan_sentences

SLICES = ("slice", "layers", "device", "begins with", "predicted", "measured ms", "error", "adjusted error")
COMPARED = ("instead of the plan", "cost", "the plan costs")
MEASURED = ("measured in turns", "ms", "the plan takes")
ERRORS = "error: below 0 too little was predicted, above 0 too much; adjusted: to devices as fast as in the run"
MOVING = ("device", "ms per MB", "plus ms", "R²", "cuts tried")


def blocks(found: FoundPlan) -> Iterator[Block]:
    """Sentences, the strip, tables, the regression, notes."""
    for sentence in plan_sentences(found):
        yield Paragraph(sentence.text, warning=sentence.means == BAD)
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


def _more(found: FoundPlan) -> str:
    planned = "" if found.planner_ms is None or found.given else f", found in {significant(found.planner_ms)} ms"
    return f" ({count(found.layers)} layers{planned})"


def _strip(found: FoundPlan) -> Iterator[Figure]:
    """Only where each layer's device and cost are known."""
    if not found.strip or len(found.strip) != len(found.layer_cost) or not any(found.layer_cost):
        return
    starts = begins(found)
    columns = [
        Column(cost, device, str(starts[place]) if place in starts else "")
        for place, (cost, device) in enumerate(zip(found.layer_cost, found.strip, strict=True))
    ]
    used = [device for index, device in enumerate(found.devices) if index in found.strip]
    svg = layer_strip(columns, found.devices, f"cost of layers, {found.cost_unit}, without moving")
    yield Figure(
        svg,
        f"Layers in the order in which they run, each as wide as what it costs, coloured by its device "
        f"({', '.join(used)}); numbered where slices begin.",
    )


def _slices(found: FoundPlan) -> list[tuple[str, ...]]:
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


def _moving(found: FoundPlan) -> Iterator[Block]:
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
        Series(f"line of {each.device}", [Spot(mb, each.ms_per_mb * mb + each.offset_ms, hollow=True) for mb in ends])
        for each in found.moving
    ]
    svg = plane([*series, *lines], Scale("MB across a cut", log=False), Scale("moving, ms", log=False))
    yield Figure(svg, "What a cut costs by the bytes that cross it, as tried, and the line of each device.")


def _described(found: FoundPlan) -> list[str]:
    """Where the notes do not say so."""
    if not found.described or any(note.startswith("described") for note in found.notes):
        return []
    return [f"described, not measured: {', '.join(found.described)}"]


BAR = 46
LABEL_GAP = 22
"""Pixels between two labels: a number of three digits."""


@dataclass(frozen=True, slots=True)
class Column:
    """A layer: its cost, its device's index, and words above its left end."""

    cost: float
    device: int
    label: str = ""


def layer_strip(columns: Sequence[Column], devices: Sequence[str], unit: str) -> str:
    """The bar, from 0 to the sum of all costs; `unit` of the axis below."""
    total = sum(column.cost for column in columns)
    height = TOP + 18 + BAR + BOTTOM + 26
    across = Axis(0.0, total, LEFT, WIDTH - RIGHT)
    top = TOP + 18
    parts = [legend(devices, TOP - 8), bottom_axis(across, height - 26, "")]
    begun, free = 0.0, 0.0
    for column in columns:
        x, end = across.at(begun), across.at(begun + column.cost)
        colour = f"var(--c{column.device % COLOURS})"
        parts.append(
            f'<rect x="{x:.1f}" y="{top}" width="{max(0.3, end - x - 0.6):.1f}" height="{BAR}" fill="{colour}"/>'
        )
        if column.label and x >= free:
            parts.append(f'<path d="M{x:.1f} {top - 4}V{top + BAR}" stroke="var(--ink)" stroke-width="1.4"/>')
            parts.append(text_at(x + 3, top - 4, column.label, soft=True))
            free = x + LABEL_GAP
        begun += column.cost
    parts.append(text_at(WIDTH - RIGHT, height - 8, unit, "end", soft=True))
    return drawing(height, parts, unit)
