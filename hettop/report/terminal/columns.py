"""Columns side by side, and one bar of parts, in cells: time by layer, rates by round, a plan, shares by operation."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hettop.format import percent, significant
from hettop.report.page import Column, Columns, Level, Stack
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span, fit, line, runs
from hettop.report.terminal.tables import legend, segments
from hettop.stats.axes import nice_ceiling, row_labels, row_of
from hettop.text import clean

GUTTER = 8
"""Cells at the left, which hold the labels of the upright axis."""

WIDEST = 6
"""Cells of one column, a gap included where there is more than one."""

LABEL_EVERY = 3  # lines
HEADROOM = 1.02
LEVELS = len(glyphs.EIGHTHS) - 1
LEVEL_LOOKS: tuple[Span, ...] = ((glyphs.TRACK_DONE, "mid"), (glyphs.FENCE, "strong"))
"""Of a line across the columns and the next."""

PARTS: tuple[Span, ...] = (
    (glyphs.FULL, "low"),
    (glyphs.SHADE, "mid"),
    (glyphs.DENSE, "accent"),
    (glyphs.SPARSE, "good"),
)
"""How parts of one bar are distinguished, each by a glyph of its own, in ASCII too."""

OTHERS: Span = (glyphs.DOT, "muted")


def stack_lines(block: Stack, width: int) -> list[Line]:
    """The bar, and what its parts are; further parts than there are looks are one."""
    named, others = list(block.parts[: len(PARTS)]), block.parts[len(PARTS) :]
    looks = list(PARTS[: len(named)])
    if others:
        words = others[0][0] if len(others) == 1 else f"{len(others)} others"
        named.append((words, math.fsum(share for _, share in others)))
        looks.append(OTHERS)
    if not named or width < 1:
        return []
    cells = segments([share for _, share in named], width)
    stack = [(glyph * n, ink) for n, (glyph, ink) in zip(cells, looks, strict=True)]
    marks = [(look, f"{clean(name, 24)} {percent(share)}") for look, (name, share) in zip(looks, named, strict=True)]
    return [line(*stack), *legend([], width, marks)]


def columns_lines(block: Columns, width: int, height: int) -> list[Line]:
    """A legend, the columns with their axis, letters of their groups and labels; empty where none is higher than 0.

    Of more columns than find room, each that is drawn is the highest of its neighbours.
    """
    room = max(0, width - GUTTER)
    block = _thinned(block, room)
    known = [each.height for each in block.columns if each.height is not None]
    known += [level for each in block.levels for level in each.heights if level is not None]
    if not known or max(known) <= 0 or not room:
        return []
    foot = 2 + bool(block.letters)
    rows = max(2, height - foot - 1)
    top = nice_ceiling(max(known) * HEADROOM)
    cells = max(1, min(WIDEST, room // len(block.columns)))
    labels = row_labels(top, rows, max(1, rows // LABEL_EVERY))
    drawn = [_row(block, row, rows, top, cells) for row in range(rows)]
    joints = [f"{_short(labels.get(i, '')):>{GUTTER - 2}} {_joint(i in labels)}" for i in range(rows)]
    shown = [line((joint, "muted"), *row) for joint, row in zip(joints, drawn, strict=True)]
    return [fit(each, width) for each in (*_legend(block, width), *shown, *_foot(block, cells, room))]


def _short(label: str) -> str:
    return label if len(label) <= GUTTER - 2 else significant(float(label))[: GUTTER - 2]


def _joint(labelled: bool) -> str:
    return glyphs.AXIS_TICK if labelled else glyphs.AXIS_UP


def _thinned(block: Columns, room: int) -> Columns:
    """As many columns as there are cells at most."""
    n = len(block.columns)
    if n <= room or not room:
        return block
    spans = [range(i * n // room, (i + 1) * n // room) for i in range(room)]
    chosen = [max(span, key=lambda i: (bool(block.columns[i].label), block.columns[i].height or 0.0)) for span in spans]
    levels = [Level(each.name, [each.heights[i] for i in chosen if i < len(each.heights)]) for each in block.levels]
    return Columns([block.columns[i] for i in chosen], block.groups, block.unit, block.caption, levels, block.letters)


def _row(block: Columns, row: int, rows: int, top: float, cells: int) -> Line:
    shown: list[str] = []
    inks: list[str] = []
    for place, column in enumerate(block.columns):
        bar = _cell(block, column, row, rows, top)
        across = _level(block, place, row, rows, top)
        drawn = _crossed(bar, across, cells, place)
        shown += [glyph for glyph, _ in drawn]
        inks += [ink for _, ink in drawn]
    return runs(shown, inks)


def _crossed(bar: Span, across: Span | None, cells: int, place: int) -> list[Span]:
    """The cells of one column in a row: a line across it is seen beside its bar, never in place of it.

    Columns without a gap show the line in every other one.
    """
    if across is not None and (bar[0] == " " or (cells == 1 and place % 2)):
        return [across] * cells
    gap = cells > 1
    return [*[bar] * (cells - gap), *[across or (" ", bar[1])] * gap]


def _level(block: Columns, place: int, row: int, rows: int, top: float) -> Span | None:
    for index, level in enumerate(block.levels):
        height = level.heights[place] if place < len(level.heights) else None
        if height is not None and row_of(height, top, rows) == row:
            return LEVEL_LOOKS[index % len(LEVEL_LOOKS)]
    return None


def _cell(block: Columns, column: Column, row: int, rows: int, top: float) -> Span:
    height = column.height
    if height is None:
        return (glyphs.DOT if row == rows - 1 else " "), "muted"
    level = max(1, round(height / top * rows * LEVELS)) if height > 0 else 0
    level -= (rows - 1 - row) * LEVELS
    return glyphs.EIGHTHS[min(max(level, 0), LEVELS)], _ink(block, column.group)


def _ink(block: Columns, group: int) -> str:
    return block.groups[group][1] if 0 <= group < len(block.groups) else "muted"


def _legend(block: Columns, width: int) -> list[Line]:
    here = {column.group for column in block.columns}
    marks: list[tuple[Span, str]] = []
    for group, (name, ink) in enumerate(block.groups):
        if group in here:
            letter = block.letters[group] if group < len(block.letters) else glyphs.FULL
            marks.append(((letter, ink), clean(name, 40)))
    marks += [(LEVEL_LOOKS[i % len(LEVEL_LOOKS)], clean(each.name, 40)) for i, each in enumerate(block.levels)]
    named = marks if len(marks) > 1 or block.letters else []
    return legend([], width, [((clean(block.unit), "muted"), ""), *named])


def _foot(block: Columns, cells: int, room: int) -> list[Line]:
    drawn = cells * len(block.columns)
    rows = [line((f"{'0':>{GUTTER - 2}} {glyphs.AXIS_CORNER}" + glyphs.AXIS * drawn, "muted"))]
    blank = " " * GUTTER
    if block.letters:
        groups = [column.group for column in block.columns for _ in range(cells)]
        band = [block.letters[group] if 0 <= group < len(block.letters) else "?" for group in groups]
        rows.append(line((blank, "text"), *runs(band, [_ink(block, group) for group in groups])))
    named = [(place * cells, clean(column.label)) for place, column in enumerate(block.columns) if column.label]
    return [*rows, line((blank + _placed(named, room), "muted"))] if named else rows


def _placed(texts: Sequence[tuple[int, str]], room: int) -> str:
    """Each text at its column, as far as it covers none before it."""
    row = ""
    for column, text in texts:
        if (column == 0 or column > len(row)) and column + len(text) <= room:
            row = row.ljust(column) + text
    return row
