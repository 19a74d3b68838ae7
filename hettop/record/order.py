"""Decides which of several lines that contradict each other about time is the damaged one.

Knows times alone. The decision on a line depends on the last kept time and the next few lines, so that it is the same
wherever reading began.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

# Enough that up to four damaged lines in a row are outvoted by the sound ones behind them.
LOOK_AHEAD = 9
# Nothing follows the last line to contradict it; a day without a keyframe is damage, not silence.
LONGEST_SILENCE_NS = 24 * 3600 * 10**9


class Timed(Protocol):
    """Anything with a moment of commit."""

    @property
    def t(self) -> int: ...


AnyTimed = TypeVar("AnyTimed", bound=Timed)


def in_order(items: Iterator[AnyTimed], last_t: int, drop: Callable[[AnyTimed], None]) -> Iterator[AnyTimed]:
    """The items whose time neither falls below `last_t` or the last one kept, nor is outvoted by what follows.

    One flipped digit must cost one line: without the look-ahead a time that jumped months ahead would make every
    later line look as if time ran backwards.
    """
    ahead: deque[AnyTimed] = deque()
    for item in items:
        ahead.append(item)
        if len(ahead) <= LOOK_AHEAD:
            continue
        first = ahead.popleft()
        if _believable(first.t, ahead, last_t):
            last_t = first.t
            yield first
        else:
            drop(first)
    while ahead:
        first = ahead.popleft()
        if _believable(first.t, ahead, last_t):
            last_t = first.t
            yield first
        else:
            drop(first)


def _believable(t: int, ahead: deque[AnyTimed], last_t: int) -> bool:
    """Whether keeping a line of time `t` loses no more of the lines ahead than dropping it does."""
    if t < last_t:
        return False
    times = [item.t for item in ahead]
    highest = max(times, default=-1)
    if highest < t and t - last_t > LONGEST_SILENCE_NS:
        return False
    if not times or min(times) >= t:
        return True
    kept_with = 1 + _longest_rise([time for time in times if time >= t])
    return kept_with >= _longest_rise([time for time in times if time >= last_t])


def _longest_rise(times: list[int]) -> int:
    """The length of the longest subsequence that never decreases (patience sorting)."""
    tails: list[int] = []
    for time in times:
        place = bisect_right(tails, time)
        tails[place : place + 1] = [time]
    return len(tails)
