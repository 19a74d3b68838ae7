"""Tables of text: columns as wide as their widest cell, or as Markdown.

Knows nothing of what the cells say.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

SHORTEST_LINE = 20  # narrower, sentences fall apart
_GAP = 2


def grid(
    heading: Sequence[str], rows: Sequence[Sequence[str]], *, left: Sequence[str] = (), width: int, drop: Sequence[str]
) -> list[str]:
    """Lines of a table. Columns named in `left` are aligned to the left; those in `drop` go first where it is narrow.

    A column in which no row has anything to say is left out.
    """
    names = columns_shown(heading, rows, width=width, drop=drop)
    cells = [dict(zip(heading, row, strict=True)) for row in rows]
    widths = {name: max(len(name), *(len(row[name]) for row in cells), 0) for name in names}
    return [
        (" " * _GAP).join(_aligned(row[name], widths[name], name in left) for name in names).rstrip()
        for row in ({name: name for name in names}, *cells)
    ]


def columns_shown(
    heading: Sequence[str], rows: Sequence[Sequence[str]], *, width: int, drop: Sequence[str]
) -> list[str]:
    """The columns that `grid` draws of these, so that notes tell of no other."""
    names = [name for index, name in enumerate(heading) if not rows or any(row[index] for row in rows)]
    cells = [dict(zip(heading, row, strict=True)) for row in rows]
    for name in drop:
        if _width_of(names, cells) <= width:
            break
        names = [kept for kept in names if kept != name]
    return names


def markdown(heading: Sequence[str], rows: Sequence[Sequence[str]], *, left: Sequence[str] = ()) -> list[str]:
    """Lines of a Markdown table; cells are data, so what Markdown or HTML would take for markup is escaped."""
    kept = [index for index, _ in enumerate(heading) if not rows or any(row[index] for row in rows)]
    return [
        "| " + " | ".join(escaped(heading[index]) for index in kept) + " |",
        "|" + "|".join("---" if heading[index] in left else "--:" for index in kept) + "|",
        *("| " + " | ".join(escaped(row[index]) for index in kept) + " |" for row in rows),
    ]


def escaped(text: str) -> str:
    """Text as Markdown that shows it."""
    for mark in ("\\", "`", "*", "_", "[", "]", "|", "#", "~"):
        text = text.replace(mark, f"\\{mark}")
    # A zero-width joint would hide in the text, so mentions are kept from pinging people by an entity.
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")


def wrapped(text: str, width: int, indent: str = "  ") -> list[str]:
    """A sentence in lines of at most `width`, all but the first indented."""
    return textwrap.wrap(text, max(width, SHORTEST_LINE), subsequent_indent=indent, break_on_hyphens=False)


def _width_of(names: Sequence[str], cells: Sequence[dict[str, str]]) -> int:
    return sum(max([len(name), *(len(row[name]) for row in cells)]) for name in names) + _GAP * (len(names) - 1)


def _aligned(text: str, width: int, left: bool) -> str:
    return text.ljust(width) if left else text.rjust(width)
