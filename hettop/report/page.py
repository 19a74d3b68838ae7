"""What a written report consists of: a page of sections of paragraphs, facts, tables and figures.

Pure data, which the renderers for HTML and Markdown turn into text; all texts here are data, never markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A sentence or more. `warning`: what a reader must not overlook."""

    text: str
    warning: bool = False


@dataclass(frozen=True, slots=True)
class Items:
    """Short texts, one below the other; with `numbered` by number from 1, as a figure refers to them."""

    texts: Sequence[str]
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and what is known of each."""

    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; columns named in `left` hold words, the others numbers."""

    heading: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing: SVG made by `figures`, which is markup, and what it shows in words for those who cannot see it."""

    svg: str
    caption: str


Block = Paragraph | Items | Facts | Table | Figure


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


def table(heading: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[str]) -> Table:
    """Columns named in `left` hold words, the others numbers."""
    kept = [place for place in range(len(heading)) if any(row[place] for row in rows)]
    return Table([heading[i] for i in kept], [[row[i] for i in kept] for row in rows], left)
