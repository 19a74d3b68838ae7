"""The roofline of a model as a page for a terminal: the plot, the kernels behind the roofs, a row for each layer.

Pure; names were cleaned when the model was read.
"""

from __future__ import annotations

from collections.abc import Iterator

from hettop.format import UNKNOWN, percent, significant
from hettop.report.grid import grid, wrapped
from hettop.studies.layers.rows import LayerRow, Measured, Roofs
from hettop.studies.layers.text import (
    MOST_ROWS,
    bound_word,
    cache_word,
    other_notes,
    roof_notes,
    shortened,
    time_notes,
    title,
)
from hettop.studies.roofline.plot import plot

HEADING = ("layer", "op", "ms", "MAC/B", "GFLOP/s", "roof", "of roof", "bound", "cache")
LEFT = ("layer", "op", "bound", "cache")
DISPENSABLE = ("cache", "op", "ms", "roof", "bound")
KERNELS_HEADING = ("roof", "kernel", "best", "median")


def roofline_text(model: str, measured: Measured, roofs: Roofs, width: int) -> str:
    """The page, ending with a line feed."""
    whole = measured.whole
    working = [row for row in measured.rows if row.gflops is not None and row.oi is not None]
    lines = wrapped(title(model, measured), width)
    lines += ["", *plot(roofs, working, whole, width), ""]
    lines += grid(KERNELS_HEADING, list(_kernels(roofs)), left=KERNELS_HEADING[:2], width=width, drop=())
    lines.append("")
    rows = [_row(row, roofs) for row in measured.rows[:MOST_ROWS]]
    rows.append(_row(whole, roofs))
    lines += grid(HEADING, rows, left=LEFT, width=width, drop=DISPENSABLE)
    lines.append("")
    notes = (*_notes(measured, roofs), *roof_notes(measured), *time_notes(measured), *other_notes(measured))
    for note in notes:
        lines += wrapped(note, width)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _row(row: LayerRow, roofs: Roofs) -> tuple[str, ...]:
    attainable = roofs.attainable(row)
    of_roof = percent(row.gflops / attainable) if row.gflops is not None and attainable else ""
    return (
        shortened(row.name),
        shortened(row.op, 24),
        significant(row.ms),
        significant(row.oi),
        significant(row.gflops) if row.gflops is not None else "" if row.macs == 0 else UNKNOWN,
        significant(attainable) if row.gflops is not None else "",
        of_roof,
        bound_word(row, roofs),
        cache_word(row, roofs),
    )


def _kernels(roofs: Roofs) -> Iterator[tuple[str, ...]]:
    for what, unit, kernels in (("compute", "GFLOP/s", roofs.compute), ("memory", "GB/s", roofs.streaming)):
        for kernel in sorted(kernels, key=lambda each: -each.best):
            yield what, f"{kernel.name} ({unit})", significant(kernel.best), significant(kernel.median)


def _notes(measured: Measured, roofs: Roofs) -> Iterator[str]:
    yield (
        f"roofs: the best kernel of each kind, called in turns {roofs.repeats} times; two FLOP for each MAC; layers "
        "without MACs are not in the plot"
    )
    above = [row for row in measured.rows if roofs.exceeds(row)]
    cached = [row for row in above if roofs.cache_resident(row)]
    if cached:
        yield f"{_layers(len(cached))} above the roof of memory by over 10 %: what moves comes from the cache"
    if len(above) > len(cached):
        yield f"{_layers(len(above) - len(cached))} above the roofs by over 10 %, and no cache explains it"


def _layers(number: int) -> str:
    return "1 layer is" if number == 1 else f"{number} layers are"
