"""The layers of a plan as a strip of cells, each coloured and lettered by its device, with its cost as a column above.

Pure: a plan and a width in, lines out.
"""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hettop.format import count, significant, unit_name
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span, line, runs, width_of
from hettop.session.plan_findings import begins
from hettop.text import clean
from hettop.report.terminal.rows import cut_middle

if TYPE_CHECKING:
    from hettop.events import FoundPlan

INKS = ("low", "accent", "mid", "good", "strong")
_WIDEST_LAYER = 4
_LEVELS = len(glyphs.EIGHTHS) - 1
_NAME, _UNIT = 30, 8


@dataclass(frozen=True, slots=True)
class _Cell:
    """One column of the strip: its device's index, its layers' cost together, and the layer where a slice begins."""

    device: int
    cost: float
    begins: int | None


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


def look(devices: Sequence[str], device: str) -> str:
    """The ink of a device; of many, the first ones' again."""
    return INKS[devices.index(device) % len(INKS)] if device in devices else "muted"


def strip(found: FoundPlan, width: int, rows: int) -> list[Line]:
    """Columns of cost, `rows` high; letters; where slices begin; what the letters are."""
    cells = _cells(found, width)
    if not cells:
        return []
    each = max(1, min(_WIDEST_LAYER, width // len(cells)))
    marks = letters(found.devices)
    inks = [INKS[cell.device % len(INKS)] for cell in cells for _ in range(each)]
    band = [marks[cell.device] if cell.device < len(marks) else "?" for cell in cells for _ in range(each)]
    starts = [(place * each, count(cell.begins)) for place, cell in enumerate(cells) if cell.begins is not None]
    return [
        *_columns(cells, each, inks, rows),
        runs(band, inks),
        line((_placed(starts, width), "muted")),
        *_legend(found, marks, width),
    ]


def _cells(found: FoundPlan, width: int) -> list[_Cell]:
    """A column for each entry of the strip, or for so many that all of them find room."""
    entries, starts = found.strip, begins(found)
    columns = min(len(entries), width)
    cells = []
    for column in range(columns):
        first, end = column * len(entries) // columns, (column + 1) * len(entries) // columns
        cut = next((entry for entry in range(first, end) if entry in starts), None)
        at = first if cut is None else cut
        cells.append(_Cell(entries[at], math.fsum(found.layer_cost[first:end]), starts.get(at)))
    return cells


def _columns(cells: Sequence[_Cell], each: int, inks: Sequence[str], rows: int) -> list[Line]:
    highest = max(cell.cost for cell in cells)
    if highest <= 0:
        return []
    levels = [max(1, math.ceil(cell.cost / highest * rows * _LEVELS)) for cell in cells for _ in range(each)]
    if each > 1:  # a gap between columns, so that equal neighbours are two
        levels = [0 if place % each == each - 1 else level for place, level in enumerate(levels)]
    bases = range((rows - 1) * _LEVELS, -1, -_LEVELS)
    return [runs([glyphs.EIGHTHS[min(max(level - base, 0), _LEVELS)] for level in levels], inks) for base in bases]


def _placed(texts: Sequence[tuple[int, str]], width: int) -> str:
    """Each text at its column, as far as it covers none before it."""
    row = ""
    for column, text in texts:
        if (column == 0 or column > len(row)) and column + len(text) <= width:
            row = row.ljust(column) + text
    return row


def _legend(found: FoundPlan, marks: Sequence[str], width: int) -> list[Line]:
    used = {each.device for each in found.slices}
    highest = max(found.layer_cost, default=0.0)
    entries: list[tuple[Span, ...]] = [
        ((mark, look(found.devices, device)), (f" {cut_middle(device, _NAME)}", "text" if device in used else "muted"))
        for device, mark in zip(found.devices, marks, strict=True)
        if device in used
    ]
    scale = f"{count(found.layers)} layers, numbered where slices begin"
    if highest > 0 and len(found.layer_cost) == found.layers:
        scale += f"; the costliest takes {significant(highest)} {clean(found.cost_unit, _UNIT)}"
    entries.append(((scale, "muted"),))
    shown: list[Line] = []
    row: Line = ()
    for entry in entries:
        if row and width_of(row) + 3 + width_of(entry) > width:
            shown.append(row)
            row = ()
        row = line(*row, ("   " if row else "", "text"), *entry)
    return [*shown, row]
