"""Which units serve one stream together unless the user names others. Pure."""

from __future__ import annotations

from collections.abc import Sequence

FEWEST_UNITS = 2
THREADS = "@"  # what a unit of a stated number of threads has in its name


def usual_units(available: Sequence[str]) -> tuple[str, ...]:
    """Units that compete least: one for each kind of processor, or two numbers of threads where there is only one."""
    kinds = [unit for unit in available if THREADS not in unit and unit != "ALL"]
    threaded = [unit for unit in available if THREADS in unit]
    return tuple(kinds if len(kinds) >= FEWEST_UNITS else [*threaded, *kinds][:FEWEST_UNITS])
