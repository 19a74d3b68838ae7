"""Blocks of a page in cells of a terminal: the screen styles these lines, a command prints them as text.

Pure: blocks and a size in, lines of spans out. Texts are cleaned here, names too long are cut in their middle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rich.cells import cell_len

from hettop.report.page import (
    Bar,
    Beside,
    Block,
    Cell,
    Code,
    Columns,
    Facts,
    Figure,
    Items,
    Page,
    Paragraph,
    Plot,
    Scale,
    Series,
    Spot,
    Stack,
    Table,
    Tone,
    Toned,
)
from hettop.report.terminal import glyphs
from hettop.report.terminal.columns import columns_lines, stack_lines
from hettop.report.terminal.lines import Line, Span, fit, line, text_of, width_of
from hettop.report.terminal.plane import Axis, Plane
from hettop.report.terminal.tables import GAP, bar, beside, cut_middle, legend, notes, sentences, series, table
from hettop.text import clean

LONGEST = 400
HIGHEST_SECTION = 2
WIDEST = 10_000
"""Characters of a cell."""

LONGEST_NAME = 44
"""Cells that a name at the beginning of a row gets."""

LOWEST, HIGHEST = 9, 18
"""Lines of a plot."""

SIDE_BY_SIDE = 72
"""Cells, from which on two plots stand beside each other."""

SHORTEST_BAR, LONGEST_BAR = 6, 36
SHORTEST_VALUE = 20
"""Cells beside a name: a value that would get fewer stands below it."""

MARKS: dict[str, str] = {"warning": "!", "error": glyphs.FAILED}
"""Before a paragraph of that tone."""

SIZES = ((0.05, glyphs.LARGE), (0.01, glyphs.MIDDLING), (0.0, glyphs.SMALL))
"""A point that takes at least this share is drawn so."""


def block_lines(blocks: Sequence[Block], width: int, height: int = 40) -> list[Line]:
    """All blocks, a blank line between two of them but between paragraphs; `height`: the lines in sight."""
    shown: list[Line] = []
    before: Block | None = None
    for block in blocks:
        lines = _lines(block, width, max(LOWEST, min(HIGHEST, height // 2)))
        if not lines:
            continue
        if before is not None and not (isinstance(before, Paragraph) and isinstance(block, Paragraph)):
            shown.append(())
        whole = isinstance(block, Code)
        shown += [each if whole or width_of(each) <= width else fit(each, width) for each in lines]
        before = block
    return shown


def block_text(blocks: Sequence[Block], width: int, complete: str | None = None) -> str:
    """The same as text without inks, ending with a line feed.

    complete: the option whose output has all columns, to be named where this one has not.
    """
    shown = block_lines(blocks, width)
    if complete is not None and any(_omits_columns(block, width) for block in blocks):
        shown += notes([f"columns that do not fit into {width} characters are omitted; {complete} has all"], width)
    return "".join(f"{text_of(each).rstrip()}\n" for each in shown)


def _omits_columns(block: Block, width: int) -> bool:
    if not isinstance(block, Table) or not block.drop:
        return False
    here, whole = (next(iter(_table(block, room)), ()) for room in (width, WIDEST))
    return text_of(here).split() != text_of(whole).split()


def page_text(page: Page, width: int) -> str:
    """A whole report as text, ending with a line feed."""
    parts = [f"{page.title}\n"]
    if page.simulated:
        parts.append("SIMULATED: these latencies come from a simulated machine; nothing was measured.\n")
    for section in page.sections:
        title = section.title.upper() if section.level == HIGHEST_SECTION else section.title
        blocks = [block for block in section.blocks if not isinstance(block, Figure)]
        parts.append("\n".join(filter(None, (f"{clean(title, LONGEST)}\n", block_text(blocks, width)))))
    return "\n".join(parts)


def _lines(block: Block, width: int, height: int) -> list[Line]:  # noqa: PLR0911 - one for each kind of block
    match block:
        case Paragraph(text, tone):
            return _paragraph(text, tone, width)
        case Items(texts, numbered):
            named = [f"{place}. {text}" for place, text in enumerate(texts, 1)] if numbered else texts
            return notes(named, width)
        case Facts(pairs):
            return _facts(pairs, width)
        case Code(text, _):
            return [line((f"  {clean(row, LONGEST)}", "accent")) for row in text.strip("\n").split("\n")]
        case Table():
            return _table(block, width)
        case Plot():
            return _plot(block, width, height)
        case Beside(left, right):
            return _beside(left, right, width, height)
        case Stack():
            return stack_lines(block, width)
        case Columns():
            return columns_lines(block, width, height)
        case Figure(_, caption):
            return notes([f"figure only in the HTML report: {caption}"], width)


def _paragraph(text: str, tone: Tone, width: int) -> list[Line]:
    """What must not be overlooked stands behind a mark: nothing hangs on colour alone."""
    mark = MARKS.get(tone)
    if mark is None:
        return sentences([text], width, tone)
    rows = sentences([text], width - GAP, tone)
    return [line((f"{mark} " if i == 0 else " " * GAP, tone), *row) for i, row in enumerate(rows)]


def _facts(pairs: Sequence[tuple[str | Toned, str]], width: int) -> list[Line]:
    names = [each if isinstance(each, Toned) else Toned(each, "muted") for each, _ in pairs]
    cells = max((cell_len(clean(name.text)) for name in names), default=0) + GAP
    narrow = width - cells < SHORTEST_VALUE
    shown: list[Line] = []
    for name, (_, value) in zip(names, pairs, strict=True):
        head = clean(name.text)
        rows = sentences([value], max(1, width if narrow else width - cells)) or [()]
        if narrow:
            shown += [line((head, name.tone)), *rows]
            continue
        heads = [head + " " * (cells - cell_len(head)), *[" " * cells] * (len(rows) - 1)]
        shown += [line((each, name.tone), *row) for each, row in zip(heads, rows, strict=True)]
    return shown


def _table(block: Table, width: int) -> list[Line]:
    block = block.shown()
    if not block.rows:
        return []
    bars = [i for i, _ in enumerate(block.heading) if any(isinstance(row[i], Bar) for row in block.rows)]
    cells = _bar_cells(block, bars, width)
    rows = [[_span(cell, cells, whole=i == len(row) - 1) for i, cell in enumerate(row)] for row in block.rows]
    left = [*block.left, *(block.heading[i] for i in bars)]
    return table(block.heading, rows, width, left=left, drop=block.drop, wrap=True)


def _bar_cells(block: Table, bars: Sequence[int], width: int) -> int:
    """What the other columns leave to each bar."""
    if not bars:
        return 0
    others = [i for i, _ in enumerate(block.heading) if i not in bars]
    widest = [max(len(block.heading[i]), *(cell_len(_span(row[i], 0)[0]) for row in block.rows)) for i in others]
    free = width - sum(widest) - GAP * (len(block.heading) - 1)
    return min(LONGEST_BAR, max(SHORTEST_BAR, free // len(bars)))


def _span(cell: Cell, cells: int, *, whole: bool = False) -> Span:
    """The text of a cell and its ink; a bar has so many `cells`. `whole`: at the end of a row, where it may be long."""
    if isinstance(cell, Bar):
        text = bar(cell.share, cells)[0].ljust(cells)
        return (text if cell.mark is None else _marked(text, cell.mark, cells)), cell.tone
    shown = cell if isinstance(cell, Toned) else Toned(cell, "text")
    text = clean(shown.text, LONGEST)
    return (text if whole else cut_middle(text, LONGEST_NAME)), shown.tone


def _marked(text: str, mark: float, cells: int) -> str:
    """With a line at that share, where the bar leaves room for it."""
    place = min(cells - 1, round(mark * cells))
    return f"{text[:place]}{glyphs.GUIDE}{text[place + 1 :]}" if text[place : place + 1] == " " else text


def _beside(left: Plot, right: Plot, width: int, height: int) -> list[Line]:
    if width < SIDE_BY_SIDE or left.is_empty or right.is_empty:
        return [*_plot(left, width, height), *_plot(right, width, height)]
    half = (width - GAP) // 2
    axes, others = _axes(left), _axes(right)
    unlike = [one.log != other.log for one, other in zip(axes, others, strict=True)]
    drawn = _plane(left, _with_scales(axes, unlike), half, height)
    return [
        *_marks(left, width),
        *beside(drawn, _plane(right, _with_scales(others, unlike), width - GAP - half, height), half),
    ]


def _plot(plot: Plot, width: int, height: int) -> list[Line]:
    return [] if plot.is_empty else [*_marks(plot, width), *_plane(plot, _axes(plot), width, height)]


def _marks(plot: Plot, width: int) -> list[Line]:
    """What the marks of each series mean, where there are several, and the sizes of points."""
    marked = [(each, mark) for each, mark in _with_marks(plot) if each.dots and each.spots]
    named = [(_shown(each, mark), each.name) for each, mark in marked]
    failed = [((glyphs.FAILED, "error"), "failed")] if plot.failed else []
    drawn = {_size(spot.share) for each, _ in marked for spot in each.spots if spot.share is not None and not spot.mark}
    sizes = [((glyph, "muted"), f"{least:.0%} or more" if least else "less") for least, glyph in SIZES]
    sizes = [each for each in sizes if each[0][0] in drawn] if len(drawn) > 1 else []
    return legend([], width, [*(named if len(named) > 1 else []), *failed, *sizes])


def _with_marks(plot: Plot) -> Iterator[tuple[Series, Span]]:
    """Each series with glyph and ink of its points: a line alone needs no glyph."""
    place = 0
    for each in plot.series:
        glyph, ink = series(place)
        yield each, (glyph, each.tone or ink)
        place += each.dots


def _shown(each: Series, mark: Span) -> Span:
    """As its points are drawn, the largest filled one of those that have no letter or number of their own."""
    plain = [spot for spot in each.spots if not spot.mark]
    if plain:
        return _glyph(max(plain, key=lambda spot: (not spot.hollow, spot.share or 0.0)), mark)
    return " ".join(clean(spot.mark, 1) for spot in each.spots), mark[1]


def _axes(plot: Plot) -> tuple[Axis, Axis]:
    spots = [spot for each in plot.series for spot in each.spots]
    xs = [*(spot.x for spot in spots), *(x for x, _ in plot.failed)]
    return _axis(xs, plot.across), _axis([spot.y for spot in spots], plot.up)


def _axis(values: Sequence[float], scale: Scale) -> Axis:
    name = clean(scale.name, LONGEST_NAME)
    return Axis.around(values, name, log=scale.log, from_zero=scale.from_zero, marks=scale.ticks)


def _with_scales(axes: Sequence[Axis], unlike: Sequence[bool]) -> list[Axis]:
    """With their kind in the name of those that are unlike the other plot's."""
    kinds = [
        f", {'logarithmic' if axis.log else 'linear'}" if differs else ""
        for axis, differs in zip(axes, unlike, strict=True)
    ]
    return [replace(axis, label=axis.label + kind) for axis, kind in zip(axes, kinds, strict=True)]


def _plane(plot: Plot, axes: Sequence[Axis], width: int, height: int) -> list[Line]:
    across, up = axes
    plane = Plane(width, height, across, up)
    for each, mark in _with_marks(plot):
        if each.joined:
            plane.line([(spot.x, spot.y) for spot in each.spots], ink=mark[1])
        for spot in each.spots:
            if each.dots:
                plane.point(spot.x, spot.y, *_glyph(spot, mark))
            if spot.label:
                plane.note(spot.x, spot.y, cut_middle(spot.label, LONGEST_NAME), spot.tone or mark[1])
    for x, _ in plot.failed:
        plane.point(x, up.low, glyphs.FAILED, "error")
    return plane.lines()


def _glyph(spot: Spot, mark: Span) -> Span:
    glyph, ink = mark
    if spot.share is not None:
        glyph = _size(spot.share)
    if spot.hollow:
        glyph = glyphs.ENDED
    return clean(spot.mark, 1) or glyph, spot.tone or ink


def _size(share: float) -> str:
    return next(glyph for least, glyph in SIZES if max(0.0, share) >= least)
