"""Tables, bars, legends, sentences and drawings side by side, in lines of spans. Texts are cleaned here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len, set_cell_size

from hettop.format import aligned
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span, fit, line, wrapped
from hettop.text import clean, safe

GAP = 2
SERIES = (
    (glyphs.RECORD, "accent"),
    (glyphs.NOTE, "mid"),
    (glyphs.POINTED, "low"),
    (glyphs.SQUARE, "strong"),
)
"""Glyph and ink of one series and the next: either alone distinguishes them."""

_SENTENCE = 12  # cells that words at the end of a row get at least

Cell = Span | str
"""A plain text has the ink of its column's other words."""


def series(index: int) -> Span:
    """Glyph and ink of a series: sixteen differ in one of both."""
    glyph, _ = SERIES[index % len(SERIES)]
    _, ink = SERIES[(index + index // len(SERIES)) % len(SERIES)]
    return glyph, ink


def legend(names: Sequence[str], width: int, more: Sequence[tuple[Span, str]] = ()) -> list[Line]:
    """What the mark of each series means, and `more` marks with their words, in as many lines as it takes."""
    marks = [*((series(place), name) for place, name in enumerate(names)), *more]
    marks = [(mark, clean(name)) for mark, name in marks]
    rows: list[list[Span]] = []
    room = 0
    for mark, name in marks:
        cells = cell_len(mark[0]) + 1 + cell_len(name)
        if not rows or room < GAP + cells:
            rows.append([])
            room = width
        else:
            rows[-1].append((" " * GAP, "text"))
            room -= GAP
        rows[-1] += [mark, (f" {name}", "muted")]
        room -= cells
    return [fit(line(*row), width) for row in rows]


def table(
    heading: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    width: int,
    *,
    left: Sequence[str] = (),
    drop: Sequence[str] = (),
    wrap: bool = False,
) -> list[Line]:
    """Columns as wide as their words; empty ones are left out, and those of `drop`, in that order, where room is short.

    Columns named in `left` hold words, the others numbers. Words at the end of a row are cut where they do not fit, or
    with `wrap` continued below, so that a row may have several lines.
    """
    spans = _aligned(heading, [[_span(cell) for cell in row] for row in rows], left)
    kept = [place for place in range(len(heading)) if any(row[place][0].strip() for row in spans)]
    widths = [
        max(cell_len(text) for text in (clean(name), *(row[i][0] for row in spans))) for i, name in enumerate(heading)
    ]
    if kept and heading[kept[-1]] in left:  # it may be a sentence, which is cut before a figure is given up for it
        widths[kept[-1]] = min(widths[kept[-1]], _SENTENCE)
    for name in drop:
        if sum(widths[place] + GAP for place in kept) - GAP <= width:
            break
        kept = [place for place in kept if heading[place] != name]
    head = [(clean(name), "muted") for name in heading]
    shown = [head, *spans]
    if wrap and kept and heading[kept[-1]] in left:
        room = width - sum(widths[place] + GAP for place in kept[:-1])
        shown = [part for row in shown for part in _continued(row, kept[-1], room)]
    return [
        fit(line(*[part for i in kept for part in _cell(row[i], widths[i], left=heading[i] in left)][1:]), width)
        for row in shown
    ]


def _aligned(heading: Sequence[str], rows: list[list[Span]], left: Sequence[str]) -> list[list[Span]]:
    """The rows with the decimal points of each column of numbers below each other."""
    columns = [
        [row[i] for row in rows]
        if name in left
        else [(text, row[i][1]) for text, row in zip(aligned([row[i][0] for row in rows]), rows, strict=True)]
        for i, name in enumerate(heading)
    ]
    return [list(row) for row in zip(*columns, strict=True)]


def _continued(row: Sequence[Span], last: int, room: int) -> list[list[Span]]:
    """A row whose last words do not fit into `room` cells, and below it rows that hold the rest of them alone."""
    text, ink = row[last]
    first, *rest = wrapped(text, max(_SENTENCE, room)) or [""]
    blank: list[Span] = [("", "text")] * len(row)
    parts = [[*row[:last], (first, ink), *row[last + 1 :]]]
    return parts + [[*blank[:last], (more, ink), *blank[last + 1 :]] for more in rest]


def bar(share: float, cells: int, ink: str = "accent") -> Span:
    """A bar of that share of so many cells, in eighths of a cell; something is shown of whatever there is."""
    eighths = max(1 if share > 0 else 0, round(min(1.0, max(0.0, share)) * cells * 8))
    whole, rest = divmod(eighths, 8)
    return glyphs.FULL * whole + glyphs.LEFT_EIGHTHS[rest].strip(), ink


def beside(left: Sequence[Line], right: Sequence[Line], width: int) -> list[Line]:
    """Two drawings of as many lines next to each other; the left one takes `width` cells."""
    return [line(*fit(one, width), (" " * GAP, "text"), *other) for one, other in zip(left, right, strict=True)]


def _span(cell: Cell) -> Span:
    text, ink = (cell, "text") if isinstance(cell, str) else cell
    return clean(text), ink


def _cell(span: Span, width: int, *, left: bool) -> tuple[Span, Span, Span]:
    """The gap before it, and the text at its end of the column."""
    text, ink = span
    blank: Span = (" " * (width - cell_len(text)), "text")
    gap: Span = (" " * GAP, "text")
    return (gap, (text, ink), blank) if left else (gap, blank, (text, ink))


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
