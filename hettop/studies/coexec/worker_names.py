"""Names of workers: a unit, or the same unit once more (`CPU_AND_NE#2`): another process, so another call in flight.

Pure; a unit's own name never has the mark in it.
"""

from __future__ import annotations

from collections.abc import Sequence

MARK = "#"


def workers_of(units: Sequence[str]) -> tuple[str, ...]:
    """A name for each, the first of a unit its own: `A, B, A` are `A`, `B` and `A#2`."""
    seen: dict[str, int] = {}
    workers = []
    for unit in units:
        seen[unit] = seen.get(unit, 0) + 1
        workers.append(unit if seen[unit] == 1 else f"{unit}{MARK}{seen[unit]}")
    return tuple(workers)


def unit_of(worker: str) -> str:
    """What the worker runs on."""
    return worker.partition(MARK)[0]


def copy_of(worker: str) -> int:
    """Which of the unit's workers it is, from 1 on."""
    return int(worker.partition(MARK)[2] or 1)


def first_of_each(workers: Sequence[str]) -> tuple[str, ...]:
    """One worker of every unit, the first there is: alone, one is like another."""
    firsts = {unit_of(worker): worker for worker in reversed(workers)}
    return tuple(worker for worker in workers if firsts[unit_of(worker)] == worker)
