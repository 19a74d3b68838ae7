"""A table of a report without the columns that no row has anything in."""

from __future__ import annotations

from collections.abc import Sequence

from hettop.report.page import Table


def table(heading: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[str]) -> Table:
    """Columns named in `left` hold words, the others numbers."""
    kept = [place for place in range(len(heading)) if any(row[place] for row in rows)]
    return Table([heading[i] for i in kept], [[row[i] for i in kept] for row in rows], left)
