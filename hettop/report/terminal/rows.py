"""Rows of a study's answer: sentences, parts of a bar, and names that stay readable where they are cut.

Pure; knows no study.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len, set_cell_size

from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, line, wrapped
from hettop.text import clean, safe


def sentences(texts: Iterable[str], width: int, ink: str = "text") -> list[Line]:
    """Each text on lines of its own, all of it: what came from outside was cut where it came in."""
    return [line((row, ink)) for text in texts for row in wrapped(safe(text), width)]


def notes(texts: Iterable[str], width: int) -> list[Line]:
    """Each text behind a dot, further lines under its first word."""
    shown: list[Line] = []
    for text in texts:
        rows = wrapped(safe(text), max(1, width - 2))
        shown += [line((f"{glyphs.DOT} " if i == 0 else "  ", "muted"), (row, "muted")) for i, row in enumerate(rows)]
    return shown


def cut_middle(text: str, width: int) -> str:
    """At most `width` cells: what is too long loses its middle, for names differ at their ends."""
    text = clean(text)
    if cell_len(text) <= width:
        return text
    if width < 3:
        return set_cell_size(text, max(0, width))
    tail = (width - 1) // 2
    head = width - 1 - tail
    start = len(text)
    while start > 0 and cell_len(text[start - 1 :]) <= tail:
        start -= 1
    return f"{set_cell_size(text, head).rstrip()}…{text[start:]}"


def padded(text: str, width: int) -> str:
    """The text cut or filled up to exactly `width` cells."""
    shown = cut_middle(text, width)
    return shown + " " * (width - cell_len(shown))


def segments(shares: Sequence[float], width: int) -> list[int]:
    """Cells of each part of a stacked bar of `width` cells: the parts sum to it, if the shares sum to 1.

    Whatever is above 0 gets a cell while there is room, and the largest gives it.
    """
    exact = [max(0.0, share) * width for share in shares]
    cells = [int(each) for each in exact]
    missing = min(width, round(sum(exact))) - sum(cells)
    for place in sorted(range(len(exact)), key=lambda i: cells[i] - exact[i])[: max(0, missing)]:
        cells[place] += 1
    for place, share in enumerate(shares):
        largest = max(range(len(cells)), key=cells.__getitem__)
        if share > 0 and not cells[place] and cells[largest] > 1:
            cells[place], cells[largest] = 1, cells[largest] - 1
    return cells
