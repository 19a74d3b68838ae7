"""What a page consists of: sections of blocks, which are paragraphs, facts, tables, plots and other drawings.

Pure data, which the renderers for terminal, screen, HTML and Markdown show; all texts here are data, never markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

Tone = Literal["text", "strong", "muted", "good", "warning", "error", "low", "mid", "high", "accent"]
"""What a text or a mark means, which each renderer shows in its own way."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A sentence or more. With the tone `warning` or `error`: what a reader must not overlook."""

    text: str
    tone: Tone = "text"

    @property
    def warning(self) -> bool:
        return self.tone in ("warning", "error")


@dataclass(frozen=True, slots=True)
class Items:
    """Short texts, one below the other; with `numbered` by number from 1, as a figure refers to them."""

    texts: Sequence[str]
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Toned:
    """A name or a text of a cell that means something."""

    text: str
    tone: Tone


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and what is known of each."""

    pairs: Sequence[tuple[str | Toned, str]]


@dataclass(frozen=True, slots=True)
class Code:
    """Source code to copy, which is never wrapped or cut."""

    text: str
    language: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A cell that is a bar: `share` of the column's width, 0..1, with a line at `mark` if there is one."""

    share: float
    tone: Tone = "accent"
    mark: float | None = None


Cell = str | Toned | Bar


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; columns named in `left` hold words, the others numbers.

    A column in which no row says anything is left out, and those of `drop`, in that order, where the width is short.
    """

    heading: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    left: Sequence[str] = ()
    drop: Sequence[str] = ()

    def shown(self) -> Table:
        """Without the columns in which no row says anything."""
        kept = [i for i, _ in enumerate(self.heading) if any(is_said(row[i]) for row in self.rows)]
        rows = [[row[i] for i in kept] for row in self.rows]
        return Table([self.heading[i] for i in kept], rows, self.left, self.drop) if self.rows else self


def is_said(cell: Cell) -> bool:
    return isinstance(cell, Bar) or bool(words_of(cell).strip())


def words_of(cell: Cell) -> str:
    """The text of a cell; a bar has none."""
    match cell:
        case Bar():
            return ""
        case Toned(text, _):
            return text
    return cell


@dataclass(frozen=True, slots=True)
class Spot:
    """A point, filled or hollow, with words beside it.

    mark: a letter or number drawn instead of the point. share: 0..1, by which its size goes; None: all are alike.
    """

    x: float
    y: float
    label: str = ""
    hollow: bool = False
    mark: str = ""
    share: float | None = None
    tone: Tone | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """Points of one colour and shape, joined in their order unless `joined` is false; `dots` false: a line alone.

    tone: None: the renderers distinguish series by their order.
    """

    name: str
    spots: Sequence[Spot]
    joined: bool = True
    dots: bool = True
    tone: Tone | None = None

    @property
    def hollow(self) -> bool:
        """Whether all of its points are."""
        return all(spot.hollow for spot in self.spots)


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis of a plot: its name with the unit, and whether it begins at 0. `ticks`: values to mark, if any.

    log: None: where the values span enough.
    """

    name: str
    from_zero: bool = False
    ticks: Sequence[float] = ()
    log: bool | None = None


@dataclass(frozen=True, slots=True)
class Plot:
    """Series on two axes. `failed`: places on the axis across where nothing was had, and why."""

    series: Sequence[Series]
    across: Scale
    up: Scale
    caption: str
    failed: Sequence[tuple[float, str]] = ()

    @property
    def is_empty(self) -> bool:
        return not any(each.spots for each in self.series)


@dataclass(frozen=True, slots=True)
class Beside:
    """Two plots: side by side where the width allows it, else one below the other."""

    left: Plot
    right: Plot


@dataclass(frozen=True, slots=True)
class Stack:
    """One bar of parts by their shares of the whole, 0..1, named below it."""

    parts: Sequence[tuple[str, float]]
    caption: str


@dataclass(frozen=True, slots=True)
class Column:
    """One column of `Columns`: its height, which group it is of, a label below its left edge, and its name in words."""

    height: float | None
    group: int = 0
    label: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Level:
    """What each column is compared with: a line across it at so high, or none."""

    name: str
    heights: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns side by side in their order, each in the colour of its group, and lines across them.

    letters: of the groups, drawn below their columns; none: no such row. `unit` of the heights.
    """

    columns: Sequence[Column]
    groups: Sequence[tuple[str, Tone]]
    unit: str
    caption: str
    levels: Sequence[Level] = ()
    letters: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing: SVG made by `figures`, which is markup, and what it shows in words for those who cannot see it."""

    svg: str
    caption: str


Block = Paragraph | Items | Facts | Code | Table | Plot | Beside | Stack | Columns | Figure


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks under a title; `level` 2 stands below the page's title, 3 below a section of level 2."""

    title: str
    blocks: Sequence[Block]
    level: int = 2


@dataclass(frozen=True, slots=True)
class Page:
    """A whole report. `simulated` is said at the top, in every title and beside every figure."""

    title: str
    simulated: bool
    sections: Sequence[Section] = field(default_factory=tuple)
