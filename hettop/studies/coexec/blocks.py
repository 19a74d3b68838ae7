"""Whose turn it is: each unit alone and all together in alternating blocks; and the names of workers.

Pure; lengths are nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

BLOCK_NS = 250_000_000
BLOCK_SAMPLES = 20
"""A block is as long as one of an interleaved measurement: this long, or so many samples of its slowest unit."""

FEWEST_SAMPLES = 5
"""Where time is short, blocks hold at least so many samples of the slowest unit; a rate of fewer says little."""

REST_NS = 50_000_000
"""Between two blocks nothing runs: what one heats or holds up is not to fall on the next."""


@dataclass(frozen=True, slots=True)
class Block:
    """`units` work at the same time for `length_ns`."""

    units: tuple[str, ...]
    length_ns: int


@dataclass(frozen=True, slots=True)
class Rounds:
    """`count` rounds in each of which every unit runs alone and all run together, `length_ns` each; None: without end.

    Of several workers of one unit the first runs alone. shortest_ns: what a block takes at least where there is time.
    """

    units: tuple[str, ...]
    count: int | None
    length_ns: int
    shortest_ns: int = 0

    @property
    def blocks(self) -> int | None:
        """Blocks in all."""
        return None if self.count is None else self.count * kinds_of(self.units)

    def __iter__(self) -> Iterator[tuple[Block, ...]]:
        """The order is turned around each round, so that no block always follows the same one."""
        kinds = [*((unit,) for unit in first_of_each(self.units)), self.units]
        blocks = tuple(Block(kind, self.length_ns) for kind in kinds)
        for number in count() if self.count is None else range(self.count):
            yield blocks if number % 2 == 0 else blocks[::-1]


def plan_rounds(
    units: Sequence[str],
    usual_ns: Mapping[str, int],
    duration_ns: int | None,
    *,
    shortest_ns: int = BLOCK_NS,
    rest_ns: int = REST_NS,
) -> Rounds:
    """As many whole rounds as fit into `duration_ns`, rests included, and at least one; None: rounds without end.

    usual_ns: what a sample usually takes, by unit. shortest_ns: of a block, if there is time for it.
    The only round takes longer than asked for if its blocks would otherwise hold fewer than `FEWEST_SAMPLES`.
    """
    slowest = max(usual_ns.values(), default=0)
    kinds = kinds_of(units)
    shortest = max(shortest_ns, (BLOCK_SAMPLES + 1) * slowest)
    if duration_ns is None:
        return Rounds(tuple(units), None, shortest, shortest)
    rounds = duration_ns // (kinds * (shortest + rest_ns))
    if rounds < 1:
        length = max(duration_ns // kinds - rest_ns, (FEWEST_SAMPLES + 1) * slowest, 1)
        return Rounds(tuple(units), 1, length, shortest)
    return Rounds(tuple(units), rounds, duration_ns // (kinds * rounds) - rest_ns, shortest)


def kinds_of(units: Sequence[str]) -> int:
    """Blocks of one round: one for each unit alone, and one for all together."""
    return len(first_of_each(units)) + 1


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
