"""Slots of session time, and how a keyframe writes down a set of them in few numbers.

Knows nothing of what a slot holds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hettop.events import Column

SLOT_NS = 50_000_000
"""As long as an engine gathers before it tells: nothing that it tells of itself is known more finely."""

MOST_SLOTS = 1 << 12  # that a keyframe may name in one set


def occupied(ends: Column, after: int, widest_ns: int) -> Sequence[int]:
    """The slots beyond `after` in which any of these moments (ns, ascending) lies, ascending.

    widest_ns: no two neighbours are further apart. Mostly that tells that there is one in every slot.
    """
    first, last = max(after + 1, int(ends[0]) // SLOT_NS), int(ends[-1]) // SLOT_NS
    if widest_ns <= SLOT_NS:
        return range(first, last + 1)
    return [slot for slot in np.unique(ends // SLOT_NS).tolist() if slot >= first]


def runs_of(slots: Sequence[int], base: int) -> list[int]:
    """Ascending slots, none before `base`, as numbers by turns: so many left out, so many taken."""
    runs: list[int] = []
    following = base
    for slot in slots:
        if runs and slot == following:
            runs[-1] += 1
        else:
            runs += [slot - following, 1]
        following = slot + 1
    return runs


def slots_of(runs: Sequence[int], base: int) -> list[int]:
    """The slots that `runs_of` wrote down. ValueError when there are too many."""
    if sum(runs[1::2]) > MOST_SLOTS:
        raise ValueError("a keyframe names too many slots")
    slots: list[int] = []
    at = base
    for skipped, taken in zip(runs[::2], runs[1::2], strict=False):
        slots += range(at + skipped, at + skipped + taken)
        at += skipped + taken
    return slots
