"""Who runs when in an interleaved measurement: blocks of time, planned ahead.

Reads no clock and sends nothing; times are nanoseconds of the machine's monotonic clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

BLOCK_SAMPLES = 20
"""Of a block's samples so many are meant to be steady; enough to see the unit settled again."""

BLOCK_NS = 250_000_000
"""A fast unit runs this long, so that a power sample can fall wholly into its block."""

GUARD_NS = 1_000_000
"""Between two blocks: the last sample of one may overrun what is usual by this much before it meets the next."""

LEAD_NS = 20_000_000
"""A slot is planned to begin this long from now at the earliest, so that the word of it arrives in time."""

AHEAD_NS = 2_000_000_000
"""Slots are known at least this far ahead, so that a screen that stalls for a moment stops no unit."""


@dataclass(frozen=True, slots=True)
class Slot:
    """`unit` may run in [start, end)."""

    unit: str
    start: int
    end: int


def block_ns(usual_ns: int | None, shortest_ns: int = BLOCK_NS) -> int:
    """Length of a block for a unit whose samples usually take `usual_ns` (None: unknown).

    `BLOCK_SAMPLES` steady samples and the `resume` before them, or `shortest_ns`, whichever is longer.
    """
    return max(shortest_ns, (BLOCK_SAMPLES + 1) * (usual_ns or 0))


def plan_round(units: Mapping[str, int | None], start: int, shortest_ns: int = BLOCK_NS) -> list[Slot]:
    """One block for each unit, in order, from `start` on. `units` maps each to what its samples usually take."""
    slots = []
    for unit, usual_ns in units.items():
        end = start + block_ns(usual_ns, shortest_ns)
        slots.append(Slot(unit, start, end))
        start = end + GUARD_NS
    return slots


class Rotation:
    """The turns planned so far. Decides when to plan on, and anew when other units take part."""

    def __init__(self, shortest_block_ns: int = BLOCK_NS) -> None:
        self.shortest_ns = shortest_block_ns
        """Blocks that are planned from now on are at least this long."""
        self._slots: list[Slot] = []
        self.units: tuple[str, ...] = ()
        self.round_ns = 0
        """How long a unit may have to wait for its next turn."""

    def stop(self) -> None:
        """All units were paused: nothing is planned any more."""
        self._slots, self.units, self.round_ns = [], (), 0

    def update(self, now: int, units: Mapping[str, int | None]) -> dict[str, list[tuple[int, int]]]:
        """Messages to units: all spans of a unit that are not over; no spans: it may run without a break.

        `units` are those that can run now, with what their samples usually take; a unit that left needs no word.
        """
        anew = tuple(units) != self.units
        self.units = tuple(units)
        if len(units) < 2:
            self._slots, self.round_ns = [], 0
            return {unit: [] for unit in units} if anew else {}
        one_round = plan_round(units, now, self.shortest_ns)
        self.round_ns = one_round[-1].end - now
        ahead = max(AHEAD_NS, self.round_ns)
        self._slots = [slot for slot in self._slots if slot.end > now]
        if anew:
            # What begins within the lead stays: the word that it does not might arrive too late.
            self._slots = [slot for slot in self._slots if slot.start <= now + LEAD_NS and slot.unit in units]
        elif self._slots and self._slots[-1].end >= now + ahead:
            return {}
        self._extend(now, units, now + ahead + self.round_ns)
        return {unit: [(slot.start, slot.end) for slot in self._slots if slot.unit == unit] for unit in units}

    def _extend(self, now: int, units: Mapping[str, int | None], until: int) -> None:
        """Plans whole rounds until they reach `until`, beginning with the unit whose turn it is."""
        names = list(units)
        if self._slots:
            after = names.index(self._slots[-1].unit) + 1
            names = names[after:] + names[:after]
        in_turn = {unit: units[unit] for unit in names}
        while not self._slots or self._slots[-1].end < until:
            start = max(now + LEAD_NS, self._slots[-1].end + GUARD_NS if self._slots else 0)
            self._slots += plan_round(in_turn, start, self.shortest_ns)
