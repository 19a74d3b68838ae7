"""Turns in which several things are timed one after another, such that no place in their order is the better one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Told = TypeVar("Told")


def both_ways(turn: int, calls: Sequence[Callable[[], Told]]) -> list[Told]:
    """What each call returns, in their order; in every other turn they are called from the last to the first.

    What ran just before leaves its threads spinning and its data in the caches.
    """
    if turn % 2 == 0:
        return [call() for call in calls]
    return [call() for call in reversed(calls)][::-1]
