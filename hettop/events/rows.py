"""Names of rows: a unit, or a unit beside itself in another way (`CPU_ONLY@2~closed`), which is a *variant* of it.

What is measured of a variant stands beside what is measured of the unit, under a name of its own, in every event.
"""

from __future__ import annotations

MARK = "~"
"""Between a unit and the name of a variant, as `@` is between a unit and its number of threads."""


def row_name(unit: str, variant: str) -> str:
    return f"{unit}{MARK}{variant}"


def split_row(row: str) -> tuple[str, str | None]:
    """The unit, and the variant's name, None for the unit itself."""
    unit, mark, variant = row.partition(MARK)
    return unit, variant if mark else None
